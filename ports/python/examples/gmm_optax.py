"""A Gaussian mixture fitted by optax, with the log-likelihood and gradient of revnum.

    python gmm_optax.py
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

import revnum.jax as rj
from revnum.estimators import KMeans

jax.config.update("jax_enable_x64", True)


def fit(points, k, steps=300):
    """The parameters of the mixture, and the log-likelihoods on the way."""
    n, d = points.shape
    params = {
        "alpha": jnp.zeros(k),  # logs of weights
        "means": jnp.asarray(KMeans(k, random_state=1).fit(np.asarray(points)).cluster_centers_),
        "factors": jnp.zeros((k, d * (d + 1) // 2)),  # of the precision matrices
    }
    loss = lambda p: -rj.gmm.LogPosterior(p["alpha"], p["means"], p["factors"], points) / n
    optimizer = optax.adam(0.05)
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        value, g = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(g, state)
        return optax.apply_updates(params, updates), state, value

    history = []
    for _ in range(steps):
        params, state, value = step(params, state)
        history.append(-float(value))
    return params, history


def blobs(n=600):
    rng = np.random.default_rng(2)
    centres = np.array([[0, 0], [6, 0], [0, 6.0]])
    return jnp.asarray(centres[rng.integers(3, size=n)] + rng.normal(size=(n, 2)) * [1, 0.5]), centres


if __name__ == "__main__":
    points, centres = blobs()
    params, history = fit(points, 3)
    print(f"mean log-likelihood {history[0]:.4f} -> {history[-1]:.4f}")
    print(np.round(np.asarray(params["means"]), 2))
