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


def is_found(aisampler, function, exact):
    """A result of the density above, by whatever array library: right, trusted, with gradients."""
    result = aisampler.sample(function, 2)
    assert result.trust and result.evaluations.gradients > 0, result
    for row, mean in zip(result.summary().values(), MEAN):
        assert abs(row["mean"] - mean) < 5 * row["mcse"]
    assert abs(result.log_z - LOG_Z) < 5 * result.log_z_error + 1e-3
    np.testing.assert_allclose(result.logp[3], exact(result.draws[3]), rtol=1e-9)
