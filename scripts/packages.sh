#!/usr/bin/env bash
# Installs the Debian packages the project needs, those that are missing only. Arguments: which of the
# groups build, test (to build the tests), check (what some tests need beside), docs (scripts/docs.sh),
# wheel (scripts/wheel.sh), emulator (bench/avx512), fuzz (tests/fuzz/run.sh) and lint. As root or through sudo; says by name what it could not install.
set -u
declare -A group=(
    [build]="gcc libc6-dev make cmake ninja-build pkg-config librandom123-dev libnetcdf-dev libjansson-dev libcairo2-dev"
    [test]="libcmocka-dev python3 python3-venv"
    [check]="libopenmpi-dev openmpi-bin chromium mandoc zsh doxygen"
    [docs]="doxygen python3 python3-venv"
    [wheel]="dpkg-dev patch autoconf automake libtool gperf"
    [emulator]="bochs bochsbios vgabios bochs-term busybox-static isolinux syslinux-common xorriso cpio"
    [fuzz]="clang libclang-rt-14-dev"
    [lint]="clang-format clang-tidy cppcheck"
)
wanted=""
for name in "$@"; do wanted+=" ${group[$name]:?unknown group $name}"; done

missing=()
for package in $wanted; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" = 0 ]; then become=""; elif command -v sudo >/dev/null; then become=sudo; else
    echo "aisampler: these Debian packages are missing and you are neither root nor have sudo: ${missing[*]}" >&2
    exit 1
fi
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$become apt-get update -qq >/dev/null 2>&1
$become apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1 && exit 0

# One by one, to find out which.
refused=()
for package in "${missing[@]}"; do
    $become apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 || refused+=("$package")
done
[ ${#refused[@]} -eq 0 ] && exit 0
echo "aisampler: could not install these Debian packages: ${refused[*]}" >&2
exit 1
