"""The peers beside us, in one run: every measurement of a peer is followed by ours of the same thing on the same core.

    bash bench/peers/run.sh [henon] [regressions] [planes]        (default: all three)

henon        the paper's 2D kernel on mog6: chain-steps a second of JAX (lax.scan) and ours, 1 and 10,000 chains
regressions  worst ESS a second of NUTS (stanli, blackjax) and ours, and from how many effective draws on we are ahead,
             training counted
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

BUILD = os.environ["AIS_BUILD"]
AISAMPLER = os.path.join(BUILD, "aisampler")
# Chain-steps a second of the authors' JAX code, 1,000 chains, one core of another machine (Zen 4, AVX-512, 118 GFLOP/s of
# multiply-adds): it cannot be installed from PyPI, so this one number is not of the same run.
AUTHORS = {"heart": 59e3, "german": 17e3, "australian": 24e3}
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


def regressions():
    rows = []
    for name in targets.REGRESSIONS:
        theirs = max(line["worst_ess_per_second"] for line in peer("nuts.py", name))
        ours = learned(name, 100, 1000)
        gain = 1 / theirs - 1 / ours["worst_ess_per_second"]
        even = ours["train_seconds"] / gain if gain > 0 else float("inf")
        say(target=name, break_even_effective_draws=even)
        rows.append((name + ", worst ESS/s against the better NUTS", ours["worst_ess_per_second"] / theirs, 100))
        rows.append((name + ", break-even in thousand effective draws", even / 1000, -50))
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
