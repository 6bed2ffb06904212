"""NUTS on a regression, 4 chains x (1000 + 5000) one after another: stanli (Stan's algorithm without a compiler) and
blackjax (compilation not counted). The seconds are those of warm-up and sampling.   nuts.py heart|german|australian"""
import os
import sys
import tempfile
import time

import targets
import numpy as np

CHAINS, WARMUP, DRAWS = 4, 1000, 5000
STAN = """
data { int rows; int columns; matrix[rows, columns] x; array[rows] int y; }
parameters { vector[columns] w; }
model { w ~ std_normal(); y ~ bernoulli_logit_glm(x, 0, w); }
"""
name = sys.argv[1]


def report(peer, draws, seconds):
    ess = targets.worst_ess(draws)
    targets.say(peer=peer, target=name, seconds=seconds, worst_ess=ess, worst_ess_per_second=ess / seconds)


def by_stanli(program):
    import stanli

    covariates, labels = targets.table(name)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "regression.stan")
        with open(path, "w") as file:
            file.write(program)
        data = {"rows": len(covariates), "columns": covariates.shape[1], "x": covariates, "y": labels.astype(int)}
        model = stanli.Model(stan_file=path, data=data)
        began = time.perf_counter()
        chains = [
            model.sample(chains=1, seed=c + 1, warmup=WARMUP, samples=DRAWS, parallel_chains=1, refresh=0).draws("w")
            for c in range(CHAINS)
        ]
        seconds = time.perf_counter() - began
    report("stanli NUTS", np.concatenate(chains), seconds)


def by_blackjax():
    import blackjax
    import jax

    logp, dim = targets.density(name)

    @jax.jit
    def chain(key):
        start, warm, go = jax.random.split(key, 3)
        adaptation = blackjax.window_adaptation(blackjax.nuts, logp)
        (state, tuned), _ = adaptation.run(warm, jax.random.uniform(start, (dim,), minval=-2.0, maxval=2.0), WARMUP)
        kernel = blackjax.nuts(logp, **tuned)

        def one(state, key):
            state, _ = kernel.step(key, state)
            return state, state.position

        return jax.lax.scan(one, state, jax.random.split(go, DRAWS))[1]

    jax.block_until_ready(chain(jax.random.PRNGKey(0)))
    began = time.perf_counter()
    draws = np.stack([np.asarray(chain(jax.random.PRNGKey(100 + c))) for c in range(CHAINS)])
    report("blackjax NUTS", draws, time.perf_counter() - began)


try:
    by_stanli(STAN)
except Exception:  # a stanli without the GLM distribution
    by_stanli(STAN.replace("bernoulli_logit_glm(x, 0, w)", "bernoulli_logit(x * w)"))
by_blackjax()
