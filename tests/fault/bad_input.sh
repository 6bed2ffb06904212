#!/usr/bin/env bash
# Bad input: one clear line each, the right exit code, and nothing half-written that looks complete.
# Argument: the build folder.
set -u
ais=$1/aisampler
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
failures=0

# expect CODE "part of the line" command...
expect() {
    local code=$1 part=$2
    shift 2
    "$@" > "$work/stdout" 2> "$work/stderr"
    local got=$?
    local lines
    lines=$(grep -c '^aisampler: ' "$work/stderr")
    if [ $got != "$code" ] || [ "$lines" != 1 ] || ! grep -qF -- "$part" "$work/stderr"; then
        echo "wrong: ${*}: exit $got (wanted $code), $lines lines, said: $(cat "$work/stderr")"
        failures=$((failures + 1))
    else
        echo "exit $got: $(grep '^aisampler: ' "$work/stderr" | head -c 300)"
    fi
}
nothing_complete() { # no file that looks like a finished result
    if find "$work/out" -name 'draws*' ! -name '*.part' 2>/dev/null | grep -q . ||
        find "$work/out" -name '*.json' 2>/dev/null | grep -q .; then
        echo "wrong: a failed run left $(ls "$work/out")"
        failures=$((failures + 1))
    fi
    rm -rf "$work/out"
}
quick="--chains 2 --draws 100 --warmup 50 --quiet --out $work/out"

# words and options
expect 2 "did you mean 'sample'" "$ais" sampel mog2
expect 2 "mog6" "$ais" sample mog66 $quick
expect 2 "did you mean --draws" "$ais" sample mog2 --drwas 5
expect 2 "whole number" "$ais" sample mog2 --draws many
expect 2 "whole number" "$ais" sample mog2 --draws 0x10
expect 2 "a number, not '0x1p3'" "$ais" sample mog2 --start-scale 0x1p3
expect 2 "GB and this machine has" "$ais" sample mog2 --chains 2e9 --format netcdf --quiet --out "$work/out"
expect 2 "GB and this machine has" "$ais" run mog2 --chains 2e9 --format netcdf --quiet --out "$work/out"
expect 2 "--format netcdf" "$ais" sample mog2 --chains 1e6 --quiet --out "$work/out"
expect 2 "needs a value" "$ais" sample mog2 --draws
expect 2 "takes one of" "$ais" sample mog2 --format pdf
expect 2 "did you mean nuts" "$ais" sample mog2 --sampler nutss
expect 2 "unknown sampler ''" "$ais" sample mog2 --sampler ""
expect 2 "unknown sampler ''" "$ais" sample mog2 --sampler nuts+
expect 2 "--start-scale" "$ais" sample mog2 --start-scale -1
expect 2 "--out" "$ais" sample mog2 --out ""
expect 2 "applies only to hmc" "$ais" sample mog2 --sampler rwm --leapfrogs 10
expect 2 "1 or more" "$ais" sample mog2 --chains 0
expect 2 "needs a target" "$ais" sample
expect 2 "too many" "$ais" sample mog2 mog6
expect 2 "at least one file" "$ais" diagnose
expect 2 "sdd" "$ais" sample mog2:sdd=0.7 $quick
expect 2 "-1" "$ais" sample mog2:sd=-1 $quick
expect 2 "step_size" "$ais" sample mog2 --sampler hmc --step-size -1 $quick
for words in targets "targets --json" --help "sample --help" "diagnose --help"; do
    expect 1 "cannot write to standard output" bash -c "'$ais' $words > /dev/full"
done

