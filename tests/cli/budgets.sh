#!/usr/bin/env bash
# --effective, --evaluations and --seconds: kept, counted in full, and refused in one line where they make no sense.
# Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A density that says at the end how often it was asked, whoever asked.
cat >"$work/asked.c" <<'C'
#include <aisampler/density.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static atomic_long densities, gradients;
static double value(const double *x) { return -0.5 * x[0] * x[0] - 2 * x[1] * x[1] - x[2] * x[2]; }
static double logp(const double *x, void *data) {
    (void)data;
    densities++;
    if (getenv("SLOW")) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return value(x);
}
static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    gradients++;
    gradient[0] = -x[0];
    gradient[1] = -4 * x[1];
    gradient[2] = -2 * x[2];
    return value(x);
}
__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("ASKED");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld %ld\n", (long)densities, (long)gradients);
    fclose(file);
}
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 3, .logp = logp, .grad = grad};
C
export ASKED=$work/asked

judge() { # what ended it, the most evaluations (0: any)
    python3 - "$work" "$@" <<'PYTHON'
import json, sys
work, ended, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
densities, gradients = map(int, open(work + "/asked").read().split())
summary, run = json.load(open(work + "/out/summary.json")), json.load(open(work + "/out/run.json"))
for count in summary["evaluations"], run["evaluations"]:
    assert (count["densities"], count["gradients"]) == (densities, gradients), (count, densities, gradients)
    assert count["total"] == densities + gradients == count["start"] + count["learning"] + count["drawing"] + count["judging"], count
    assert count["start"] > 0 and count["learning"] == 0 and count["drawing"] > 0, count
assert summary["ended"] == run["ended"] == ended, (summary["ended"], run["ended"])
assert not most or densities + gradients <= most, (densities, gradients, most)
if ended == "effective":
    assert summary["worst_ess"] * summary["chains"] >= 700, summary["worst_ess"]
PYTHON
}
draw() { "$ais" sample "$work/asked.c" --out "$work/out" "$@" >"$work/stdout" 2>"$work/stderr" || [ $? = 3 ]; }

draw --sampler rwm --chains 3 --draws 200
judge draws 0
grep -q "^evaluations: [0-9]* densities, [0-9]* gradients$" "$work/stdout"
grep -q "^of these: [0-9]* to start, [0-9]* to draw, [0-9]* to judge$" "$work/stdout"
for sampler in rwm nuts hmc; do
    for budget in 3000 20000; do
        draw --sampler $sampler --evaluations $budget --draws 100000 --report
        judge evaluations $budget
    done
done
grep -q "to start" "$work/out/report.html"
grep -q "all 20000 evaluations are used up" "$work/stderr"
draw --sampler nuts --effective 700
judge effective 0
grep -q "worst ESS [0-9]* of all chains, 700 were wanted" "$work/stderr"
export SLOW=yes
draw --sampler rwm --warmup 20 --seconds 4 --draws 100000
unset SLOW
judge seconds 0
grep -q "the deadline of 4 s" "$work/stderr"

# A henon kernel learns until the deadline: all its steps take far longer.
timeout 20 "$ais" train mog2 --map henon --seconds 2 --quiet -o "$work/henon.ais" >"$work/stdout" 2>"$work/stderr"
[ -s "$work/henon.ais" ]

refused() { # words that must be there, arguments
    local words=$1 code=0
    shift
    "$ais" "$@" >"$work/stdout" 2>"$work/stderr" || code=$?
    [ $code = 1 ] || [ $code = 2 ] || { echo "$*: exit code $code"; exit 1; }
    [ "$(wc -l <"$work/stderr")" = 1 ] || { cat "$work/stderr"; echo "$*: not one line"; exit 1; }
    grep -q -- "$words" "$work/stderr" || { cat "$work/stderr"; echo "$*: '$words' is missing"; exit 1; }
}
out=$work/bad
for command in sample run train; do
    refused "too few to start with" $command "$work/asked.c" --evaluations 20 --out "$out"
    refused "must not be negative" $command "$work/asked.c" --evaluations=-1 --out "$out"
    refused "must not be negative" $command "$work/asked.c" --seconds=-1 --out "$out"
    refused "must not be negative" $command "$work/asked.c" --effective=-1 --out "$out"
    refused "whole number" $command "$work/asked.c" --evaluations 99.5 --out "$out"
    refused "over before\|no time left" $command "$work/asked.c" --seconds 1e-6 --out "$out"
done
for command in sample run; do
    refused "more than 4 chains of at most 10 draws" $command "$work/asked.c" --chains 4 --draws 10 --effective 41 --out "$out"
done
refused "at least" sample "$work/asked.c" --warmup 1000 --evaluations 3000 --out "$out"
refused "evaluations were spent after" sample "$work/asked.c" --sampler nuts --warmup 1000 --evaluations 6000 --out "$out" --quiet
refused "takes --steps, --rate, --hidden, --checkpoint and --resume only" train "$work/asked.c" --sampler anice --evaluations 100000 --out "$out"

# An imprecise gradient is told once, and used.
sed 's/-4 \* x\[1\]/-4.02 * x[1]/' "$work/asked.c" >"$work/imprecise.c"
"$ais" sample "$work/imprecise.c" --sampler nuts --draws 50 --warmup 50 --quiet --out "$out" 2>"$work/stderr" || [ $? = 3 ]
[ "$(grep -c "imprecise and is used as it is: by x.2 (coordinate 2)" "$work/stderr")" = 1 ]
sed 's/-4 \* x\[1\]/-4.4 * x[1]/' "$work/asked.c" >"$work/wrong.c"
refused "the gradient by x.2 (coordinate 2) is" sample "$work/wrong.c" --out "$out"
