#!/usr/bin/env bash
# The Python package, from the tree, with the library of the build folder. Argument: the build folder.
set -eu
build=$(cd "$1" && pwd)
support=$(cd "$(dirname "$0")/../support" && pwd)
export AISAMPLER_LIBRARY=$build/libaisampler.so PYTHONPATH=$PWD/python
python=$(bash "$support/venv.sh" "$build" python) || { echo "skipped: NumPy cannot be installed here"; exit 77; }
"$python" -m pytest -q -p no:cacheprovider tests/python --ignore tests/python/test_arviz.py --ignore tests/python/test_parameters.py --ignore tests/python/test_jax.py --ignore tests/python/test_torch.py
python=$(bash "$support/venv.sh" "$build" python-all)
"$python" -m pytest -q -p no:cacheprovider tests/python/test_jax.py
"$python" -m pytest -q -p no:cacheprovider tests/python/test_documentation.py -k jax
# PyTorch comes with gigabytes of CUDA: it is tested where somebody has it (AIS_TORCH_PYTHON names that Python).
if [ -n "${AIS_TORCH_PYTHON:-}" ]; then "$AIS_TORCH_PYTHON" -m pytest -q -p no:cacheprovider tests/python/test_torch.py; fi
"$python" -m pytest -q -p no:cacheprovider tests/python/test_arviz.py tests/python/test_parameters.py # SciPy comes with ArviZ
