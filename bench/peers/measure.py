"""The peers beside us, in one run: every measurement of a peer is followed by ours of the same thing on the same core.

    bash bench/peers/run.sh [henon] [regressions] [planes]        (default: all three)

henon        the paper's 2D kernel on mog6: chain-steps per second of JAX (lax.scan) and ours, 1 and 10,000 chains
regressions  worst ESS per second of NUTS (stanli, blackjax) and ours, and the break-even: from how many effective draws on `run
             --effective N` is ahead of NUTS, learning and warm-up counted, in seconds and in evaluations
planes       seconds until 50 chains x 1000 draws are there, training counted: flowMC and ours

One JSON line a measurement, then a table of ratios. ESS is the smallest bulk ESS (ArviZ for everybody) over x_i and
x_i^2."""
import json
import os
import subprocess
import sys
import tempfile
import time

import targets

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from command import AISAMPLER, evaluations, read_json

# Chain-steps per second of the authors' JAX code, 1,000 chains, one core of another machine (Zen 4, AVX-512, 118 GFLOP/s of
# multiply-adds): it cannot be installed from PyPI, so this one number is not of the same run.
AUTHORS = {"heart": 59e3, "german": 17e3, "australian": 24e3}
EFFECTIVE = (250, 500, 1000, 2000, 4000, 8000, 16000, 32000)  # where break-even is looked for
PLANES = ("mog2", "mog6", "triangle", "ring", "ring5")
lines = []


def say(**fields):
    line = {k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in fields.items()}
    lines.append(line)
    print(json.dumps(line), flush=True)
    return line


def peer(script, *arguments):
    """A peer in a process of its own, so that none warms another's caches; its JSON lines."""
    here = os.path.dirname(os.path.abspath(__file__))
    out = subprocess.run([sys.executable, os.path.join(here, script), *arguments], check=True, capture_output=True, text=True)
    return [say(**json.loads(line)) for line in out.stdout.splitlines() if line.startswith("{")]


