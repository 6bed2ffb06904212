#!/usr/bin/env bash
# mpirun: the draws and the kernel are the same bytes for any number of ranks; a failure is said once; a killed rank
# ends the job with a sentence and complete files. Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! command -v mpirun >/dev/null; then
    echo "no mpirun here: not tested"
    exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
if ! ldd "$ais" | grep -q libmpi; then
    mpirun -n 2 "$ais" run mog2 --out "$work/none" 2>"$work/said" && exit 1
    [ "$(grep -c 'built without MPI' "$work/said")" = 1 ]
    echo "built without MPI: several ranks are refused"
    exit 0
fi

compare() { # name, command and arguments
    local name=$1
    shift
    for ranks in 1 3; do
        code=0
        mpirun -n $ranks "$ais" "$@" --threads 1 --quiet --out "$work/$ranks" >"$work/said" 2>&1 || code=$?
        [ $code = 0 ] || [ $code = 3 ] || { cat "$work/said"; echo "$name: exit code $code"; exit 1; }
    done
    for file in "$work"/1/*; do
        case $(basename "$file") in
        run.json | summary.json | report.html | drawing.checkpoint*) ;; # they tell seconds
        *) cmp "$file" "$work/3/$(basename "$file")" ;;
        esac
    done
    echo "$name: identical files from 1 and 3 ranks"
    rm -rf "$work/1" "$work/3"
}
compare "run mog6" run mog6 --steps 200 --chains 150 --draws 100
compare "run heart" run heart --steps 300 --chains 10 --draws 100
for objective in likelihood+exact adversarial; do # `train`: a weak kernel's `run` asks the clock which rival to join
    for ranks in 1 3; do
        mpirun -n $ranks "$ais" train ring --map henon --layers 4 --objective $objective --steps 40 --threads 1 \
            --quiet --out "$work/$ranks.ais" >/dev/null 2>&1
    done
    cmp "$work/1.ais" "$work/3.ais"
    echo "train henon, $objective: identical kernels from 1 and 3 ranks"
done
compare "henon" sample ring -k "$work/1.ais" --chains 150 --draws 100
compare nuts sample heart --sampler nuts --chains 5 --draws 100 --warmup 100 --save-warmup
compare "nuts, effective draws" sample heart --sampler nuts --chains 5 --warmup 100 --effective 800
compare "nuts, evaluations" sample heart --sampler nuts --chains 5 --warmup 50 --evaluations 30000
compare "more ranks than blocks" sample mog6 --sampler rwm --chains 20 --draws 100 --format csv

cat >"$work/pole.c" <<'C'
#include <aisampler/density.h>
#include <math.h>
static double logp(const double *x, void *data) {
    (void)data;
    return x[0] > 2.5 ? NAN : -0.5 * x[0] * x[0];
}
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};
C
code=0
mpirun -n 3 "$ais" sample "$work/pole.c" --sampler rwm --chains 300 --quiet --out "$work/bad" 2>"$work/said" || code=$?
[ $code = 1 ] && [ "$(grep -c '^aisampler: ' "$work/said")" = 1 ] && grep -q 'nan' "$work/said" || { cat "$work/said"; exit 1; }
code=0
touch "$work/file"
mpirun -n 2 "$ais" sample mog6 --sampler rwm --quiet --out "$work/file/no" 2>"$work/said" || code=$?
[ $code = 1 ] && [ "$(grep -c '^aisampler: ' "$work/said")" = 1 ] || { cat "$work/said"; exit 1; }
code=0
mpirun -n 2 "$ais" sample mog6 --sampler rwmm 2>"$work/said" || code=$?
[ $code = 2 ] && [ "$(grep -c '^aisampler: ' "$work/said")" = 1 ] || { cat "$work/said"; exit 1; }
echo "failures are said once, with the right exit code"

mpirun --mca odls_base_sigkill_timeout 20 -n 3 "$ais" sample mog6 --sampler rwm --chains 130 --draws 100000000 \
    --format csv --out "$work/killed" >/dev/null 2>"$work/said" &
job=$!
for _ in $(seq 100); do
    sleep 0.2
    [ -s "$work/killed/draws-130.csv.part" ] && grep -q '^draws [1-9]' "$work/said" && break
done
victim=$(pgrep -f "^$ais sample .*$work/killed" | tail -1)
kill -9 "$victim"
code=0
wait $job || code=$?
[ $code != 0 ] && grep -q '^aisampler: another rank was lost' "$work/said" || { cat "$work/said"; exit 1; }
! ls "$work"/killed/*.part >/dev/null 2>&1 || { echo "files were left unfinished"; exit 1; }
"$ais" diagnose "$work"/killed/draws-*.csv --json >"$work/diagnosis" || [ $? = 3 ]
echo "a killed rank: a sentence, and 130 complete files"
