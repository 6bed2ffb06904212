#!/usr/bin/env bash
# run.sh [-j N] [SECONDS] [NAME...]: attacks the readers named (all when none is), each for SECONDS (60), N of them at a
# time (1), with libFuzzer under AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer. Prints a line for each, and fails on a
# crash, a leak, an input that takes longer than 10 s, or an allocation above 512 MB; what did it is in build-fuzz/found.
# AIS_FUZZ_BUILD: the build folder (build-fuzz). AIS_FUZZ_TIMEOUT: instead of 10 s, by the clock, for a machine that has
# much else to do.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=${AIS_FUZZ_BUILD:-$root/build-fuzz}
at_once=1
if [ "${1:-}" = -j ]; then
    at_once=${2:?a number after -j}
    shift 2
fi
seconds=${1:-60}
[ $# -gt 0 ] && shift
bash "$root/scripts/packages.sh" build fuzz
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DAIS_FUZZ=ON -DAIS_MPI=OFF >/dev/null
cmake --build "$build" -j "${JOBS:-$(nproc)}" >"$build/build.log" 2>&1 || { cat "$build/build.log"; exit 1; }
rm -rf "$build/seeds"
mkdir -p "$build/seeds" "$build/found"
"$build/tests/fuzz/fuzz_seeds" "$build/seeds"

attack() {
    local name=$1 corpus=$build/corpus/$1 log=$build/$1.log option=() began runs status=0
    mkdir -p "$corpus" "$build/seeds/$name" "$here/corpus/$name"
    [ -f "$here/$name.dict" ] && option=("-dict=$here/$name.dict")
    began=$(date +%s)
    UBSAN_OPTIONS=print_stacktrace=1 "$build/tests/fuzz/fuzz_$name" "$corpus" "$build/seeds/$name" "$here/corpus/$name" \
        "${option[@]}" -max_total_time="$seconds" -timeout="${AIS_FUZZ_TIMEOUT:-10}" -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=100000 \
        -artifact_prefix="$build/found/$name-" -print_final_stats=1 >"$log" 2>&1 || status=$?
    runs=$(grep -oE 'number_of_executed_units: [0-9]+' "$log" | grep -oE '[0-9]+' || echo '?')
    printf '%-10s %10s executions %5d s  %s\n' "$name" "$runs" $(($(date +%s) - began)) \
        "$([ $status = 0 ] && echo 'nothing found' || echo "FAILED, see $log")"
    return $status
}

[ $# -gt 0 ] || set -- $(cd "$here" && ls -- *.c | sed 's/\.c$//' | grep -vx 'replay\|seeds')
failed=0 running=0
for name in "$@"; do
    if [ "$running" = "$at_once" ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
    attack "$name" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
done
exit $failed
