#!/usr/bin/env bash
# valgrind.sh [BUILD]: short runs of every subcommand under memcheck, which sees uninitialised memory as well as what
# AddressSanitizer does; a line each. Fails on an error or a definite leak. Wants valgrind, and a BUILD with the command.
set -u
cd "$(dirname "$0")/.." || exit 1
ais=$(cd "${1:-build}" && pwd)/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0

clean() { # the command's own exit codes 0 and 3 are fine
    local log=$work/log began
    began=$(date +%s)
    valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --suppressions=tests/support/valgrind.txt \
        --log-file="$log" "$ais" "$@" > "$work/out" 2> "$work/err"
    local code=$?
    if [ $code != 0 ] && [ $code != 3 ]; then
        echo "FAILED ($code): aisampler $*"
        head -n 40 "$log" "$work/err"
        failures=$((failures + 1))
    else
        printf 'clean  %4d s  aisampler %s\n' $(($(date +%s) - began)) "${*//$work\//}"
    fi
}

few="--chains 2 --draws 40 --warmup 20 --seed 1 --threads 2 --quiet"
clean targets
clean sample mog2 --sampler nuts $few --format both --out "$work/nuts"
clean sample heart --sampler hmc $few --out "$work/hmc"
clean sample examples/03_own_density.c --sampler rwm $few --out "$work/own"
clean sample blr:data/heart.csv:label=14 --sampler rwm $few --out "$work/table"
clean train mog2 --evaluations 3000 --seed 1 --threads 2 --quiet -o "$work/k.ais"
clean sample mog2 -k "$work/k.ais" $few --format both --out "$work/kernel"
clean run ring5 --evaluations 6000 --seed 1 --threads 2 --quiet --out "$work/run"
clean sample mog2 -k "$work/k.ais" $few --format both --out "$work/kernel" --extend 20
clean diagnose "$work/nuts/draws.nc"
clean diagnose "$work"/nuts/draws-1.csv "$work"/nuts/draws-2.csv
clean plot "$work/nuts" --figure trace --out "$work/figures"
exit $((failures > 0))
