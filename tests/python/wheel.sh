#!/usr/bin/env bash
# A wheel in empty environments, away from the tree: the quick starts of README.md and docs/python.md, a report with
# figures, draws in netCDF by the command. Argument: the build folder. The wheel is AIS_WHEEL, which is tried with every
# Python from 3.10 to 3.13 that is found (pythons), or one that is made here with the libraries of this system, for
# python3 alone.
set -eu
build=$(cd "$1" && pwd)
root=$PWD
work=$(mktemp -d)
programs=$PATH
trap 'PATH=$programs; rm -rf "$work"' EXIT
unset AISAMPLER_LIBRARY PYTHONPATH VIRTUAL_ENV
wheel=${AIS_WHEEL:-}

# One of each version: on the path (where pyenv has a stand-in that may refuse), or of pyenv itself.
pythons() {
    local version found
    for version in 3.10 3.11 3.12 3.13; do
        for found in "python$version" "$HOME/.pyenv/versions/$version".*/bin/python; do
            "$found" -c "import sys; sys.exit(sys.version_info[:2] != (3, ${version#3.}))" 2>/dev/null || continue
            echo "$found"
            break
        done
    done
}

if [ -n "$wheel" ]; then
    wheel=$(realpath "$wheel")
    readarray -t tried < <(pythons)
    [ ${#tried[@]} -gt 0 ] || tried=(python3)
else
    python=$(bash tests/support/venv.sh "$build" python-all) || { echo "skipped: scikit-build-core cannot be installed here"; exit 77; }
    SKBUILD_BUILD_DIR=$build/wheel-tree "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
        --wheel-dir "$work/made" . || { echo "pip wheel failed"; exit 1; }
    wheel=$(ls "$work"/made/aisampler-*.whl)
    tried=(python3)
fi
case $(basename "$wheel") in aisampler-*-py3-none-*.whl) ;; *) echo "the wheel should serve every Python 3: $wheel"; exit 1 ;; esac
cd "$work"

# try PYTHON: without a compiler, which only a density in C needs.
try() {
    local empty=$work/empty python
    rm -rf "$empty" drawn
    "$1" -m venv "$empty"
    python=$empty/bin/python
    "$python" -m pip install --quiet --disable-pip-version-check "$wheel"
    export PATH=$empty/bin CC=/nowhere/cc
    "$python" - "$root" <<'PYTHON'
import pathlib, re, sys
for page in ("README.md", "docs/python.md"):
    blocks = re.findall(r"^```python\n(.*?)^```", (pathlib.Path(sys.argv[1]) / page).read_text(), re.M | re.S)
    exec(blocks[0], names := {})
import aisampler
assert "site-packages" in aisampler.__file__, aisampler.__file__
page = names["result"].report("report.html").html
assert "<svg" in page and "built without cairo" not in page
print("passed with Python", sys.version.split()[0])
PYTHON
    "$python" -m aisampler run mog2 --draws 50 --quiet --out drawn || [ $? = 3 ]
    aisampler diagnose drawn/draws.nc >said || [ $? = 3 ]
    PATH=$programs
    grep -q "x.1" said
}
for python in "${tried[@]}"; do try "$python"; done
