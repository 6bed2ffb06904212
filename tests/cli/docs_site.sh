#!/usr/bin/env bash
# The site is built without a warning, and has every public function of the headers, every public name of the Python
# package and every command's options. Argument: the build folder.
set -u
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash scripts/docs.sh "$build" >"$work/said" 2>&1
code=$?
[ $code = 77 ] && { echo "skipped: $(tail -1 "$work/said")"; exit 77; }
[ $code = 0 ] || { tail -30 "$work/said"; exit 1; }
html=$build/docs/html
missing=0
nm -D --defined-only "$build/libaisampler.so" | awk '$3 ~ /^ais_/ {print $3}' | sort -u >"$work/functions"
cat "$html"/reference/headers/*.html | grep -oE 'id="c\.ais_[a-z0-9_]+"' | sed 's/id="c\.//; s/"//' | sort -u >"$work/documented"
for name in $(comm -23 "$work/functions" "$work/documented"); do
    echo "$name is not in the reference"
    missing=$((missing + 1))
done
for name in $(sed -n 's/^__all__ = \[\(.*\)\]/\1/p' python/aisampler/__init__.py | tr -d '",'); do
    grep -q "id=\"aisampler.$name\"" "$html/reference/python.html" || { echo "aisampler.$name is not in the reference"; missing=$((missing + 1)); }
done
for option in --effective --screen --metric; do
    grep -qe "$option" "$html/reference/help.html" || { echo "$option is not in the reference"; missing=$((missing + 1)); }
done
for page in docs/tutorial docs/howto/not_trusted docs/results/README index; do
    [ -s "$html/$page.html" ] || { echo "there is no page $page"; missing=$((missing + 1)); }
done
echo "$(wc -l <"$work/functions") functions, $missing missing"
[ -s "$work/functions" ] && [ $missing = 0 ]
