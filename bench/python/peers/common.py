"""What all problems share: counting, weighing, and what is kept of a run."""

import dataclasses
import time

import numpy as np


class Counted:
    """A likelihood that counts the points it is asked for; the last axis of its argument is the parameters."""

    def __init__(self, function):
        self.function = function
        self.points = 0

    def __call__(self, theta):
        theta = np.asarray(theta)
        self.points += theta[..., 0].size
        return self.function(theta)


@dataclasses.dataclass
class Outcome:
    evaluations: int
    seconds: tuple  # by the clock, of the processor
    effective: float
    mean: np.ndarray
    error: np.ndarray  # standard errors of the means
    log_z: float = np.nan
    log_z_error: float = np.nan
    trust: bool = True
    note: str = ""


class Watch:
    def __init__(self):
        self.began = time.monotonic(), time.process_time()

    def seconds(self):
        """By the clock, and of the processor: on a machine that others use the second says more."""
        return time.monotonic() - self.began[0], time.process_time() - self.began[1]


def bulk_ess(draws):
    """ArviZ's bulk ESS of each parameter; chains x draws x parameters."""
    import arviz

    return np.array([float(arviz.ess(np.ascontiguousarray(draws[:, :, i]), method="bulk")) for i in range(draws.shape[2])])


def of_chains(draws, view=None, **rest):
    """Chains x draws x parameters: effective draws are the worst bulk ESS. The means are those of view(draws), if there is a view."""
    seen = draws if view is None else view(draws)
    flat = seen.reshape(-1, seen.shape[-1])
    return Outcome(effective=float(bulk_ess(draws).min()), mean=flat.mean(axis=0), error=flat.std(axis=0) / np.sqrt(bulk_ess(seen)), **rest)


def of_weights(draws, weights, effective=None, **rest):
    """Weighted draws: effective draws are Kish's, or as the peer reports them."""
    weights = weights / weights.sum()
    kish = 1 / np.sum(weights**2)
    mean = weights @ draws
    sd = np.sqrt(weights @ (draws - mean) ** 2)
    return Outcome(effective=float(effective or kish), mean=mean, error=sd / np.sqrt(kish), **rest)


def of_nautilus(sampler, draws, log_weights, function, watch):
    return of_weights(draws, np.exp(log_weights), sampler.n_eff, evaluations=function.points, seconds=watch.seconds(),
                      log_z=sampler.log_z, log_z_error=1 / np.sqrt(sampler.n_eff))


def of_ours(result, points, seconds, parameters, view=None):
    """Our result; the first so many of its columns are the parameters. Points: as counted, None where the function is not Python's."""
    counted = result.evaluations.total if points is None else points
    if points is not None and abs(points - result.evaluations.total) > 5:  # a few ask what the function is
        note = f"the program counts {result.evaluations.total}"
    else:
        note = ""
    return of_chains(result.draws[:, :, :parameters], view, evaluations=counted, seconds=seconds, log_z=result.log_z,
                     log_z_error=result.log_z_error, trust=bool(result.trust), note=note)


def grid_moments(log_density, axes):
    """log of the integral and means on a grid of midpoints: (lows, highs, counts) for each axis, flat priors included by the caller."""
    lines = [np.linspace(low, high, count + 1)[:-1] + (high - low) / count / 2 for low, high, count in axes]
    cell = sum(np.log((high - low) / count) for low, high, count in axes)
    points = np.stack([x.ravel() for x in np.meshgrid(*lines, indexing="ij")], axis=1)
    values = np.concatenate([log_density(part) for part in np.array_split(points, max(1, len(points) // 20000))])
    top = values.max()
    weights = np.exp(values - top)
    total = weights.sum()
    return top + np.log(total) + cell, (weights / total) @ points
