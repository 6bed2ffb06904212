#!/usr/bin/env bash
# venv.sh BUILD_DIR NAME PKG...: prints the path of a Python that has the packages, from a virtual
# environment BUILD_DIR/venv-NAME that is made when it is missing or was made for other packages.
# NAME alone stands for the packages of the table below, for environments that several tests share.
# AIS_ENVIRONMENTS names another folder than BUILD_DIR: two builds then share what is there.
# Tests that run at the same time wait for each other. One line on standard error when it fails.
set -u
if [ $# -lt 2 ]; then
    echo "usage: venv.sh BUILD_DIR NAME PKG..." >&2
    exit 2
fi
folder=${AIS_ENVIRONMENTS:-$1}
name=$2
shift 2
if [ $# = 0 ]; then
    case $name in
    python) set -- numpy pytest ;; # what the package needs, and nothing that it could use by mistake
    python-all) set -- numpy pytest jax arviz stanli h5py pip scikit-build-core ;;
    # Before 0.21 the ESS and MCSE of the sd had another definition; 1.0 and later have another interface.
    arviz) set -- "arviz>=0.21,<1.0" numpy netCDF4 h5netcdf prophet ;;
    *)
        echo "venv.sh: '$name' is none of python, python-all, arviz: name its packages" >&2
        exit 2
        ;;
    esac
fi
mkdir -p "$folder" || exit 1
venv="$(cd "$folder" && pwd)/venv-$name"

# Bytecode is made for what is imported, when it is: for all that is installed it takes longer than the rest. An
# environment gets a pip of its own only where the system's cannot install into another (before 22.3, or none).
make_it() {
    if python3 -m pip --python "$(command -v python3)" --version >/dev/null 2>&1; then
        python3 -m venv --without-pip "$venv" &&
            python3 -m pip --python "$venv/bin/python" install --quiet --no-compile --disable-pip-version-check "$@"
    else
        python3 -m venv "$venv" &&
            "$venv/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check "$@"
    fi
}
exec 9>"$venv.lock"
flock 9
if [ ! -x "$venv/bin/python" ] || [ "$(cat "$venv/packages" 2>/dev/null)" != "$*" ]; then
    rm -rf "$venv"
    if ! make_it "$@" >"$venv.log" 2>&1; then
        rm -rf "$venv"
        echo "venv.sh: cannot install $* for the environment '$name': $(tail -n 1 "$venv.log")" >&2
        exit 1
    fi
    echo "$*" >"$venv/packages"
fi
echo "$venv/bin/python"
