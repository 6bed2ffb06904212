#!/usr/bin/env bash
# The same seed gives identical files with 1, 2 and 7 threads, for classical and learned kernels, with and without
# budgets; another seed gives others. Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1"/tests/kernel_probe henon 14 "$work/henon.ais"
"$1"/tests/kernel_probe spline 14 "$work/spline.ais"

# In brief (tests/support/brief.h): fewer threads, and short runs.
threads_tried="1 2 7" warmup=100 draws=150 evaluations=60000 effective=1000
[ -z "${AIS_BRIEF:-}" ] || threads_tried="1 7" warmup=30 draws=20 evaluations=6000 effective=50

target=heart
limit="--draws $draws"
compare() { # name, arguments of sample
    local name=$1
    shift
    for threads in $threads_tried; do
        "$ais" sample "$target" "$@" $limit --warmup $warmup --save-warmup --quiet --threads $threads --out "$work/$threads" || [ $? = 3 ]
    done
    for threads in ${threads_tried#1}; do
        for file in "$work"/1/draws*; do
            cmp "$file" "$work/$threads/$(basename "$file")"
        done
    done
    "$ais" sample "$target" "$@" $limit --warmup $warmup --quiet --seed 2 --out "$work/other" || [ $? = 3 ]
    if cmp -s "$work/1/draws.nc" "$work/other/draws.nc"; then echo "$name: the seed is ignored"; exit 1; fi
    echo "$name: identical files with $threads_tried threads"
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
limit="--evaluations $evaluations"
compare "nuts, $evaluations evaluations" --sampler nuts --chains 5
compare "rwm, $evaluations evaluations" --sampler rwm --chains 19
limit="--effective $effective"
compare "nuts, $effective effective draws" --sampler nuts --chains 5
compare "nuts and spline, $effective effective draws" -k "$work/spline.ais" --sampler nuts --chains 5
