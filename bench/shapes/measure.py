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


def regression(name):
    """Of 100,000 effective draws of the same density with its gradient."""
    with command.scratch() as folder:
        command.call("run", name, "--effective", 100000, "--seed", 1, folder=folder, limit=600)
        x = command.draws(folder)
    return x.mean(0), x.var(0)


# name: what is run; whether there is a gradient; mean and variance of every coordinate, or how to get them
TARGETS = {
    "rosenbrock10": ("", True, rosenbrock(10)), "rosenbrock20": ("", True, rosenbrock(20)),
    "funnel10": ("", True, funnel(10)), "funnel20": ("", True, funnel(20)), "funnel100": ("", True, funnel(100)),
    "banana": ("banana", True, (np.zeros(2), np.array([100.0, 1 + 0.01 * 2 * 100.0**2]))),
    "ar200": ("", True, normal(200)), "normal1000": ("", True, normal(1000)),
    "rosenbrock10_plain": ("", False, rosenbrock(10)), "rosenbrock20_plain": ("", False, rosenbrock(20)),
    "funnel10_plain": ("", False, funnel(10)), "funnel20_plain": ("", False, funnel(20)),
    "german": ("", False, lambda: regression("german")), "t10": ("", False, (np.zeros(10), np.full(10, np.nan))),
    "normal50": ("", False, normal(50)), "normal100": ("", False, normal(100)),
    "turned50": ("", False, turned(50)), "turned100": ("", False, turned(100)),
}


def worst_z(folder, truth):
    """The largest distance of a mean or a second moment from the truth, in standard errors."""
    summary = command.read_json(os.path.join(folder, "summary.json"))
    x, (mean, variance) = command.draws(folder), truth() if callable(truth) else truth
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
    return f"{evaluations(r):,}, {r['wall']:.1f}, {r['worst_ess']:,.0f}, {r['z']:.1f}{'' if r['trust'] else ', do not trust'}"


def span(values, form):
    low, high = form(min(values)), form(max(values))
    return low if low == high else f"{low}-{high}"


def row(name, results):
    """One line of the table: all seeds of a target, and NUTS where it was measured."""
    ours, nuts = ([r for r in results if r["who"] == who and r["target"] == name] for who in ("run", "nuts"))
    whole = [r for r in ours if "worst_ess" in r]
    if not whole:
        return f"| {name} | no answer on {len(ours)} seeds | | | | | |"
    cost = lambda r: evaluations(r) / max(r["worst_ess"], 1)
    pairs = [(r, n) for r in whole for n in nuts if r["seed"] == n["seed"] and "worst_ess" in n]
    return " | ".join(["", f"{name}, {len(whole)} of {len(ours)} seeds", span([evaluations(r) for r in whole], "{:,}".format),
                       span([r["wall"] for r in whole], "{:.1f}".format), f"{max(r['z'] for r in whole):.1f}",
                       f"{sum(r['trust'] for r in whole)}", "; ".join(cell(n) for n in nuts) or "-",
                       "; ".join(f"{cost(n) / cost(r):.0f}, {n['wall'] / r['wall']:.1f}" for r, n in pairs) or "-", ""]).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--who", default="run,nuts")
    wish = command.wishes(parser, "shapes", TARGETS)
    for name in wish.only.split(","):
        for seed in map(int, wish.seeds.split(",")):
            for who in wish.who.split(","):
                path = os.path.join(wish.out, f"{name}-{seed}-{who}.json")
                if (who == "nuts" and not TARGETS[name][1]) or os.path.exists(path):
                    continue
                command.keep(path, measure(name, seed, who, wish))
                print(os.path.basename(path), cell(command.read_json(path)), flush=True)
    results = [command.read_json(os.path.join(wish.out, file)) for file in sorted(os.listdir(wish.out)) if file.endswith(".json")]
    print("\n| target | evaluations | s | worst z | trusted | NUTS: evaluations, s, effective, worst z | NUTS's over ours: "
          "evaluations per effective draw, s |")
    print("|---|---|---|---|---|---|---|")
    for name in TARGETS:
        if any(r["target"] == name for r in results):
            print(row(name, results))


main()
