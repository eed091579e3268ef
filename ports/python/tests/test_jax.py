import functools
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax.test_util import check_grads

import revnum
import revnum.jax as rj

jax.config.update("jax_enable_x64", True)

rng = np.random.default_rng(1)


def x(*shape):
    return jnp.asarray(rng.normal(size=shape) / 2)


def spd(n):
    a = rng.normal(size=(n, n))
    return jnp.asarray(a @ a.T + n * np.eye(n))


CASES = {
    "Dot": (rj.revlinalg.Dot, [x(4), x(4)]),
    "Norm2": (rj.revlinalg.Norm2, [x(5)]),
    "MatMul": (rj.revlinalg.MatMul, [x(2, 3), x(3, 2)]),
    "MatMulTrans": (lambda a, b: rj.revlinalg.MatMul(a, b, TransA=True), [x(3, 2), x(3, 2)]),
    "Softmax": (rj.revnn.Softmax, [x(4)]),
    "LogSumExp": (rj.revnn.LogSumExp, [x(4)]),
    "Exp": (rj.revlinalg.Exp, [x(3)]),
    "Solve": (rj.revlinalg.Solve, [spd(3), x(3, 2)]),
    "LogDet": (lambda a: rj.revlinalg.LogDet(a)[0], [spd(3)]),
    "Unitary": (rj.revlinalg.Unitary, [x(3, 2), x(3)]),
    "GMM": (rj.gmm.LogPosterior, [x(2), x(2, 2), x(2, 3), x(4, 2)]),
    "logs": (lambda z, a: rj.revlog.Sum(z, a), [x(), x(3)]),
    "composed": (lambda a, b: jnp.sin(rj.revlinalg.Norm2(rj.revlinalg.Exp(rj.revlinalg.MatMul(a, b)[:, 0]))), [x(3, 2), x(2, 1)]),
}


@pytest.mark.parametrize("name", CASES)
def test_grads(name):
    f, args = CASES[name]
    check_grads(f, args, order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5, eps=1e-5)


@pytest.mark.parametrize("name", ["MatMul", "Unitary"])
def test_grads_jit_vmap(name):
    f, args = CASES[name]
    batch = [jnp.stack([a, a + 0.1]) for a in args]
    check_grads(jax.jit(jax.vmap(f)), batch, order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5, eps=1e-5)


def test_hand():
    """The arrays of a hand are constants, also those of numbers."""
    r = np.random.default_rng(2)
    parents = np.array([-1] + [0 if i % 4 == 1 else i - 1 for i in range(1, 21)])
    transforms = lambda: jnp.asarray((np.eye(3, 4) + 0.1 * r.normal(size=(21, 3, 4))).reshape(21, 12))
    m = dict(Parents=parents, Relative=transforms(), InverseBase=transforms(), Positions=jnp.asarray(r.normal(size=(3, 3))), Weights=jnp.asarray(r.random((3, 21))))
    f = lambda theta, points: rj.hand.Residuals(theta, jnp.zeros((0, 2)), points, [2, 0], **m)
    check_grads(jax.jit(f), (jnp.asarray(0.3 * r.normal(size=26)), jnp.asarray(r.normal(size=(2, 3)))), order=1, modes=["rev"], rtol=1e-6)
    with pytest.raises(revnum.ArgumentError, match="Weights has elements of int64, want float64"):
        rj.hand.Residuals(jnp.zeros(26), jnp.zeros((0, 2)), jnp.zeros((2, 3)), [2, 0], **m | {"Weights": jnp.zeros((3, 21), int)})


def test_ffi():
    """Calls under jit are without Python."""
    assert rj.uses_ffi
    for name, (f, args) in CASES.items():
        g = lambda *args: jnp.sum(f(*args) ** 2)
        two = [jnp.stack([a, a]) for a in args]
        for h, x in ((g, args), (jax.grad(g), args), (jax.hessian(g), args), (jax.vmap(g), two)):
            text = jax.jit(h).lower(*x).as_text()
            assert "callback" not in text
            assert "@revnum(" in text or name == "Dot"  # whose second derivative XLA needs no value for


