"""All kernels of the registry in PyTorch and JAX, on operands that benchmarks writes with the
values and derivatives that Go computes from them."""

import importlib
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import revnum

ROOT = pathlib.Path(__file__).resolve().parents[3]
RULES = [r for r in revnum.rules.values() if r.type in ("float64", "complex128") and not r.missing]


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    if os.environ.get("REVNUM_VECTORS"):  # which were written before
        return pathlib.Path(os.environ["REVNUM_VECTORS"])
    if not shutil.which("go"):
        pytest.skip("there is no Go")
    folder = tmp_path_factory.mktemp("vectors")
    subprocess.run(["go", "run", "./benchmarks", "rules", "export", str(folder), "--rows", "2", "--cols", "3", "--format", "npz"], cwd=ROOT, check=True)
    return folder


class Case:
    """A kernel as a function of the inputs that have derivatives, as arrays of a host."""

    def __init__(self, rule, folder, package, array):
        self.rule, self.package, self.array = rule, package, array
        self.file = np.load(folder / f"{rule.kernel}.{rule.type}.npz")
        part = lambda name, wanted: {o.name: array(self.file[f"{name}/{o.name}"]) for o in wanted if f"{name}/{o.name}" in self.file}
        self.inputs = [o for o in rule.inputs if o.role != "index" and f"operands/{o.name}" in self.file]
        self.outputs = rule.outputs
        self.x, self.t = (list(part(name, self.inputs).values()) for name in ("operands", "tangents"))
        self.indices = part("operands", [o for o in rule.operands if o.role == "index"])
        self.params = {p: float(self.file[f"parameters/{p}"]) for p in rule.parameters}
        self.ct, self.gt = (list(part(name, self.outputs).values()) for name in ("cotangents", "cotangent_tangents"))

    def sparse(self, o, data):
        ptr, ind, shape = (self.file[f"{'operands' if o.role != 'acc' else 'cotangents'}/{o.name}.{k}"] for k in ("ptr", "ind", "shape"))
        return self.package.CSR(tuple(map(int, shape)), self.array(ptr), self.array(ind), data)

    def operands(self, *x):
        operands = {o.name: self.sparse(o, a) if o.sparse else a for o, a in zip(self.inputs, x)}
        for o in self.outputs:
            if o.role == "acc":
                a = self.array(self.file[f"cotangents/{o.name}"])
                operands[o.name] = self.sparse(o, a) if o.sparse else a
        return operands | self.indices

    def __call__(self, *x):
        y = self.package.call(self.rule.name, **self.operands(*x), **self.params)
        return y if isinstance(y, tuple) else (y,)

    def expected(self, what, of):
        return [self.file[f"expected/{what}/{o.name}"] for o in of]


def close(got, want):
    assert len(got) == len(want)
    for a, b in zip(got, want):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9, atol=1e-10)


SECOND = lambda rule: "AdjointTangent" in rule.passes


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_torch(rule, vectors):
    torch = pytest.importorskip("torch")
    import revnum.torch as rt

    f = Case(rule, vectors, rt, torch.from_numpy)
    x, t, ct, gt = map(tuple, (f.x, f.t, f.ct, f.gt))
    F = torch.func
    close(f(*x), f.expected("value", f.outputs))
    close(F.jvp(f, x, t)[1], f.expected("tangents", f.outputs))
    grads = lambda x, ct: F.vjp(f, *x)[1](ct)
    close(grads(x, ct), f.expected("gradients", f.inputs))
    needing = [a.clone().requires_grad_() for a in x]
    close(torch.autograd.grad(f(*needing), needing, ct), f.expected("gradients", f.inputs))
    if SECOND(rule):
        close(F.jvp(grads, (x, ct), (t, gt))[1], f.expected("second_order", f.inputs))
        # Backward over forward: <ȳ, J·ẋ> by x is what the second order is without ġy.
        mixed = F.grad(lambda x: sum((a.conj() * b).sum().real for a, b in zip(F.jvp(f, x, t)[1], ct)))(x)
        zero = tuple(torch.zeros_like(a) for a in gt)
        close(mixed, F.jvp(grads, (x, ct), (t, zero))[1])
    # Problems in one call are those one after the other.
    both = lambda a, b: tuple(torch.stack([p, p + 1e-3 * q]) for p, q in zip(a, b))
    xs, cts = both(x, t), both(ct, gt)
    stacked = lambda g, *args: [torch.stack(c) for c in zip(*[g(*[tuple(a[i] for a in group) for group in args]) for i in (0, 1)])]
    same(F.vmap(f)(*xs), stacked(lambda x: f(*x), xs))
    same(F.vmap(lambda t: F.jvp(f, x, t)[1])(both(t, x)), stacked(lambda t: F.jvp(f, x, t)[1], both(t, x)))
    same(F.vmap(grads)(xs, cts), stacked(grads, xs, cts))
    y = f(*needing)
    same(torch.autograd.grad(y, needing, cts, is_grads_batched=True), stacked(lambda ct: grads(x, ct), cts))


