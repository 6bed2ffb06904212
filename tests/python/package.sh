#!/usr/bin/env bash
# The Python package, from the tree, with the library of the build folder. Argument: the build folder.
set -eu
build=$(cd "$1" && pwd)
support=$(cd "$(dirname "$0")/../support" && pwd)
export AISAMPLER_LIBRARY=$build/libaisampler.so PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
python=$(bash "$support/venv.sh" "$build" python numpy pytest) || { echo "skipped: NumPy cannot be installed here"; exit 77; }
"$python" -m pytest -q -p no:cacheprovider tests/python --ignore tests/python/test_arviz.py
python=$(bash "$support/venv.sh" "$build" python-arviz numpy pytest arviz)
"$python" -m pytest -q -p no:cacheprovider tests/python/test_arviz.py
