#!/usr/bin/env bash
# Densities that crash, exit, loop, allocate without end, disturb themselves in threads or change over time: --isolate
# goes on in a new process, and what cannot be trusted is said. Argument: the build folder.
set -u
ais=$(realpath "$1")/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0
wrong() {
    echo "wrong: $*"
    failures=$((failures + 1))
}

# expect CODE "part of what is said" command...; CODE may be several: draws are few here, and mostly not trusted
expect() {
    local code=$1 part=$2
    shift 2
    "$@" > "$work/stdout" 2> "$work/stderr"
    local got=$?
    if ! [[ $got =~ ^($code)$ ]] || ! grep -qF -- "$part" <(tr '\n' ' ' < "$work/stdout" | tr -s ' ') "$work/stderr"; then
        wrong "$* gave exit $got (wanted $code) and said: $(tail -n 5 "$work/stdout") $(cat "$work/stderr")"
    else
        echo "exit $got: $(grep -hF -- "$part" "$work/stderr" "$work/stdout" | head -n 1 | head -c 220)"
    fi
}

# beyond NAME "what happens beyond 3.2" ["more of the struct"]: a normal density, 0.07% of which lie there
beyond() {
    cat > "$work/$1.c" << END
#include <aisampler/density.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int zero;
static double deep(double x) { volatile char room[5000]; room[0] = (char)x; return zero ? x : deep(x + 1) + room[0]; }
static double logp(const double *x, void *d) { (void)d; (void)deep; if (x[0] > 3.2) { $2; } return -x[0] * x[0] / 2; }
static double grad(const double *x, double *g, void *d) { g[0] = -x[0]; return logp(x, d); }
static void batch(size_t n, const double *x, double *l, void *d) { for (size_t c = 0; c < n; c++) l[c] = logp(x + c, d); }
static void *unused[] = {(void *)grad, (void *)batch, (void *)unused};
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp, ${3-}};
END
}
short="--chains 4 --draws 300 --warmup 20 -j 2 --quiet --out $work/out"
walk="--sampler rwm --scale 1 --start-scale 0.5"

# Every way to die. The point that is told is the nearest to 0 that killed: it must be beyond 3.2.
# dies NAME "what is said of it" "code" [options]
dies() {
    local name=$1 said=$2 code=$3
    shift 3
    beyond "$name" "$code"
    expect "0|3" "points, which count as density 0; nearest to 0 it $said" "$ais" sample "$work/$name.c" $walk $short --isolate "$@"
    grep -qE "at x = \((3\.[2-9]|[4-9])" "$work/stderr" || wrong "the point is not in: $(cat "$work/stderr")"
    awk -F, '/^[^#l]/ && $NF > 3.2 { bad = 1 } END { exit bad }' "$work"/out/draws-*.csv || wrong "$name: a draw lies where the density died"
    [ "$(grep -hvc '^[#l]' "$work"/out/draws-1.csv)" = 300 ] || wrong "$name: not all draws are there"
    rm -rf "$work/out"
}
dies segv "crashed (segmentation fault, signal 11)" '*(volatile int *)0 = 1'
dies stack "crashed (segmentation fault, signal 11)" 'return deep(x[0])'
dies abort "crashed (abort, signal 6)" 'abort()'
dies divide "crashed (arithmetic exception" 'static volatile int one = 1; one = one / zero'
dies exit "called exit(0)" 'exit(0)'
dies fast_exit "called exit(3)" '_Exit(3)'
dies quick_exit "called exit(4)" 'quick_exit(4)'
dies killed "crashed (killed, perhaps because memory ran out, signal 9)" 'raise(SIGKILL)'
dies loop "took longer than 0.1 s (--time-limit)" 'while (!zero) continue' --time-limit 0.1
dies sleep "took longer than 0.1 s (--time-limit)" 'sleep(1000)' --time-limit 0.1
if [ -z "${AIS_BRIEF:-}" ]; then # sanitizers have address spaces of their own
    dies allocate "crashed (segmentation fault, signal 11) with its memory at the limit of 0.1 GB" \
        'for (;;) memset(malloc(1 << 20), 1, 1 << 20)' --memory-limit 0.1
fi

# The same bytes as a density that is -inf there, for any number of threads, in all forms, through run.
for form in "" ".batch = batch" ".grad = grad"; do
    beyond minus 'return -INFINITY' "$form"
    mkdir -p "$work/crash"
    beyond crash/minus 'abort()' "$form"
    (cd "$work" && "$ais" run minus.c --chains 4 --draws 200 --quiet --out plain) 2> /dev/null
    for threads in 1 2; do
        (cd "$work/crash" && "$ais" run minus.c --chains 4 --draws 200 -j $threads --isolate --quiet --out apart$threads) 2> "$work/stderr" ||
            wrong "run of $form: $(cat "$work/stderr")"
        cmp "$work/plain/draws-1.csv" "$work/crash/apart$threads/draws-1.csv" || wrong "$form, $threads threads: other draws"
    done
    cmp "$work/crash/apart1/draws.nc" "$work/crash/apart2/draws.nc" || wrong "$form: other bytes with other threads"
    rm -rf "$work/plain" "$work/crash"
done
echo "the same draws as where the density is -inf"

