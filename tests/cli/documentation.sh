#!/usr/bin/env bash
# Runs every ```sh block of the README, docs/ and docs/howto/, draws from the density of every ```c block, and looks
# whether every link leads to a file. Lines run one by one in a copy of what a clone has (examples/, data/, include/, build/) with nothing set up but the command
# on PATH, as the README says; exit code 3 (do not trust) is an answer, not a failure. Argument: the build folder.
set -u
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r examples data include "$work"
ln -s "$build" "$work/build"
export PATH=$build:$PATH
if python=$(bash "$(dirname "$0")/../support/venv.sh" "$build" python-all); then # as if it were installed
    VIRTUAL_ENV=$(dirname "$(dirname "$python")")
    export VIRTUAL_ENV
fi
failures=0 count=0
for page in *.md docs/*.md docs/*/*.md examples/*.md; do
    for link in $(grep -oE '\]\([^)#]+\)' "$page" | tr -d '()]' | grep -v '^https\?:'); do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page links to $link, which is not there"; failures=$((failures + 1)); }
    done
done
for page in README.md docs/*.md docs/howto/*.md; do
    awk -v out="$work/block" -v page="$(basename "$page")" '
        /^```sh$/ { inside = 1; n++; file = out "-" page "-" n; printf "" > file; next }
        /^```c$/ { inside = 1; n++; file = out "-" page "-" n ".c"; printf "" > file; next }
        /^```$/ { inside = 0 }
        inside { print > file }' "$page"
done
for block in "$work"/block-*.c; do
    [ -e "$block" ] || continue
    count=$((count + 1))
    aisampler run "$block" --quiet --out "$work/out/block" >"$work/said" 2>&1 || { echo "$(basename "$block"): $(tail -3 "$work/said")"; failures=$((failures + 1)); }
    rm "$block"
done
for block in "$work"/block-*; do
    [ -e "$block" ] || continue
    grep -q '^make \|^sudo ' "$block" && continue # the two commands of the README are CI itself
    count=$((count + 1))
    while IFS= read -r line; do
        [ -z "$line" ] && continue
        (cd "$work" && timeout 300 bash -c "$line" > "$work/said" 2>&1 < /dev/null)
        code=$?
        if [ $code != 0 ] && [ $code != 3 ]; then
            echo "$(basename "$block"): '$line' exited with $code: $(tail -3 "$work/said")"
            failures=$((failures + 1))
        fi
    done < "$block"
done
echo "$count blocks run, $failures failures"
[ "$count" -gt 0 ] && [ $failures = 0 ]
