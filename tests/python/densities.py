"""Densities whose moments and integrals are known."""

import numpy as np

MEAN = np.array([1.25, -0.5])
LOG_Z = np.log(2 * np.pi * 0.5)


def logp(x):
    a = x[:, 0] - MEAN[0]
    b = x[:, 1] - MEAN[1] - 0.5 * a
    return -0.5 * a**2 - 2 * b**2


def grad(x):
    a = x[:, 0] - MEAN[0]
    b = x[:, 1] - MEAN[1] - 0.5 * a
    return np.stack([-a + 2 * b, -4 * b], axis=1)


def logp_point(x):
    return logp(x[None])[0]


def grad_point(x):
    return grad(x[None])[0]
