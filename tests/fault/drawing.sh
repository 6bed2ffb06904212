#!/usr/bin/env bash
# Drawing that is killed or stopped goes on to the same bytes, with other threads and ranks; SIGTERM ends in time with
# complete files and says how to go on; a finished run is extended; two runs do not write into one folder.
# Argument: the build folder.
set -eu
build=$(realpath "$1")
ais=$build/aisampler
source=$PWD
work=$(mktemp -d)
job=
trap '[ -z "$job" ] || kill -KILL "$job" 2>/dev/null || true; rm -rf "$work"' EXIT
code() { local got=0; "$@" > "$work/stdout" 2> "$work/stderr" || got=$?; echo $got; }
say() { echo "wrong: $*"; cat "$work/stdout" "$work/stderr"; exit 1; }
same() { # folders
    for file in "$1"/draws*; do cmp "$file" "$2/$(basename "$file")" || say "$2"; done
    python3 - "$1" "$2" <<'PYTHON' || say "$2: summary.json"
import json, sys
clock = "train_seconds warmup_seconds sample_seconds ess_per_second ess_per_second_with_training".split()
one, two = ({k: v for k, v in json.load(open(f"{folder}/summary.json")).items() if k not in clock} for folder in sys.argv[1:])
sys.exit([k for k in one if one[k] != two[k]] or 0)
PYTHON
}
until_drawing() { # folder, checkpoints: waits until there are so many of the job's
    local left=$2 seen now
    seen=$(stat -c %i-%y "$1/drawing.checkpoint" 2>/dev/null || true)
    while [ "$left" -gt 0 ] && kill -0 $job 2>/dev/null; do
        now=$(stat -c %i-%y "$1/drawing.checkpoint" 2>/dev/null || true)
        [ "$now" = "$seen" ] || left=$((left - 1))
        seen=$now
    done
}

# Killed at random moments: a few of what bench/faults/kills.py does by the hundred.
kills=4
[ -z "${AIS_BRIEF:-}" ] || kills=2
[ "$(code python3 "$source/bench/faults/kills.py" "$build" --learning 0 --drawing $kills --scale 0.3 --seed $$)" = 0 ] || say kills
grep '^| all' "$work/stdout"
cd "$work"

# SIGTERM: complete files, a verdict, a line that goes on; then the same bytes as without.
nuts="sample heart --sampler nuts --chains 3 --warmup 200 --draws 4000 --thin 6"
"$ais" $nuts -q -o whole
"$ais" $nuts -q -o 'stopped here' --checkpoint 0.01 > stdout 2> stderr & job=$!
until_drawing 'stopped here' 4
# warm-up is not in the journal: there are draws when it has bytes
while [ "$(stat -c %s 'stopped here/drawing.checkpoint.journal')" -lt 4000 ] && kill -0 $job; do sleep 0.01; done
kill -TERM $job
got=0; wait $job || got=$?
job=
[ $got = 1 ] || say "exit $got"
[ -e 'stopped here/draws.nc' ] && [ -e 'stopped here/summary.json' ] || say "no complete files"
[ -z "$(ls 'stopped here'/*.part 2>/dev/null)" ] || say "parts are left"
[ "$(wc -l < stderr)" = 1 ] || say "more than a line"
on="aisampler $nuts -q -o 'stopped here' --checkpoint 0.01 --resume"
grep -qF "; the files in stopped here are complete up to there; continue with: $on" stderr || say "how to go on"
sh -c "$ais ${on#aisampler }" || [ $? = 3 ] || say resumed
same whole 'stopped here'
# What is over is not drawn again, and not judged otherwise.
"$ais" $nuts -q -o 'stopped here' --resume
same whole 'stopped here'
echo "stopped and gone on with: the same bytes"

