#!/usr/bin/env bash
# Builds what a wheel carries, as static libraries for glibc 2.31: netCDF and HDF5 (files of draws), jansson, cairo with
# what it needs for letters. Arguments: folder of the sources (sources.sh), prefix to install into. Slow: some minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$1" && pwd)
mkdir -p "$2"
prefix=$(cd "$2" && pwd)
export CC="$here/cc" CFLAGS="-O2 -fPIC -g0 -w -Wno-error=implicit-int" CPPFLAGS="-I$prefix/include" LDFLAGS="-L$prefix/lib" AIS_COMPILE_BY=
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH=
jobs=$(nproc)

# build NAME COMMAND...: in a copy of the sources, once.
build() {
    local name=$1 status
    shift
    [ ! -e "$prefix/$name.done" ] || return 0
    echo "wheel: building $name"
    rm -rf "$sources/$name.build"
    cp -a "$sources/$name" "$sources/$name.build"
    set +e # behind || a subshell would go on after a failure
    (
        set -e
        cd "$sources/$name.build"
        "$@"
    ) >"$sources/$name.build.log" 2>&1
    status=$?
    set -e
    [ $status = 0 ] || {
        grep -iE "error" "$sources/$name.build.log" | tail -n 5 >&2
        echo "wheel: $name does not build; all of it is in $sources/$name.build.log" >&2
        exit 1
    }
    mkdir -p "$prefix/licenses/$name"
    find "$sources/$name.build" -maxdepth 2 \( -name 'COPYING*' -o -name 'COPYRIGHT' -o -name 'LICENSE*' \) -type f \
        -exec cp {} "$prefix/licenses/$name" \;
    rm -rf "$sources/$name.build"
    touch "$prefix/$name.done"
}

# with_configure 'FOLDERS' OPTIONS...: makes and installs these folders alone.
with_configure() {
    local folders=$1 folder file
    shift
    [ -e configure ] || autoreconf -fi
    # Patched files are newer than what was made of them; what is there is good enough.
    find . -name aclocal.m4 -exec touch {} +
    find . \( -name configure -o -name Makefile.in -o -name '*.h.in' \) -exec touch {} +
    ./configure --prefix="$prefix" "$@"
    for folder in $folders; do
        make -C "$folder" -j "$jobs"
        make -C "$folder" install
    done
    rm -f ./*-uninstalled.pc src/*-uninstalled.pc
    for file in *.pc src/*.pc; do [ ! -e "$file" ] || install -D -m 644 "$file" "$prefix/lib/pkgconfig/$(basename "$file")"; done
}

# with_cmake FOLDER OPTIONS...
with_cmake() {
    local folder=$1
    shift
    cmake -S "$folder" -B made -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_FIND_ROOT_PATH="$prefix" -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF "$@"
    cmake --build made -j "$jobs"
    cmake --install made
}

static="--disable-shared --enable-static --with-pic"
build zlib with_configure . --static
build jansson with_cmake . -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON
build libpng1.6 with_configure . $static
build pixman with_configure pixman $static --disable-gtk --disable-libpng --disable-openmp
build expat with_cmake expat -DEXPAT_BUILD_DOCS=OFF -DEXPAT_BUILD_TOOLS=OFF -DEXPAT_BUILD_EXAMPLES=OFF -DEXPAT_BUILD_TESTS=OFF \
    -DEXPAT_SHARED_LIBS=OFF
build freetype with_configure . $static --without-harfbuzz --without-bzip2 --without-brotli --with-png=no --with-zlib=yes
build fontconfig with_configure "fontconfig src" $static --disable-docs --disable-nls --sysconfdir=/etc --localstatedir=/var \
    --with-cache-dir=/var/cache/fontconfig
export ax_cv_c_float_words_bigendian=no # cairo looks for it in object files, where zig does not leave it
build cairo with_configure src $static --disable-xlib --disable-xcb --disable-gobject --disable-script --disable-interpreter \
    --disable-trace --enable-svg --enable-pdf --enable-png --enable-ft --enable-fc --disable-gtk-doc
build hdf5 with_configure "src hl/src" $static --disable-tests --disable-tools --disable-fortran --disable-cxx --with-zlib="$prefix" \
    --without-szlib
export LIBS="-lhdf5_hl -lhdf5 -lz -lm -ldl" # static libraries do not say what they need
build netcdf with_configure . $static --disable-dap --disable-byterange --disable-libxml2 --disable-nczarr --disable-nczarr-filters \
    --disable-plugins --disable-utilities --disable-testsets --disable-examples
sed -i "s/@HDF5_[A-Z]*@//" "$prefix/lib/pkgconfig/netcdf.pc" # which netCDF forgot to fill in
