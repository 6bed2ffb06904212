#!/usr/bin/env bash
# Stan programs from Python: draws beside those of Stan's own sampler, what the documentation shows. Argument: the build
# folder.
set -eu
build=$(cd "$1" && pwd)
support=$(cd "$(dirname "$0")/../support" && pwd)
export AISAMPLER_LIBRARY=$build/libaisampler.so PYTHONPATH=$PWD/python
python=$(bash "$support/venv.sh" "$build" python-all) || { echo "skipped: stanli cannot be installed here"; exit 77; }
"$python" -m pytest -q -p no:cacheprovider tests/python/test_stan.py tests/python/test_documentation.py -k "test_stan or stan.md"
