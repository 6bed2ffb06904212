"""nautilus: three parameters, two of them strongly correlated, one with a normal prior."""

import numpy as np

# peer {
import nautilus
from scipy.stats import norm
# }
# ours {
import aisampler
# }

from common import Counted, Outcome, Watch, of_nautilus, of_ours

PRECISION = np.linalg.inv([[1, 0, 0.9], [0, 1, 0], [0.9, 0, 1]])
CONSTANT = 0.5 * np.linalg.slogdet(PRECISION)[1] - 1.5 * np.log(2 * np.pi)


# both {
def likelihood(theta):
    return CONSTANT - 0.5 * np.sum((theta @ PRECISION) * theta, axis=-1)
# }


def peer(seed) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # peer {
    prior = nautilus.Prior()
    prior.add_parameter("a", dist=(-5, 5))
    prior.add_parameter("b", dist=(-5, 5))
    prior.add_parameter("c", dist=norm(0, 2))
    sampler = nautilus.Sampler(prior, function, n_live=1000, vectorized=True, pass_dict=False, seed=seed)
    sampler.run()
    draws, log_weights, _ = sampler.posterior()
    # }
    return of_nautilus(sampler, draws, log_weights, function, watch)


def ours(seed, effective) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # ours {
    prior = {"a": "uniform(-5, 5)", "b": "uniform(-5, 5)", "c": "normal(0, 2)"}
    result = aisampler.sample(prior=prior, likelihood=function, seed=seed, effective=effective, threads=1)
    # }
    return of_ours(result, function.points, watch.seconds(), 3)


def truth():
    """The box cuts less than 1e-6 off; c has variance 1 under the likelihood and 4 under the prior."""
    return -2 * np.log(10) - 0.5 * np.log(2 * np.pi * 5), np.zeros(3)