def test_ffi_header():
    cc = shutil.which("cc")
    if not cc:
        pytest.skip("there is no C compiler")
    here = pathlib.Path(__file__).parent
    subprocess.run([cc, "-std=c11", "-fsyntax-only", "-I", jax.ffi.include_dir(), "-I", here.parents[1] / "capi", here / "xla_layout.c"], check=True)


def test_without_ffi():
    """A JAX without the interface, or that refuses the library, warns and has the same results."""
    for remove in ("del jax.ffi", "jax.ffi.register_ffi_target = lambda *a, **k: 1 / 0"):
        code = f"""
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
{remove}
import revnum.jax as rj
x = jax.numpy.arange(1.0, 4)
f = jax.jit(jax.hessian(rj.revlinalg.Norm2))
assert not rj.uses_ffi and "callback" in f.lower(x).as_text()
want = (np.eye(3) - np.outer(x, x) / 14) / np.sqrt(14)
np.testing.assert_allclose(f(x), want, rtol=1e-12, atol=1e-15)
"""
        r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert r.returncode == 0 and "UserWarning: revnum" in r.stderr, r.stderr


def test_sparse():
    from jax.experimental import sparse

    a = sparse.BCSR.fromdense(jnp.array([[0, 2.0, 0], [1, 0, 3]]))
    b = x(3, 2)

    def f(data, b):
        m = sparse.BCSR((data, a.indices, a.indptr), shape=a.shape)
        return rj.revsparse.Mul(A=m, B=b)

    np.testing.assert_allclose(f(a.data, b), a.todense() @ b, rtol=1e-14)
    assert a.indices.dtype == np.int32  # narrower than the kernel's
    np.testing.assert_allclose(jax.jit(f)(a.data, b), a.todense() @ b, rtol=1e-14)
    check_grads(f, [a.data, b], order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)


def test_bcoo():
    """Entries in any order, under jit, with gradients by the entries as they are given."""
    from jax.experimental import sparse

    a = sparse.BCOO.fromdense(jnp.array([[0, 2.0, 0], [1, 0, 3]]))
    b = x(3, 2)
    f = lambda data, b: rj.revsparse.Mul(A=sparse.BCOO((data, a.indices[::-1]), shape=a.shape), B=b)
    data = a.data[::-1]
    np.testing.assert_allclose(f(data, b), a.todense() @ b, rtol=1e-14)
    np.testing.assert_allclose(jax.jit(f)(data, b), a.todense() @ b, rtol=1e-14)
    check_grads(f, [data, b], order=1, modes=("rev",), atol=1e-5, rtol=1e-5)


def test_sparse_output():
    """A sparse output is a matrix of the kind that gives its structure."""
    from jax.experimental import sparse

    pattern, a, b = np.array([[0, 1.0, 0], [1, 0, 1]]), x(2, 4), x(3, 4)
    want = np.where(pattern, a @ b.T, 0)
    for kind in (sparse.BCOO, sparse.BCSR):
        s = kind.fromdense(jnp.asarray(pattern))
        if kind is sparse.BCOO:
            s = sparse.BCOO((s.data, s.indices[::-1]), shape=s.shape)
        f = lambda a, b: rj.revsparse.SampledMul(a, b, S=s)
        for g in (f, jax.jit(f)):
            y = g(a, b)
            assert type(y) is kind
            np.testing.assert_allclose(y.todense(), want, rtol=1e-13)
        check_grads(lambda a, b: f(a, b).todense(), [a, b], order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)


def test_sharding():
    """Problems that are sharded stay so, under jit and shard_map, also in derivatives."""
    code = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
import revnum.jax as rj
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

a, w = np.random.default_rng(1).normal(size=(8, 3, 2)), np.random.default_rng(2).normal(size=(2, 5))
f = jax.vmap(rj.revlinalg.MatMul, in_axes=(0, None))
square = lambda f: lambda a, w: jnp.sum(f(a, w) ** 2)

def close(got, want):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-12), got, want)

