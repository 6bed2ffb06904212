#!/usr/bin/env bash
# Stan programs: by stanli on the command line, by a library that was made as BridgeStan 2.4 makes them, and what goes
# wrong with them. tests/python/stan.sh compares draws with those of Stan's own sampler. Argument: the build folder.
set -u
build=$(cd "$1" && pwd)
support=$(cd "$(dirname "$0")/../support" && pwd)
programs=$(cd "$(dirname "$0")/../stan" && pwd)
aisampler=$build/aisampler
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
wrong=0
say() { echo "$*"; wrong=1; }

# wants CODE TEXT COMMAND...: one line on stderr, with TEXT in it, and that exit code.
wants() {
    local code=$1 text=$2 said
    shift 2
    said=$("$@" 2>&1 >/dev/null)
    local got=$?
    [ "$got" = "$code" ] || say "exit code $got instead of $code: $*: $said"
    [ "$(printf '%s\n' "$said" | wc -l)" = 1 ] || say "more than one line: $*: $said"
    case $said in *"$text"*) ;; *) say "no '$text' in: $said" ;; esac
}

draws=500 school_draws=300
[ -z "${AIS_BRIEF:-}" ] || draws=100 school_draws=50 # tests/support/brief.h

# ---- BridgeStan's libraries ----
cc -O2 -fPIC -shared -o bridge.so "$support/bridge.c" -lm || exit 1
cc -O2 -fPIC -shared -DBRIDGE_THREADS -o threads.so "$support/bridge.c" -lm || exit 1
echo 'double nothing;' | cc -x c -fPIC -shared -o stranger.so - || exit 1
echo '{"N": 6, "y": [1.5, 2.5, 0.5, 3, 2, 1]}' >data.json
for library in bridge threads; do
    for threads in 1 2; do
        "$aisampler" run stan:$library.so:data.json --threads $threads --draws $draws --out $library-$threads --quiet >said 2>&1
        code=$?
        [ $code = 0 ] || [ $code = 3 ] || say "$library.so, $threads threads: exit code $code: $(cat said)"
        grep -q printed said && say "$library.so: print() of the program reached the output"
    done
    cmp $library-1/draws.nc $library-2/draws.nc || say "$library.so: threads change the draws"
    for chain in 1 16; do
        cmp $library-1/draws-$chain.csv $library-2/draws-$chain.csv || say "$library.so: threads change the draws"
    done
done
grep -q "^lp__.*,mu,sigma,twice,y_rep$" bridge-1/draws-1.csv || say "columns are $(grep ^lp__ bridge-1/draws-1.csv)"
grep -q '"y_rep: mu is above 2.5"' said || say "errors of generated quantities are not told: $(cat said)"
python3 - $draws <<'PYTHON' || wrong=1
import csv, json, math, sys
rows = [row for chain in range(1, 17) for row in csv.DictReader(
    line for line in open(f"bridge-1/draws-{chain}.csv") if not line.startswith("#"))]
draws = int(sys.argv[1])
assert len(rows) == 16 * draws, len(rows)
wider = math.sqrt(500 / draws)  # than the tolerances for 500
bad = 0
residual = []
for row in rows:
    mu, sigma, twice, y_rep = (float(row[name]) for name in ("mu", "sigma", "twice", "y_rep"))
    assert abs(twice - 2 * mu) < 1e-12 and sigma > 0
    assert (mu > 2.5) == math.isnan(y_rep), (mu, y_rep)  # the rest of such a row is there
    if mu <= 2.5:
        residual.append((y_rep - mu) / sigma)
mean = sum(residual) / len(residual)
variance = sum(r * r for r in residual) / len(residual) - mean**2
assert abs(mean) < 0.06 * wider and abs(variance - 1) < 0.1 * wider, (mean, variance)
# A grid: the evidence has the constants that a program has.
y = [1.5, 2.5, 0.5, 3, 2, 1]
total = first = 0
for i in range(400):
    for j in range(400):
        mu, s = -3 + 7 * (i + 0.5) / 400, -3 + 5 * (j + 0.5) / 400
        value = -0.5 * (mu / 3)**2 - math.log(3) - 0.918938533204673 - math.exp(s) + s
        value += sum(-0.5 * ((v - mu) / math.exp(s))**2 - s - 0.918938533204673 for v in y)
        total += math.exp(value)
        first += math.exp(value) * mu
