"""Trust against truth: what `run` says of its draws, beside what is exactly true of the density.

    python3 bench/honesty/measure.py [--out DIR] [--only NAMES] [--seeds 1-5] [--options "--effective 4000"] [--limit 300]
                                     [--keep]

Python with numpy and h5py (bench/few_evaluations/run.sh makes such an environment). One thread. Each result is a file in DIR
(out/honesty), and what is there is not measured again; the table of all of them is printed at the end. --keep leaves the folder
of every run in DIR as well.

An answer is wrong if a mode's share is off by more than .03, log Z by more than 5 of its errors, or the probability of a tail
(beyond the exact 1%, 5%, 95% and 99% points of every coordinate) by more than 5 standard errors; an error is that of the
indicator's effective draws, and no less than that of as many independent ones."""
import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import command
import truth
from answers import compare, seeds_of, wrong

FALSE_ALARMS = 0.05


def measure(name, exact, seed, wish):
    with command.scratch() as folder:
        if wish.keep:
            folder = os.path.join(wish.out, f"{name}-{seed}")
            os.makedirs(folder, exist_ok=True)
        result = command.call("run", exact.target, *wish.options.split(), "--seed", seed, "--threads", 1, folder=folder, limit=wish.limit)
        if "worst_ess" in result:
            compare(result, exact, folder)
    return {"target": name, "seed": seed, "machine": command.machine(), **result}


def table(results):
    print("| target | runs | trusted, right | trusted, wrong | not trusted, wrong | not trusted, right | no answer | evaluations, s (medians) |\n"
          "|---|---|---|---|---|---|---|---|")
    rows = {}
    for r in results:
        rows.setdefault(r["target"], []).append(r)
    for name in rows:
        done = [r for r in rows[name] if "worst_ess" in r]
        count = lambda trust, right: sum(r["trust"] == trust and (not wrong(r)) == right for r in done)
        spent = f"{np.median([command.total(r) if r['counted'] else r['said']['total'] for r in done]):,.0f}, " \
                f"{np.median([r['processor'] for r in done]):.1f}" if done else "-"
        print(f"| {name} | {len(rows[name])} | {count(True, True)} | {count(True, False)} | {count(False, False)} | "
              f"{count(False, True)} | {len(rows[name]) - len(done)} | {spent} |")
    done = [r for r in results if "worst_ess" in r]
    right = [r for r in done if not wrong(r)]
    alarms = sum(not r["trust"] for r in right)
    print(f"\ntrusted and wrong: {sum(r['trust'] for r in done if wrong(r))} of {len(done)}; not trusted though right: {alarms} of {len(right)} "
          f"({100 * alarms / max(len(right), 1):.1f}%, at most {100 * FALSE_ALARMS:.0f}%)\n")
    for r in done:
        faults = wrong(r)
        if faults or not r["trust"]:
            print(f"- {r['target']}, seed {r['seed']} ({r['sampler']}): {'trusted' if r['trust'] else 'not trusted'}, "
                  f"{'; '.join(faults) or 'right'}. {' '.join(r['warnings'])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(command.ROOT, "out", "honesty"))
    parser.add_argument("--only", default=",".join(truth.MAKERS))
    parser.add_argument("--seeds", default="1-5")
    parser.add_argument("--options", default="", help="further ones of run")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    parser.add_argument("--keep", action="store_true")
    wish = parser.parse_args()
    names = wish.only.split(",")
    for name in names:
        if name not in truth.MAKERS:
            sys.exit(f"unknown name {name}: one of {', '.join(truth.MAKERS)}")
    os.makedirs(wish.out, exist_ok=True)
    results = []
    for name in names:
        exact = truth.MAKERS[name]()
        for seed in seeds_of(wish.seeds):
            path = os.path.join(wish.out, f"{name}-{seed}.json")
            if not os.path.exists(path):
                command.keep(path, measure(name, exact, seed, wish))
            results.append(command.read_json(path))
    table(results)


if __name__ == "__main__":
    main()
