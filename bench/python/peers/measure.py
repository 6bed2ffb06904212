"""The peers on problems of their documentation and aisampler.sample on the same likelihood, priors and data, in one run, one thread each.

    bash bench/python/peers/run.sh [--only NAMES] [--seed S,...] [--out DIR] [--limit SECONDS]

Three runs for a problem and a seed: the peer with the settings that its documentation shows; ours to as many effective draws as the
peer gave; ours with defaults. Each is a process of its own, and a file in DIR (out/python_peers): what is there is not measured again.

Effective draws are ArviZ's smallest bulk ESS for chains, and Kish's for weighted draws. Lines of user code are those between the
markers "# both {", "# peer {", "# ours {" and "# }" of a problem's file, without blank lines and comments."""

import argparse
import json
import math
import os
import platform
import resource
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
import command

NAMES = ["line", "eggbox", "waves", "rosenbrock", "normal", "planet", "radon"]
PEERS = {"line": "emcee", "eggbox": "dynesty", "waves": "dynesty", "rosenbrock": "pocoMC", "normal": "nautilus", "planet": "nautilus",
         "radon": "nutpie"}
FAR = 4  # standard errors


def lines_of_code(name):
    """{"peer": lines, "ours": lines}: what both need counts for both."""
    count, tag = {"both": 0, "peer": 0, "ours": 0}, None
    with open(os.path.join(HERE, name + ".py")) as file:
        for line in (line.strip() for line in file):
            words = line.split()
            if line.startswith("# ") and line.endswith(" {") and words[1] in count:
                tag = words[1]
            elif line == "# }":
                tag = None
            elif tag and line and not line.startswith("#"):
                count[tag] += 1
    return {who: count["both"] + count[who] for who in ("peer", "ours")}


def stage(wish, name, seed, what, *rest, label=None):
    path = os.path.join(wish.out, f"{name}-{seed}-{label or what}.json")
    if os.path.exists(path):
        with open(path) as file:
            return json.load(file)
    print(f"{name}, seed {seed}, {label or what} ...", file=sys.stderr, flush=True)
    line = [sys.executable, os.path.join(HERE, "one.py"), name, str(seed), what, *map(str, rest)]
    done = subprocess.run(line, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (wish.limit, wish.limit + 5)))
    if done.returncode == -signal.SIGXCPU:
        answer = {"failed": f"no answer in {wish.limit} s of the processor"}
    elif done.returncode != 0:
        answer = {"failed": (done.stderr.strip().splitlines() or ["?"])[-1]}
    else:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    answer["load"] = os.getloadavg()[0]
    with open(path + ".new", "w") as file:
        json.dump(answer, file)
    os.replace(path + ".new", path)
    return answer


def away(one, other):
    """The largest difference of two runs' means in standard errors, of those that are known; truth has no errors."""
    if "mean" not in one or "mean" not in other:
        return None
    errors = zip(one.get("error") or [0] * len(one["mean"]), other.get("error") or [0] * len(other["mean"]))
    off = [0.0 if a == b else abs(a - b) / math.hypot(x, y) if x or y else math.inf
           for a, b, (x, y) in zip(one["mean"], other["mean"], errors) if not math.isnan(a + b)]
    return max(off, default=None)


def row(name, seed, who, lines, run, peer, truth):
    if "failed" in run:
        return f"| {name}, {seed} | {who} | {lines} | {run['failed']} | | | | | | | |"
    log_z = "-"
    if not math.isnan(run["log_z"]):
        log_z = f"{run['log_z']:.3f} ± {run['log_z_error']:.3f}"
    off = "-"
    if not math.isnan(run["log_z"] + truth.get("log_z", math.nan)):
        off = f"{run['log_z'] - truth['log_z']:+.3f}"

    def judged(z):
        return "-" if z is None else f"{z:.1f}" + ("" if z <= FAR else " **far**")

    return (f"| {name}, {seed} | {who} | {lines} | {run['evaluations']:,} | {run['seconds'][0]:.1f} | {run['seconds'][1]:.1f} | {run['effective']:,.0f} | {log_z} | {off} | "
            f"{judged(away(run, truth))}, {'-' if run is peer else judged(away(run, peer))} | "
            f"{'' if run is peer else 'trust' if run['trust'] else '**do not trust**'}{'; ' if run['note'] and run is not peer else ''}{run['note']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--seed", default="1,2")
    parser.add_argument("--out", default=os.path.join(command.ROOT, "out", "python_peers"))
    parser.add_argument("--limit", type=int, default=900, help="seconds of the processor for one run")
    wish = parser.parse_args()
    names = wish.only.split(",")
    for name in names:
        if name not in NAMES:
            parser.error(f"unknown problem {name}: one of {', '.join(NAMES)}")
    try:
        seeds = [int(seed) for seed in wish.seed.split(",")]
    except ValueError:
        parser.error(f"--seed takes whole numbers, not {wish.seed}")
    os.makedirs(wish.out, exist_ok=True)
    rows, loads = [], []
    for name in names:
        lines = lines_of_code(name)
        truth = stage(wish, name, 0, "truth")
        if not math.isnan(truth.get("log_z", math.nan)):
            rows.append(f"| {name} | quadrature | | | | | | {truth['log_z']:.3f} | | | |")
        for seed in seeds:
            peer = stage(wish, name, seed, "peer")
            same = stage(wish, name, seed, "ours", max(100, round(peer.get("effective", 1000))), label="same")
            plain = stage(wish, name, seed, "ours", 0, label="defaults")
            loads += [run["load"] for run in (peer, same, plain)]
            rows.append(row(name, seed, PEERS[name], lines["peer"], peer, peer, truth))
            rows.append(row(name, seed, "ours, as many", lines["ours"], same, peer, truth))
            rows.append(row(name, seed, "ours, defaults", lines["ours"], plain, peer, truth))
    about = command.machine()
    print(f"{about['processor']}, {about['cores']} cores, load {min(loads):.1f} to {max(loads):.1f}, Python {platform.python_version()}, "
          f"{time.strftime('%Y-%m-%d')}, commit {about['commit']}\n")
    print("| problem, seed | who | lines | evaluations | s | s of the processor | effective | log Z | off | means off in standard errors: from quadrature, from the peer | |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
