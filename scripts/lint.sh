#!/usr/bin/env bash
# clang-format, clang-tidy, cppcheck and the layer check. Argument: a configured build folder.
set -u
cd "$(dirname "$0")/.."
build=${1:-build}
status=0
mapfile -t sources < <(git ls-files '*.c' '*.h')
clang-format --dry-run --Werror "${sources[@]}" || status=1
python3 scripts/layers.py || status=1
bash scripts/equations.sh || status=1
mapfile -t checked < <(git ls-files 'src/*.c' 'cli/*.c' | grep -v '_lanes\.c$')
printf '%s\n' "${checked[@]}" | xargs -P "$(nproc)" -n 8 clang-tidy -p "$build" --quiet --warnings-as-errors='*' \
    2> >(grep -v "warnings generated\|Suppressed\|Use -header-filter" >&2) || status=1
# Left out of cppcheck's: headers of the system (missingIncludeSystem), functions that only programs outside of src/ and
# cli/ call (unusedFunction), numbers looked at as bytes, which is how files and lanes are written (invalidPointerCast),
# and what 2.10 says of variables that a call sets through a pointer when it succeeds (ctuuninitvar, legacyUninitvar).
cppcheck -j "$(nproc)" --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=unusedFunction --suppress=ctuuninitvar --suppress=invalidPointerCast --suppress=legacyUninitvar -DAIS_ISA_SUFFIX=base '-DAIS_VERSION=""' \
    -I include -I src -I cli src cli || status=1
[ $status = 0 ] && echo "lint: clean"
exit $status
