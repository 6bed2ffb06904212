#!/usr/bin/env bash
# Quick forms of the programs in bench/load and bench/calibration: nothing grows, ranks are uniform, long runs have no bias,
# log Z is right within its error; and each of them sees what is broken on purpose. Argument: the build folder.
set -u
bench=$1/bench
[ -x "$bench/sbc" ] || exit 77 # a build without them (sanitizers)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect CODE program words...
expect() {
    local code=$1 got
    shift
    "$@" > "$work/told" 2>&1
    got=$?
    echo "exit $got: ${*##*/}: $(tail -n 1 "$work/told")"
    [ $got = "$code" ] && return
    cat "$work/told"
    failures=$((failures + 1))
}
expect 0 "$bench/load" runs=110 rows=10 effective=50 "folder=$work/draws"
expect 1 "$bench/load" runs=60 rows=10 effective=50 only=5 leak=64
for way in independent reflections "latent nuts" ladder cycle; do expect 0 "$bench/sbc" runs=100 "way=$way"; done
expect 1 "$bench/sbc" runs=100 way=independent broken=0.4
expect 0 "$bench/bias" transitions=1e6 only=mog6
expect 0 "$bench/bias" transitions=1e6 only=ring5 kernels=spline
expect 1 "$bench/bias" transitions=1e6 only=mog6 kernels=spline broken=0.1
expect 0 "$bench/log_z" runs=30 only=triangle
exit $((failures > 0))
