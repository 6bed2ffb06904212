#!/usr/bin/env bash
# Numerical edges: of each density either a right answer that is trusted, or one clear line that says what to do (a
# refusal, or a warning); never a crash, a hang, or trust in something wrong. Argument: the build folder.
set -u
build=$(cd "$1" && pwd)
ais=$build/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
cat > "$work/head" <<'C'
#include <aisampler/density.h>
#include <math.h>
static const double inf = INFINITY;
static inline double square(double z) { return z * z; }
static inline double two(double one, double other) { return fmax(one, other) + log1p(exp(-fabs(one - other))); }
static inline double norm(const double *x, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    return s;
}
C

# judge NAME CODE EXPECTED: EXPECTED is right:MEAN:SD:LOG_Z (of the first parameter, - where it is not compared), honest: and the
# same where a warning will do as well, warns:WORDS, or refuses:WORDS.
judge() {
    local name=$1 code=$2 expected=$3 lines
    case $expected in
    right:* | honest:*)
        [ "$code" = 3 ] && [ "${expected%%:*}" = honest ] && return
        [ "$code" = 0 ] && python3 - "$work/out/summary.json" "${expected#*:}" <<'PYTHON' && return
import json, math, sys

summary = json.load(open(sys.argv[1]))
mean, sd, log_z = (None if word == "-" else float(word) for word in sys.argv[2].split(":"))
first, wrong = summary["parameters"][0], []
if mean is not None and not abs(first["mean"] - mean) < 5 * first["mcse"]: wrong.append(f"mean {first['mean']}, not {mean}")
if sd is not None and not abs(first["sd"] / sd - 1) < 0.1: wrong.append(f"sd {first['sd']}, not {sd}")
if log_z is not None and not abs(summary["log_z"] - log_z) < max(4 * summary["log_z_error"], 1e-5, 1e-9 * abs(log_z)):
    wrong.append(f"log Z {summary['log_z']} +- {summary['log_z_error']}, not {log_z}")
sys.exit("; ".join(wrong) if wrong else 0)
PYTHON
        ;;
    warns:*)
        [ "$code" = 3 ] && grep -qF -- "${expected#warns:}" "$work/out/summary.json" && return
        ;;
    refuses:*)
        lines=$(grep -c '^aisampler: ' "$work/stderr")
        if [ "$code" = 1 ] || [ "$code" = 2 ]; then
            [ "$lines" = 1 ] && grep -qF -- "${expected#refuses:}" "$work/stderr" && [ ! -e "$work/out/summary.json" ] && return
        fi
        ;;
    esac
    echo "wrong: $name: exit code $code, expected $expected; $(grep '^aisampler: ' "$work/stderr"); $(tail -2 "$work/stdout")"
    failures=$((failures + 1))
}

# try NAME EXPECTED TARGET OPTIONS...
try() {
    local name=$1 expected=$2
    shift 2
    rm -rf "$work/out"
    timeout 100 "$ais" run "$@" --seed 1 --threads 1 --no-checkpoint --format csv --out "$work/out" > "$work/stdout" 2> "$work/stderr"
    judge "$name" $? "$expected"
}

# density NAME DIM 'log density' EXPECTED [OPTIONS...]; GRADIENT: what g[i] is, if there is one
density() {
    local name=$1 dim=$2 body=$3 expected=$4 slopes=""
    shift 4
    {
        cat "$work/head"
        echo "static double logp(const double *x, void *data) { (void)data; return $body; }"
        if [ -n "${GRADIENT:-}" ]; then
            echo "static double grad(const double *x, double *g, void *data) { for (int i = 0; i < $dim; i++) g[i] = $GRADIENT; return logp(x, data); }"
            slopes=".grad = grad,"
        fi
        echo "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = $dim, $slopes .logp = logp};"
    } > "$work/$name.c"
    try "$name" "$expected" "$work/$name.c" "$@"
}

# constants and scales of log p
GRADIENT='-x[i]' density plus1e10 2 '1e10 - 0.5 * norm(x, 2)' right:0:1:10000000001.8379
density minus1e10 2 '-1e10 - 0.5 * norm(x, 2)' right:0:1:-9999999998.1621
density plus1e15 2 '1e15 - 0.5 * norm(x, 2)' 'refuses:leave the constant out'
density plus1e300 1 '1e300 - 0.5 * norm(x, 1)' 'refuses:leave the constant out'
density steep 1 '-1e300 * norm(x, 1)' 'warns:' # chains that move not at all, or now and then: not the same on all machines
density flat 1 '-1e-300 * norm(x, 1)' 'refuses:a constant cannot be normalised'

