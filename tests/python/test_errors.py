"""What is wrong with a function or an argument is told in one sentence."""

import traceback
import warnings

import numpy as np
import pytest

import aisampler
from densities import logp


def test_an_exception_comes_back_with_its_traceback_and_the_point():
    def breaks_beyond_two(x):
        if (x[:, 0] > 2).any():
            raise ValueError("the model is not made for this")
        return logp(x)

    with pytest.raises(aisampler.DensityError, match="ValueError: the model is not made for this, at x = ") as caught:
        aisampler.sample(breaks_beyond_two, 2)
    assert caught.value.point.shape == (2,) and caught.value.point[0] > 2
    assert caught.value.result is None
    assert "breaks_beyond_two" in "".join(traceback.format_exception(caught.value.__cause__))


@pytest.mark.parametrize("vectorized", [True, False])
def test_an_exception_among_the_draws_leaves_those_before_it(vectorized):
    asked = 0

    def breaks_late(x):
        nonlocal asked
        asked += len(x) if vectorized else 1
        if asked > 40000:
            raise MemoryError("no more")
        return logp(x) if vectorized else logp(x[None])[0]

    with pytest.raises(aisampler.DensityError, match="MemoryError: no more") as caught:
        aisampler.sample(breaks_late, 2, vectorized=vectorized, draws=10**7)
    result = caught.value.result
    assert result.stopped and result.draws.shape[1] > 100 and np.isfinite(result.draws).all()
    np.testing.assert_allclose(result.logp[2], logp(result.draws[2]), rtol=1e-9)
    assert result.summary()["x.1"]["ess_bulk"] > 100 and result.report().html


def test_an_exit_in_the_function_does_not_end_the_program():
    with pytest.raises(aisampler.DensityError, match="SystemExit: 3"):
        aisampler.sample(lambda x: exit(3), 2)


def test_a_gradient_that_raises():
    with pytest.raises(aisampler.DensityError, match="ZeroDivisionError"):
        aisampler.sample(logp, 2, grad=lambda x: 1 / 0)


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda x: -0.5 * (x**2).sum(), r"must return one of shape \(1,\), not \(\); for a function of one point say"),
        (lambda x: x, r"must return one of shape \(1,\), not \(1, 2\); sum over axis=1"),
        (lambda x: logp(x)[:, None], r"not \(1, 1\); a column .* \[:, 0\] is an array of shape \(n,\)"),
        (lambda x: ["a"] * len(x), r"real numbers, not text, at x = \[-"),
        (lambda x: logp(x) + 1j, "real numbers, not complex128"),
        (lambda x: None, "real numbers, not None; is a return missing"),
        (lambda x: [[1.0], [1.0, 2.0]], "must return an array of numbers"),
        (lambda x: logp(x).astype("datetime64[s]"), "real numbers, not datetime64"),
        (lambda x: {"logp": 1}, "real numbers, not dict, at"),
    ],
    ids=["scalar", "shape", "column", "text", "complex", "nothing", "ragged", "dates", "dict"],
)
def test_what_is_no_log_density(function, words):
    with pytest.raises(aisampler.DensityError, match=words):
        aisampler.sample(function, 2)


@pytest.mark.parametrize("function", [lambda x: x, lambda x: np.array([1.0]), lambda x: "a", lambda x: None])
def test_what_is_no_log_density_of_a_point(function):
    with pytest.raises(aisampler.DensityError, match=r"must return (one of shape \(\)|real numbers)"):
        aisampler.sample(function, 2, vectorized=False)


def test_whole_numbers_and_single_precision_are_numbers():
    assert aisampler.sample(lambda x: logp(x).astype(np.float32), 2, draws=20).draws.shape == (16, 20, 2)


def test_a_gradient_of_the_wrong_kind():
    with pytest.raises(aisampler.DensityError, match="grad must return real numbers, not complex128"):
        aisampler.sample(logp, 2, grad=lambda x: x + 1j)


def test_a_gradient_of_the_wrong_shape():
    with pytest.raises(aisampler.DensityError, match=r"grad of an array of shape \(1, 2\)"):
        aisampler.sample(logp, 2, grad=lambda x: x[:, :1])


def test_a_wrong_gradient_and_nan_are_refused_by_the_library():
    with pytest.raises(aisampler.Error, match="the gradient by x.1"):
        aisampler.sample(logp, 2, grad=lambda x: x)
    with pytest.raises(aisampler.Error, match="nan"):
        aisampler.sample(lambda x: np.full(len(x), np.nan), 2)


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        (dict(logp=logp), TypeError, "dim is missing"),
        (dict(logp=3), TypeError, "must be a function"),
        (dict(logp=logp, dim=2.5), TypeError, "dim must be a whole number"),
        (dict(logp=logp, dim=2, chains=-1), ValueError, "chains must be between"),
        (dict(logp=logp, dim=2, names=["a"]), ValueError, "names must be 2"),
        (dict(logp=logp, dim=2, names="ab"), ValueError, "names must be 2"),
        (dict(logp=logp, dim=2, names=[1, 2]), ValueError, "names must be 2"),
        (dict(logp=logp, dim=2, names=["a", "a"]), ValueError, "names must differ"),
        (dict(), TypeError, "needs a density"),
        (dict(prior={"a": "normal(0, 1)"}), TypeError, "likelihood is missing"),
        (dict(logp=logp, dim=0), ValueError, "dim must be"),
        (dict(logp=logp, dim=2, grad=True), TypeError, "grad must be a function"),
        (dict(logp=logp, dim=2, backend="tensorflow"), ValueError, "backend must be one of numpy, jax, torch"),
        (dict(logp="mog6", vectorized=True), TypeError, "are for functions"),
        (dict(logp=logp, dim=2, effective=-1), aisampler.Error, "effective"),
        (dict(logp=logp, dim=2, seconds="long"), TypeError, "seconds must be a number, not 'long'"),
        (dict(logp=logp, dim=2, start_scale=-1), ValueError, "start_scale"),
        (dict(logp="mog6", dim=2), TypeError, "are for functions"),
        (dict(logp="mgo6"), aisampler.Error, "did you mean 'mog6'"),
        (dict(logp="nothere.c"), aisampler.Error, "nothere.c"),
    ],
)
def test_arguments_that_make_no_sense(arguments, kind, words):
    with pytest.raises(kind, match=words):
        aisampler.sample(**arguments)


def test_overflow_far_out_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = aisampler.sample(lambda x: -np.exp(1e3 * abs(x[:, 0])) / 1e3 - x[:, 1] ** 2, 2, draws=20)
    assert np.isfinite(result.draws).all()


def test_tracebacks_name_the_exceptions_as_users_do():
    with pytest.raises(aisampler.Error) as caught:
        aisampler.sample("mgo6")
    assert traceback.format_exception_only(caught.type, caught.value)[0].startswith("aisampler.Error: ")
