"""The functions of ../examples in JAX, as a person would write them there.

A loop whose end depends on its numbers has no reverse mode in JAX, so bessel takes a fixed
number of terms, which is enough for the arguments of the problem.
"""

import jax
import jax.numpy as jnp


def norm2(X):
    return jnp.sqrt(jnp.sum(X * X))


def rotate(X, Theta):
    sin, cos = jnp.sin(Theta), jnp.cos(Theta)

    def turn(x, step):
        s, t, y = step
        x = x - t * y
        y = y + s * x
        return y, x - t * y

    last, x = jax.lax.scan(turn, X[0], (sin, sin / (1 + cos), X[1:]))
    return jnp.append(x, last)


def bessel(X, Nu, terms=20):
    h = X / 2
    term = 1.0
    for k in range(1, Nu + 1):
        term = term * h / k
    total = term
    for k in range(1, terms):
        term = term * (-h * h / (k * (k + Nu)))
        total = total + term
    return total


def snavely(Cameras, Points, Features, Camera, Point):
    c, x = Cameras.reshape(-1, 9)[Camera].T, Points.reshape(-1, 3)[Point].T
    r = c[:3]
    s = jnp.sum(r * r, axis=0)
    large = s > 1e-6
    s1 = jnp.where(large, s, 1.0)  # where, so that the branch that is not taken has no NaN
    theta = jnp.sqrt(s1)
    cos = jnp.where(large, jnp.cos(theta), 1 - s / 2)
    a = jnp.where(large, jnp.sin(theta) / theta, 1 - s / 6)
    b = jnp.where(large, (1 - jnp.cos(theta)) / s1, 0.5 - s / 24)
    y = cos * x + a * jnp.cross(r, x, axis=0) + b * jnp.sum(r * x, axis=0) * r + c[3:6]
    u = -y[:2] / y[2]
    q = jnp.sum(u * u, axis=0)
    f = c[6] * (1 + q * (c[7] + q * c[8]))
    return ((f * u).T - Features.reshape(-1, 2)).reshape(-1)


def sigmoid(x):
    return 0.5 + 0.5 * jnp.tanh(0.5 * x)


def lstm(W, U, B, X, H0, C0):
    z = W.reshape(len(B), -1) @ X + U.reshape(len(B), -1) @ H0 + B
    i, f, o, g = z.reshape(4, -1)
    c = sigmoid(f) * C0 + sigmoid(i) * jnp.tanh(g)
    return sigmoid(o) * jnp.tanh(c), c


def leapfrog(X, V, M, Dt, Eps, Steps):
    x, v = X.reshape(-1, 3), V.reshape(-1, 3)
    for _ in range(Steps):
        x = x + Dt / 2 * v
        d = x[:, None] - x[None]
        r2 = jnp.sum(d * d, axis=2) + Eps
        v = v - jnp.sum((Dt * M / (r2 * jnp.sqrt(r2)))[..., None] * d, axis=1)
        x = x + Dt / 2 * v
    return x.reshape(-1), v.reshape(-1)


RESULTS = {"norm2": ["Out"], "rotate": ["X"], "bessel": ["Y"], "snavely": ["R"], "lstm": ["H1", "C1"], "leapfrog": ["X", "V"]}
CONSTANTS = {"Nu", "Features", "Camera", "Point", "Eps", "Steps"}