log_z = math.log(total * 7 * 5 / 160000)
summary = json.load(open("bridge-1/summary.json"))
said = {"value": summary["log_z"], "error": summary["log_z_error"]}
assert abs(said["value"] - log_z) < 5 * said["error"] + 0.01, (said, log_z)
mean = next(p["mean"] for p in summary["parameters"] if p["name"] == "mu")
assert abs(mean - first / total) < 0.06 * wider, (mean, first / total)
PYTHON
wants 2 "cannot be used without data: variable does not exist" "$aisampler" sample stan:bridge.so
wants 2 "cannot be used with nothing.json: variable does not exist" sh -c "echo '{}' >nothing.json; '$aisampler' sample stan:bridge.so:nothing.json"
wants 2 "has no bs_model_construct" "$aisampler" sample stan:stranger.so:data.json
wants 1 "cannot open absent.so" "$aisampler" sample stan:absent.so:data.json
wants 1 "cannot open absent.json" "$aisampler" sample stan:bridge.so:absent.json
wants 2 "MODEL.stan" "$aisampler" sample stan:model.txt
wants 2 "MODEL.stan" "$aisampler" sample stan
wants 2 "ends with a colon" "$aisampler" sample stan:bridge.so:

# ---- without stanli ----
cp "$programs"/*.stan "$programs"/*.json .
cp "$programs"/../../examples/07_eight_schools.stan eight_schools.stan
cp "$programs"/../../examples/07_eight_schools.json eight_schools.json
wants 2 "pip install stanli" env -i HOME="$folder" PATH=/nowhere "$aisampler" sample stan:rejects.stan
wants 2 "AISAMPLER_STANLI: /nowhere/libstanli.so" env AISAMPLER_STANLI=/nowhere/libstanli.so "$aisampler" sample stan:rejects.stan
wants 2 "it has no stanli_" env AISAMPLER_STANLI="$folder/bridge.so" "$aisampler" sample stan:rejects.stan

# ---- programs by stanli ----
python=$(bash "$support/venv.sh" "$build" python-all) || { [ $wrong = 0 ] && echo "skipped: stanli cannot be installed here" && exit 77; exit 1; }
export VIRTUAL_ENV=$(dirname "$(dirname "$python")")
for threads in 1 2; do
    "$aisampler" run stan:eight_schools.stan:eight_schools.json --threads $threads --draws $school_draws --out schools-$threads --quiet >said 2>&1
    code=$?
    [ $code = 0 ] || [ $code = 3 ] || say "eight schools: exit code $code: $(cat said)"
done
cmp schools-1/draws.nc schools-2/draws.nc || say "threads change generated quantities"
grep -q "^lp__.*,mu,z,eta.1,.*,tau,theta.1,.*,theta.8,log_lik.1,.*,y_rep.8,best$" schools-1/draws-1.csv || say "columns are $(grep ^lp__ schools-1/draws-1.csv)"
"$aisampler" run stan:rejects.stan --draws 200 --quiet >said 2>&1 || say "rejects: $(cat said)"
grep -q "the Stan program failed at [0-9]* of [0-9]* points, which have log density -inf, for instance \"a is 1[.0-9]*, above 1\" where unconstrained a = 1" said ||
    say "errors are not told: $(cat said)"
grep -q "the Stan program failed" out/rejects/summary.json || say "errors are not in summary.json"
wants 2 'broken.stan does not compile: Semantic error in line 6, column 7 to column 12: Ill-typed arguments' "$aisampler" run stan:broken.stan
wants 2 "fixed.stan has no parameters" "$aisampler" run stan:fixed.stan
wants 2 "eight_schools_centred.stan cannot be used without data" "$aisampler" run stan:eight_schools_centred.stan
echo '{"J": 8, "sigma": [15, 10, 16, 11, 9, 11, 10, 18]}' >missing.json
wants 2 "eight_schools_centred.stan cannot be used with missing.json: unknown data variable y" "$aisampler" run stan:eight_schools_centred.stan:missing.json
printf '{"J": 8,\n "y": [1, 2,, 3]}\n' >malformed.json
wants 2 "with malformed.json: parse error at line 2, column 13" "$aisampler" run stan:eight_schools_centred.stan:malformed.json
echo '[1, 2]' >list.json
wants 2 "must be a JSON object" "$aisampler" run stan:eight_schools_centred.stan:list.json
echo 'parameters { real<lower=0> x; } model { reject("never"); }' >never.stan
wants 1 'for instance "never" where' "$aisampler" run stan:never.stan
mkdir -p parts && echo 'real twice(real x) { return 2 * x; }' >parts/functions.stan
printf 'functions {\n#include functions.stan\n}\nparameters { real x; } model { x ~ normal(twice(1), 1); }\n' >parts/including.stan
"$aisampler" run stan:parts/including.stan --draws 100 --quiet >said 2>&1 || say "an #include: $(cat said)"
[ $wrong = 0 ] && echo "all as it should be"
exit $wrong
