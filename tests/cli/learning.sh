#!/usr/bin/env bash
# run and train: the main job, kernels reused on another day, refusals, Ctrl-C. Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code() { local got=0; "$@" > "$work/stdout" 2> "$work/stderr" || got=$?; echo $got; }
say() { echo "wrong: $*"; cat "$work/stdout" "$work/stderr"; exit 1; }

# In brief (tests/support/brief.h) hardly anything is learned: how well, the normal build tells.
threads_tried="1 2 7" ring_steps=100 steps=40 heart=
[ -z "${AIS_BRIEF:-}" ] || threads_tried="1 7" ring_steps=30 steps=10 heart="--steps 60 --draws 200"

# The main job on a target whose modes NUTS cannot cross.
[ "$(code "$ais" run mog6 --json --out "$work/mog6")" = 0 ] || say run mog6
python3 - "$work" <<'PYTHON'
import json, sys
work = sys.argv[1]
summary, run = json.load(open(work + "/mog6/summary.json")), json.load(open(work + "/mog6/run.json"))
assert summary["sampler"] == "mixture" and summary["worst_ess"] > 750, summary["worst_ess"]
assert summary["train_seconds"] > 0 and summary["evaluations"]["learning"] + summary["evaluations"]["start"] < 10000
training = run["training"]
assert abs(training["log_z"]) < 0.02 and training["modes"] == 6 and training["trusted"]
assert "may be missed" in training["sentence"] and len(training["curve"]) > 1
assert {point["stage"] for point in training["curve"]} == {"judge"}
PYTHON

# A map: its fit is in the curve.
# shellcheck disable=SC2086
got=$(code "$ais" run heart $heart --json --out "$work/heart")
[ "$got" = 0 ] || { [ -n "$heart" ] && [ "$got" = 3 ]; } || say run heart
python3 - "$work" <<'PYTHON'
import json, os, sys
summary, run = (json.load(open(f"{sys.argv[1]}/heart/{name}.json")) for name in ("summary", "run"))
assert "AIS_BRIEF" in os.environ or summary["sampler"] == "realnvp+nuts@realnvp" and summary["worst_ess"] > 500, (summary["sampler"], summary["worst_ess"])
assert {point["stage"] for point in run["training"]["curve"]} == {"fisher", "judge"}
PYTHON

# The same seed gives the same kernel on any number of threads.
for threads in $threads_tried; do "$ais" train ring --steps $ring_steps -q --threads $threads -o "$work/ring-$threads.ais"; done
for threads in ${threads_tried#1}; do cmp "$work/ring-1.ais" "$work/ring-$threads.ais"; done
"$ais" train ring --steps $ring_steps -q --seed 2 -o "$work/ring-other.ais"
! cmp -s "$work/ring-1.ais" "$work/ring-other.ais"

# On another day.
[ "$(code "$ais" sample mog6 -k "$work/mog6/kernel.ais" --chains 8 --out "$work/again")" = 0 ] || say sample -k
[ "$(code "$ais" sample mog6 -k "$work/mog6/kernel.ais" -s rwm --chains 8 --out "$work/cycle")" = 0 ] || say cycle
[ "$(code "$ais" sample heart -k "$work/mog6/kernel.ais" -q --out "$work/no")" = 2 ] || say wrong dimension
grep -q "dimension" "$work/stderr"

# Families, objectives and starts.
for options in "--map henon --layers 4" "--preset paper" "--map henon --objective adversarial --loss logistic" \
    "--map realnvp --objective likelihood" "--map realnvp --objective likelihood+exact" "--map spline --bins 8" \
    "--objective fisher" "--start anneal" "--start nuts" "--start $work/again/draws.nc"; do
    target=ring
    [ "$options" = "--start $work/again/draws.nc" ] && target=mog6
    population=
    case $options in *henon*|*paper*) population="--population 128" ;; esac
    # shellcheck disable=SC2086
    got=$(code "$ais" train $target $options --steps $steps $population -q -o "$work/k.ais")
    [ "$got" = 0 ] || say "$options: $got"
    "$ais" sample $target -k "$work/k.ais" --draws 50 -q --out "$work/short" || [ $? = 3 ]
done
for options in "--map spline --involution flip" "--preset paper --layers 3" "--loss rlogr" "--map henon --bins 4" \
    "--objective nonsense" "--map spline --objective adversarial" "--population 64" "--map henon --effective 100"; do
    # shellcheck disable=SC2086
    got=$(code "$ais" train ring $options -q -o "$work/no.ais")
    [ "$got" = 2 ] || say "$options: $got"
    [ ! -e "$work/no.ais" ]
done
[ "$(code "$ais" train ring -q --start nothere.nc -o "$work/no.ais")" = 1 ] || say missing start
[ "$(code "$ais" train ring -q --steps 20 -o "$work/no/where.ais")" = 1 ] || say unwritable

# The baseline: its kernel is a file like others; options that it does not look at are refused. In brief
# (tests/support/brief.h) it is hardly trained.
anice_steps=12 anice_iterations=3
[ -z "${AIS_BRIEF:-}" ] || anice_steps=2 anice_iterations=1
for threads in 1 3; do "$ais" train mog2 --sampler anice --steps $anice_steps --hidden 32 -q --threads $threads -o "$work/anice-$threads.ais"; done
cmp "$work/anice-1.ais" "$work/anice-3.ais"
"$ais" sample mog2 -k "$work/anice-1.ais" --draws 50 -q --out "$work/anice" || [ $? = 3 ]
"$ais" sample mog2 --sampler anice+rwm --iterations $anice_iterations --draws 50 -q --out "$work/anice-now" || [ $? = 3 ]
grep -q '"sampler": "anice+rwm"' "$work/anice-now/summary.json"
grep -q '"stage": "anice"' "$work/anice-now/run.json"
for options in "train mog2 --sampler anice --layers 3" "sample mog2 --sampler anice+nutss" "sample mog2 --sampler anice+anice" \
    "sample mog2 --sampler nuts --iterations 5" "sample mog2 -k $work/anice-1.ais --test barker" "sample heart -k $work/anice-1.ais" \
    "train data:$work/again/draws.nc --sampler anice"; do
    # shellcheck disable=SC2086
    got=$(code "$ais" $options -q -o "$work/refused")
    [ "$got" = 2 ] || say "$options: $got"
done

# Ctrl-C keeps the best kernel so far.
"$ais" train ring5 --map henon --steps 100000 -q -o "$work/stopped.ais" 2> "$work/stderr" &
job=$!
while [ ! -s "$work/stopped.ais.training" ] && kill -0 $job; do sleep 0.1; done # the start is over, steps are made
kill -INT $job
wait $job
[ -s "$work/stopped.ais" ] && grep -q "best kernel so far" "$work/stderr"
echo "learning from the command works"
