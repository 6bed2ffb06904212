#!/usr/bin/env bash
# The numbers of README.md and docs/results/README.md are those of the tables and of the command that they name. Argument: the build folder.
set -eu
ais=$(cd "$1" && pwd)/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ais" compare mog6 --samplers ai,nuts,rwm -q -o "$work" > "$work/stdout"
python3 scripts/readme_numbers.py --compare "$work/compare.json"
# A number that is off is found: in a copy with another one.
mkdir "$work/copy"
cp -r README.md docs "$work/copy"
sed -i 's/needs 0\.[0-9]* of the/needs 0.01 of the/' "$work/copy/README.md"
script=$PWD/scripts/readme_numbers.py
(cd "$work/copy" && ! python3 "$script" > "$work/stdout")
grep -q "README.md: .*: 0.01 is 0" "$work/stdout"
(cd "$work/copy" && python3 "$script" --write > "$work/stdout" && python3 "$script")
cmp README.md "$work/copy/README.md"
echo "the numbers of the README are those of the tables"