gradient = lambda f: jax.grad(square(f), (0, 1))
tangent = lambda f: lambda a, w: jax.jvp(f, (a, w), (a, w))[1]
second = lambda f: tangent(gradient(f))
for kind in (AxisType.Auto, AxisType.Explicit):
    mesh = jax.make_mesh((4,), ("b",), axis_types=(kind,))
    jax.set_mesh(mesh)
    by = NamedSharding(mesh, P("b"))
    s, whole = jax.device_put(a, by), jax.device_put(w, NamedSharding(mesh, P()))
    g = jax.shard_map(f, in_specs=(P("b"), P()), out_specs=P("b"))
    for transform in (lambda f: f, gradient, tangent, second):
        close(jax.jit(transform(f))(s, whole), transform(jnp.matmul)(a, w))
        close(jax.jit(transform(g))(s, whole), transform(jnp.matmul)(a, w))
    close(g(s, whole), a @ w)
    close(jax.jit(gradient(f))(a, w), gradient(jnp.matmul)(a, w))  # under a mesh, but not sharded
    if kind == AxisType.Explicit:
        break  # gradients gather
    solve = lambda a, b: jax.vmap(rj.revlinalg.Solve)(jax.lax.with_sharding_constraint(a, by), b)
    m = np.random.default_rng(3).normal(size=(7, 2, 2))  # a padded problem would be singular
    b = np.random.default_rng(4).normal(size=(7, 2, 2))  # not m, as zeros have no relative error
    close(jax.jit(solve)(m, b), jnp.linalg.solve(m, b))
    for transform in (lambda f: f, tangent, lambda f: lambda a, w: gradient(f)(a, w)[0]):
        compiled = jax.jit(transform(f)).lower(s, whole).compile()
        assert "all-gather" not in compiled.as_text()
        assert compiled(s, whole).sharding.is_equivalent_to(by, 3)
