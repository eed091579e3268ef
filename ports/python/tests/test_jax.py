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
    "Softmax": (rj.revlinalg.Softmax, [x(4)]),
    "LogSumExp": (rj.revlinalg.LogSumExp, [x(4)]),
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


def test_sparse():
    from jax.experimental import sparse

    a = sparse.BCSR.fromdense(jnp.array([[0, 2.0, 0], [1, 0, 3]]))
    b = x(3, 2)

    def f(data, b):
        m = sparse.BCSR((data, a.indices, a.indptr), shape=a.shape)
        return rj.revsparse.Mul(A=m, B=b)

    np.testing.assert_allclose(f(a.data, b), a.todense() @ b, rtol=1e-14)
    check_grads(f, [a.data, b], order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)


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
    with pytest.raises(Exception, match="log"):  # that of JAX
        jax.jit(rj.revlinalg.Log)(-jnp.ones(2)).block_until_ready()
    with pytest.raises(NotImplementedError, match="third"):
        f = rj.revlinalg.LogSumExp
        jax.jacfwd(jax.jacfwd(jax.jacfwd(f)))(x(3))
