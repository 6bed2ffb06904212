#!/usr/bin/env bash
# The same seed gives identical files with 1, 2 and 7 threads, for classical and learned kernels, with and without
# budgets; another seed gives others. Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1"/tests/kernel_probe henon 14 "$work/henon.ais"
"$1"/tests/kernel_probe spline 14 "$work/spline.ais"

target=heart
limit="--draws 150"
compare() { # name, arguments of sample
    local name=$1
    shift
    for threads in 1 2 7; do
        "$ais" sample "$target" "$@" $limit --warmup 100 --save-warmup --quiet --threads $threads --out "$work/$threads" || [ $? = 3 ]
    done
    for threads in 2 7; do
        for file in "$work"/1/draws*; do
            cmp "$file" "$work/$threads/$(basename "$file")"
        done
    done
    "$ais" sample "$target" "$@" $limit --warmup 100 --quiet --seed 2 --out "$work/other" || [ $? = 3 ]
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

# Without a batch form chains are shared out over the threads one by one; and budgets are dealt in shares that no thread sees.
cat >"$work/plain.c" <<'C'
#include <aisampler/density.h>
static double logp(const double *x, void *data) {
    (void)data;
    double sum = 0;
    for (int i = 0; i < 14; i++) sum -= 0.5 * x[i] * x[i] * (1 + i);
    return sum;
}
static double grad(const double *x, double *gradient, void *data) {
    for (int i = 0; i < 14; i++) gradient[i] = -x[i] * (1 + i);
    return logp(x, data);
}
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 14, .logp = logp, .grad = grad};
C
target=$work/plain.c
compare "henon, no batch form" -k "$work/henon.ais" --chains 19
compare "spline, no batch form" -k "$work/spline.ais" --chains 19
compare "rwm, no batch form" --sampler rwm --chains 19
limit="--evaluations 60000"
compare "nuts, 60,000 evaluations" --sampler nuts --chains 5
compare "rwm, 60,000 evaluations" --sampler rwm --chains 19
limit="--effective 1000"
compare "nuts, 1000 effective draws" --sampler nuts --chains 5
compare "nuts and spline, 1000 effective draws" -k "$work/spline.ais" --sampler nuts --chains 5