# densities of one's own
own() { printf '#include <aisampler/density.h>\n#include <math.h>\n%s\n' "$1" > "$work/own.c"; }
own 'static double logp(const double *x, void *d) { (void)d; return x[0] > 0.5 ? NAN : -x[0] * x[0]; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};'
expect 1 "nan" "$ais" sample "$work/own.c" $quick
grep -qE "x = \(?0\.[5-9]|x = \(?[1-9]" "$work/stderr" || { echo "wrong: the point is not in: $(cat "$work/stderr")"; failures=$((failures + 1)); }
nothing_complete
own 'static double logp(const double *x, void *d) { (void)d; return x[0] > 3.5 ? NAN : -x[0] * x[0] / 2; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};'
expect 1 "nan" "$ais" sample "$work/own.c" --chains 8 --draws 20000 --warmup 50 --quiet --out "$work/out" # in mid-run
nothing_complete
own 'static double logp(const double *x, void *d) { (void)x; (void)d; return -INFINITY; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 3, .logp = logp};'
expect 1 "-inf at all" "$ais" sample "$work/own.c" $quick
nothing_complete
own 'static double logp(const double *x, void *d) { (void)d; return -x[0] * x[0] - x[1] * x[1]; }
static double grad(const double *x, double *g, void *d) { g[0] = -2 * x[0]; g[1] = 2 * x[1]; return logp(x, d); }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp, .grad = grad};'
expect 1 "x.2" "$ais" sample "$work/own.c" $quick
nothing_complete
own 'AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 0};'
expect 1 "dim" "$ais" sample "$work/own.c" $quick
own 'int nothing;'
expect 1 "aisampler_density" "$ais" sample "$work/own.c" $quick
own 'static double logp(const double *x, void *d) { return oops; }'
expect 1 "oops" "$ais" sample "$work/own.c" $quick
expect 1 "missing.c" "$ais" sample "$work/missing.c" $quick
own 'static double logp(const double *x, void *d) { (void)d; return -x[0] * x[0]; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};'
expect 2 "gradient" "$ais" sample "$work/own.c" --sampler nuts $quick
nothing_complete

# data, libraries, and what is not there
expect 1 "cannot open data=nothere.csv" "$ais" sample examples/05_data_file.c:data=nothere.csv $quick
expect 1 "name a table" "$ais" sample examples/05_data_file.c $quick
expect 1 "there is no row" "$ais" sample examples/05_data_file.c:data=data/heart.csv $quick
expect 2 "takes no data" "$ais" sample "$work/own.c:data=data/heart.csv" $quick
expect 1 "no_such_library" "$ais" sample "$work/own.c:link=-lno_such_library" $quick
expect 2 "did you mean 'debug'" "$ais" sample "$work/own.c:debgu=on" $quick

