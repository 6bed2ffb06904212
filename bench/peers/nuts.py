"""NUTS on a regression, 4 chains x (1000 + 5000) one after another: stanli (Stan's algorithm without a compiler) and
blackjax (compilation not counted). Warm-up and drawing are timed apart: how many effective draws pay for a training depends
on how few are wanted.   nuts.py heart|german|australian"""
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


def report(peer, draws, warmup, seconds):
    ess = targets.worst_ess(draws)
    targets.say(peer=peer, target=name, warmup_seconds=warmup, seconds=seconds, worst_ess=ess,
                worst_ess_per_second=ess / (warmup + seconds))


def by_stanli(program):
    import stanli

    covariates, labels = targets.table(name)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "regression.stan")
        with open(path, "w") as file:
            file.write(program)
        data = {"rows": len(covariates), "columns": covariates.shape[1], "x": covariates, "y": labels.astype(int)}
        model = stanli.Model(stan_file=path, data=data)

        def sample(draws):
            began = time.perf_counter()
            chains = [
                model.sample(chains=1, seed=c + 1, warmup=WARMUP, samples=draws, parallel_chains=1, refresh=0).draws("w")
                for c in range(CHAINS)
            ]
            return np.concatenate(chains), time.perf_counter() - began

        warmup = sample(1)[1]  # the same seeds, so the same warm-up
        draws, seconds = sample(DRAWS)
    report("stanli NUTS", draws, warmup, seconds - warmup)


def by_blackjax():
    import blackjax
    import jax

    logp, dim = targets.density(name)

    @jax.jit
    def adapt(key):
        start, warm = jax.random.split(key)
        adaptation = blackjax.window_adaptation(blackjax.nuts, logp)
        return adaptation.run(warm, jax.random.uniform(start, (dim,), minval=-2.0, maxval=2.0), WARMUP)[0]

    @jax.jit
    def draw(key, state, tuned):
        def one(state, key):
            state, _ = blackjax.nuts(logp, **tuned).step(key, state)
            return state, state.position

        return jax.lax.scan(one, state, jax.random.split(key, DRAWS))[1]

    def chains(seeds):
        """Draws of every chain, seconds of all warm-ups and of all draws."""
        out, warmup, seconds = [], 0, 0
        for seed in seeds:
            first, second = jax.random.split(jax.random.PRNGKey(seed))
            began = time.perf_counter()
            state, tuned = jax.block_until_ready(adapt(first))
            middle = time.perf_counter()
            out.append(np.asarray(draw(second, state, tuned)))
            warmup, seconds = warmup + middle - began, seconds + time.perf_counter() - middle
        return np.stack(out), warmup, seconds

    chains([0])
    report("blackjax NUTS", *chains(range(100, 100 + CHAINS)))


try:
    by_stanli(STAN)
except Exception:  # a stanli without the GLM distribution
    by_stanli(STAN.replace("bernoulli_logit_glm(x, 0, w)", "bernoulli_logit(x * w)"))
by_blackjax()
