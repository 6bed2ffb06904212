#!/usr/bin/env bash
# The same seed gives identical files with 1, 2 and 7 threads, for classical and learned kernels; another
# seed gives others. Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1"/tests/kernel_probe henon 14 "$work/henon.ais"
"$1"/tests/kernel_probe spline 14 "$work/spline.ais"

compare() { # name, arguments of sample
    local name=$1
    shift
    for threads in 1 2 7; do
        "$ais" sample heart "$@" --draws 150 --warmup 100 --save-warmup --quiet --threads $threads --out "$work/$threads" || [ $? = 3 ]
    done
    for threads in 2 7; do
        for file in "$work"/1/draws*; do
            cmp "$file" "$work/$threads/$(basename "$file")"
        done
    done
    "$ais" sample heart "$@" --draws 150 --warmup 100 --quiet --seed 2 --out "$work/other" || [ $? = 3 ]
    if cmp -s "$work/1/draws.nc" "$work/other/draws.nc"; then echo "$name: the seed is ignored"; exit 1; fi
    echo "$name: identical files with 1, 2 and 7 threads"
    rm -rf "$work/1" "$work/2" "$work/7" "$work/other"
}
compare nuts --sampler nuts --chains 5
compare hmc --sampler hmc --chains 5
compare rwm --sampler rwm --chains 150
compare henon -k "$work/henon.ais" --chains 150
compare spline -k "$work/spline.ais" --chains 150
compare "henon and rwm" -k "$work/henon.ais" --sampler rwm --chains 150