# Densities that crash, exit or never return: the point is told, and what was drawn until then is there, complete. The
# walk takes steps of 1 from about 0, so that it is a while until it comes to 4.5.
# ends "part of the line" "what happens beyond 4.5"
walk="--sampler rwm --scale 1 --start-scale 0.1 --chains 2 --draws 1000000 --warmup 20 --quiet --out $work/out"
beyond() {
    own "#include <stdlib.h>
#include <signal.h>
static volatile int zero;
static double deep(double x) { volatile char room[5000]; room[0] = (char)x; return zero ? x : deep(x + 1) + room[0]; }
static double logp(const double *x, void *d) { (void)d; (void)deep; if (x[0] > 4.5) { $1; } return -x[0] * x[0] / 2; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};"
}
kept() { # both chains equally long, with draws, and judged
    local rows
    rows=$(for file in "$work"/out/draws-*.csv; do grep -vc '^#' "$file"; done | sort -u)
    if [ "$(echo "$rows" | wc -l)" != 1 ] || [ "$rows" -lt 10 ] || [ ! -e "$work/out/summary.json" ] ||
        ls "$work"/out/*.part > /dev/null 2>&1 ||
        grep -v '^#' "$work/out/draws-1.csv" | cut -d, -f3- | awk -F, 'NR > 1 && $NF > 4.5 { bad = 1 } END { exit !bad }'; then
        echo "wrong: what was drawn is not kept: $rows rows, $(ls "$work/out")"
        failures=$((failures + 1))
    fi
    rm -rf "$work/out"
}
ends() {
    beyond "$2"
    expect 1 "$1" timeout 100 "$ais" sample "$work/own.c" $walk
    grep -qE "at x = \((4\.[5-9]|[5-9])" "$work/stderr" || { echo "wrong: the point is not in: $(cat "$work/stderr")"; failures=$((failures + 1)); }
    kept
}
ends "own.c crashed (segmentation fault" '*(volatile int *)0 = 1'
ends "own.c crashed (segmentation fault" 'return deep(x[0])' # the stack is full
ends "own.c crashed (arithmetic exception" 'static volatile int one = 1; one = one / zero'
ends "own.c crashed (abort" 'abort()'
ends "own.c called exit(0)" 'exit(0)'
own 'static double logp(const double *x, void *d) { (void)d; return *(volatile int *)0 + x[0]; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};'
expect 1 "own.c crashed (segmentation fault" "$ais" run "$work/own.c" $quick # at the very first call
nothing_complete
# With parameters the point is told on their scale: beyond 7.5 in the first case; not at all where the transform crashes.
bounded() {
    own "static double logp(const double *x, void *d) { (void)d; if (x[0] > 7.5) { $1; } return -x[1]; }
static void third(const double *u, double *t, void *d) { (void)d; if (u[0] > 0.9) { $2; } t[0] = 3 * u[0]; }
static const ais_parameter parameters[] = {{\"mass\", AIS_UNIFORM(2, 8)}, {\"rate\", AIS_LOWER(0)}, {\"own\", AIS_CUBE(third)}};
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 3, .logp = logp, .parameters = parameters, .parameter_count = 3};"
    expect 1 "own.c crashed (segmentation fault" "$ais" run "$work/own.c" $quick
    grep -qE "$3" "$work/stderr" || { echo "wrong: '$3' is not in: $(cat "$work/stderr")"; failures=$((failures + 1)); }
    nothing_complete
}
bounded '*(volatile int *)0 = 1' '' 'at mass = 7\.[5-9][0-9]*, rate = [0-9.]+, own = [0-2]\.'
bounded '' '*(volatile int *)0 = 1' 'at unconstrained mass = [-0-9.]+, rate = [-0-9.]+, own = [1-9]'
beyond 'while (!zero) continue'
interrupted() { # Ctrl-C twice
    "$@" &
    local job=$!
    sleep 5
    kill -INT $job
    sleep 1
    kill -0 $job || echo "did not wait for the density"
    kill -INT $job
    wait $job
}
expect 1 "own.c did not return and was abandoned at x = (" interrupted "$ais" sample "$work/own.c" $walk
kept

# The same through run, which hunts and learns first; each density without and with its gradient. The last ones are odd
# but good: a right answer within 5 standard errors, and exit 0.
# odd CODE "part of what is said" DIM "log density" "gradient in coordinate i" ["mean of x.1"]
forms=("" ".grad = grad")
[ -z "${AIS_BRIEF:-}" ] || forms=(".grad = grad") # tests/support/brief.h
odd() {
    local form
    for form in "${forms[@]}"; do
        own "static double logp(const double *x, void *d) { (void)x; (void)d; return $4; }
static double grad(const double *x, double *g, void *d) { for (int i = 0; i < $3; i++) g[i] = $5; return logp(x, d); }
double (*unused)(const double *, double *, void *) = grad;
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = $3, .logp = logp, $form};"
        "$ais" run "$work/own.c" --chains 8 --draws 300 --out "$work/out" > "$work/stdout" 2> "$work/stderr"
        local got=$?
        if [ $got != "$1" ] || ! grep -qF -- "$2" "$work/stdout" "$work/stderr" ||
            { [ $got != 0 ] && grep -q "^trust these draws" "$work/stdout"; }; then
            echo "wrong: run of $4 $form: exit $got (wanted $1), said: $(cat "$work/stdout" "$work/stderr")"
            failures=$((failures + 1))
        else
            echo "exit $got: run of $4 $form: $(grep -hF -- "$2" "$work/stdout" "$work/stderr" | head -n 1 | head -c 200)"
        fi
        [ $got = 1 ] && nothing_complete
        [ -n "${6-}" ] && { python3 - "$work/out/summary.json" "$6" << 'END' || failures=$((failures + 1)); }
import json, sys
x = json.load(open(sys.argv[1]))["parameters"][0]
if not abs(x["mean"] - float(sys.argv[2])) < 5 * x["mcse"]:
    sys.exit(f"wrong: the mean is {x['mean']} +- {x['mcse']} and should be {sys.argv[2]}")
END
        rm -rf "$work/out"
    done
}
odd 1 "-inf at all" 3 "-INFINITY" 0
odd 1 "-inf at all" 2 "fabs(x[0] - 50) < 1 ? -x[1] * x[1] : -INFINITY" "i ? -2 * x[1] : 0"
odd 1 "no finite integral in 2 dimensions" 2 "-0.5 * (x[0] * x[0] + x[1] * x[1]) - 1.25 * log(x[0] * x[0] + x[1] * x[1])" \
    "-x[i] - 2.5 * x[i] / (x[0] * x[0] + x[1] * x[1])"
odd 3 "do not trust" 2 "-0.5 * (x[0] * x[0] + x[1] * x[1]) - 0.25 * log(x[0] * x[0] + x[1] * x[1])" \
    "-x[i] - 0.5 * x[i] / (x[0] * x[0] + x[1] * x[1])"
odd 1 "a constant cannot be normalised" 2 2.5 0
odd 1 "keeps rising" 2 "0.5 * (x[0] * x[0] + x[1] * x[1])" "x[i]"
odd 0 "2 modes" 1 "log(exp(-2 * (x[0] - 3) * (x[0] - 3)) + exp(-0.5 * (x[0] + 3) * (x[0] + 3)))" \
    "(-4 * (x[0] - 3) * exp(-2 * (x[0] - 3) * (x[0] - 3)) - (x[0] + 3) * exp(-0.5 * (x[0] + 3) * (x[0] + 3))) / exp(logp(x, d))" -1
odd 0 "trust these draws" 3 "-(pow(x[0] - 1e4, 2) + pow(x[1] - 1e4, 2) + pow(x[2] - 1e4, 2)) / 8" "-(x[i] - 1e4) / 4" 1e4

# tables
table() { printf "$1" > "$work/table.csv"; }
table ''
expect 1 "empty" "$ais" sample "blr:$work/table.csv" $quick
table '1,2,0\n1,2\n3,4,1\n'
expect 1 "table.csv:2" "$ais" sample "blr:$work/table.csv" $quick
table '1,2,0\n1,4,1\n1,3,1\n'
expect 1 "in every row" "$ais" sample "blr:$work/table.csv" $quick
table '1,2,0\n4,x,1\n1,3,1\n'
expect 1 "table.csv:2" "$ais" sample "blr:$work/table.csv:label=3" $quick
table '1,2,0\n4,3,1\n1,3,2\n'
expect 1 "outcome (column 3) has 3 values" "$ais" sample "blr:$work/table.csv:label=3" $quick
table 'y,age\n0,31\n1,25\n1,40\n' # an outcome that is not obvious is asked for
expect 2 "Candidates: y" "$ais" run "blr:$work/table.csv" $quick
table 'hours,age\n3,31\n1,25\n7,40\n' # no outcome at all
expect 2 "no column can be the outcome" "$ais" run "blr:$work/table.csv" $quick
expect 2 "Candidates: hours, age" "$ais" run "linear:$work/table.csv" $quick
expect 2 "there is no column 'weight'" "$ais" run "linear:$work/table.csv:label=weight" $quick
expect 1 "must be a whole number" "$ais" sample "poisson:data/heart.csv:label=10" $quick
table 'name,x,y\nAnn,1,0\nBob,2,1\nCid,4,1\n'
expect 1 "drop=name" "$ais" run "blr:$work/table.csv" $quick
nothing_complete
expect 1 "nothere.csv" "$ais" sample blr:nothere.csv $quick
expect 1 "binary file" timeout 20 "$ais" sample blr:/dev/zero $quick
expect 1 "is empty" "$ais" sample blr:/dev/null $quick

# kernel files
expect 1 "nothere.ais" "$ais" sample mog2 -k nothere.ais $quick
head -c 100 /dev/urandom > "$work/bad.ais"
expect 1 "not a usable kernel file" "$ais" sample mog2 -k "$work/bad.ais" $quick
expect 1 "does not begin like one" timeout 20 "$ais" sample mog2 -k /dev/zero $quick
nothing_complete

# draws instead of a density
draws() { awk -v n="$1" -v b="${2-}" 'BEGIN { srand(3); print "a,b"; for (k = 0; k < n; k++) printf "%.9g,%s\n", rand(), b == "" ? rand() : b }' > "$work/draws.csv"; }
expect 2 "needs a file" "$ais" run data: $quick
expect 2 "did you mean 'data'" "$ais" run dtaa:x.csv $quick
expect 1 "nothere.csv" "$ais" run data:nothere.csv $quick
draws 900
expect 1 "900 draws" "$ais" run "data:$work/draws.csv" $quick
draws 2000 4.5
expect 1 "column b is 4.5 in all draws" "$ais" run "data:$work/draws.csv" $quick
draws 2000
sed '700s/.*/0.5,nan/' "$work/draws.csv" > "$work/nan.csv"
expect 1 "b is nan in draw 699" "$ais" run "data:$work/nan.csv" $quick
sed '700s/.*/0.5/' "$work/draws.csv" > "$work/short.csv"
expect 1 "short.csv:700" "$ais" run "data:$work/short.csv" $quick
expect 2 "set of draws" "$ais" sample "data:$work/draws.csv" $quick
expect 2 "set of draws" "$ais" sample "data:$work/draws.csv" --sampler nuts $quick
expect 2 "spline and realnvp" "$ais" train "data:$work/draws.csv" --map henon --quiet --out "$work/k.ais"
"$ais" train "data:$work/draws.csv" --steps 30 --quiet --out "$work/k.ais" || failures=$((failures + 1))
expect 2 "set of draws" "$ais" sample "data:$work/draws.csv" -k "$work/k.ais" --sampler rwm $quick
expect 2 "parameter 1 is a" "$ais" sample mog2 -k "$work/k.ais" $quick
nothing_complete

# draws of others
expect 1 "nothere.csv" "$ais" diagnose nothere.csv
: > "$work/empty.csv"
expect 1 "empty.csv" "$ais" diagnose "$work/empty.csv"
printf 'lp__,x\n-1,2\n-1\n' > "$work/ragged.csv"
expect 1 "ragged.csv:3" "$ais" diagnose "$work/ragged.csv"
expect 1 "zero byte" timeout 20 "$ais" diagnose /dev/zero
expect 1 "zero byte" timeout 20 "$ais" run data:/dev/zero $quick
expect 1 "zero byte" timeout 20 bash -c "'$ais' diagnose /dev/stdin < <(cat /dev/zero)"
expect 1 "/dev/null is empty" "$ais" diagnose /dev/null
awk 'BEGIN { srand(5); print "a"; for (k = 0; k < 1000; k++) print rand() }' > "$work/good.csv"
# Without an end and without a zero byte: read up to a bound (AIS_LONGEST_STREAM), in less memory than a small machine has.
endless() { expect 1 "$1" timeout 120 bash -c "ulimit -v 6000000; '$ais' $2 < <($3 2>/dev/null)"; }
case $1 in *sanitize*) endless() { :; } ;; esac # AddressSanitizer reserves 20 TB
endless "may have no end" "sample blr:/dev/stdin $quick" "yes 1,2,0"
endless "may have no end" "diagnose /dev/stdin" "echo x; yes 0.123456789012345678901234"
endless "may have no end" "sample mog2 -k /dev/stdin $quick" "printf 'aiskern\\n'; cat /dev/zero"
"$ais" diagnose --quiet /dev/stdin < <(cat "$work/good.csv") # a pipe that ends is read; exit 3: it is one chain
[ $? = 3 ] || { echo "wrong: a pipe of draws is not read"; failures=$((failures + 1)); }

# where files go. Root may write anywhere, so the folder is made impossible, not forbidden.
: > "$work/file"
expect 1 "$work/file" "$ais" sample mog2 --quiet --out "$work/file/sub"
# A full disk: files may grow to 64 KiB and no further.
for format in csv netcdf both; do
    expect 1 "$work/out" bash -c "ulimit -f 64; exec '$ais' sample gaussian:dim=50 --sampler rwm --chains 2 --draws 5000 --warmup 10 --quiet --format $format --out $work/out"
    nothing_complete
done

[ $failures = 0 ] && echo "all bad input was refused as it should be"
exit $((failures > 0))
