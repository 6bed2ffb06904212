#!/usr/bin/env bash
# Debian's sources of what a wheel carries, unpacked into a folder, one folder each. apt's own settings are left alone.
# Argument: the folder. Where the mirror has no patches of a package, its original is taken, and told.
set -eu
mkdir -p "$1/apt/parts" "$1/apt/lists/partial" "$1/apt/cache"
cd "$1"
for file in /etc/apt/sources.list.d/debian.sources; do
    sed 's/^Types: .*/Types: deb-src/' "$file" >"apt/parts/$(basename "$file")"
done
cat >apt/apt.conf <<END
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$PWD/apt/parts";
Dir::State::Lists "$PWD/apt/lists";
Dir::Cache "$PWD/apt/cache";
APT::Sandbox::User "root";
END
export APT_CONFIG=$PWD/apt/apt.conf
apt-get update -qq
for package in zlib jansson libpng1.6 pixman expat freetype fontconfig cairo hdf5 netcdf; do
    [ ! -d "$package" ] || continue
    mkdir -p "$package.part"
    if (cd "$package.part" && apt-get source -qq "$package") >"$package.log" 2>&1; then
        mv "$(find "$package.part" -mindepth 1 -maxdepth 1 -type d)" "$package"
    else
        original=$(find "$package.part" -name '*.orig.tar.*' ! -name '*.asc' | head -n 1)
        [ -n "$original" ] || { echo "wheel: no sources of $package: $(tail -n 1 "$package.log")" >&2; exit 1; }
        echo "wheel: $package is $(basename "$original") without Debian's patches, which the mirror does not have" >&2
        mkdir -p "$package.all"
        tar -C "$package.all" -xf "$original" --strip-components 1
        mv "$package.all" "$package"
    fi
    rm -rf "$package.part"
done