def command(*arguments):
    """Our command; 3 means that its diagnostics warn, which is shown with the number."""
    done = subprocess.run([AISAMPLER, *arguments, "--threads", "1", "--quiet"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.returncode


def draws_of(folder):
    import xarray
    with xarray.open_dataset(os.path.join(folder, "draws.nc"), group="posterior") as posterior:
        return targets.stack(posterior)


# ---- one kernel, one core ------------------------------------------------------------------------------


def henon():
    ours = {}
    # The best of seven runs, as of JAX, which together take as long as JAX's: a disturbance hits both alike.
    out = subprocess.run([AISAMPLER, "bench", "steps", "--json", "--seconds", "2.5"], check=True, capture_output=True, text=True)
    theirs = {line["chains"]: line["chain_steps_per_second"] for line in peer("jax_henon.py")}
    for row in json.loads(out.stdout)["steps"]:
        ours[row["chains"]] = say(peer="aisampler henon 2D", chains=row["chains"], chain_steps_per_second=row["steps_per_second"])
    return [("henon 2D, %d chain%s" % (c, "s" if c > 1 else ""), ours[c]["chain_steps_per_second"] / theirs[c],
             {1: 15, 10000: 8}.get(c)) for c in theirs if c in ours]


# ---- regressions ---------------------------------------------------------------------------------------


def learned(name, chains, draws):
    """Our training and sampling: seconds of each without files, ESS by ArviZ from files of a shorter run."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = os.path.join(folder, "kernel.ais")
        began = time.perf_counter()
        command("train", name, "--out", kernel)
        train = time.perf_counter() - began
        command("sample", name, "-k", kernel, "--chains", str(chains), "--draws", str(draws), "--warmup", "100",
                "--format", "netcdf", "--out", folder)
        ess = targets.worst_ess(draws_of(folder))
        out = subprocess.run([AISAMPLER, "bench", "steps", "--kernel", kernel, "--target", name, "--json"],
                             check=True, capture_output=True, text=True)
        rate = json.loads(out.stdout)["steps"][-1]["steps_per_second"]
    return say(peer="aisampler", target=name, train_seconds=train, ess_per_draw=ess / chains / draws,
               chain_steps_per_second=rate, worst_ess_per_second=rate * ess / chains / draws)


def leapfrogs(name):
    """NUTS with Stan's defaults, ours because it counts: leapfrogs of the warm-up, and per effective draw after it."""
    import xarray

    with tempfile.TemporaryDirectory() as folder:
        command("sample", name, "--sampler", "nuts", "--draws", "5000", "--save-warmup", "--format", "netcdf", "--out", folder)
        spent = []
        for group in ("warmup_sample_stats", "sample_stats"):
            with xarray.open_dataset(os.path.join(folder, "draws.nc"), group=group) as stats:
                spent.append(int(stats["n_steps"].sum()))
        ess = targets.worst_ess(draws_of(folder))
    say(peer="aisampler NUTS", target=name, warmup_leapfrogs=spent[0], leapfrogs=spent[1], worst_ess=ess)
    return spent[0], spent[1] / ess


def until(name, effective):
    """`run` until it has so many effective draws: seconds of learning and drawing, evaluations. Files, judging and figures are
    not in the seconds, since the peers make none."""
    with tempfile.TemporaryDirectory() as folder:
        code = command("run", name, "--effective", str(effective), "--format", "netcdf", "--out", folder)
        summary, run = (read_json(os.path.join(folder, file)) for file in ("summary.json", "run.json"))
        ess = targets.worst_ess(draws_of(folder))
    spent = evaluations(summary, run)
    seconds = summary["train_seconds"] + summary["warmup_seconds"] + summary["sample_seconds"]
    return say(peer="aisampler", target=name, effective_wanted=effective, worst_ess=ess, seconds=seconds,
               evaluations=spent.get("total", sum(spent.values())), trusted=code == 0)


def break_even(ours, theirs, key):
    """From how many effective draws on ours[key] is below theirs(N): between two measured N the difference is taken as a
    straight line. Infinite where we are behind at the largest N; the smallest N where we are ahead from there on."""
    lead = [(row["effective_wanted"], row[key] - theirs(row["effective_wanted"])) for row in ours]
    if lead[-1][1] > 0:
        return float("inf")
    behind = [i for i, (_, difference) in enumerate(lead) if difference > 0]
    if not behind:
        return lead[0][0]
    (low, above), (high, below) = lead[behind[-1]], lead[behind[-1] + 1]
    return low + (high - low) * above / (above - below)


def regressions():
    rows = []
    for name in targets.REGRESSIONS:
        peers = peer("nuts.py", name)
        best = max(peers, key=lambda line: line["worst_ess_per_second"])
        ours = learned(name, 100, 1000)
        warmup, per_draw = leapfrogs(name)
        paid = [until(name, n) for n in EFFECTIVE]
        even = {"seconds": break_even(paid, lambda n: min(p["warmup_seconds"] + p["seconds"] * n / p["worst_ess"] for p in peers), "seconds"),
                "evaluations": break_even(paid, lambda n: warmup + per_draw * n, "evaluations")}
        say(target=name, break_even_seconds=even["seconds"], break_even_evaluations=even["evaluations"])
        rows.append((name + ", worst ESS/s against the better NUTS", ours["worst_ess_per_second"] / best["worst_ess_per_second"], 100))
        for what, draws in even.items():
            rows.append((f"{name}, break-even in {what}, effective draws", draws, -1000))
        rows.append((name + ", chain-steps/s against the authors'", ours["chain_steps_per_second"] / AUTHORS[name], 20))
    return rows


# ---- planes --------------------------------------------------------------------------------------------


def planes():
    rows = []
    for name in PLANES:
        theirs = peer("flow_mc.py", name)[0]
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            code = command("run", name, "--chains", "50", "--draws", "1000", "--format", "netcdf", "--out", folder)
            seconds = time.perf_counter() - began
            ess = targets.worst_ess(draws_of(folder))
        say(peer="aisampler", target=name, seconds=seconds, worst_ess_per_1000=ess / 50, worst_ess_per_second=ess / seconds,
            trusted=code == 0)
        rows.append((name + ", wall seconds of flowMC against ours", theirs["seconds"] / seconds, 25))
    return rows


def main():
    parts = {"henon": henon, "regressions": regressions, "planes": planes}
    wanted = sys.argv[1:] or list(parts)
    unknown = [word for word in wanted if word not in parts]
    if unknown:
        sys.exit(f"unknown part {unknown[0]}: one of {', '.join(parts)}")
    rows = [row for word in wanted for row in parts[word]()]
    print(f"\n{'':52} {'here':>9} {'wanted':>9}")
    for name, value, goal in rows:
        wish = "" if goal is None else f">= {goal}" if goal > 0 else f"<= {-goal}"
        print(f"{name:52} {value:9.3g} {wish:>9}")


main()
