#!/usr/bin/env bash
# Every equation of docs/math.md is cited by a source file as "math.md (n)", and every cited number is there. Argument:
# the root of a tree with docs/math.md and sources (this one when nothing is said).
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
numbers=$(grep -oE '\\tag\{[0-9]+\}' docs/math.md | tr -dc '0-9\n')
# "math.md (3)", "math.md (3) and (4)", "math.md (11), (12)"
cited=$(grep -rhoE 'math\.md \([0-9]+\)((,| and| or) \([0-9]+\))*' include src cli --include='*.[ch]' | grep -oE '\([0-9]+\)' |
    tr -d '()')
[ -n "$numbers" ] && [ -n "$cited" ] || { echo "no numbered equations, or none cited"; exit 1; }
status=0
[ "$numbers" = "$(seq "$(wc -l <<< "$numbers")")" ] || { echo "docs/math.md: equations are not numbered 1, 2, 3, ..."; status=1; }
for n in $(sort -un <<< "$cited"); do
    grep -qx "$n" <<< "$numbers" && continue
    echo "a source cites math.md ($n), which docs/math.md does not have"
    status=1
done
for n in $numbers; do
    grep -qx "$n" <<< "$cited" && continue
    echo "equation ($n) of docs/math.md is cited by no source"
    status=1
done
exit $status
