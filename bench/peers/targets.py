"""Our targets in JAX, and effective sample sizes, for the peers."""
import json
import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
REGRESSIONS = ("heart", "german", "australian")
# sd 0.5 everywhere; radius 5
MIXTURES = {
    "mog2": ((0, 180), (1, 1)),
    "mog6": (range(0, 360, 60), (1,) * 6),
    "triangle": ((90, 210, 330), (1, 1, 4)),
}


def table(name):
    """Rows that are trained on (the first nine tenths): covariates with a leading 1, standardised over all rows; labels."""
    rows = np.loadtxt(os.path.join(DATA, name + ".csv"), delimiter=",", comments="#")
    covariates, labels = rows[:, :-1], rows[:, -1]
    covariates = (covariates - covariates.mean(axis=0)) / covariates.std(axis=0)
    kept = 9 * len(rows) // 10
    return np.column_stack([np.ones(kept), covariates[:kept]]), labels[:kept]


def density(name):
    """log density of one point in JAX, and the dimension."""
    import jax
    import jax.numpy as jnp

    if name in REGRESSIONS:
        covariates, labels = (jnp.asarray(a) for a in table(name))

        def regression(w):
            logit = covariates @ w
            return jnp.dot(labels, logit) - jnp.sum(jax.nn.softplus(logit)) - jnp.dot(w, w) / 2

        return regression, covariates.shape[1]
    if name in ("ring", "ring5"):
        radii = jnp.arange(1.0, 6.0) if name == "ring5" else jnp.array([2.0])
        scale = 0.04 if name == "ring5" else 0.32

        def rings(x):
            r = jnp.sqrt(jnp.sum(x**2) + 1e-12)
            return -jnp.min((r - radii) ** 2) / scale

        return rings, 2
    degrees, weights = MIXTURES[name]
    angles = np.deg2rad(np.asarray(list(degrees), float))
    modes = 5 * jnp.asarray(np.column_stack([np.cos(angles), np.sin(angles)]))
    shares = jnp.log(jnp.asarray(weights, float) / sum(weights))

    def mixture(x):
        return jax.scipy.special.logsumexp(shares - 2 * jnp.sum((x - modes) ** 2, axis=1))

    return mixture, 2


def stack(posterior):
    """Every variable of a posterior group as one array (chain, draw, parameter)."""
    columns = [np.asarray(v).reshape(v.shape[0], v.shape[1], -1) for v in posterior.data_vars.values()]
    return np.concatenate(columns, axis=2)


def worst_ess(draws):
    """(chain, draw, parameter): the smallest bulk ESS over x_i and x_i^2, by ArviZ."""
    import arviz

    draws = np.asarray(draws, float)
    return min(
        float(arviz.ess(np.ascontiguousarray(power[:, :, i]), method="bulk"))
        for power in (draws, draws**2)
        for i in range(draws.shape[2])
    )


def say(**fields):
    print(json.dumps({k: float(v) if isinstance(v, np.floating) else v for k, v in fields.items()}), flush=True)
