#!/bin/bash
# Which lines the tests run, per folder; which public functions no test calls; which messages of ais_fail none provokes.
#
#     bash scripts/coverage.sh [TESTS]     TESTS: a regular expression for ctest; QUICK below is the default
#
# A build of its own in build-coverage, which stays: another run adds to its counts. tests/unreached.txt lists messages
# that no test of these reaches, with the reason; the script fails when one is neither reached nor listed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build-coverage
QUICK='^(unit|law|gradient)/|^cli/(bench|budgets|command|compare|interrupt|ladder|learning|manual|plot|reproduce)$|^fault/(bad_input|no_code|isolate)$'
# Processes that are forked for netCDF, for figures and for --isolate end by _exit, which would lose their counts.
mkdir -p $build
end=$PWD/$build/end.o
cc -x c -c -fPIC -fvisibility=hidden -o "$end" - << 'END'
void __gcov_dump(void);
_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code) {
    __gcov_dump();
    __real__exit(code);
}
END
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG='-O1 -g1 -DNDEBUG --coverage -fprofile-update=atomic' \
    -DCMAKE_SHARED_LINKER_FLAGS="--coverage -Wl,--wrap=_exit $end" -DCMAKE_EXE_LINKER_FLAGS="--coverage -Wl,--wrap=_exit $end" -DBUILD_TESTING=ON > /dev/null
nice ninja -C $build $(ninja -C $build -t targets all | sed -n 's,^\(tests/[^:/]*\): C_EXECUTABLE.*,\1,p') aisampler_command inject > $build/build.log ||
    { tail -40 $build/build.log; exit 1; }
# Short forms, as under sanitizers: a line counts once.
AIS_BRIEF=1 AIS_LAW_CHAINS=40 AIS_INVOLUTION_STATES=1 AIS_INVARIANCE_DRAWS=2000 nice ctest --test-dir $build -R "${1:-$QUICK}" -j 2 \
    > $build/tests.log || grep 'Failed\|Timeout' $build/tests.log
python3 scripts/coverage.py $build
