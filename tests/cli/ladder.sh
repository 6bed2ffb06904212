#!/usr/bin/env bash
# sample --sampler ladder: a ladder without a kernel file, with and without a gradient, in one dimension and in more; what
# it tells, its figure, budgets, threads and refusals. Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code() { local got=0; "$@" > "$work/stdout" 2> "$work/stderr" || got=$?; echo $got; }

# Two modes that no local move connects: NUTS stays where it starts.
[ "$(code "$ais" sample twomodes:dim=3 --sampler ladder --report -o "$work/modes")" = 0 ]
grep -q "^a ladder of .* rungs from .* to the target: barrier" "$work/stdout"
grep -q "^ladder: .* round trips of replicas, barrier" "$work/stdout"
grep -q "^ladder " "$work/stderr" # a stage of its own in the table
python3 - "$work/modes" <<'PYTHON'
import json, sys
folder = sys.argv[1]
summary, run = (json.load(open(f"{folder}/{name}.json")) for name in ("summary", "run"))
assert summary["sampler"] == "ladder" and summary["trust"] and summary["mode_kl"] < 0.01, summary
assert abs(summary["log_z"]) < 0.1 and 0 < summary["log_z_error"] < 0.05, (summary["log_z"], summary["log_z_error"])
assert summary["round_trips"] > 100 and 0 < summary["barrier"] < 3
assert run["configuration"]["warmup"] == 100
learning = run["training"]
beta, rejection = learning["ladder"]["beta"], learning["ladder"]["rejection"]
assert beta[0] == 0 and beta[-1] == 1 and all(a < b for a, b in zip(beta, beta[1:])), beta
assert len(rejection) == len(beta) - 1 and all(0 <= r <= 1 for r in rejection), rejection
assert abs(sum(rejection) - summary["barrier"]) < 0.15, (rejection, summary["barrier"])
assert {"ladder"} <= {point["stage"] for point in learning["curve"]}
count = summary["evaluations"]
assert count["learning"] + count["start"] + count["drawing"] + count["judging"] == count["total"]
assert count["learning"] > count["drawing"] > 4 * 1000 * (len(beta) - 1), count
PYTHON

# The figure, from the folder with its rungs, from the draws without them.
if "$ais" plot "$work/modes" --figure ladder -q -o "$work/figure" 2> "$work/stderr"; then
    grep -q 'id="ladder"' "$work/modes/report.html"
    "$ais" plot "$work/modes/draws.nc" --figure ladder -q -o "$work/alone"
    python3 - "$work" <<'PYTHON'
import sys, xml.dom.minidom
whole, alone = (open(f"{sys.argv[1]}/{name}/ladder.svg").read() for name in ("figure", "alone"))
for text in (whole, alone): xml.dom.minidom.parseString(text)
assert len(whole) > 1.5 * len(alone), "the rungs are not there"
PYTHON
else
    grep -q "without cairo" "$work/stderr"
fi

# One dimension, half of it without density, no gradient: a gamma density, log Z = log 2 - 3 log 3.
cat > "$work/gamma.c" <<'C'
#include <aisampler/density.h>
#include <math.h>
static double logp(const double *x, void *data) {
    (void)data;
    return x[0] > 0 ? 2 * log(x[0]) - 3 * x[0] : -INFINITY;
}
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};
C
[ "$(code "$ais" sample "$work/gamma.c" --sampler ladder --json -q -o "$work/gamma")" = 0 ]
python3 - "$work/stdout" <<'PYTHON'
import json, sys
summary = json.load(open(sys.argv[1]))
assert abs(summary["log_z"] + 2.60269) < 0.02, summary["log_z"]
assert abs(summary["parameters"][0]["mean"] - 1) < 0.06, summary["parameters"]
assert summary["evaluations"]["gradients"] == 0
PYTHON

# A budget is kept, and what was learned within half of it draws; the bytes do not depend on threads.
for threads in 1 3; do
    [ "$(code "$ais" sample mog2 --sampler ladder --evaluations 120000 -j $threads -q -o "$work/budget-$threads")" != 1 ]
done
cmp "$work/budget-1/draws-1.csv" "$work/budget-3/draws-1.csv"
python3 - "$work/budget-1/summary.json" <<'PYTHON'
import json, sys
count = json.load(open(sys.argv[1]))["evaluations"]
assert count["total"] <= 120000 and 0 < count["learning"] <= 60000 and count["drawing"] > 0, count
PYTHON

# With another sampler in turn.
[ "$(code "$ais" sample mog2 --sampler ladder+rwm --evaluations 120000 -q -o "$work/cycle")" != 1 ]
grep -q '"sampler": "ladder+rwm"' "$work/cycle/run.json"

refuse() { # CODE PART words...
    local wanted=$1 part=$2
    shift 2
    [ "$(code "$ais" "$@")" = "$wanted" ] && [ "$(wc -l < "$work/stderr")" = 1 ] && grep -qF -- "$part" "$work/stderr" ||
        { echo "wrong: $*: $(cat "$work/stderr")"; exit 1; }
}
refuse 2 "did you mean ladder" sample mog2 --sampler lader
refuse 2 "only once, and not both" sample mog2 --sampler ladder+anice
refuse 2 "only once, and not both" sample mog2 --sampler ladder+nuts+ladder
refuse 2 "--step-size applies only to hmc and nuts" sample mog2 --sampler ladder --step-size 0.1
refuse 2 "no density for a classical sampler" sample "data:$work/modes/draws.nc" --sampler ladder
refuse 1 "round 1 of the ladder: allow more" sample mog2 --sampler ladder --evaluations 20000 -q -o "$work/little"
[ "$(code "$ais" sample gaussian --sampler nuts -q -o "$work/nuts")" = 0 ]
refuse 2 "do not come from a ladder" plot "$work/nuts" --figure ladder -o "$work/bad"
echo "a ladder by itself keeps its promises"

# Thinned draws tell of the trips between them, too: swaps are even and odd in turn, and every second step has none.
for thin in 1 2; do "$ais" sample mog6 --sampler ladder --draws 300 --thin $thin -q -o "$work/thin$thin" || [ $? = 3 ]; done
python3 - "$work" <<'PYTHON'
import json, sys
once, twice = (json.load(open(f"{sys.argv[1]}/thin{thin}/summary.json"))["round_trips"] for thin in (1, 2))
assert 1.6 * once < twice < 2.4 * once, (once, twice)
PYTHON
