#!/usr/bin/env bash
# Installs stanli from PyPI into an environment of its own in the build folder and measures; see gradient.py.
#     bash bench/stan/run.sh [options of gradient.py]
# AIS_BUILD: our build folder (build). Seconds are those of the processor: processor_clock.c.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export AIS_BUILD=${AIS_BUILD:-$here/../../build}
[ -x "$AIS_BUILD/aisampler" ] || { echo "build the project first: make build" >&2; exit 1; }
python=$(bash "$here/../../tests/support/venv.sh" "$AIS_BUILD" python-all)
clock=$AIS_BUILD/bench/processor_clock.so
cc -O2 -fPIC -shared -o "$clock" "$here/processor_clock.c"
LD_PRELOAD=$(realpath "$clock") exec "$python" "$here/gradient.py" "$@"
