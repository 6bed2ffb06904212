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

SHARE, ERRORS, FALSE_ALARMS = 0.03, 5, 0.05
TAILS = (0.01, 0.05, 0.95, 0.99)


def effective(x):
    """Of an indicator, chains x draws, by Geyer's initial monotone sequence on split chains (docs/diagnostics.md)."""
    half = x.shape[1] // 2
    x = np.concatenate([x[:, :half], x[:, -half:]]).astype(float)
    centred = x - x.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred, 2 * half, axis=1)) ** 2
    covariance = np.fft.irfft(power, axis=1)[:, :half].mean(axis=0) / half
    within, between = covariance[0] * half / (half - 1), x.mean(axis=1).var(ddof=1)
    total = within * (half - 1) / half + between
    if not total > 0:
        return x.size
    rho = 1 - (within - covariance) / total
    pairs = rho[: half // 2 * 2].reshape(-1, 2).sum(axis=1)
    pairs = pairs[: np.argmax(pairs <= 0)] if (pairs <= 0).any() else pairs
    return x.size / max(-1 + 2 * np.minimum.accumulate(pairs).sum(), 1e-3) if len(pairs) else x.size


def tail_error(draws, quantiles):
    """The largest error of a tail's probability in standard errors, with its coordinate and tail. draws: chains x draws x dim."""
    worst = (0.0, 0, 0.0)
    for i, points in enumerate(quantiles):
        for probability, point in zip(TAILS, points):
            beyond = draws[:, :, i] < point
            count = min(effective(beyond), beyond.size)
            error = np.sqrt(probability * (1 - probability) / count)
            worst = max(worst, (abs(beyond.mean() - probability) / error, i, probability))
    return worst


def compare(result, exact, folder):
    x = command.draws(folder)
    result["share_error"] = exact.share(x) if exact.share else 0.0
    worst = tail_error(x.reshape(result["chains"], result["draws"], -1), exact.quantiles)
    result["tail_error"], result["tail_coordinate"], result["tail"] = float(worst[0]), worst[1], worst[2]
    summary = command.read_json(os.path.join(folder, "summary.json"))
    result |= {key: summary[key] for key in ("log_z", "log_z_error", "checks") if key in summary}
    error = result.get("log_z_error")
    result["log_z_off"] = abs(result["log_z"] - exact.log_z) / error if error else 0.0


def wrong(r):
    """What is wrong with an answer; empty if it is right."""
    said = []
    if r["share_error"] > SHARE:
        said.append(f"share off by {r['share_error']:.3f}")
    if r["log_z_off"] > ERRORS:
        said.append(f"log Z off by {r['log_z_off']:.1f} errors")
    if r["tail_error"] > ERRORS:
        said.append(f"x.{r['tail_coordinate'] + 1} below its {100 * r['tail']:.0f}% point off by {r['tail_error']:.1f} errors")
    return said


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


def seeds_of(text):
    low, _, high = text.partition("-")
    return range(int(low), int(high or low) + 1)


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


main()