"""
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr


def test_export():
    f, y = jax.jit(jax.grad(rj.revlinalg.Norm2)), x(8)
    check = jax.export.DisabledSafetyCheck.custom_call("revnum")
    exported = jax.export.export(f, disabled_checks=[check])(jax.ShapeDtypeStruct((8,), np.float64))
    np.testing.assert_array_equal(exported.call(y), f(y))


def test_nested_vmap():
    """Problems of problems, of which some share an operand."""
    a, b = x(2, 3, 4, 2), x(2, 2, 5)
    f = lambda f: jax.vmap(jax.vmap(f, in_axes=(0, None)), in_axes=(0, 0))
    g = lambda f: lambda a, b: jnp.sum(f(a, b) ** 2)
    np.testing.assert_allclose(f(rj.revlinalg.MatMul)(a, b), f(jnp.matmul)(a, b), rtol=1e-12)
    for ours, theirs in zip(jax.grad(g(f(rj.revlinalg.MatMul)), (0, 1))(a, b), jax.grad(g(f(jnp.matmul)), (0, 1))(a, b)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    text = jax.jit(f(rj.revlinalg.MatMul)).lower(a, b).as_text()
    assert text.count("@revnum(") == 1 and "while" not in text
    w = x(4)
    for ours, theirs in ((rj.revlinalg.Exp, jnp.exp), (rj.revnn.Softmax, jax.nn.softmax), (rj.revnn.LogSumExp, jax.nn.logsumexp)):
        np.testing.assert_allclose(jax.vmap(ours)(a[0, :, :, 0]), jax.vmap(theirs)(a[0, :, :, 0]), rtol=1e-12)
        np.testing.assert_allclose(jax.vmap(jax.hessian(lambda v: jnp.sum(w * ours(v))))(a[0, :, :, 0]), jax.vmap(jax.hessian(lambda v: jnp.sum(w * theirs(v))))(a[0, :, :, 0]), rtol=1e-10, atol=1e-13)


def test_complex():
    z = x(3) + 1j * x(3)
    w = x(3) + 1j * x(3)
    ours, theirs = jax.grad(lambda z: jnp.real(rj.revlinalg.Dot(z, w) ** 2))(z), jax.grad(lambda z: jnp.real(jnp.vdot(z, w) ** 2))(z)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    # A value that is not holomorphic.
    ours, theirs = jax.grad(rj.revlinalg.ComplexNorm2)(z), jax.grad(lambda z: jnp.linalg.norm(z))(z)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    check_grads(rj.revlinalg.ComplexNorm2, [z], order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)
    check_grads(rj.revlinalg.Dot, [z, w], order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)


def test_jit_vmap_hessian():
    a, b = x(4, 3), x(3)
    f = lambda b: rj.revlinalg.Norm2(rj.revlinalg.MatMul(a, b[:, None])[:, 0])
    g = lambda b: jnp.linalg.norm(a @ b)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(b), jax.grad(g)(b), rtol=1e-13)
    np.testing.assert_allclose(jax.hessian(f)(b), jax.hessian(g)(b), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(jax.jit(jax.hessian(f))(b), jax.hessian(g)(b), rtol=1e-11, atol=1e-13)
    bs = x(5, 3)
    np.testing.assert_allclose(jax.vmap(jax.grad(f))(bs), jax.vmap(jax.grad(g))(bs), rtol=1e-12)


def test_errors():
    with pytest.raises(revnum.ArgumentError, match="axes"):
        rj.revlinalg.Dot(x(3), x(3, 1))
    with pytest.raises(revnum.ArgumentError, match="Y is of shape"):
        rj.revlinalg.Dot(x(3), x(4))
    with pytest.raises(revnum.ArgumentError, match="float32, want float64|float64, want float32"):
        rj.revlinalg.Dot(x(3), x(3).astype(jnp.float32))
    with pytest.raises(TypeError, match="no parameter 'colour'"):
        rj.revlinalg.Dot(x(3), x(3), colour=1)
    with pytest.raises(revnum.NoResultError):
        rj.revlinalg.Log(-jnp.ones(2))
    with pytest.raises(jax.errors.JaxRuntimeError, match="FAILED_PRECONDITION.*log"):
        jax.jit(rj.revlinalg.Log)(-jnp.ones(2)).block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT.*column 5"):
        m = rj.CSR((2, 2), jnp.array([0, 1, 2]), jnp.array([0, 5]), jnp.ones(2))
        jax.jit(lambda b: rj.revsparse.Mul(A=m, B=b))(jnp.ones((2, 1))).block_until_ready()
    with pytest.raises(NotImplementedError, match="third"):
        f = rj.revnn.LogSumExp
        jax.jacfwd(jax.jacfwd(jax.jacfwd(f)))(x(3))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.uint64])
def test_indices(dtype):
    """Indices of any integer type give the elements that they give in int64."""
    a, i = x(5, 2), np.array([4, 0, 3], dtype)
    np.testing.assert_array_equal(rj.revnn.Gather(a, i), np.asarray(a)[[4, 0, 3]])
    np.testing.assert_array_equal(jax.jit(rj.revnn.Gather)(a, i), np.asarray(a)[[4, 0, 3]])
    m = rj.CSR((2, 2), np.array([0, 1, 2], dtype), np.array([1, 0], dtype), jnp.array([2.0, 3.0]))
    np.testing.assert_array_equal(rj.revsparse.Mul(A=m, B=jnp.eye(2)), [[0, 2], [3, 0]])


BAD = {
    "kernel's type": (lambda: rj.revlinalg.Exp(jnp.ones(3, complex)), revnum.ArgumentError, "not offered over complex128"),
    "half": (lambda: rj.revlinalg.Sum(jnp.ones(3, jnp.float16)), revnum.ArgumentError, "float16"),
    "three axes": (lambda: rj.revlinalg.Frobenius(jnp.ones((3, 1, 2))), revnum.ArgumentError, "3 axes"),
    "missing": (lambda: rj.revlinalg.Dot(x(3)), revnum.ArgumentError, "Y"),
    "not sparse": (lambda: rj.revsparse.Mul(A=x(2, 2), B=x(2, 1)), revnum.ArgumentError, "sparse"),
    "indices": (lambda: rj.revnn.Gather(x(3, 2), x(2)), revnum.ArgumentError, "want integers"),
    "structure": (lambda: rj.revsparse.Mul(A=rj.CSR((1, 1), [0, 1], [0.0], jnp.ones(1)), B=jnp.ones((1, 1))), revnum.ArgumentError, "want integers"),
    "parameter": (lambda: rj.revlinalg.MatMul(x(1, 1), x(1, 1), TransA=3), revnum.ArgumentError, "0 or 1"),
    "no result": (lambda: rj.revlinalg.Solve(jnp.ones((2, 2)), jnp.ones((2, 1))), revnum.NoResultError, "singular|condition"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    f, kind, text = BAD[name]
    with pytest.raises(kind, match=text):
        f()


def test_layouts():
    """JAX has no strides: what it makes of slices, reversed and transposed arrays goes in."""
    a, b = x(6, 8), x(8, 6)
    f = jax.jit(rj.revlinalg.MatMul)
    for p, q in [(a[::2], b[:, :3]), (a[::-1, ::-1], b), (a.T[:6], b[:6]), (a[:0], b)]:
        np.testing.assert_allclose(f(p, q), p @ q, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(jax.jit(lambda a, b: rj.revlinalg.MatMul(a.T, b))(b, b), b.T @ b, rtol=1e-12, atol=1e-14)
    # An array that is operand and tangent, and one that is two operands.
    np.testing.assert_allclose(jax.jit(lambda v: jax.jvp(rj.revlinalg.Dot, (v, v), (v, v))[1])(a[0]), 2 * a[0] @ a[0], rtol=1e-13)
    assert f(x(0, 3), x(3, 0)).shape == (0, 0) and jax.jit(rj.revlinalg.Sum)(jnp.zeros(0)) == 0
    assert jnp.isnan(jax.jit(rj.revlinalg.Sum)(jnp.array([jnp.nan, 1])))


def test_one_call():
    """The value of a loss and its gradient by some operands are one call, under vmap too, where others share an operand."""
    weights, means, factors, points = CASES["GMM"][1]
    loss = lambda means, points: rj.gmm.LogPosterior(weights, means, factors, points)

    def theirs(means, points):
        rows, columns = np.tril_indices(2, -1)
        lower = lambda q: jnp.zeros((2, 2)).at[rows, columns].set(q[2:]) + jnp.diag(jnp.exp(q[:2]))
        terms = [weights[k] + factors[k][:2].sum() - 0.5 * (((points - means[k]) @ lower(factors[k]).T) ** 2).sum(1) for k in range(2)]
        return jax.nn.logsumexp(jnp.stack(terms), 0).sum() - len(points) * jax.nn.logsumexp(weights)

    text = jax.jit(jax.value_and_grad(loss)).lower(means, points).as_text()
    assert text.count("@revnum(") == 1 and "tensor<4x2xf64>" not in text.split("@revnum(")[1].split("->")[1].split("\n")[0]
    constant = loss(means, points) - theirs(means, points)
    for by in (0, 1, (0, 1)):
        (value, ours), want = jax.value_and_grad(loss, by)(means, points), jax.grad(theirs, by)(means, points)
        np.testing.assert_allclose(value - constant, theirs(means, points), rtol=1e-12)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11), ours, want)
        mixed = [jax.jacrev(jax.grad(f, by), (0, 1))(means, points) for f in (loss, theirs)]
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10), *mixed)
    many = jnp.stack([points, points + 1, 2 * points])
    for f in (jax.vmap(loss, (None, 0)), lambda m, p: jax.vmap(loss, (0, None))(jnp.stack([m, m + 1]), p[0])):
        g = lambda f: jax.grad(lambda m, p: (f(m, p) ** 2).sum(), (0, 1))(means, many)
        other = jax.vmap(theirs, (None, 0)) if f(means, many).shape == (3,) else lambda m, p: jax.vmap(theirs, (0, None))(jnp.stack([m, m + 1]), p[0])
        for a, b in zip(g(lambda m, p: f(m, p) - constant), g(other)):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_tangents_of_values():
    """Kernels whose derivatives are products with the value have them in every order, and with operands that problems share."""
    a, b, v = x(3, 4), x(3, 4), x(4)
    pairs = {
        "Dot": (rj.revlinalg.Dot, jnp.dot), "Exp": (lambda a, b: rj.revlinalg.Exp(a + b), lambda a, b: jnp.exp(a + b)),
        "Norm2": (lambda a, b: rj.revlinalg.Norm2(a + b), lambda a, b: jnp.linalg.norm(a + b)), "Sum": (lambda a, b: rj.revlinalg.Sum(a * b), lambda a, b: jnp.sum(a * b)),
        "Softmax": (lambda a, b: rj.revnn.Softmax(a + b), lambda a, b: jax.nn.softmax(a + b)),
        "SoftmaxRows": (lambda a, b: rj.revnn.SoftmaxRows(jnp.outer(a, b)), lambda a, b: jax.nn.softmax(jnp.outer(a, b))),
    }
    assert set(rj._TANGENTS) == {f"{p}.{name}" for p in ("revlinalg", "revnn") for name in pairs if hasattr(getattr(rj, p), name)}
    for ours, theirs in pairs.values():
        by = (0, 1)
        for derive in (jax.jacrev, lambda f, by: jax.jacfwd(jax.jacfwd(jax.jacrev(f)), by)):
            got, want = (derive(f, by)(v, b[0]) for f in (ours, theirs))
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12), got, want)
        for axes, args in (((0, None), (a, v)), ((None, 0), (v, b)), ((1, 1), (a, b))):
            got, want = (jax.grad(lambda *args: (jax.vmap(f, axes)(*args) ** 3).sum(), by)(*args) for f in (ours, theirs))
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12), got, want)
    zero = jnp.zeros(3)
    assert not jax.grad(rj.revlinalg.Norm2)(zero).any() and not jax.hessian(rj.revlinalg.Norm2)(zero).any()
    z = v + 1j * b[0]  # a Dot of complex numbers conjugates
    np.testing.assert_allclose(jax.jvp(rj.revlinalg.Dot, (z, z), (z, 1j * z))[1], jnp.vdot(z, z) * (1 + 1j), rtol=1e-12)


def test_ends_of_the_range():
    """XLA's threads flush subnormal numbers to zero, also in the library, and divide by a number that vectors share as a
    product with its inverse."""
    unit = np.array([0.6, 0.8])
    turn = np.eye(2) - np.outer(unit, unit)
    L = rj.revlinalg
    for dtype, scales, rtol in ((np.float64, (1e-300, 1e-160, 1.0, 1e160, 4.6e307, 1e308, 1.7e308), 1e-14), (np.float32, (1e-36, 1e-20, 1.0, 1e20, 1e38, 3e38), 1e-5)):
        for scale in scales:
            v = jnp.asarray(unit * scale, dtype)
            a = jnp.asarray(v / np.sqrt(3), dtype)
            for way in (lambda f: f, jax.jit):
                close = functools.partial(np.testing.assert_allclose, rtol=rtol, atol=rtol)
                close(np.float64(way(L.Norm2)(v)) / scale, 1)
                close(np.float64(way(L.Frobenius)(jnp.stack([a, a, a]))) / scale, 1)
                close(way(jax.grad(L.Norm2))(v), unit)
                close(way(lambda v: jax.jvp(L.Norm2, (v,), (jnp.asarray([1, 2], dtype),))[1])(v), 2.2)
                close(way(jax.vmap(jax.grad(L.Norm2)))(jnp.stack([v, 0 * v])), [unit, [0, 0]])
                if 1e-20 <= scale <= 1e20 or dtype is np.float64 and 1e-160 <= scale <= 1e160:
                    close(np.float64(way(jax.hessian(L.Norm2))(v)) * scale, turn)
    top = 1.7e308
    np.testing.assert_array_equal(jax.jit(L.Norm2)(jnp.array([top])), top)
    np.testing.assert_array_equal(jax.jit(L.ComplexNorm2)(jnp.array([1j * top])), top)
    np.testing.assert_array_equal(jax.jit(L.Expm)(jnp.array([[-top]])), [[0]])
    np.testing.assert_array_equal(jax.jit(L.Expm)(jnp.array([[0, top], [0, 0]])), [[1, top], [0, 1]])
    np.testing.assert_allclose(jax.jit(L.Solve)(jnp.diag(jnp.array([top, top])) + jnp.diag(jnp.array([top / 2]), -1), jnp.array([[top], [top]])), [[1], [0.5]], rtol=1e-14)
    check_grads(L.Norm2, [jnp.array([1.0, 2, 3])], order=2)


def test_subnormal_numbers():
    """The threads of XLA flush subnormal numbers. The library does not: its results are those of NumPy, of all workers, also
    while two threads call, and XLA still flushes its own after a call."""
    import threading

    if not rj.uses_ffi:
        pytest.skip("calls go through Python")
    f, x = jax.jit(jax.vmap(rj.revlinalg.Norm2)), jnp.full((200, 1000), 1e-310)
    want, wrong = revnum.numpy.revlinalg.Norm2(np.full(1000, 1e-310)), []
    assert want > 0

    def calls():
        wrong.extend(y for _ in range(10) if not (y := np.asarray(f(x)) == want).all())

    threads = [threading.Thread(target=calls) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert jax.jit(lambda x: rj.revlinalg.Norm2(x) * 1e-10)(jnp.full(1, 1e-300)) == 0


def test_subnormal_numbers_in_a_callback():
    """Those threads flush in functions of Python, too, that they call, but not in calls of the library there."""
    L = revnum.numpy.revlinalg
    x = np.full((3, 4), 1e-310)
    ways = {"a call that is kept": lambda x: L.Sum(x[0]), "steps": lambda x: revnum.numpy.vjp(L.Sum, x[0])[0]}
    for name, way in ways.items():
        f = jax.jit(lambda x, way=way: jax.pure_callback(lambda x: np.asarray(way(np.asarray(x))), jax.ShapeDtypeStruct((), np.float64), x))
        for _ in range(3):
            assert np.asarray(f(x)) == x[0].sum() > 0, name


def test_numpy_beside_jax():
    """A call from NumPy has the same bits while another thread calls under XLA."""
    import threading

    f, x, stop = jax.jit(jax.vmap(rj.revlinalg.Norm2)), jnp.ones((1000, 1000)), threading.Event()
    f(x).block_until_ready()

    def calls():
        while not stop.is_set():
            f(x).block_until_ready()

    thread, a, eye = threading.Thread(target=calls), np.full((600, 600), 1e-311), np.eye(600)
    thread.start()
    try:
        wrong = sum((revnum.numpy.revlinalg.MatMul(a, eye) != a).any() for _ in range(20))
    finally:
        stop.set()
        thread.join()
    assert wrong == 0


def test_unitary_steps():
    """Gradients without a tape are those with one. What they keep does not grow with the steps."""

    def on_tape(h, theta, weight, x):
        u = rj.revlinalg.Unitary(jnp.eye(4), theta)
        return jax.lax.scan(lambda h, xt: (u @ h + weight @ xt.T, None), h, x)[0]

    def gradients(f):
        return jax.grad(lambda *args: (f(*args) ** 3).sum(), argnums=(0, 1, 2, 3))

    args = [x(4, 3), x(6), x(4, 2), x(100, 3, 2)]
    for wrap in (lambda f: f, jax.jit):
        for ours, theirs in zip(wrap(gradients(rj.unitary_steps))(*args), gradients(on_tape)(*args)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    batch = [jnp.stack([a, a / 2]) for a in args]
    alone = [gradients(on_tape)(*[a[i] for a in batch]) for i in range(2)]
    for ours, *theirs in zip(jax.vmap(gradients(rj.unitary_steps))(*batch), *alone):
        np.testing.assert_allclose(ours, jnp.stack(theirs), rtol=1e-10, atol=1e-10)
    assert rj.unitary_steps(*args[:3], x(0, 3, 2)).shape == (4, 3)
    kept = jax.tree.leaves(jax.vjp(rj.unitary_steps, *args)[1])
    assert sum(a.size for a in kept) < args[3].size + 100


def test_closed_library():
    code = "import jax, revnum.jax as rj; from revnum import _library; _library.library.close(); rj.revlinalg.Sum(jax.numpy.ones(2, 'float32'))"
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert r.returncode == 1 and "the library is closed" in r.stderr
