"""dynesty: the exponential of two sines, amplitudes, frequencies, phases and noise unknown; the sines may change places."""

import numpy as np

# peer {
import dynesty
# }
# ours {
import aisampler
# }

from common import Counted, Outcome, Watch, of_ours, of_weights

rng = np.random.default_rng(916)
X = np.sort(rng.uniform(0, 2 * np.pi, 100))
Y = np.exp(0.9 * np.sin(1.05 * X + 0.4) + 0.45 * np.sin(4.2 * X + 2.0)) + 0.2 * rng.normal(size=100)


# both {
def likelihood(theta):
    a, f, p, b, g, q, s = np.moveaxis(theta[..., None], -2, 0)
    model = np.exp(np.exp(a) * np.sin(np.exp(f) * X + p) + np.exp(b) * np.sin(np.exp(g) * X + q))
    return -0.5 * np.sum((Y - model) ** 2 * np.exp(-2 * s) + 2 * s + np.log(2 * np.pi), axis=-1)
# }


def slow_first(draws):
    """The sines' names are exchangeable: the slow one first, and then whether that was a change, which it is in half of the mass."""
    change = draws[..., 1:2] > draws[..., 4:5]
    return np.concatenate([np.where(change, draws[..., [3, 4, 5, 0, 1, 2]], draws[..., :6]), draws[..., 6:], change], axis=-1)


def peer(seed) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    generator = np.random.default_rng(seed)
    # peer {
    low = np.array([-2, -1, 0, -2, -1, 0, -3])
    width = np.array([3, 3, 2 * np.pi, 3, 3, 2 * np.pi, 3])

    def transform(u):
        return low + width * u

    sampler = dynesty.DynamicNestedSampler(function, transform, 7, periodic=[2, 5], sample="rwalk", rstate=generator)
    sampler.run_nested(print_progress=False)
    results = sampler.results
    weights = results.importance_weights()
    # }
    return of_weights(slow_first(results.samples), weights, evaluations=function.points, seconds=watch.seconds(), log_z=results.logz[-1],
                      log_z_error=results.logzerr[-1])


def ours(seed, effective) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # ours {
    prior = {"a": "uniform(-2, 1)", "f": "uniform(-1, 2)", "p": "uniform(0, 6.283185307179586)",
             "b": "uniform(-2, 1)", "g": "uniform(-1, 2)", "q": "uniform(0, 6.283185307179586)", "s": "uniform(-3, 0)"}
    result = aisampler.sample(prior=prior, likelihood=function, seed=seed, effective=effective, threads=1)
    # }
    return of_ours(result, function.points, watch.seconds(), 7, slow_first)


def truth():
    """Unknown, but for the share of draws that have the fast sine first."""
    return np.nan, np.array([np.nan] * 7 + [0.5])
