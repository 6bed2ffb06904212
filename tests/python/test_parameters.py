"""Priors, bounds and constraints: draws, log Z and gradients on the user's scale."""

import numpy as np
import pytest

import aisampler
from aisampler._library import KIND_CUBE
from aisampler._parameters import Parameters, _scipy_words

stats = pytest.importorskip("scipy.stats")

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


def test_draws_between_bounds_are_the_users():
    result = aisampler.sample(logp, 4, grad=grad, bounds=PAIRS)
    assert result.trust, result
    for row, mean in zip(result.summary().values(), (0.6, 5.0, -4.0, 0.0)):
        assert abs(row["mean"] - mean) < 5 * row["mcse"]
    assert abs(result.log_z - np.log(np.sqrt(2 * np.pi) / 3)) < 5 * result.log_z_error + 1e-3
    np.testing.assert_allclose(result.logp[0], logp(result.draws[0]), rtol=1e-6, atol=1e-6)
    assert result.unconstrained.shape == result.draws.shape


def conjugate(t):
    """7 of 10 in a binomial, a measurement of 1.3 +- 0.5, each by itself: the evidence is known."""
    return np.stack([7 * np.log(t[:, 0]) + 3 * np.log1p(-t[:, 0]), -2 * (1.3 - t[:, 1]) ** 2], axis=1)


def evidence():
    from math import lgamma

    binomial = lgamma(9) + lgamma(6) - lgamma(15) - (lgamma(2) + lgamma(3) - lgamma(5))
    return binomial + 0.5 * np.log(0.25 / 1.25) - 0.5 * 1.3**2 / 1.25


@pytest.mark.parametrize("prior", [
    {"p": "beta(2, 3)", "m": "normal(0, 1)"},
    {"p": stats.beta(2, 3), "m": stats.norm(0, 1)},
    {"p": stats.beta(2, 3, loc=0, scale=1), "m": stats.truncnorm(-30, 30)},  # the last one by its quantile function
])
def test_evidence_and_observations(prior):
    result = aisampler.sample(prior=prior, likelihood=conjugate, seed=3, draws=300)
    assert result.trust, result
    assert result.names == ["p", "m"]
    assert abs(result.log_z - evidence()) < 5 * result.log_z_error + 1e-3
    for row, mean in zip(result.summary().values(), (9 / 15, 1.3 / 1.25)):
        assert abs(row["mean"] - mean) < 5 * row["mcse"]
    np.testing.assert_allclose(result.log_likelihood["y"][2], conjugate(result.draws[2]))


def test_an_angle_has_no_cut():
    """Von Mises around 0, where the circle closes; the second angle is not seen at all."""
    prior = {"angle": f"periodic(0, {2 * np.pi})", "free": "periodic(-180, 180)"}
    result = aisampler.sample(prior=prior, likelihood=lambda t: 5 * (np.cos(t[:, 0]) - 1), seed=3)
    assert result.trust, result
    assert abs(result.log_z - np.log(np.i0(5) * np.exp(-5))) < 5 * result.log_z_error + 1e-3
    angle, free = result.draws[..., 0], result.draws[..., 1]
    assert (angle > 0).all() and (angle < 2 * np.pi).all() and abs((angle > np.pi).mean() - 0.5) < 0.05
    assert abs(np.cos(angle).mean() - 0.8933832) < 0.02
    assert abs(np.exp(1j * np.radians(free)).mean()) < 0.05
    with pytest.raises(ValueError, match="must be periodic\\(low, high\\) with numbers"):
        aisampler.sample(prior={"angle": "periodic(6.28)"}, likelihood=lambda t: t[:, 0])


def test_a_transform_of_the_unit_cube():
    cube = lambda u: np.array([stats.beta.ppf(u[0], 2, 3), stats.norm.ppf(u[1])])
    result = aisampler.sample(lambda t: conjugate(t).sum(1), 2, prior=cube, names=["p", "m"], draws=300)
    assert result.names == ["p", "m"]
    assert abs(result.log_z - evidence()) < 5 * result.log_z_error + 1e-3
    np.testing.assert_allclose(result.logp[0], conjugate(result.draws[0]).sum(1), rtol=1e-9)


def test_vectors_and_constraints():
    def density(t):
        assert np.allclose(t[:, :3].sum(1), 1) and (np.diff(t[:, 3:]) > 0).all()
        return -0.5 * (t[:, 3:] ** 2).sum(1)

    result = aisampler.sample(density, prior={"share": ("dirichlet(2)", 3), "cut": ("ordered", 2)})
    assert result.names == ["share.1", "share.2", "share.3", "cut.1", "cut.2"]
    assert abs(result.summary()["share.2"]["mean"] - 1 / 3) < 5 * result.summary()["share.2"]["mcse"]
    assert abs(result.summary()["cut.2"]["mean"] - 1 / np.sqrt(np.pi)) < 5 * result.summary()["cut.2"]["mcse"]


