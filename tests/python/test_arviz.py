"""The draws as ArviZ has them."""

import arviz
import numpy as np

import aisampler
from densities import grad, logp


def test_posterior():
    result = aisampler.sample(logp, 2, grad=grad, draws=200, names=["a", "b"])
    posterior = result.posterior
    np.testing.assert_array_equal(posterior["posterior"]["b"].values, result.draws[:, :, 1])
    assert dict(posterior["posterior"].sizes) == {"chain": 16, "draw": 200}
    np.testing.assert_array_equal(posterior["sample_stats"]["lp"].values, result.logp)
    table, ours = arviz.summary(posterior, round_to="none"), result.summary()
    for name in ("a", "b"):
        assert abs(table.loc[name, "ess_bulk"] - ours[name]["ess_bulk"]) < 1e-6 * ours[name]["ess_bulk"]


def test_leave_one_out():
    y = np.array([0.25, -1.5, 3.0, 0.5, 1.0, -0.75])

    def pointwise(x):
        return -0.5 * (y - x[:, :1]) ** 2 - 0.5 * np.log(2 * np.pi)

    result = aisampler.sample(lambda x: pointwise(x).sum(axis=1) - 0.5 * x[:, 1] ** 2, 2, log_likelihood=pointwise)
    found = arviz.loo(result.posterior)
    total, n = y.sum(), len(y)  # of a normal mean with a flat prior: exact
    mean = (total - y) / (n - 1)
    exact = -0.5 * (y - mean) ** 2 / (1 + 1 / (n - 1)) - 0.5 * np.log(2 * np.pi * (1 + 1 / (n - 1)))
    value = found.elpd_loo if hasattr(found, "elpd_loo") else found.elpd
    assert abs(float(value) - exact.sum()) < 0.1
