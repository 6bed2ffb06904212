"""What a gradient of a Stan program costs, in our NUTS and in stanli's own, one chain on one thread each.

    bash bench/stan/run.sh [--draws 20000] [--repeat 3] [--only NAME,...]

Microseconds are the seconds of warm-up and draws by the gradients that they took, so that each sampler's own work is in
them, but not what the program computes of a draw (generated quantities). `alone` is our gradient called in a loop, at
draws; `shown` what it takes to compute all values of a draw. run.sh makes them seconds of the processor, for others may
be at work on the machine; for the same reason the fastest of the repetitions counts, which take turns. The programs are
those of examples/ and tests/stan."""
import argparse
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import stanli

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AIS_BUILD", ROOT / "build")).resolve()
MODELS = ("eight_schools", "mixture", "decay", "counties", "grades")


def place(name):
    """The path of a program without its ending: among the examples, or of the tests."""
    return next(path for path in (ROOT / "examples" / f"07_{name}", ROOT / "tests" / "stan" / name) if path.with_suffix(".stan").exists())


def theirs(model, draws):
    """Seconds per gradient of stanli's sampler, and their number."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        fit = model.sample(chains=1, seed=1, warmup=1000, samples=draws, save_warmup=True, refresh=10**9, parallel_chains=1)
    seconds = float(re.search(r"([0-9.]+) seconds \(Total\)", said.getvalue()).group(1))
    gradients = float(np.sum(fit["n_leapfrog__"]))
    return seconds / gradients, gradients


def ours(name, draws):
    """Microseconds per gradient in our NUTS, alone, and per draw that is shown; the number of gradients."""
    done = subprocess.run([BUILD / "bench" / "stan_gradient", f"stan:{place(name)}.stan:{place(name)}.json", "1000", str(draws)],
                          env={**os.environ, "AISAMPLER_STANLI": str(stanli._runtime_lib_path())}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return [float(word) for word in done.stdout.split()[:4]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=20000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", help="of " + ", ".join(MODELS))
    wish = parser.parse_args()
    print(f"stanli {stanli.__version__}, {wish.draws} draws after 1000 of warm-up, the fastest of {wish.repeat}\n")
    print("| program | parameters | stanli: us per gradient | ours: us per gradient | ours / stanli | alone, us | shown, us per draw | "
          "gradients: stanli, ours |")
    print("|---|---|---|---|---|---|---|---|")
    for name in MODELS:
        if wish.only and name not in wish.only.split(","):
            continue
        model = stanli.Model(stan_file=f"{place(name)}.stan", data=f"{place(name)}.json")
        times = [(theirs(model, wish.draws), ours(name, wish.draws)) for _ in range(wish.repeat)]
        peer, gradients = min(pair[0] for pair in times)
        own, alone, shown = (min(pair[1][k] for pair in times) for k in range(3))
        print(f"| {name} | {model.n_unconstrained} | {1e6 * peer:.2f} | {own:.2f} | {1e-6 * own / peer:.2f} | {alone:.2f} | {shown:.2f} | "
              f"{gradients:.0f}, {times[0][1][3]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