# Extended, twice, by the command and after a kill.
short="sample heart --sampler nuts --chains 3 --warmup 200 --thin 6"
"$ais" $short --draws 1000 -q -o longer || [ $? = 3 ]
"$ais" $short --draws 1000 --extend 500 -q -o longer || [ $? = 3 ]
"$ais" $short --draws 1000 --extend 2500 -q -o longer --checkpoint 0.01 > stdout 2> stderr & job=$!
until_drawing longer 3
kill -KILL $job
wait $job 2>/dev/null || true
job=
[ "$(code "$ais" $short --draws 1000 --extend 2500 -q -o longer)" = 2 ] || say "extended before it was resumed"
grep -q "resume it before it is extended" stderr || say unfinished
"$ais" $short --draws 1000 --resume -q -j 1 -o longer
same whole longer
[ "$(code "$ais" $short --extend 5 -q -o nowhere)" = 2 ] || say "nothing to extend"
grep -q "^aisampler: there is nothing to extend: no nowhere/drawing.checkpoint$" stderr || say "nothing to extend"
echo "extended: the same bytes as asked for at once"

# run: learned once, drawn in three parts.
"$ais" run mog6 --draws 600 --thin 20 -q -o learned || [ $? = 3 ]
"$ais" run mog6 --draws 200 --thin 20 -q -o parts || [ $? = 3 ]
"$ais" run mog6 --draws 200 --thin 20 -q -o parts --extend 150 || [ $? = 3 ]
"$ais" run mog6 --draws 200 --thin 20 -q -o parts --extend 250 || [ $? = 3 ]
same learned parts
cmp learned/kernel.ais parts/kernel.ais
[ "$(code "$ais" run mog6 --draws 200 --thin 20 -q -o parts --seed 2 --extend 5)" = 2 ] || say "another seed"
grep -q "belongs to another run: there it is 'seed 1', here 'seed 2'" stderr || say "another seed"
[ "$(code "$ais" run mog6 --no-checkpoint --resume)" = 2 ] || say contradiction
"$ais" run mog6 --draws 50 --no-checkpoint -q -o plain || [ $? = 3 ]
[ ! -e plain/drawing.checkpoint ] && [ ! -e plain/drawing.checkpoint.journal ] || say "a checkpoint without being asked"

# SIGTERM while it learns: the kernel and the checkpoint of learning are kept, nothing is drawn, and it ends.
"$ais" run ring5 --map spline --draws 300 -q -o taught || [ $? = 3 ]
"$ais" run ring5 --map spline --draws 300 -q -o term --checkpoint 0.01 > stdout 2> stderr & job=$!
while [ ! -e term/kernel.ais.training ] && kill -0 $job; do sleep 0.01; done
kill -TERM $job
got=0; wait $job || got=$?
job=
[ $got = 1 ] || say "exit $got"
grep -q "; continue with: aisampler run ring5 --map spline --draws 300 -q -o term --checkpoint 0.01 --resume$" stderr || say "how to go on"
[ "$(wc -l < stderr)" = 1 ] || say "more than a line"
[ ! -e term/draws.nc ] || say "draws of half a kernel"
"$ais" run ring5 --map spline --draws 300 -q -o term --resume || [ $? = 3 ]
same taught term

# SIGTERM, and 15 s later something is still under way that is no call of the density (here its patience is over at
# once): the line does not blame the density, and the run goes on to the same bytes.
cat > impatient.c <<'C'
#include <signal.h>
unsigned alarm(unsigned seconds) { return seconds == 15 && raise(SIGALRM) ? 1 : 0; }
C
cc -shared -fPIC -o impatient.so impatient.c
cat > quick.c <<'C'
#include <aisampler/density.h>
static double logp(const double *x, void *data) {
    (void)data;
    return -0.5 * (x[0] * x[0] + x[1] * x[1]);
}
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp};
C
for target in ring5 quick.c; do
    rm -rf term
    LD_PRELOAD=./impatient.so "$ais" run $target --map spline --draws 300 -q -o term --checkpoint 0.01 > stdout 2> stderr & job=$!
    while [ ! -e term/kernel.ais.training ] && kill -0 $job; do sleep 0.01; done
    kill -TERM $job
    got=0; wait $job || got=$?
    job=
    [ $got = 1 ] && [ "$(wc -l < stderr)" = 1 ] || say "exit $got"
    case $target in
        ring5) grep -q "^aisampler: a computation (the fit of a map, for instance) or a call of the density had not ended 15 s after SIGTERM: " stderr || say late ;;
        *) grep -q "^aisampler: a computation between calls of the density (the fit of a map, for instance) had not ended 15 s after SIGTERM: " stderr \
            || grep -q "^aisampler: quick.c had not returned and was given up " stderr || say late ;;
    esac
    [ $target = quick.c ] || { "$ais" run $target --map spline --draws 300 -q -o term --resume || [ $? = 3 ]; same taught term; }