@pytest.mark.parametrize("frozen, words", [
    (stats.uniform(2, 3), "uniform(2.0, 5.0)"), (stats.norm(1, 2), "normal(1.0, 2.0)"),
    (stats.lognorm(0.5, scale=np.e), "lognormal(1.0, 0.5)"), (stats.halfnorm(scale=2), "half_normal(2.0)"),
    (stats.halfcauchy(scale=5), "half_cauchy(5.0)"), (stats.cauchy(1, 2), "cauchy(1.0, 2.0)"),
    (stats.t(3, 1, 2), "student(3.0, 1.0, 2.0)"), (stats.expon(scale=4), "exponential(0.25)"),
    (stats.gamma(2, scale=0.5), "gamma(2.0, 2.0)"), (stats.beta(2, 3), "beta(2.0, 3.0)"),
    (stats.beta(2, 3, scale=2), None), (stats.gamma(2, loc=1), None), (stats.weibull_min(2), None),
])
def test_distributions_of_scipy(frozen, words):
    """The library's medians are SciPy's."""
    assert _scipy_words(frozen) == words
    np.testing.assert_allclose(Parameters.from_prior({"a": frozen}, None, None).middle(), [frozen.median()], rtol=1e-9)


def test_the_number_of_the_cube():
    import pathlib
    import re

    header = pathlib.Path(__file__).parents[2] / "include/aisampler/parameters.h"
    kinds = re.findall(r"^    AIS_KIND_(\w+),?$", header.read_text(), re.M)
    assert kinds[KIND_CUBE] == "CUBE"


def test_reports_and_kernels_of_parameters(tmp_path):
    prior = {"p": "beta(2, 3)", "m": "normal(0, 1)"}
    result = aisampler.sample(prior=prior, likelihood=conjugate)
    page = tmp_path / "report.html"
    result.report(page)
    assert "p ~ beta(2, 3)" in page.read_text()
    result.kernel.save(tmp_path / "k.ais")
    again = aisampler.sample(prior=prior, likelihood=conjugate, kernel=tmp_path / "k.ais", draws=200)
    assert again.evaluations.learning == 0 and again.names == ["p", "m"]


def test_an_exception_tells_the_point_between_its_bounds():
    with pytest.raises(aisampler.DensityError) as caught:
        aisampler.sample(lambda x: 1 / 0, 1, bounds=[(5, 6)])
    assert 5 < caught.value.point[0] < 6


def test_an_exception_in_a_transform():
    with pytest.raises(aisampler.DensityError, match="ZeroDivisionError"):
        aisampler.sample(lambda x: x[:, 0], 1, prior=lambda u: 1 / 0)


@pytest.mark.parametrize("bounds", [[(1, 0)], [(0, 1), (0, 1)], [(0, 0)], [(0, 1, 2)], [(float("nan"), 1)]])
def test_bounds_that_make_no_sense(bounds):
    with pytest.raises(ValueError, match="bounds"):
        aisampler.sample(lambda x: x[:, 0], 1, bounds=bounds)


@pytest.mark.parametrize("prior, message", [
    ({"a": "uniform(3, 1)"}, r"parameter a: uniform\(3, 1\): low must be below high"),
    ({"a": "unifrom(0, 1)"}, "did you mean 'uniform'"),
    ({"a": "normal(0)"}, r"must be normal\(mean, sd\) with numbers"),
    ({"a": 3}, "the prior of a must be a string"),
    ({"a": "simplex"}, "it needs a count of 2 or more"),
    ({}, "prior must be a dict"),
    ("normal(0, 1)", "dim is missing"),
])
def test_priors_that_make_no_sense(prior, message):
    with pytest.raises((ValueError, TypeError), match=message):
        aisampler.sample(lambda x: x[:, 0], prior=prior)


def test_what_does_not_go_together():
    function = lambda x: x[:, 0]
    with pytest.raises(TypeError, match="likelihood goes with prior"):
        aisampler.sample(likelihood=function)
    with pytest.raises(TypeError, match="leave one of them out"):
        aisampler.sample(function, 1, prior={"a": "real"}, bounds=[(0, 1)])
    with pytest.raises(ValueError, match="the prior has 1 parameters"):
        aisampler.sample(function, 2, prior={"a": "real"})
    with pytest.raises(TypeError, match="a target that is named|are for functions"):
        aisampler.sample("mog6", prior={"a": "real"})
