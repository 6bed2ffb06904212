#!/usr/bin/env bash
# The check of cited equations passes on the sources, and fails on a number that is not there, on an equation that
# nobody cites and on a gap.
set -eu
bash scripts/equations.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
fails() { # WHAT: a copy that was spoiled is noticed, in these words
    if bash scripts/equations.sh "$copy" > "$copy/said"; then echo "not noticed: $1"; exit 1; fi
    grep -qF -- "$1" "$copy/said" || { cat "$copy/said"; exit 1; }
}
fresh() { rm -rf "$copy"/*; cp -r src cli include docs "$copy"; }
fresh
echo '/* math.md (4) and (97). */' >> "$copy/src/map/henon.c"
fails "cites math.md (97)"
fresh
sed -i 's/math\.md (17)/that/' "$copy"/src/*/*.c
fails "(17) of docs/math.md is cited by no source"
fresh
sed -i 's/\\tag{9}/\\tag{99}/' "$copy/docs/math.md"
fails "are not numbered"
echo "equations and citations agree"
