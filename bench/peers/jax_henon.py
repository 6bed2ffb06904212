"""The paper's 2D kernel (Hénon, 5 layers, hidden 32, flip, relu) on mog6 in JAX, in lax.scan: chain-steps per second."""
import time

import targets
import jax
import jax.numpy as jnp

LAYERS, HIDDEN = 5, 32
log_density = jax.vmap(targets.density("mog6")[0])


def random_layers(key):
    keys = jax.random.split(key, 2 * LAYERS)
    return [
        {
            "into": 0.25 * jax.random.normal(keys[2 * i], (2, HIDDEN)),
            "bias": jnp.zeros(HIDDEN),
            "out": 0.25 * jax.random.normal(keys[2 * i + 1], (HIDDEN, 2)),
            "shift": jnp.zeros(2),
            "eta": jnp.zeros(2),
        }
        for i in range(LAYERS)
    ]


def network(layer, y):
    return jnp.maximum(y @ layer["into"] + layer["bias"], 0) @ layer["out"] + layer["shift"]


def proposal(layers, x, v):
    for layer in layers:
        x, v = v + layer["eta"], network(layer, v) - x
    v = -v
    for layer in layers[::-1]:
        back = x - layer["eta"]
        x, v = network(layer, back) - v, back
    return x, v


def step(layers, state, key):
    x, logp = state
    for_v, for_test = jax.random.split(key)
    v = jax.random.normal(for_v, x.shape)
    to, v_to = proposal(layers, x, v)
    logp_to = log_density(to)
    ratio = logp_to - logp + 0.5 * jnp.sum(v**2 - v_to**2, axis=1)
    accept = jnp.log(jax.random.uniform(for_test, logp.shape)) < ratio
    return (jnp.where(accept[:, None], to, x), jnp.where(accept, logp_to, logp)), None


def rate(chains, steps, repetitions=7):
    layers = random_layers(jax.random.PRNGKey(0))
    x = jax.random.normal(jax.random.PRNGKey(1), (chains, 2))
    keys = jax.random.split(jax.random.PRNGKey(2), steps)
    run = jax.jit(lambda x, keys: jax.lax.scan(lambda s, k: step(layers, s, k), (x, log_density(x)), keys)[0])
    jax.block_until_ready(run(x, keys))
    best = float("inf")
    for _ in range(repetitions):
        began = time.perf_counter()
        jax.block_until_ready(run(x, keys))
        best = min(best, time.perf_counter() - began)
    return chains * steps / best


for chains, steps in ((1, 20000), (1000, 500), (10000, 100)):
    targets.say(peer="JAX henon 2D", chains=chains, chain_steps_per_second=rate(chains, steps))
