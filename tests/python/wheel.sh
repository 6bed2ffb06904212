#!/usr/bin/env bash
# A wheel in an empty environment, away from the tree: the quick start of docs/python.md, a report with figures, draws
# in netCDF by the command. Argument: the build folder. The wheel is AIS_WHEEL, or one that is made here with the
# libraries of this system.
set -eu
build=$(cd "$1" && pwd)
root=$PWD
work=$(mktemp -d)
programs=$PATH
trap 'PATH=$programs; rm -rf "$work"' EXIT
unset AISAMPLER_LIBRARY PYTHONPATH
wheel=${AIS_WHEEL:-}
if [ -z "$wheel" ]; then
    python=$(bash tests/support/venv.sh "$build" wheel pip scikit-build-core) || { echo "skipped: scikit-build-core cannot be installed here"; exit 77; }
    SKBUILD_BUILD_DIR=$build/wheel-tree "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
        --wheel-dir "$work/made" . || { echo "pip wheel failed"; exit 1; }
    wheel=$(ls "$work"/made/aisampler-*.whl)
fi
case $(basename "$wheel") in aisampler-*-py3-none-*.whl) ;; *) echo "the wheel should serve every Python 3: $wheel"; exit 1 ;; esac

python3 -m venv "$work/empty"
"$work/empty/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
cd "$work"
python=$work/empty/bin/python
# No compiler is needed, or found, for anything but a density in C.
export PATH=$work/empty/bin CC=/nowhere/cc
"$python" - "$root/docs/python.md" <<'PYTHON'
import pathlib, re, sys
blocks = re.findall(r"^```python\n(.*?)^```", pathlib.Path(sys.argv[1]).read_text(), re.M | re.S)
exec(blocks[0], names := {})
import aisampler
assert "site-packages" in aisampler.__file__, aisampler.__file__
page = names["result"].report("report.html").html
assert "<svg" in page and "built without cairo" not in page
PYTHON
"$python" -m aisampler run mog2 --draws 50 --quiet --out drawn || [ $? = 3 ]
aisampler diagnose drawn/draws.nc >said || [ $? = 3 ]
/usr/bin/grep -q "x.1" said