done
echo "SIGTERM while something else than the density is under way: it is not blamed"

# SIGTERM while the density hangs, on all threads: within 20 s it is given up, and the files are complete.
if [ -z "${AIS_BRIEF:-}" ]; then
    cat > hangs.c <<'C'
#include <aisampler/density.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_long calls;
static double logp(const double *x, void *data) {
    (void)data;
    if (atomic_fetch_add(&calls, 1) == 20000 && !close(creat("hangs", 0600))) (void)0;
    while (atomic_load(&calls) > 20000) usleep(100000);
    return -0.5 * (x[0] * x[0] + x[1] * x[1]);
}
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp};
C
    sed -i 's/#include <unistd.h>/#include <fcntl.h>\n&/' hangs.c
    "$ais" sample hangs.c --sampler rwm --draws 100000 -q -j 3 -o hanging > stdout 2> stderr & job=$!
    while [ ! -e hangs ] && kill -0 $job; do sleep 0.05; done
    began=$SECONDS got=0
    kill -TERM $job
    wait $job || got=$?
    job=
    [ $got = 1 ] && [ $((SECONDS - began)) -le 20 ] || say "exit $got after $((SECONDS - began)) s"
    grep -q "hangs.c did not return and was abandoned .* the files in hanging are complete up to there; continue with: " stderr || say hanging
    [ -e hanging/draws.nc ] || say hanging
    echo "SIGTERM while the density hangs: $((SECONDS - began)) s"
fi

# Two runs into one folder: the second refuses, in a line, and leaves the first alone; a dead one keeps nobody out.
"$ais" sample heart --sampler nuts --chains 2 --draws 100000000 -q -o shared > /dev/null 2>&1 & job=$!
until_drawing shared 1
[ "$(code "$ais" sample mog6 --sampler rwm -q -o shared)" = 1 ] || say "two runs into one folder"
grep -q "^aisampler: another run (process $job on .*) is writing into shared: wait until it ends, or choose another directory$" stderr || say lock
[ "$(wc -l < stderr)" = 1 ] || say "more than a line"
kill -KILL $job
wait $job 2>/dev/null || true
job=
"$ais" sample mog6 --sampler rwm --draws 100 -q -o shared || [ $? = 3 ] || say "a dead run's lock"
echo "two runs into one folder: the second refuses"

# Ranks: killed with three, gone on with two and then one.
if command -v mpirun > /dev/null && ldd "$ais" | grep -q libmpi; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    for ranks in 3 2; do
        mpirun -n $ranks "$ais" $nuts -q -j 1 -o ranks --checkpoint 0.01 --resume > stdout 2> stderr & job=$!
        until_drawing ranks 3
        kill -KILL $job 2>/dev/null || true # mpirun: the ranks end with it
        wait $job 2>/dev/null || true
        job=
        for _ in $(seq 100); do flock -n ranks/.lock true && break; sleep 0.1; done
    done
    mpirun -n 2 "$ais" $nuts -q -j 1 -o ranks --resume > stdout 2> stderr || [ $? = 3 ] || say ranks
    same whole ranks
    echo "killed on three and two ranks, the same bytes"
fi