@pytest.mark.parametrize("host", ["numpy", "torch"])
@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_names(rule, host, vectors):
    """Operands by name are those by position, in the first call and in those that the library makes again."""
    array = np.asarray if host == "numpy" else pytest.importorskip("torch").from_numpy
    package = importlib.import_module("revnum." + host)
    f = Case(rule, vectors, package, array)
    name, kernel = rule.kernel.split(".")
    kernel = getattr(getattr(package, name), kernel)
    operands = f.operands(*f.x)
    inputs = {o.name: operands.pop(o.name) for o in rule.inputs if o.name in operands}
    data = lambda a: a.data if isinstance(a, package.CSR) else a  # a CSR is a tuple
    tuples = lambda y: list(map(data, y if isinstance(y, tuple) and not isinstance(y, package.CSR) else (y,)))
    for _ in range(3):
        close(tuples(kernel(**inputs, **operands, **f.params)), f.expected("value", f.outputs))
        some = dict(list(inputs.items())[1:])
        close(tuples(kernel(next(iter(inputs.values())), **some, **operands, **f.params)), f.expected("value", f.outputs))
        if list(inputs) == [o.name for o in rule.inputs]:  # none is left out
            close(tuples(kernel(*inputs.values(), **operands, **f.params)), f.expected("value", f.outputs))


def same(got, want):
    close(got, [np.asarray(a) for a in want])


LONG = pytest.mark.skipif(not os.environ.get("REVNUM_LONG"), reason="takes minutes: set REVNUM_LONG")


@LONG
@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_gradcheck(rule, vectors):
    """PyTorch's own checks by differences: gradients, forward mode, both in batches, and second derivatives."""
    torch = pytest.importorskip("torch")
    import revnum.torch as rt

    f = Case(rule, vectors, rt, torch.from_numpy)
    x = [a.clone().requires_grad_() for a in f.x]
    assert torch.autograd.gradcheck(f, x, check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)
    if SECOND(rule):
        assert torch.autograd.gradgradcheck(f, x, check_fwd_over_rev=True, check_batched_grad=True)


@LONG
@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_check_grads(rule, vectors):
    """JAX's."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import revnum.jax as rj
    from jax.test_util import check_grads

    f = Case(rule, vectors, rj, jax.numpy.asarray)
    check_grads(f, tuple(f.x), order=2 if SECOND(rule) else 1, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5, eps=1e-5)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_jax(rule, vectors):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    import revnum.jax as rj

    f = Case(rule, vectors, rj, jnp.asarray)
    x, t, ct, gt = map(tuple, (f.x, f.t, f.ct, f.gt))
    bar = lambda list: tuple(jnp.conj(a) for a in list)  # a cotangent of JAX is the conjugate
    y, dy = jax.jvp(f, x, t)
    close(y, f.expected("value", f.outputs))
    close(dy, f.expected("tangents", f.outputs))
    grads = lambda x, ct: bar(jax.vjp(f, *x)[1](bar(ct)))
    close(grads(x, ct), f.expected("gradients", f.inputs))
    if SECOND(rule):
        close(jax.jvp(grads, (x, ct), (t, gt))[1], f.expected("second_order", f.inputs))
    both = lambda a, b: tuple(jnp.stack([p, p + 1e-3 * q]) for p, q in zip(a, b))
    xs, cts = both(x, t), both(ct, gt)
    stacked = lambda g, *args: [jnp.stack(c) for c in zip(*[g(*[tuple(a[i] for a in group) for group in args]) for i in (0, 1)])]
    same(jax.vmap(f)(*xs), stacked(lambda x: f(*x), xs))
    same(jax.vmap(grads)(xs, cts), stacked(grads, xs, cts))
    same(jax.vmap(grads, in_axes=(None, 0))(x, cts), stacked(lambda ct: grads(x, ct), cts))
