"""pocoMC: five of Rosenbrock's pairs, ten dimensions, in a box."""

import numpy as np

# peer {
import pocomc
from scipy.stats import uniform
# }
# ours {
import aisampler
# }

from common import Counted, Outcome, Watch, grid_moments, of_ours, of_weights



# both {
def likelihood(theta):
    x, y = theta[..., ::2], theta[..., 1::2]
    return -np.sum(10 * (x**2 - y) ** 2 + (x - 1) ** 2, axis=-1)
# }


def peer(seed) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # peer {
    prior = pocomc.Prior([uniform(-10, 20)] * 10)
    sampler = pocomc.Sampler(prior, function, vectorize=True, random_state=seed)
    sampler.run(progress=False)
    draws, weights, _, _ = sampler.posterior()
    log_z, log_z_error = sampler.evidence()
    # }
    return of_weights(draws, weights, evaluations=function.points, seconds=watch.seconds(), log_z=log_z, log_z_error=log_z_error)


def ours(seed, effective) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # ours {
    result = aisampler.sample(prior={"x": ("uniform(-10, 10)", 10)}, likelihood=function, seed=seed, effective=effective, threads=1)
    # }
    return of_ours(result, function.points, watch.seconds(), 10)


def truth():
    log_pair, mean = grid_moments(lambda p: likelihood(p), [(-4, 6, 2000), (-3, 10, 5000)])
    return 5 * (log_pair - 2 * np.log(20)), np.tile(mean, 5)
