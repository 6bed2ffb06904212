#!/usr/bin/env bash
# Installs stanli from PyPI into an environment of its own in the build folder and measures; see gradient.py.
#     bash bench/stan/run.sh [options of gradient.py]
# AIS_BUILD: our build folder (build).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export AIS_BUILD=${AIS_BUILD:-$here/../../build}
[ -x "$AIS_BUILD/aisampler" ] || { echo "build the project first: make build" >&2; exit 1; }
python=$(bash "$here/../../tests/support/venv.sh" "$AIS_BUILD" python-all)
exec "$python" "$here/gradient.py" "$@"
