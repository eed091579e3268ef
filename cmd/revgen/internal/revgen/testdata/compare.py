"""Compares kernels that revgen wrote with JAX: values, and the product of the transposed
Jacobian with a vector. Arguments: a file of Python functions, and a file of results with
one JSON object a line."""

import json
import sys

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


class View:
    """x[lo:] as Go has it, a view."""

    def __init__(self, x, lo):
        self.x, self.lo = x, lo

    def __len__(self):
        return len(self.x) - self.lo

    def __getitem__(self, i):
        return self.x[self.lo + i]


class Duo:
    def __init__(self, a=0.0, b=0.0):
        self.a, self.b = a, b


def turned(d, c):
    if jnp.iscomplexobj(c):
        u = jnp.exp(1j * jnp.real(c))
        return Duo(u * d.a, jnp.conj(u) * d.b)
    sin, cos = jnp.sin(c), jnp.cos(c)
    return Duo(cos * d.a - sin * d.b, sin * d.a + cos * d.b)


def bounded(z):
    return z / (1 + z * jnp.conj(z))


def joined(x, y):
    return x + 1j * y


def state(r, key):
    """Returns a state. Its complex numbers are pairs."""

    def number(x):
        return jnp.complex128(complex(*x)) if r["Complex"] else jnp.float64(x)

    def numbers(xs):
        return [number(x) for x in xs]

    return {k: [numbers(row) for row in v] if k == "m" else numbers(v) if k != "a" else number(v[0]) for k, v in r[key].items()}


def functional(f):
    """Returns f, which changes its arguments, as a function of them."""

    def g(state):
        s = {k: [list(r) for r in v] if k == "m" else list(v) if k != "a" else v for k, v in state.items()}
        f(**s)
        return s

    return g


names = {"View": View, "Duo": Duo, "turned": turned, "bounded": bounded, "joined": joined, "jnp": jnp}
exec(open(sys.argv[1]).read(), names)
worst, wrong, count = 0.0, 0, 0
for line in open(sys.argv[2]):
    r = json.loads(line)
    before, after, cotangent = state(r, "Before"), state(r, "After"), state(r, "Cotangent")
    got, back = jax.vjp(functional(names[r["Name"]]), before)
    # The product with the transposed Jacobian is without conjugates in JAX. Here the
    # cotangent of x + iy is the cotangent of x plus i times the one of y.
    (gradient,) = back(jax.tree.map(jnp.conj, cotangent))
    gradient = jax.tree.map(jnp.conj, gradient)
    count += 1
    for what, x, y in ("value", got, after), ("gradient", gradient, state(r, "Gradient")):
        x, y = jnp.array(jax.tree.leaves(x)), jnp.array(jax.tree.leaves(y))
        error = float(jnp.max(jnp.abs(x - y) / (1 + jnp.max(jnp.abs(x)))))
        worst = max(worst, error)
        if not error <= 1e-9:
            wrong += 1
            print(f"{r['Name']}: {what} is off by {error:.2g}")
print(f"{count} programs, largest error {worst:.2g}, {wrong} wrong")
sys.exit(wrong > 0 or count == 0)
