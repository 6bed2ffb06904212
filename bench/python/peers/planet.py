"""nautilus: radial velocities of a star with one planet; period, amplitude, eccentricity, angles, offset and jitter unknown."""

import math

import numpy as np

# peer {
import nautilus
# }
# ours {
import aisampler
# }

from common import Counted, Outcome, Watch, of_nautilus, of_ours



# both {
def velocity(t, period, amplitude, phase, e, omega):
    mean_anomaly = 2 * np.pi * (t / period - phase)
    eccentric = mean_anomaly + e * np.sin(mean_anomaly)
    for _ in range(8):  # Newton's steps on Kepler's equation
        eccentric = eccentric - (eccentric - e * np.sin(eccentric) - mean_anomaly) / (1 - e * np.cos(eccentric))
    true = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(eccentric / 2), np.sqrt(1 - e) * np.cos(eccentric / 2))
    return amplitude * (np.cos(true + omega) + e * np.cos(omega))


def likelihood(theta):
    log_period, amplitude, phase, e, omega, offset, jitter = np.moveaxis(theta[..., None], -2, 0)
    model = offset + velocity(T, np.exp(log_period), amplitude, phase, e, omega)
    variance = ERRORS**2 + jitter**2
    return -0.5 * np.sum((V - model) ** 2 / variance + np.log(2 * np.pi * variance), axis=-1)
# }


rng = np.random.default_rng(51)
T = np.sort(rng.uniform(0, 60, 30))
ERRORS = rng.uniform(1.5, 2.5, 30)
V = 3 + velocity(T, 12.3, 10.0, 0.3, 0.25, 1.1) + np.hypot(ERRORS, 1) * rng.normal(size=30)
LOG_LOW, LOG_HIGH = np.log(5.0), np.log(40.0)


def peer(seed) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # peer {
    prior = nautilus.Prior()
    prior.add_parameter("log_period", dist=(LOG_LOW, LOG_HIGH))
    prior.add_parameter("amplitude", dist=(0, 50))
    prior.add_parameter("phase", dist=(0, 1))
    prior.add_parameter("e", dist=(0, 0.8))
    prior.add_parameter("omega", dist=(0, 2 * np.pi))
    prior.add_parameter("offset", dist=(-20, 20))
    prior.add_parameter("jitter", dist=(0, 10))
    sampler = nautilus.Sampler(prior, function, vectorized=True, pass_dict=False, periodic=[2, 4], seed=seed)
    sampler.run()
    draws, log_weights, _ = sampler.posterior()
    # }
    return of_nautilus(sampler, draws, log_weights, function, watch)


def ours(seed, effective) -> Outcome:
    function, watch = Counted(likelihood), Watch()
    # ours {
    prior = {"log_period": f"uniform({LOG_LOW}, {LOG_HIGH})", "amplitude": "uniform(0, 50)", "phase": "periodic(0, 1)", "e": "uniform(0, 0.8)",
             "omega": f"periodic(0, {2 * np.pi})", "offset": "uniform(-20, 20)", "jitter": "uniform(0, 10)"}
    result = aisampler.sample(prior=prior, likelihood=function, seed=seed, effective=effective, threads=1)
    # }
    return of_ours(result, function.points, watch.seconds(), 7)


def truth():
    """By importance sampling in coordinates in which the density is about normal: e cos omega and e sin omega, the angle
    omega - 2 pi phase, logarithms of amplitude and jitter. Modes at other periods have less than exp(-14) of it. An angle
    has no mean."""
    rng, n, freedom, d = np.random.default_rng(1), 200000, 5, 7
    mean = np.array([np.log(12.3), np.log(10), 0.11, 0.22, 0, 3, np.log(2)])
    covariance = np.diag([0.02, 0.13, 0.12, 0.12, 0.3, 0.7, 0.4]) ** 2
    middle = 1.1 - 2 * np.pi * 0.3
    prior = -np.log((LOG_HIGH - LOG_LOW) * 50 * 0.8 * 2 * np.pi * 40 * 10)
    for _ in range(6):
        factor = np.linalg.cholesky(1.2 * covariance)
        z = rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(freedom, n) / freedom)[:, None]
        y = mean + z @ factor.T
        log_q = math.lgamma((freedom + d) / 2) - math.lgamma(freedom / 2) - d / 2 * np.log(freedom * np.pi)
        log_q = log_q - np.log(np.diag(factor)).sum() - (freedom + d) / 2 * np.log1p((z**2).sum(axis=1) / freedom)
        e, omega, amplitude, jitter = np.hypot(y[:, 2], y[:, 3]), np.arctan2(y[:, 3], y[:, 2]), np.exp(y[:, 1]), np.exp(y[:, 6])
        theta = np.stack([y[:, 0], amplitude, (omega - y[:, 4] - middle) / (2 * np.pi), e, omega, y[:, 5], jitter], axis=1)
        inside = (LOG_LOW < y[:, 0]) & (y[:, 0] < LOG_HIGH) & (amplitude < 50) & (e < 0.8) & (abs(y[:, 5]) < 20) & (jitter < 10)
        inside &= abs(y[:, 4]) < np.pi
        log_w = np.full(n, -np.inf)
        for rows in np.array_split(np.flatnonzero(inside), 20):
            log_w[rows] = likelihood(theta[rows]) + (prior + y[:, 1] + y[:, 6] - np.log(2 * np.pi * e) - log_q)[rows]
        weight = np.exp(log_w - log_w.max())
        log_z = log_w.max() + np.log(weight.mean())
        weight /= weight.sum()
        mean = weight @ y
        covariance = ((y - mean) * weight[:, None]).T @ (y - mean)
    means = weight @ theta
    means[[2, 4]] = np.nan
    return log_z, means
