#!/usr/bin/env bash
# Installs the peers from PyPI into an environment of its own in the build folder (PyTorch among them: some GB) and measures; see measure.py.
#     bash bench/python/peers/run.sh [--only NAME] [--seed S] [further options of measure.py]
# AIS_BUILD: our build folder (build).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
export AIS_BUILD=${AIS_BUILD:-$root/build}
[ -e "$AIS_BUILD/libaisampler.so" ] || { echo "build the project first: make command" >&2; exit 1; }
python=$(bash "$root/tests/support/venv.sh" "$AIS_BUILD" python-peers numpy scipy arviz emcee dynesty pocomc nautilus-sampler "nutpie[pymc]" stanli)
export AISAMPLER_LIBRARY=$AIS_BUILD/libaisampler.so PYTHONPATH=$root/python
# One thread each: what is compared is work, not how it is shared out.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
exec "$python" "$here/measure.py" "$@"
