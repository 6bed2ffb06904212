"""Parameters between bounds: draws, log Z and gradients on the user's scale."""

import numpy as np
import pytest

import aisampler
from aisampler._bounds import Bounds

PAIRS = [(0, 1), (2, None), (None, -1), (None, None)]


def logp(x):
    """Beta(3, 2), Gamma(3) above 2, Gamma(3) below -1, normal: Z = 1/12 * 2 * 2 * sqrt(2 pi)."""
    assert (x[:, 0] > 0).all() and (x[:, 0] < 1).all() and (x[:, 1] > 2).all() and (x[:, 2] < -1).all()
    above, below = x[:, 1] - 2, -1 - x[:, 2]
    beta = 2 * np.log(x[:, 0]) + np.log(1 - x[:, 0])
    return beta + 2 * np.log(above) - above + 2 * np.log(below) - below - 0.5 * x[:, 3] ** 2


def grad(x):
    above, below = x[:, 1] - 2, -1 - x[:, 2]
    return np.stack([2 / x[:, 0] - 1 / (1 - x[:, 0]), 2 / above - 1, 1 - 2 / below, -x[:, 3]], axis=1)


def test_jacobian_and_gradient_agree_with_differences():
    bounds, step = Bounds(PAIRS, 4), 1e-5
    x = np.array([[0.375, -1.25, 0.625, 2.5], [-3.5, 1.75, -2.25, -0.125]])
    whole = lambda x: logp(bounds.inside(x)) + bounds.log_jacobian(x)
    slope = bounds.gradient(x, grad(bounds.inside(x)))
    log_determinant = np.zeros(2)
    for i, off in enumerate(step * np.eye(4)):
        np.testing.assert_allclose(slope[:, i], (whole(x + off) - whole(x - off)) / (2 * step), rtol=1e-6)
        stretch = (bounds.inside(x + off) - bounds.inside(x - off))[:, i] / (2 * step)
        log_determinant += np.log(np.abs(stretch))
    np.testing.assert_allclose(bounds.log_jacobian(x), log_determinant, rtol=1e-6)


def test_draws_are_the_users():
    result = aisampler.sample(logp, 4, grad=grad, bounds=PAIRS)
    assert result.trust, result
    for row, mean in zip(result.summary().values(), (0.6, 5.0, -4.0, 0.0)):
        assert abs(row["mean"] - mean) < 5 * row["mcse"]
    assert abs(result.log_z - np.log(np.sqrt(2 * np.pi) / 3)) < 5 * result.log_z_error + 1e-3
    np.testing.assert_allclose(result.logp[0], logp(result.draws[0]), rtol=1e-6, atol=1e-6)


def test_far_out_points_stay_inside():
    bounds = Bounds(PAIRS, 4)
    far = np.array([[-1e4, -1e4, -1e4, -1e4], [1e4, 600, 600, 1e4]])
    theta = bounds.inside(far)
    assert np.isfinite(theta).all() and np.isfinite(bounds.log_jacobian(far)).all()
    logp(theta)


def test_an_exception_tells_the_point_between_its_bounds():
    with pytest.raises(aisampler.DensityError) as caught:
        aisampler.sample(lambda x: 1 / 0, 1, bounds=[(5, 6)])
    assert 5 < caught.value.point[0] < 6


@pytest.mark.parametrize("bounds", [[(1, 0)], [(0, 1), (0, 1)], [(0, 0)], [(0, 1, 2)], [(float("nan"), 1)]])
def test_bounds_that_make_no_sense(bounds):
    with pytest.raises(ValueError, match="bounds"):
        aisampler.sample(lambda x: x[:, 0], 1, bounds=bounds)
