"""nutpie: a level for each of thirty counties, not centred, and the difference that a floor makes. Gradients are counted."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

# peer {
import nutpie
import pymc as pm
# }
# ours {
import aisampler
# }
from common import Outcome, Watch, of_chains, of_ours

rng = np.random.default_rng(85)
COUNTIES = 30
COUNTY = np.sort(rng.integers(0, COUNTIES, 300))
FLOOR = rng.integers(0, 2, 300)
Y = (1.4 + 0.35 * rng.normal(size=COUNTIES))[COUNTY] - 0.6 * FLOOR + 0.7 * rng.normal(size=300)


def peer(seed) -> Outcome:
    watch = Watch()
    # peer {
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 3)
        floor = pm.Normal("floor", 0, 3)
        tau = pm.HalfNormal("tau", 1)
        sigma = pm.HalfNormal("sigma", 2)
        eta = pm.Normal("eta", shape=COUNTIES)
        pm.Normal("y", mu + tau * eta[COUNTY] + floor * FLOOR, sigma, observed=Y)
    compiled = nutpie.compile_pymc_model(model)
    # }
    compiling = watch.seconds()[1]
    # peer {
    trace = nutpie.sample(compiled, seed=seed, cores=1, save_warmup=True, progress_bar=False)
    # }
    seconds = watch.seconds()
    draws = np.concatenate([np.asarray(trace.posterior[name]).reshape(*trace.posterior["mu"].shape, -1)
                            for name in ("mu", "floor", "tau", "sigma", "eta")], axis=2)
    gradients = int(np.sum(trace.sample_stats["n_steps"]) + np.sum(trace.warmup_sample_stats["n_steps"]))
    return of_chains(draws, evaluations=gradients, seconds=seconds, note=f"of the processor's seconds {compiling:.1f} to compile")


def ours(seed, effective) -> Outcome:
    watch = Watch()
    # ours {
    program = """
    data { int N; int J; array[N] int<lower=1, upper=J> county; vector[N] floor_; vector[N] y; }
    parameters { real mu; real floor_effect; real<lower=0> tau; real<lower=0> sigma; vector[J] eta; }
    model {
      target += normal_lpdf(mu | 0, 3) + normal_lpdf(floor_effect | 0, 3);
      target += normal_lpdf(tau | 0, 1) + normal_lpdf(sigma | 0, 2) + 2 * log(2);
      target += std_normal_lpdf(eta);
      target += normal_lpdf(y | mu + tau * eta[county] + floor_effect * floor_, sigma);
    }
    """
    data = {"N": len(Y), "J": COUNTIES, "county": COUNTY + 1, "floor_": FLOOR, "y": Y}
    result = aisampler.sample(stan=program, data=data, seed=seed, effective=effective, threads=1)
    # }
    return of_ours(result, None, watch.seconds(), 4 + COUNTIES)


def truth():
    """Given tau and sigma everything is normal: a grid over the two."""
    levels = (COUNTY[:, None] == np.arange(COUNTIES)).astype(float)
    design = np.column_stack([np.ones(len(Y)), FLOOR, levels])
    taus, sigmas = ((np.arange(n) + 0.5) * (high - low) / n + low for low, high, n in ((0.0, 1.2, 120), (0.5, 1.0, 60)))
    values, means = [], []
    for tau in taus:
        for sigma in sigmas:
            # Of (mu, floor, eta): prior precision, then what the data add.
            x = design * np.concatenate([[1, 1], np.full(COUNTIES, tau)])
            prior = np.concatenate([[1 / 9, 1 / 9], np.ones(COUNTIES)])
            factor = cho_factor(np.diag(prior) + x.T @ x / sigma**2)
            mean = cho_solve(factor, x.T @ Y) / sigma**2
            left = Y @ Y / sigma**2 - mean @ (x.T @ Y) / sigma**2
            value = 0.5 * np.log(prior).sum() - np.log(np.diag(factor[0])).sum() - 0.5 * left - len(Y) * np.log(sigma * np.sqrt(2 * np.pi))
            value += 2 * np.log(2) - np.log(2 * np.pi) - np.log(2) - 0.5 * tau**2 - 0.5 * (sigma / 2) ** 2
            values.append(value)
            means.append(np.concatenate([mean[:2], [tau, sigma], mean[2:]]))
    values = np.array(values)
    weights = np.exp(values - values.max())
    log_z = values.max() + np.log(weights.sum()) + np.log((taus[1] - taus[0]) * (sigmas[1] - sigmas[0]))
    return log_z, weights @ np.array(means) / weights.sum()
