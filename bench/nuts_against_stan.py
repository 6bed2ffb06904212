"""Our NUTS beside Stan's (stanli from PyPI) on the regressions: ESS, gradients per draw, step size.

    pip install stanli arviz numpy
    cc -O3 -D_DEFAULT_SOURCE -Iinclude -Isrc bench/nuts_against_stan.c -Lbuild -laisampler \
       -Wl,-rpath,$PWD/build -o build/nuts_against_stan
    python bench/nuts_against_stan.py build/nuts_against_stan [TARGET...]

Prints a table; exits 1 when a worst ESS is more than 20% below Stan's or a posterior mean is off.
"""
import json
import os
import subprocess
import sys
import tempfile

import arviz
import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
CHAINS, WARMUP, DRAWS = 4, 1000, 5000
PROGRAM = """data { int n; int d; matrix[n, d] X; array[n] int y; }
parameters { vector[d] w; }
model { w ~ std_normal(); y ~ bernoulli_logit(X * w); }"""


def regression(name):
    """Standardised covariates with a bias column, and labels: the first 9/10 of the rows."""
    table = np.loadtxt(os.path.join(DATA, name + ".csv"), delimiter=",")
    x, y = table[:, :-1], table[:, -1]
    x = np.c_[np.ones(len(x)), (x - x.mean(0)) / x.std(0)]
    train = len(x) * 9 // 10
    return x[:train], y[:train]


def ess(draws):
    """The bulk ESS of every coordinate of draws (chain, draw, parameter)."""
    return np.array([float(arviz.ess(np.ascontiguousarray(draws[:, :, i]), method="bulk")) for i in range(draws.shape[2])])


def stan(name, metric):
    import stanli

    x, y = regression(name)
    path = os.path.join(tempfile.mkdtemp(), "regression.stan")
    with open(path, "w") as file:
        file.write(PROGRAM)
    model = stanli.Model(stan_file=path, data=dict(n=len(x), d=x.shape[1], X=x, y=y.astype(int)))
    fits = [model.sample(chains=1, seed=c + 1, warmup=WARMUP, samples=DRAWS, parallel_chains=1, refresh=0, metric=metric)
            for c in range(CHAINS)]
    stats = {key: np.mean([np.mean(fit[column]) for fit in fits])
             for key, column in (("leapfrogs", "n_leapfrog__"), ("step_size", "stepsize__"), ("acceptance", "accept_stat__"))}
    return np.concatenate([fit.draws("w") for fit in fits]), stats


def ours(program, name, *flags):
    path = os.path.join(tempfile.mkdtemp(), "draws.bin")
    line = subprocess.run([program, name, path, str(CHAINS), str(WARMUP), str(DRAWS), "1", *flags],
                          check=True, capture_output=True, text=True).stdout
    stats = json.loads(line)
    return np.fromfile(path).reshape(CHAINS, DRAWS, stats["dim"]), stats


def compare(name, metric, reference, other):
    """Prints both rows; True when the second is worse than it may be."""
    rows, means = [], []
    for label, (draws, stats) in (("stan", reference), ("ours", other)):
        worst = ess(draws).min(), ess(draws**2).min()
        rows.append(worst)
        means.append((draws.mean((0, 1)), draws.std((0, 1)) / np.sqrt(ess(draws))))
        z = np.abs((means[-1][0] - means[0][0]) / np.hypot(means[-1][1], means[0][1])).max()
        print(f"{name:12}{label + ' ' + metric:12}{worst[0]:8.0f}{worst[1]:9.0f}{stats['leapfrogs']:11.2f}"
              f"{stats['step_size']:8.3f}{stats['acceptance']:8.3f}{z:8.2f}", flush=True)
    return z > 4 or any(mine < 0.8 * theirs for theirs, mine in zip(*rows))


def main():
    program, targets = sys.argv[1], sys.argv[2:] or ["heart", "german", "australian"]
    bad = False
    print(f"{'target':12}{'sampler':12}{'ESS x':>8}{'ESS x^2':>9}{'grad/draw':>11}{'step':>8}{'accept':>8}{'mean z':>8}")
    for name in targets:
        for metric in ("diag", "dense"):
            reference = stan(name, metric + "_e")
            draws = ours(program, name, metric)
            bad |= compare(name, metric, reference, draws)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
