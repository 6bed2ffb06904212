"""The verdict as a classifier: "trust" against what is exactly true, over a corpus of densities and ways to draw, good and bad ones.

    python3 bench/verdict/measure.py [--out DIR] [--only NAMES] [--ways NAMES] [--seeds 1] [--every N] [--limit 120] [--table]

Python with numpy and h5py: $(bash tests/support/venv.sh build verdict numpy h5py). One thread. Each result is a file in DIR
(out/verdict), and what is there is not measured again; --table only prints what is there. The densities are those of corpus.py; with --every 4 a way
gets every fourth of them, each way others, and plain `run` all.

An answer is wrong by the rule of bench/honesty/measure.py. One that is not is imprecise if the indicator of some coordinate below its 5%, 50% or
95% point has fewer than 100 effective draws per chain: a warning is then no false alarm, as docs/diagnostics.md says.
False trust: trusted and wrong. False alarm: not trusted, though right and precise."""
import argparse
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "honesty")]
import answers
import command
import corpus

PER_CHAIN = 100
NUTS = ("sample", "--sampler", "nuts")
RWM = ("sample", "--sampler", "rwm")
WAYS = {
    "run": ("run",),
    "run, 30 draws": ("run", "--draws", "30"),
    "run, 3000 evaluations": ("run", "--evaluations", "3000"),
    "run, start scale 0.01": ("run", "--start-scale", "0.01"),
    "run, start scale 0.1": ("run", "--start-scale", "0.1"),
    "run, start scale 10": ("run", "--start-scale", "10"),
    "run, start scale 100": ("run", "--start-scale", "100"),
    "nuts": NUTS,
    "nuts, all from one place": (*NUTS, "--start-scale", "0.001"),
    "random walk": RWM,
    "random walk, stuck": (*RWM, "--scale", "0.0001"),
    "antithetic": ("sample", "--kernel", "{antithetic}"),
}


def words_of(way, exact, dim):
    """The words of a command, or None where the way does not suit the density."""
    if "nuts" in way and not getattr(corpus.ENTRIES[exact], "gradient", True):
        return None
    words = []
    for word in WAYS[way]:
        if word == "{antithetic}":
            word = os.path.join(command.BUILD, f"antithetic-{dim}.ais")
            if not os.path.exists(word):
                subprocess.run([os.path.join(command.BUILD, "bench", "antithetic"), str(dim), word], check=True)
        words.append(word)
    return words


def least_effective(draws, quantiles):
    """Of the indicators of every coordinate below its 5%, 50% (of the draws) and 95% point, per chain."""
    least = float("inf")
    for i, points in enumerate(quantiles):
        for point in (points[1], np.median(draws[:, :, i]), points[2]):
            below = draws[:, :, i] < point
            least = min(least, min(answers.effective(below), below.size) if below.any() and not below.all() else 0.0)
    return float(least / draws.shape[0])


def measure(name, way, seed, limit):
    exact = corpus.ENTRIES[name]()
    words = words_of(way, name, len(exact.quantiles))
    if words is None:
        return None
    with command.scratch() as folder:
        result = command.call(words[0], exact.target, *words[1:], "--seed", seed, "--threads", 1, folder=folder, limit=limit)
        if "worst_ess" in result:
            answers.compare(result, exact, folder)
            x = command.draws(folder).reshape(result["chains"], result["draws"], -1)
            result["least_effective"] = least_effective(x, exact.quantiles)
    return {"target": name, "way": way, "seed": seed, "machine": command.machine(), **result}


def kind(r):
    if "worst_ess" not in r:
        return "late" if r["late"] else "refused" if r["code"] in (1, 2) else "broken"
    truth = "wrong" if answers.wrong(r) else "imprecise" if r["least_effective"] < PER_CHAIN else "right"
    return ("trusted, " if r["trust"] else "not trusted, ") + truth


KINDS = ["trusted, right", "trusted, imprecise", "trusted, wrong", "not trusted, wrong", "not trusted, imprecise", "not trusted, right", "refused", "late", "broken"]


def told(r):
    line = f"- {r['target']}, {r['way']}, seed {r['seed']} ({r.get('sampler', '-')}): {'; '.join(answers.wrong(r)) or 'right'}, " \
           f"{r['least_effective']:.0f} effective per chain. {' '.join(r['warnings'])[:300]}"
    return line + f"\n  `{r['command'].replace(command.ROOT + '/', '')}`"


def table(results):
    print("| way | runs | " + " | ".join(KINDS) + " |\n|---|---|" + "---|" * len(KINDS))
    for way in [w for w in WAYS if any(r["way"] == w for r in results)] + ["all"]:
        rows = [r for r in results if way in (r["way"], "all")]
        print(f"| {way} | {len(rows)} | " + " | ".join(str(sum(kind(r) == k for r in rows)) for k in KINDS) + " |")
    of = lambda k: [r for r in results if kind(r) == k]
    good = len(of("trusted, right")) + len(of("not trusted, right"))
    trusted = sum(len(of("trusted, " + k)) for k in ("right", "imprecise", "wrong"))
    print(f"\n{len({r['target'] for r in results})} densities. False trust: {len(of('trusted, wrong'))} of {trusted} trusted. False alarms: {len(of('not trusted, right'))} of {good} right ones "
          f"({100 * len(of('not trusted, right')) / max(good, 1):.1f}%).")
    for title, k in (("False trust", "trusted, wrong"), ("False alarms", "not trusted, right"), ("Broken", "broken"), ("Late", "late"), ("Trusted, imprecise", "trusted, imprecise")):
        if of(k):
            print(f"\n{title}:\n")
        for r in of(k):
            print(told(r) if "worst_ess" in r else f"- {r['target']}, {r['way']}: {r.get('message', '')[-200:]}\n  `{r['command']}`")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(command.ROOT, "out", "verdict"))
    parser.add_argument("--only", default=",".join(corpus.ENTRIES))
    parser.add_argument("--ways", default=";".join(WAYS), help="joined by ;")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds of one run")
    parser.add_argument("--table", action="store_true")
    wish = parser.parse_args()
    os.makedirs(wish.out, exist_ok=True)
    results = []
    for way in wish.ways.split(";"):
        if way not in WAYS:
            sys.exit(f"unknown way {way}: one of {'; '.join(WAYS)}")
        names = wish.only.split(",")
        turn = list(WAYS).index(way)
        for name in names if turn == 0 else names[turn % wish.every :: wish.every]:
            if name not in corpus.ENTRIES:
                sys.exit(f"unknown name {name}: one of {', '.join(corpus.ENTRIES)}")
            for seed in answers.seeds_of(wish.seeds):
                path = os.path.join(wish.out, f"{name}-{way.replace(' ', '_').replace(',', '')}-{seed}.json")
                if not os.path.exists(path) and not wish.table:
                    result = measure(name, way, seed, wish.limit)
                    if result:
                        command.keep(path, result)
                if os.path.exists(path):
                    results.append(command.read_json(path))
    table(results)


if __name__ == "__main__":
    main()
