#!/usr/bin/env bash
# When run says trust it is right, on densities where it was not: eight schools (centred) without the neck of small tau, and
# Student's t, on which learning went astray. Argument: the build folder.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# answer NAME OPTIONS...: runs into $work/NAME; 0 and 3 are verdicts.
answer() {
    local name=$1 code=0
    shift
    "$build/aisampler" run "bench/honesty/targets/$name.c" "$@" --threads 1 --quiet --format csv --out "$work/$name" || code=$?
    [ $code = 0 ] || [ $code = 3 ] || { echo "$name: exit code $code"; exit 1; }
}
answer eight_schools --effective 4000 --seed 4
answer student10 --draws 2000 --seed 1
python3 - "$work" <<'PYTHON'
import csv, glob, json, math, sys

def load(name):
    summary = json.load(open(f"{sys.argv[1]}/{name}/summary.json"))
    assert all(check["name"] and check["text"] for check in summary["checks"]), summary["checks"]
    assert not summary["trust"] or all(check["passed"] for check in summary["checks"]), summary["checks"]
    return summary

def column(name, parameter):
    values = []
    for path in glob.glob(f"{sys.argv[1]}/{name}/draws-*.csv"):
        rows = [line for line in open(path) if not line.startswith("#")]
        values += [float(row[parameter]) for row in csv.DictReader(rows)]
    return values

# The exact 1% point of log tau, by quadrature (bench/honesty/truth.py).
schools = load("eight_schools")
log_tau = column("eight_schools", "log_tau")
share = sum(value < -3.0112 for value in log_tau) / len(log_tau)
effective = next(p["ess_tail"] for p in schools["parameters"] if p["name"] == "log_tau")
error = math.sqrt(0.01 * 0.99 / effective)
print(f"eight schools: {share:.4f} below the 1% point, tail ESS {effective:.0f}, {'trusted' if schools['trust'] else 'not trusted'}")
assert not schools["trust"] or abs(share - 0.01) < 4 * error, "trusted without its neck"

student = load("student10")
print(f"Student's t: log Z {student['log_z']:.4f} +- {student['log_z_error']:.4f}, {student['verdict']}")
assert abs(student["log_z"]) < 5 * student["log_z_error"] < 0.5, "log Z is 0"
assert student["trust"], student["warnings"]
PYTHON
