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
