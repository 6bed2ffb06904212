#!/usr/bin/env bash
# venv.sh BUILD_DIR NAME PKG...: prints the path of a Python that has the packages, from a virtual
# environment BUILD_DIR/venv-NAME that is made when it is missing or was made for other packages.
# Tests that run at the same time wait for each other. One line on standard error when it fails.
set -u
if [ $# -lt 3 ]; then
    echo "usage: venv.sh BUILD_DIR NAME PKG..." >&2
    exit 2
fi
mkdir -p "$1" || exit 1
venv="$(cd "$1" && pwd)/venv-$2"
name=$2
shift 2
exec 9>"$venv.lock"
flock 9
if [ ! -x "$venv/bin/python" ] || [ "$(cat "$venv/packages" 2>/dev/null)" != "$*" ]; then
    rm -rf "$venv"
    if ! python3 -m venv "$venv" >"$venv.log" 2>&1 ||
        ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >>"$venv.log" 2>&1; then
        rm -rf "$venv"
        echo "venv.sh: cannot install $* for the environment '$name': $(tail -n 1 "$venv.log")" >&2
        exit 1
    fi
    echo "$*" >"$venv/packages"
fi
echo "$venv/bin/python"
