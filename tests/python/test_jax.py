"""Functions of JAX, taken as they are."""

import concurrent.futures

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp

import aisampler
from densities import MEAN, is_found

jax.config.update("jax_enable_x64", True)


def point(x):
    a = x[0] - MEAN[0]
    b = x[1] - MEAN[1] - 0.5 * a
    return -0.5 * a**2 - 2 * jnp.square(b)


def batch(x):
    a = x[:, 0] - MEAN[0]
    b = x[:, 1] - MEAN[1] - 0.5 * a
    return -0.5 * a**2 - 2 * jnp.square(b)


def either(x):
    return -0.5 * jnp.sum(jnp.square(x), axis=-1)


@pytest.mark.parametrize("function", [point, batch, jax.jit(point), jax.jit(batch)], ids=["point", "batch", "jit point", "jit batch"])
def test_it_is_found_batched_and_differentiated(function):
    is_found(aisampler, function, batch)


def test_without_a_gradient_and_with_one_of_ones_own():
    assert aisampler.sample(either, 2, grad=False, draws=50).evaluations.gradients == 0
    assert aisampler.sample(either, 2, grad=lambda x: -x, draws=50).evaluations.gradients > 0  # as NumPy takes it
    with pytest.raises(TypeError, match="grad is not needed"):
        aisampler.sample(either, 2, grad=lambda x: -x, backend="jax")
    with pytest.raises(TypeError, match="pool is for functions of NumPy"):
        aisampler.sample(either, 2, backend="jax", pool=concurrent.futures.ThreadPoolExecutor(1))


def test_numpy_stays_numpy_though_jax_is_loaded():
    from densities import logp

    assert aisampler.sample(logp, 2, draws=50).evaluations.gradients == 0


def test_single_precision_is_told_and_right():
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.warns(UserWarning, match="single precision"):
            result = aisampler.sample(point, 2)
    finally:
        jax.config.update("jax_enable_x64", True)
    assert result.trust, result
    for row, mean in zip(result.summary().values(), MEAN):
        assert abs(row["mean"] - mean) < 5 * row["mcse"]


def test_what_jax_cannot_trace_or_differentiate():
    def branches(x):
        return jnp.sum(-x**2) if x[0] > 0 else -2 * jnp.sum(x**2)

    with pytest.raises(aisampler.DensityError, match="JAX cannot trace logp"):
        aisampler.sample(branches, 2)

    def loops(x):
        return -jax.lax.while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, s[1] / 2), (0, jnp.sum(x**2)))[1]

    with pytest.warns(UserWarning, match="JAX cannot differentiate logp"):
        assert aisampler.sample(loops, 2, draws=50).evaluations.gradients == 0


def test_log_likelihood_of_a_point():
    y = np.array([0.5, -1.25, 2.0])
    result = aisampler.sample(either, 2, draws=50, log_likelihood=lambda x: -0.5 * (y - x[0]) ** 2 + 0 * jnp.sum(x))
    expected = -0.5 * (y - result.draws[:, :, :1]) ** 2
    np.testing.assert_allclose(result.log_likelihood["y"], expected)
