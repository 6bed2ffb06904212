"""Densities of many shapes and dimensions with known moments: what `run` takes to so many effective draws, and NUTS beside
it where there is a gradient, on the same core, one after the other.

    python3 bench/shapes/measure.py [--out DIR] [--only NAMES] [--seeds 11,12] [--effective 4000] [--limit 120]
                                    [--who run,nuts]

Python with numpy and h5py (bench/few_evaluations/run.sh makes such an environment). NUTS is ours with Stan's defaults: 4
chains, 1000 steps of warm-up (bench/nuts_against_stan.py compares the two). Each result is a file in DIR (out/shapes), and
what is there is not measured again; the table of all is printed at the end.

Means and second moments of every coordinate are compared with the truth, in standard errors by the draws' own ESS of both; the largest is told. Densities and their moments: targets/."""
import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import command


def normal(dim, variance=1.0):
    return np.zeros(dim), np.full(dim, variance)


def rosenbrock(dim):
    return np.tile([1.0, 11.0], dim // 2), np.tile([10.0, 240.1], dim // 2)


def funnel(dim):
    """Squares of the coordinates but the first have so wide tails that their mean says nothing."""
    return np.zeros(dim), np.concatenate([[9.0], np.full(dim - 1, np.nan)])


def turned(dim, condition=100):
    """Variances along the axes; targets/normal.h turns them by three reflections."""
    matrix = np.eye(dim)
    for u in (np.ones(dim), 1 - 2 * (np.arange(dim) % 2), np.arange(dim) + 1.0):
        matrix = matrix - 2 * np.outer(u, u @ matrix) / (u @ u)
    return np.zeros(dim), np.diag(matrix.T @ np.diag(condition ** (np.arange(dim) / (dim - 1))) @ matrix)


# name: what is run; whether there is a gradient; mean and variance of every coordinate, None: unknown
TARGETS = {
    "rosenbrock10": ("", True, rosenbrock(10)), "rosenbrock20": ("", True, rosenbrock(20)),
    "funnel10": ("", True, funnel(10)), "funnel20": ("", True, funnel(20)), "funnel100": ("", True, funnel(100)),
    "banana": ("banana", True, (np.zeros(2), np.array([100.0, 1 + 0.01 * 2 * 100.0**2]))),
    "ar200": ("", True, normal(200)), "normal1000": ("", True, normal(1000)),
    "german": ("", False, None), "t10": ("", False, (np.zeros(10), np.full(10, np.nan))),
    "normal50": ("", False, normal(50)), "normal100": ("", False, normal(100)),
    "turned50": ("", False, turned(50)), "turned100": ("", False, turned(100)),
}


def worst_z(folder, truth):
    """The largest distance of a mean or a second moment from the truth, in standard errors."""
    summary = command.read_json(os.path.join(folder, "summary.json"))
    if truth is None:
        return None
    x, (mean, variance) = command.draws(folder), truth
    of_mean, of_square = (np.array([p[key] for p in summary["parameters"]]) for key in ("ess_bulk", "ess_square"))
    square = (x - mean) ** 2
    first = np.abs(x.mean(0) - mean) / (x.std(0) / np.sqrt(of_mean))
    second = np.abs(square.mean(0) - variance) / (square.std(0) / np.sqrt(of_square))
    return float(np.nanmax([first, np.where(np.isnan(variance), 0, second)]))


def measure(name, seed, who, wish):
    spec, gradient, truth = TARGETS[name]
    target = spec or os.path.join(HERE, "targets", name + ".c")
    options = ["--seed", seed, "--threads", 1, "--effective", wish.effective]
    if who == "nuts":
        line = ["sample", target, "--sampler", "nuts", "--chains", 4, "--warmup", 1000, *options]
    else:
        line = ["run", target, *options]
    with command.scratch() as folder:
        result = command.call(*line, folder=folder, limit=wish.limit)
        if "worst_ess" in result:
            result["z"] = worst_z(folder, truth)
    return {"target": name, "seed": seed, "who": who, "gradient": gradient, "machine": command.machine(), **result}


def evaluations(r):
    return command.total(r) if r["counted"] else r["said"]["total"]


def cell(r):
    if not r or "worst_ess" not in r:
        return "-" if not r else r.get("message", "nothing")[:60]
    z = "-" if r["z"] is None else f"{r['z']:.1f}"
    return f"{evaluations(r):,}, {r['wall']:.1f}, {r['worst_ess']:,.0f}, {z}{'' if r['trust'] else ', do not trust'}"


def ratio(ours, nuts, value):
    if not ours or not nuts or "worst_ess" not in ours:
        return "-"
    return f"{value(ours) / value(nuts):.2f}" if "worst_ess" in nuts else "no answer of NUTS"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(command.ROOT, "out", "shapes"))
    parser.add_argument("--only", default=",".join(TARGETS))
    parser.add_argument("--seeds", default="11,12")
    parser.add_argument("--who", default="run,nuts")
    parser.add_argument("--effective", type=int, default=4000)
    parser.add_argument("--limit", type=float, default=120, help="seconds of one run")
    wish = parser.parse_args()
    os.makedirs(wish.out, exist_ok=True)
    for name in wish.only.split(","):
        if name not in TARGETS:
            sys.exit(f"unknown target {name}: one of {', '.join(TARGETS)}")
        for seed in map(int, wish.seeds.split(",")):
            for who in wish.who.split(","):
                path = os.path.join(wish.out, f"{name}-{seed}-{who}.json")
                if (who == "nuts" and not TARGETS[name][1]) or os.path.exists(path):
                    continue
                command.keep(path, measure(name, seed, who, wish))
                print(os.path.basename(path), cell(command.read_json(path)), flush=True)
    print("\n| target, seed | `run`: evaluations, s, effective, worst z | NUTS | evaluations per effective draw, to NUTS's | s |")
    print("|---|---|---|---|---|")
    for name in TARGETS:
        for seed in range(1000):
            ours, nuts = (command.read_json(os.path.join(wish.out, f"{name}-{seed}-{who}.json")) for who in ("run", "nuts"))
            if ours:
                cost = ratio(ours, nuts, lambda r: evaluations(r) / max(r["worst_ess"], 1))
                print(f"| {name}, {seed} | {cell(ours)} | {cell(nuts)} | {cost} | {ratio(ours, nuts, lambda r: r['wall'])} |")


main()