# train and compare take it, too; options that belong to it are refused without it.
beyond segv '*(volatile int *)0 = 1'
expect 0 "points, which count as density 0" "$ais" train "$work/segv.c" --isolate --quiet --out "$work/k.ais"
expect 0 "points, which count as density 0" "$ais" compare "$work/segv.c" --samplers rwm --isolate --draws 100 --warmup 50 --quiet --out "$work/c"
expect 2 "apply only with --isolate" "$ais" run "$work/segv.c" --time-limit 3 $short
expect 2 "more than 0" "$ais" run "$work/segv.c" --isolate --memory-limit -1 $short
awk 'BEGIN { srand(3); print "a"; for (k = 0; k < 1000; k++) print rand() }' > "$work/draws.csv"
expect 2 "has no density to evaluate" "$ais" run "data:$work/draws.csv" --isolate $short

# Too many deaths end it, with what was drawn.
expect 1 "died at 11 points, more than 10 (--most-deaths); nearest to 0 it crashed (segmentation fault" \
    "$ais" sample "$work/segv.c" $walk --chains 2 --draws 100000 --warmup 20 -j 1 --quiet --out "$work/out" --isolate --most-deaths 10
rows=$(for file in "$work"/out/draws-*.csv; do grep -vc '^[#l]' "$file"; done | sort -u)
[ "$(echo "$rows" | wc -l)" = 1 ] && [ "${rows:-0}" -gt 10 ] && [ -e "$work/out/summary.json" ] || wrong "draws are not kept: $rows"
rm -rf "$work/out"

# A process that leaks is renewed, and its points are right.
if [ -z "${AIS_BRIEF:-}" ]; then
    beyond leak ''
    sed -i 's|return -x\[0\]|if (!malloc(1 << 17)) abort(); return -x[0]|' "$work/leak.c"
    expect "0|3" "times where a new process did not: it leaks memory" "$ais" sample "$work/leak.c" $walk $short --isolate --memory-limit 0.05
    if grep -q "density 0" "$work/stderr"; then wrong "a leak made points without density: $(cat "$work/stderr")"; fi
fi

# Nothing is left behind when the command is killed.
beyond loop 'while (!zero) continue'
"$ais" sample "$work/loop.c" $walk $short --isolate 2> /dev/null &
job=$!
sleep 2
children=$(pgrep -P $job)
workers=$(for child in $children; do pgrep -P "$child"; done)
[ -n "$workers" ] || wrong "there is no process for the density"
kill -9 $job
wait $job 2> /dev/null
sleep 0.5
for process in $children $workers; do
    if kill -0 "$process" 2> /dev/null && ! grep -q '^State:.Z' "/proc/$process/status"; then wrong "process $process is still there"; fi
done
# Ctrl-C twice gives up an evaluation that is under way.
"$ais" sample "$work/loop.c" $walk $short --isolate 2> "$work/stderr" &
job=$!
sleep 2
kill -INT $job
sleep 0.5
kill -INT $job
wait $job
[ $? = 1 ] && grep -q "did not return and was abandoned" "$work/stderr" || wrong "Ctrl-C twice: $(cat "$work/stderr")"

# A file's own open that crashes or exits.
for code in '*(volatile int *)0 = 1' 'exit(0)'; do
    printf '#include <aisampler/density.h>\n#include <stdlib.h>\nstatic double logp(const double *x, void *d) { return -x[0] * x[0]; }
static int begin(const char *f, ais_density *d, char *m, size_t n) { %s; return 0; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp, .open = begin};\n' "$code" > "$work/open.c"
    expect 1 "while it was opened" "$ais" sample "$work/open.c" $short
done

# Not safe for threads: refused with two of them, right with one and with processes. It sleeps long enough for two threads
# to meet on a busy machine, too.
cat > "$work/shared.c" << 'END'
#include <aisampler/density.h>
#include <unistd.h>
static volatile double room;
static double logp(const double *x, void *d) { (void)d; room = x[0]; usleep(1000); return -room * room / 2; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};
END
expect 1 "it is not safe to call from several threads" "$ais" sample "$work/shared.c" $walk $short
expect "0|3" "worst ESS" "$ais" sample "$work/shared.c" $walk --chains 4 --draws 300 --warmup 20 -j 1 --out "$work/out"
expect "0|3" "worst ESS" "$ais" sample "$work/shared.c" $walk --chains 4 --draws 300 --warmup 20 -j 2 --isolate --out "$work/out"

# Changes over time: between two questions at the start, or later in the run.
changes() {
    printf '#include <aisampler/density.h>\nstatic long calls;\nstatic double logp(const double *x, void *d) { double m = %s; return -(x[0] - m) * (x[0] - m) / 2; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};\n' "$1" > "$work/time.c"
}
changes '1e-3 * calls++'
expect 1 "it must depend on the point alone" "$ais" sample "$work/time.c" $walk $short
changes '++calls > 5000 ? 0.4 : 0'
expect 3 "the density is not what it was" "$ais" sample "$work/time.c" $walk --chains 4 --draws 2000 --warmup 20 -j 1 --out "$work/out"

[ $failures = 0 ] && echo "all that misbehaved was dealt with as it should be"
exit $((failures > 0))