# scales of x
density tiny 1 '-0.5 * square(x[0] / 1e-10)' right:0:1e-10:-22.106912
density huge 1 '-0.5 * square(x[0] / 1e10)' 'refuses:(--start-scale 1e+10)'
density huge_told 1 '-0.5 * square(x[0] / 1e10)' right:0:1e10:23.944789 --start-scale 1e10
density x1e300 1 '-0.5 * square(x[0] / 1e300)' 'refuses:measure the parameters in other units' --start-scale 1e300
density x1e-300 1 '-0.5 * square(x[0] / 1e-300)' 'refuses:start_scale that reaches the support'
GRADIENT='-x[i] / (i ? 1e16 : 1e-16)' density both 2 '-0.5 * (square(x[0] / 1e-8) + square(x[1] / 1e8))' 'refuses:bring the parameters to a common scale'
GRADIENT='-x[i] / (i ? 1e16 : 1e-16)' density both_told 2 '-0.5 * (square(x[0] / 1e-8) + square(x[1] / 1e8))' right:0:1e-8:1.837877 --start-scale 1e9
density modes 1 'two(-0.5 * square(x[0] - 5e5), -0.5 * square(x[0] + 5e5))' right:0:5e5:1.612086 --start-scale 1e6

# plateaus, jumps, walls
density plateau 2 'fmin(0, 20 - 20 * fmax(fabs(x[0]), fabs(x[1])))' right:0:-:1.486140
density steps 2 '-floor(norm(x, 2))' right:0:-:1.603405
density constant 2 '0 * x[0]' 'refuses:a constant cannot be normalised'
density floor 2 'fmax(-50 * norm(x, 2), -5)' 'refuses:does not fall along a direction'
density jump 2 '-0.5 * norm(x, 2) + (x[0] > 0 ? log(3) : 0)' honest:0.39894:-:2.5310
density box 1 'x[0] > 0 && x[0] < 1 ? 0 : -inf' right:0.5:0.28868:0
density triangle 2 'x[0] > 0 && x[1] > x[0] && x[1] < 1 ? 0 : -inf' honest:0.33333:0.2357:-0.69315
density box5 5 'fmin(fmin(x[0], x[1]), fmin(x[2], fmin(x[3], x[4]))) > 0 && norm(x, 5) < 1 ? 0 : -inf' 'refuses:give these bounds'
density infinite 1 'x[0] > 1 && x[0] < 1.5 ? inf : -0.5 * norm(x, 1)' 'refuses:it must be a number, or -inf'

# one dimension
density half 1 'x[0] > 0 ? -x[0] : -inf' right:1:1:0
GRADIENT='-1' density half_slope 1 'x[0] > 0 ? -x[0] : -inf' right:1:1:0
GRADIENT='1 - exp(x[i])' density one_sided 1 'x[0] - exp(x[0])' right:-0.57722:1.2825:0
density cauchy 1 '-log1p(norm(x, 1))' honest:-:-:1.14473
density pole 1 'x[0] > 0 && x[0] < 1 ? -0.7 * log(x[0]) : -inf' 'warns:pole'
density strong_pole 1 'x[0] > 0 && x[0] < 1 ? -1.5 * log(x[0]) : -inf' 'refuses:no finite integral'
density slow 1 '-0.5 * log1p(norm(x, 1))' 'warns:do not agree'

# many dimensions
GRADIENT='-x[i]' density many 100 '-0.5 * norm(x, 100)' right:0:1:91.893853 --effective 1600
density differences 1000 '-0.5 * norm(x, 1000)' 'refuses:give a gradient'
GRADIENT='-x[i]' density thousands 10000 '-0.5 * norm(x, 10000)' 'refuses:sample --sampler nuts'

# tables; log Z by quadrature
cd "$work" || exit 1
printf 'x,z,y\n1.5,2,3.2\n' > one.csv
printf 'x,y\n1,0\n2,1\n' > two.csv
(echo x,y; for i in $(seq 20); do echo "$i,$((i > 10))"; done) > separable.csv
(echo a,b,y; for i in $(seq 30); do echo "$i,$i,$((i * 7 % 5 > 2))"; done) > twice.csv
(echo a,y; for i in $(seq 30); do echo "${i}e300,$((i * 7 % 5))"; done) > large.csv
(echo a,y; for i in $(seq 30); do echo "$i,$((2 * i + 1))"; done) > exact.csv
try one_row 'refuses:give two rows or more' linear:one.csv:label=y
try two_rows right:-:-:-1.38629 blr:two.csv:label=y
try separable right:-:-:-7.64432 blr:separable.csv:label=y
try twice right:-:-:-22.65728 blr:twice.csv:label=y
try twice_wide 'refuses:--start-scale' blr:twice.csv:label=y,prior=1e6
try large right:-:-:-60.17663 linear:large.csv:label=y
try exact 'warns:diverged' linear:exact.csv:label=y
[ $failures = 0 ] && echo "all as expected"
exit $((failures > 0))
