#!/usr/bin/env bash
# A training that is killed again and again and resumed, on another number of threads each time, gives the kernel of one
# that was never interrupted, byte for byte. Argument: the build folder. Takes about a minute, several on a busy machine.
set -eu
ais=$(realpath "$1/aisampler")
work=$(mktemp -d)
job=
trap '[ -z "$job" ] || kill -KILL "$job" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
code() { local got=0; "$@" > stdout 2> stderr || got=$?; echo $got; }
say() { echo "wrong: $*"; cat stdout stderr; exit 1; }
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"; }

# Starts a training and kills it after so many renewals of its checkpoint, however fast the machine; 1 when it was done
# before.
interrupted() { # signal, renewals, checkpoint, arguments
    local signal=$1 renewals=$2 checkpoint=$3 got=0 seen now
    shift 3
    seen=$(stat -c %i-%y "$checkpoint" 2>/dev/null || true)
    "$ais" "$@" --checkpoint 0.02 > stdout 2> stderr &
    job=$!
    while [ "$renewals" -gt 0 ] && kill -0 $job 2>/dev/null; do
        now=$(stat -c %i-%y "$checkpoint" 2>/dev/null || true)
        [ "$now" = "$seen" ] || renewals=$((renewals - 1))
        seen=$now
    done
    kill "-$signal" $job 2>/dev/null || true
    wait $job 2>/dev/null || got=$?
    job=
    [ "$renewals" = 0 ] && { [ "$signal" != KILL ] || [ $got = 137 ]; }
}

compare() { # name, arguments of train
    local name=$1 kills=0 threads=1
    shift
    "$ais" train "$@" -q -j 1 -o whole.ais
    [ ! -e whole.ais.training ] # gone with success
    for renewals in 1 3 2 8; do
        threads=$((threads % 3 + 1))
        if ! interrupted KILL $renewals killed.ais.training train "$@" --resume -q -j $threads -o killed.ais; then break; fi
        kills=$((kills + 1))
    done
    [ $kills -gt 0 ] || { echo "$name: was too fast to be killed"; exit 1; }
    if [ ! -e killed.ais ]; then
        [ -e killed.ais.training ] || { echo "$name: no checkpoint after $kills kills"; exit 1; }
        "$ais" train "$@" --resume -q -j 2 -o killed.ais
        [ "$(field killed.ais.json resumed)" = True ]
    fi
    [ ! -e killed.ais.training ]
    cmp whole.ais killed.ais
    echo "$name: killed $kills times, the same kernel"
    rm -f ./*.ais ./*.json ./*.training*
}
cat > plain.c <<'C'
#include <aisampler/density.h>
#include <math.h>

/* Rings of radius 1 to 5, without a gradient. */
static double logp(const double *x, void *data) {
    double sum = 0, r = sqrt(x[0] * x[0] + x[1] * x[1]);
    (void)data;
    for (int k = 1; k <= 5; k++) sum += exp(-25 * (r - k) * (r - k));
    return sum > 0 ? log(sum) : -INFINITY;
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp, .start_scale = 5};
C
compare "one mode, with a gradient" heart
compare "explored with NUTS" funnel:dim=8 --map realnvp --layers 8
compare "rings without a gradient" plain.c
compare "rings with a gradient" ring5 --map spline
compare "realnvp on heart" heart --map realnvp --layers 8 --steps 600
compare henon mog6 --map henon --layers 8 --steps 300 --objective likelihood+exact+adversarial
compare "the paper's setting" mog2 --preset paper --steps 500
compare "the baseline" mog2 --sampler anice --steps 120
"$ais" sample mog6 --sampler rwm --draws 1000 --chains 8 --format csv -q --out draws || [ $? = 3 ]
cat draws/draws-1.csv > draws.csv
compare "from draws" data:draws.csv --steps 500

# run: the training goes on, then draws are made, and all files are the same (tests/fault/drawing.sh: while it draws).
"$ais" run ring5 --map spline --draws 300 -q --out whole || [ $? = 3 ]
interrupted KILL 3 killed/kernel.ais.training run ring5 --map spline --draws 300 -q --out killed || say run was too fast to be killed
[ -e killed/kernel.ais.training ]
[ "$(code "$ais" run ring5 --map spline --draws 300 -q --resume --out killed)" != 1 ] || say run --resume
cmp whole/kernel.ais killed/kernel.ais
cmp whole/draws.nc killed/draws.nc
[ ! -e killed/kernel.ais.training ]

# Nothing to resume: it says so and begins; an old checkpoint that is not asked for is spoken of.
[ "$(code "$ais" train mog2 --resume --steps 60 -q -o fresh.ais)" = 0 ] || say fresh
grep -q "^aisampler: nothing to resume, there is no fresh.ais.training: training starts from the beginning$" stderr || say fresh
interrupted KILL 2 k.ais.training train ring5 --map spline --rate 0.001 -q -o k.ais || say ring5 was too fast to be killed
[ -e k.ais.training ]
cp k.ais.training good
refused() { # exit code, what it says, arguments of train
    local wanted=$1 why=$2
    shift 2
    cp k.ais.training before
    [ "$(code "$ais" "$@" --resume -q -o k.ais)" = "$wanted" ] || say "$*"
    grep -q "$why" stderr || say "$*"
    [ "$(wc -l < stderr)" = 1 ] || say "$*"
    cmp -s before k.ais.training || say "$*: the checkpoint was touched"
}
refused 2 "belongs to another training: there it is 'seed 1', here 'seed 2'" train ring5 --map spline --rate 0.001 --seed 2
refused 2 "belongs to another training: there it is 'target ring5', here 'target mog2'" train mog2 --rate 0.001
refused 2 "belongs to another training" train ring5 --map spline
refused 2 "there it is 'evaluations 0', here 'evaluations " train ring5 --map spline --rate 0.001 --evaluations 9000
head -c 20000 good > k.ais.training
refused 1 "its checksum is wrong, so it is damaged or cut short" train ring5 --map spline --rate 0.001
: > k.ais.training
refused 1 "does not begin like a checkpoint" train ring5 --map spline --rate 0.001
python3 - <<'PYTHON'
data = bytearray(open("good", "rb").read())
data[len(data) // 2] ^= 1
open("k.ais.training", "wb").write(data)
PYTHON
refused 1 "its checksum is wrong" train ring5 --map spline --rate 0.001
[ "$(code "$ais" train ring5 --map spline --steps 40 -q -o k.ais)" = 0 ] || say from the beginning
grep -q "training starts from the beginning; --resume would have continued from k.ais.training" stderr || say from the beginning

# Ctrl-C keeps the best kernel and the checkpoint. Stopped before a judgement it says so, and no number that is none.
interrupted INT 3 stopped.ais.training train data:draws.csv --steps 100000 -o stopped.ais || say stopped
grep -q "stopped before the kernel was judged" stdout || say stopped
grep -q "stopped while the map was learned" stdout || say stopped
! grep -qi nan stdout || say stopped
[ -s stopped.ais ] && [ -s stopped.ais.training ]
echo "killed, damaged and foreign trainings are told apart"
