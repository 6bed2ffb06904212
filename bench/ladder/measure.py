"""Densities of many modes: log Z, the modes' shares, evaluations and seconds of `run`, on two threads.

    python3 bench/ladder/measure.py [--out DIR] [--only NAMES] [--seeds 11,12] [--effective 4000] [--limit 120]

Python with numpy and h5py (bench/few_evaluations/run.sh makes such an environment). Each result is a file in DIR
(out/ladder), and what is there is not measured again; the table of all is printed at the end. Exact values come from
quadrature and symmetry: targets/*.h and targets/phi4.c say them."""
import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import command

WELL_LOG_Z, WELL_SHARE = 10.293479707, 0.844307  # of a pair of coordinates; of a > 0


def wells(dim):
    return dim / 2 * WELL_LOG_Z, lambda x: float(np.abs((x[:, ::2] > 0).mean(axis=0) - WELL_SHARE).max())


def sides(share):
    """Of the mean over the coordinates above 0."""
    return lambda x: float(abs((x.mean(axis=1) > 0).mean() - share))


TARGETS = {"manywell8": wells(8), "manywell32": wells(32), "phi4": (None, sides(0.5)), "pair50": (0.0, sides(0.3)),
           "pair100": (0.0, sides(0.3))}


def measure(name, seed, wish):
    path = os.path.join(HERE, "targets", name + ".c")
    with command.scratch() as folder:
        result = command.call("run", path, "--effective", wish.effective, "--seed", seed, "--threads", 2, folder=folder,
                              limit=wish.limit)
        if "worst_ess" in result:
            result["share_error"] = TARGETS[name][1](command.draws(folder))
            summary = command.read_json(os.path.join(folder, "summary.json"))
            result |= {key: summary.get(key) for key in ("round_trips", "barrier")}
    return {"target": name, "seed": seed, "machine": command.machine(), **result}


def row(r):
    exact = TARGETS[r["target"]][0]
    if "worst_ess" not in r:
        return f"| {r['target']}, {r['seed']} | {r.get('message', 'nothing')[:80]} | | | | | | |"
    off = f"{r['log_z'] - exact:+.3f}" if exact is not None else f"{r['log_z']:.3f} (exact value unknown)"
    trips = "-" if r["round_trips"] is None else f"{r['round_trips']:,.0f}, {r['barrier']:.2f}"
    return (f"| {r['target']}, {r['seed']} | {r['sampler']} | {command.total(r):,}, {r['wall']:.1f} | {r['worst_ess']:,.0f} | "
            f"{off} ± {r['log_z_error']:.3f} | {r['share_error']:.3f} | {trips} | {'trust' if r['trust'] else 'do not trust'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wish = command.wishes(parser, "ladder", TARGETS)
    for name in wish.only.split(","):
        for seed in map(int, wish.seeds.split(",")):
            path = os.path.join(wish.out, f"{name}-{seed}.json")
            if not os.path.exists(path):
                command.keep(path, measure(name, seed, wish))
    print("| target, seed | kernel | evaluations, s | effective | log Z off | largest share error | round trips, barrier | verdict |\n"
          "|---|---|---|---|---|---|---|---|")
    for name in TARGETS:
        for file in sorted(os.listdir(wish.out)):
            if file.startswith(name + "-"):
                print(row(command.read_json(os.path.join(wish.out, file))))


main()
