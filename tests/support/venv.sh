#!/bin/bash
# venv.sh BUILD_DIR NAME PACKAGE...: prints the python of BUILD_DIR/venv-NAME, a virtual environment with
# these packages, which is made on first use. Tests that run at the same time share it.
# Fails, with a line that says so, when it cannot be made: a test that cannot run has not passed.
set -u
if [ $# -lt 3 ]; then
    echo "usage: venv.sh BUILD_DIR NAME PACKAGE..." >&2
    exit 2
fi
folder=$(cd "$1" && pwd)/venv-$2 || exit 1
shift 2
exec 9>"$folder.lock" || exit 1
flock 9
if [ "$(cat "$folder/.complete" 2>/dev/null)" != "$*" ]; then
    rm -rf "$folder"
    if ! python3 -m venv "$folder" >"$folder.log" 2>&1 ||
        ! "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >>"$folder.log" 2>&1; then
        tail -n 5 "$folder.log" >&2
        echo "venv.sh: cannot make $folder with $*: this test needs python3-venv and access to PyPI" >&2
        exit 1
    fi
    echo "$*" >"$folder/.complete"
fi
echo "$folder/bin/python"
