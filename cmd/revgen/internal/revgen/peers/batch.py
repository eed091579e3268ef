#!/usr/bin/env python3
"""Times the value and the gradient of five functions of ../testdata/science in JAX, on one core.

    python -m venv VENV && VENV/bin/pip install jax==0.10.2
    taskset -c 0 VENV/bin/python cmd/revgen/internal/revgen/peers/batch.py

The sizes are those of the benchmark of gradients, which times revgen's:

    GOMAXPROCS=1 taskset -c 0 go test -run x -bench Gradients -benchtime 1x ./cmd/revgen/internal/revgen

A time is the least of 300, in microseconds.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def regression(w, b, x, labels):
    z = x @ w.T + b
    return jnp.mean(jax.nn.logsumexp(z, axis=1) - z[jnp.arange(len(labels)), labels])


def crf(unary, pair, labels):
    def step(alpha, u):
        return jax.nn.logsumexp(alpha[:, None] + pair, axis=0) + u, None

    alpha, _ = jax.lax.scan(step, unary[0], unary[1:])
    score = unary[jnp.arange(len(labels)), labels].sum() + pair[labels[:-1], labels[1:]].sum()
    return jax.nn.logsumexp(alpha) - score


def gru(g, xs, target):
    wz, wr, wh, uz, ur, uh, bz, br, bh = g

    def step(h, x):
        rh = jax.nn.sigmoid(wr @ x + ur @ h + br) * h
        z = jax.nn.sigmoid(wz @ x + uz @ h + bz)
        c = jnp.tanh(wh @ x + uh @ rh + bh)
        return (1 - z) * h + z * c, None

    h, _ = jax.lax.scan(step, jnp.zeros_like(bz), xs)
    return jnp.sum((h - target) ** 2) / 2


def heat(start, target, rate, steps=10):
    def step(fields, _):
        u, v = fields
        i = u[1:-1, 1:-1]
        v = v.at[1:-1, 1:-1].set(i + rate * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * i))
        return (v, u), None

    (u, _), _ = jax.lax.scan(step, (start, jnp.zeros_like(start)), None, length=steps)
    return jnp.sum((u - target) ** 2) / 2


def attention(q, k, v):
    w = jax.nn.softmax(q @ k.T / np.sqrt(q.shape[1]), axis=1)
    return jnp.sum((w @ v) ** 2)


rng = np.random.default_rng(1)


def uniform(*shape):
    return jnp.array(rng.uniform(-1, 1, shape))


def labels(n):
    return jnp.array(rng.integers(0, 10, n))


cell = tuple(uniform(64, 64) / 5 for _ in range(6)) + tuple(uniform(64) for _ in range(3))
for f, by, args in [
    (regression, (0, 1), (uniform(10, 64), uniform(10), uniform(100, 64), labels(100))),
    (crf, (0, 1), (uniform(50, 10), uniform(10, 10), labels(50))),
    (gru, 0, (cell, uniform(10, 64), uniform(64))),
    (heat, 0, (uniform(64, 64), uniform(64, 64), 0.2)),
    (attention, (0, 1, 2), (uniform(32, 32), uniform(32, 32), uniform(32, 32))),
]:
    gradient = jax.jit(jax.value_and_grad(f, by))
    jax.block_until_ready(gradient(*args))
    least = float("inf")
    for _ in range(300):
        start = time.perf_counter()
        jax.block_until_ready(gradient(*args))
        least = min(least, time.perf_counter() - start)
    print(f"{f.__name__:12s}{1e6 * least:8.1f}")
