"""A straight line through seven measurements, with priors; then the same without a slope, and their evidences.

    PYTHONPATH=python python3 examples/06_priors.py

The likelihood has one value per observation, so that arviz.loo(result.posterior) works, too."""

import numpy as np

import aisampler

t = np.arange(7.0)
y = np.array([1.1, 2.9, 5.2, 6.8, 9.3, 10.7, 13.2])


def line(theta):  # (n, 3) -> (n, 7)
    intercept, slope, sd = theta[:, :1], theta[:, 1:2], theta[:, 2:]
    return -0.5 * ((y - intercept - slope * t) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def constant(theta):  # (n, 2) -> (n, 7)
    return line(np.stack([theta[:, 0], np.zeros(len(theta)), theta[:, 1]], axis=1))


prior = {"intercept": "normal(0, 10)", "slope": "normal(0, 10)", "sd": "half_normal(5)"}
with_slope = aisampler.sample(likelihood=line, prior=prior)
without = aisampler.sample(likelihood=constant, prior={name: prior[name] for name in ("intercept", "sd")})
print(with_slope)
error = np.hypot(with_slope.log_z_error, without.log_z_error)
print(f"log evidence for a slope: {with_slope.log_z - without.log_z:.2f} +- {error:.2f}")
