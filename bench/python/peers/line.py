"""emcee: a line through measurements whose errors are understated by an unknown factor f."""

import numpy as np

# peer {
import emcee
from scipy.optimize import minimize
# }
# ours {
import aisampler
# }

from common import Counted, Outcome, Watch, grid_moments, of_chains, of_ours

rng = np.random.default_rng(123)
X = np.sort(rng.uniform(0, 10, 50))
ERRORS = rng.uniform(0.1, 0.6, 50)
TRUE = -0.96 * X + 4.29
Y = TRUE + 0.53 * np.abs(TRUE) * rng.normal(size=50) + ERRORS * rng.normal(size=50)
LOW, HIGH = np.array([-5.0, 0.0, -10.0]), np.array([0.5, 10.0, 1.0])


# both {
def likelihood(theta):
    m, b, log_f = np.moveaxis(theta[..., None], -2, 0)
    model = m * X + b
    variance = ERRORS**2 + np.exp(2 * log_f) * model**2
    return -0.5 * np.sum((Y - model) ** 2 / variance + np.log(2 * np.pi * variance), axis=-1)
# }


def peer(seed) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    np.random.seed(seed)
    # peer {
    def log_probability(theta):
        inside = np.all((theta > LOW) & (theta < HIGH), axis=1)
        value = np.full(len(theta), -np.inf)
        value[inside] = function(theta[inside])
        return value

    best = minimize(lambda theta: -function(theta), [-1.0, 4.0, -0.7]).x
    start = best + 1e-4 * np.random.normal(size=(32, 3))
    sampler = emcee.EnsembleSampler(32, 3, log_probability, vectorize=True)
    sampler.run_mcmc(start, 5000)
    draws = sampler.get_chain(discard=100)
    # }
    return of_chains(draws.swapaxes(0, 1), evaluations=function.points, seconds=watch.seconds(),
                     note=f"emcee's own: {draws.shape[0] * 32 / sampler.get_autocorr_time(discard=100).max():.0f} effective")


def ours(seed, effective) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # ours {
    prior = {"m": "uniform(-5, 0.5)", "b": "uniform(0, 10)", "log_f": "uniform(-10, 1)"}
    result = aisampler.sample(prior=prior, likelihood=function, seed=seed, effective=effective, threads=1)
    # }
    return of_ours(result, function.points, watch.seconds(), 3)


def truth():
    log_z, mean = grid_moments(likelihood, [(-2.2, 0.5, 120), (0.0, 10.0, 120), (-3.5, 1.0, 120)])
    return log_z - np.log(HIGH - LOW).sum(), mean
