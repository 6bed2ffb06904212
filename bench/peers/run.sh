#!/usr/bin/env bash
# Installs the peers from PyPI into an environment of their own (build/peers) and measures them beside us on one core.
#     bash bench/peers/run.sh [henon] [regressions] [planes]
# AIS_BUILD: our build folder (build); AIS_CORE: the core to use (0).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export AIS_BUILD=${AIS_BUILD:-$here/../../build}
environment=$AIS_BUILD/peers
[ -x "$AIS_BUILD/aisampler" ] || { echo "build the project first: make build" >&2; exit 1; }
if [ ! -e "$environment/ready" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet jax blackjax flowMC stanli arviz xarray h5netcdf numpy
    touch "$environment/ready"
fi
exec taskset -c "${AIS_CORE:-0}" "$environment/bin/python" "$here/measure.py" "$@"
