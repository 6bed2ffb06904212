"""flowMC (rational-quadratic spline flow with MALA), training and compilation included.   flow_mc.py TARGET [SEED]

100 chains, 20 loops of training and 20 of production: the smallest of the settings tried that finds all modes of mog6
and triangle (the tutorial's ends in one mode of the triangle with R-hat 1.001)."""
import sys
import time

import targets
import jax
import numpy as np

name = sys.argv[1]
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
CHAINS = 100
logp, dim = targets.density(name)
spread = 0.5 if name in targets.REGRESSIONS else 4.0

began = time.perf_counter()
from flowMC.Sampler import Sampler
from flowMC.resource_strategy_bundle.RQSpline_MALA import RQSpline_MALA_Bundle

for_sampler, for_bundle, for_start = jax.random.split(jax.random.PRNGKey(seed), 3)
bundle = RQSpline_MALA_Bundle(
    for_bundle,
    CHAINS,
    dim,
    lambda x, data: logp(x),
    n_local_steps=10,
    n_global_steps=100,
    n_training_loops=20,
    n_production_loops=20,
    n_epochs=20,
    rq_spline_hidden_units=[32, 32],
    rq_spline_n_bins=8,
    rq_spline_n_layers=4,
    learning_rate=3e-3,
    batch_size=5000,
    n_max_examples=10000,
    history_window=200,
)
sampler = Sampler(n_dim=dim, n_chains=CHAINS, rng_key=for_sampler, resource_strategy_bundles=bundle, checkpoint_interval=0)
sampler.sample(spread * jax.random.normal(for_start, (CHAINS, dim)), {})
seconds = time.perf_counter() - began
draws = np.asarray(sampler.resources["positions_production"].data)
ess = targets.worst_ess(draws)
targets.say(
    peer="flowMC",
    target=name,
    seconds=seconds,
    draws_per_chain=draws.shape[1],
    worst_ess_per_1000=1000 * ess / draws.shape[0] / draws.shape[1],
    worst_ess_per_second=ess / seconds,
)
