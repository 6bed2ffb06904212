#!/usr/bin/env bash
# Builds what a wheel carries, as static libraries for glibc 2.31: netCDF and HDF5 (files of draws), jansson, cairo with
# what it needs for letters. Arguments: folder of the sources (sources.sh), prefix to install into. Slow: some minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$1" && pwd)
mkdir -p "$2"
prefix=$(cd "$2" && pwd)
export CC="$here/cc" CFLAGS="-O2 -fPIC -g0" CPPFLAGS="-I$prefix/include" LDFLAGS="-L$prefix/lib" AIS_COMPILE_BY=
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH=
jobs=$(nproc)

# build NAME 'configure options' 'folders to make, in this order'
build() {
    local name=$1 options=$2 folder
    shift 2
    [ ! -e "$prefix/$name.done" ] || return 0
    echo "wheel: building $name"
    rm -rf "$sources/$name.build"
    cp -a "$sources/$name" "$sources/$name.build"
    (
        cd "$sources/$name.build"
        if [ ! -e configure ]; then autoreconf -fi; fi
        # shellcheck disable=SC2086
        ./configure --prefix="$prefix" $options
        for folder in "${@:-.}"; do make -C "$folder" -j "$jobs" && make -C "$folder" install; done
        for file in *.pc; do [ ! -e "$file" ] || install -D -m 644 "$file" "$prefix/lib/pkgconfig/$file"; done
    ) >"$sources/$name.build.log" 2>&1 || { tail -n 20 "$sources/$name.build.log" >&2; echo "wheel: $name does not build" >&2; exit 1; }
    rm -rf "$sources/$name.build"
    touch "$prefix/$name.done"
}

static="--disable-shared --enable-static --with-pic"
build zlib "--static"
build jansson "$static" src
build libpng1.6 "$static"
build pixman "$static --disable-gtk --disable-libpng --disable-openmp" pixman
build expat "$static --without-docbook --without-xmlwf --without-examples --without-tests"
build freetype "$static --without-harfbuzz --without-bzip2 --without-brotli --with-png=no --with-zlib=yes"
build fontconfig "$static --disable-docs --disable-nls --sysconfdir=/etc --localstatedir=/var --with-cache-dir=/var/cache/fontconfig" fontconfig src
build cairo "$static --disable-xlib --disable-xcb --disable-gobject --disable-script --disable-interpreter --disable-trace --enable-svg --enable-pdf --enable-png --enable-ft --enable-fc --disable-gtk-doc" src
build hdf5 "$static --disable-tests --disable-tools --disable-fortran --disable-cxx --with-zlib=$prefix --without-szlib" src hl/src
build netcdf "$static --disable-dap --disable-byterange --disable-libxml2 --disable-nczarr --disable-nczarr-filters --disable-plugins --disable-utilities --disable-testsets --disable-examples"
