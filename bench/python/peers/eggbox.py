"""dynesty: the eggbox, eighteen peaks in the plane."""

import numpy as np

# peer {
import dynesty
# }
# ours {
import aisampler
# }

from common import Counted, Outcome, Watch, grid_moments, of_ours, of_weights



# both {
def likelihood(theta):
    waves = np.cos((2 * theta - 1) * 5 * np.pi / 2)
    return (2 + waves[..., 0] * waves[..., 1]) ** 5
# }


def peer(seed) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    generator = np.random.default_rng(seed)
    # peer {
    def unit_square(u):
        return u

    sampler = dynesty.DynamicNestedSampler(function, unit_square, 2, rstate=generator)
    sampler.run_nested(print_progress=False)
    results = sampler.results
    weights = results.importance_weights()
    # }
    return of_weights(results.samples, weights, evaluations=function.points, seconds=watch.seconds(), log_z=results.logz[-1],
                      log_z_error=results.logzerr[-1])


def ours(seed, effective) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # ours {
    prior = {"x": "uniform(0, 1)", "y": "uniform(0, 1)"}
    result = aisampler.sample(prior=prior, likelihood=function, seed=seed, effective=effective, threads=1)
    # }
    return of_ours(result, function.points, watch.seconds(), 2)


def truth():
    return grid_moments(likelihood, [(0, 1, 3000), (0, 1, 3000)])
