import contextlib
import copy
import gc
import os
import shutil
import struct
import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")
from torch.autograd import gradcheck, gradgradcheck

import revnum
import revnum.torch as rt

torch.manual_seed(1)


def x(*shape, dtype=torch.float64):
    return (torch.randn(shape, dtype=dtype) / 2).requires_grad_()


def spd(n):
    a = torch.randn(n, n, dtype=torch.float64)
    return (a @ a.T + n * torch.eye(n, dtype=torch.float64)).requires_grad_()


CASES = {
    "Dot": (rt.revlinalg.Dot, [x(4), x(4)]),
    "Norm2": (rt.revlinalg.Norm2, [x(5)]),
    "MatMul": (rt.revlinalg.MatMul, [x(2, 3), x(3, 2)]),
    "MatMulTrans": (lambda a, b: rt.revlinalg.MatMul(a, b, TransA=True), [x(3, 2), x(3, 2)]),
    "Softmax": (rt.revnn.Softmax, [x(4)]),
    "Solve": (rt.revlinalg.Solve, [spd(3), x(3, 2)]),
    "LogDet": (lambda a: rt.revlinalg.LogDet(a)[0], [spd(3)]),
    "Unitary": (rt.revlinalg.Unitary, [x(3, 2), x(3)]),
    "GMM": (rt.gmm.LogPosterior, [x(2), x(2, 2), x(2, 3), x(4, 2)]),
    "logs": (rt.revlog.Sum, [x(), x(3)]),
    "ComplexNorm2": (rt.revlinalg.ComplexNorm2, [x(3, dtype=torch.complex128)]),
    "complex Dot": (rt.revlinalg.Dot, [x(3, dtype=torch.complex128), x(3, dtype=torch.complex128)]),
    "columns": (lambda a: rt.revlinalg.Norm2(a[:, 1]) + rt.revlinalg.Frobenius(a.T), [x(3, 2)]),
    "composed": (lambda a, b: torch.sin(rt.revlinalg.Norm2(rt.revlinalg.Exp(rt.revlinalg.MatMul(a, b)[:, 0]))), [x(3, 2), x(2, 1)]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradcheck(name):
    f, args = CASES[name]
    assert gradcheck(f, args, check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)
    assert gradgradcheck(f, args, check_fwd_over_rev=True, check_batched_grad=True)


def mean_square(f):
    """f of one matrix, and a number that is not linear in it."""
    b = x(3, 2).detach()
    return lambda a: (f(a, b) ** 2).mean()


def batched(f, a):
    a = a.clone().requires_grad_()
    y = f(a, a.detach().T)
    return torch.autograd.grad(y, a, torch.eye(4, dtype=y.dtype).reshape(4, 2, 2), is_grads_batched=True)[0]


def dual(f, a):
    with torch.autograd.forward_ad.dual_level():
        return tuple(torch.autograd.forward_ad.unpack_dual(f(torch.autograd.forward_ad.make_dual(a, a + 1), a.T)))


F, A = torch.func, torch.autograd.functional
TRANSFORMS = {
    "jvp": lambda f, g, a: F.jvp(f, (a, a.T), (a, a.T)),
    "jvp of one operand": lambda f, g, a: F.jvp(lambda b: f(b, a.T), (a,), (a + 1,)),
    "linearize": lambda f, g, a: F.linearize(g, a)[1](a + 1),
    "dual": lambda f, g, a: dual(f, a),
    "jacfwd": lambda f, g, a: F.jacfwd(f, argnums=(0, 1))(a, a.T),
    "jacrev": lambda f, g, a: F.jacrev(f, argnums=(0, 1))(a, a.T),
    "jacrev by chunks": lambda f, g, a: F.jacrev(f, chunk_size=1)(a, a.T),
    "grad": lambda f, g, a: F.grad(g)(a),
    "vjp": lambda f, g, a: F.vjp(f, a, a.T)[1](a[:, :2]),
    "hessian": lambda f, g, a: F.hessian(g)(a),
    "jacrev of jacrev": lambda f, g, a: F.jacrev(F.jacrev(g))(a),
    "jacrev of jacfwd": lambda f, g, a: F.jacrev(F.jacfwd(g))(a),
    "jvp of grad": lambda f, g, a: F.jvp(F.grad(g), (a,), (a + 1,))[1],
    "vmap": lambda f, g, a: F.vmap(f)(torch.stack([a, a + 1]), torch.stack([a.T, a.T])),
    "vmap of one operand": lambda f, g, a: F.vmap(f, in_dims=(1, None))(torch.stack([a, a + 1], 1), a.T),
    "vmap of vmap": lambda f, g, a: F.vmap(F.vmap(f, in_dims=(0, None)))(torch.stack([a, a + 1])[None], a.T[None]),
    "vmap of grad": lambda f, g, a: F.vmap(F.grad(g))(torch.stack([a, a + 1])),
    "grad of vmap": lambda f, g, a: F.grad(lambda a: F.vmap(g)(torch.stack([a, a + 1])).sum())(a),
    "vmap of hessian": lambda f, g, a: F.vmap(F.hessian(g))(torch.stack([a, a + 1])),
    "is_grads_batched": lambda f, g, a: batched(f, a),
    "jacobian": lambda f, g, a: A.jacobian(f, (a, a.T), vectorize=True),
    "jacobian forward": lambda f, g, a: A.jacobian(f, (a, a.T), vectorize=True, strategy="forward-mode"),
    "autograd.functional.hessian": lambda f, g, a: A.hessian(g, a, vectorize=True),
    "hessian forward": lambda f, g, a: A.hessian(g, a, vectorize=True, outer_jacobian_strategy="forward-mode"),
    "compile": lambda f, g, a: torch.compile(lambda a: F.jvp(g, (a,), (a + 1,))[1], backend="aot_eager")(a),
    "compile grad": lambda f, g, a: torch.compile(F.grad(g), backend="aot_eager")(a),
    "compiled before": lambda f, g, a: (lambda h: (h(a), F.jvp(h, (a,), (a + 1,))))(torch.compile(g, backend="aot_eager")),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    """The transform of our product has the derivatives of the transform of PyTorch's."""
    a, transform = x(2, 3).detach(), TRANSFORMS[name]
    torch.manual_seed(2)
    want = transform(torch.matmul, mean_square(torch.matmul), a)
    torch.manual_seed(2)
    torch.testing.assert_close(transform(rt.revlinalg.MatMul, mean_square(rt.revlinalg.MatMul), a), want)


@pytest.mark.parametrize("kernel, theirs", [("Exp", torch.exp), ("Erf", torch.erf), ("CumSum", lambda a: torch.cumsum(a, -1))])
def test_vmap_of_vectors(kernel, theirs):
    """Vectors one after the other are one problem only if the kernel works element by element."""
    ours, a = getattr(rt.revlinalg, kernel), x(3, 4).detach()
    torch.testing.assert_close(F.vmap(ours)(a), theirs(a))
    torch.testing.assert_close(F.vmap(F.jacrev(ours))(a), F.vmap(F.jacrev(theirs))(a))


def test_vmap_again():
    """What is kept of a vmap serves other numbers, and no call in another layout, with a gradient or in forward mode."""
    a, b = x(3, 2, 3).detach(), x(3, 3, 2).detach()
    f, g = rt.revlinalg.MatMul, torch.matmul
    for scale in (1, 2):
        p, q = scale * a, b + scale
        for dims, args in [((0, 0), (p, q)), ((0, None), (p, q[0])), ((None, 0), (p[0], q)), ((1, 2), (p.transpose(0, 1), q.movedim(0, 2))), ((0, 0), (p, p.mT))]:
            torch.testing.assert_close(F.vmap(f, dims)(*args), F.vmap(g, dims)(*args))
        torch.testing.assert_close(F.vmap(f, randomness="same")(p[:2], q[:2]), p[:2] @ q[:2])
        leaf = p.clone().requires_grad_()
        torch.testing.assert_close(torch.autograd.grad(F.vmap(f)(leaf, q).sum(), leaf)[0], torch.autograd.grad((leaf @ q).sum(), leaf)[0])
        torch.testing.assert_close(dual(lambda a, _: F.vmap(f)(a, q), p), dual(lambda a, _: a @ q, p))
        torch.testing.assert_close(F.vmap(F.vmap(f))(p[None], q[None])[0], p @ q)
        index = torch.tensor([[0, 1], [1, 1], [scale, 0]])
        torch.testing.assert_close(F.vmap(rt.revnn.Gather, (None, 0))(p[0].mT, index), p[0].mT[index])


def test_vmap_of_grad_again():
    """Likewise for a grad in a vmap, by either operand, of a sum and of squares, and twice."""
    a, b = x(3, 2, 3).detach(), x(3, 3, 2).detach()
    f, g = rt.revlinalg.MatMul, torch.matmul
    squares = lambda f: lambda p, q: (f(p, q) ** 2).sum()
    total = lambda f: lambda p, q: f(p, q).sum()
    for scale in (1, 2):
        p, q = scale * a, b + scale
        for dims, args in [((0, 0), (p, q)), ((0, None), (p, q[0])), ((None, 0), (p[0], q)), ((1, 2), (p.transpose(0, 1), q.movedim(0, 2))), ((0, 0), (p, p.mT))]:
            for loss in (squares, total):
                for by in (0, 1, (0, 1)):
                    torch.testing.assert_close(F.vmap(F.grad(loss(f), by), dims)(*args), F.vmap(F.grad(loss(g), by), dims)(*args))
                    torch.testing.assert_close(F.vmap(F.jacrev(F.grad(loss(f)), by), dims)(*args), F.vmap(F.jacrev(F.grad(loss(g)), by), dims)(*args))
            for outer in (lambda f: F.grad(lambda p, q: F.grad(squares(f))(p, q).sum(), (0, 1)), lambda f: lambda p, q: F.vjp(F.grad(squares(f)), p, q)[1](p), lambda f: lambda p, q: F.vjp(f, p, q)[1](p[:, :2])):
                torch.testing.assert_close(F.vmap(outer(f), dims)(*args), F.vmap(outer(g), dims)(*args))
        leaf = p.clone().requires_grad_()
        twice = [torch.autograd.grad((F.vmap(F.grad(squares(h)))(leaf, q) ** 2).sum(), leaf)[0] for h in (f, g)]
        torch.testing.assert_close(*twice)
        with torch.no_grad():
            torch.testing.assert_close(F.vmap(F.grad(squares(f)))(p, q), F.vmap(F.grad(squares(g)))(p, q))
        # An output without a cotangent, and an operand that has no gradient.
        square = p @ p.mT + 3 * torch.eye(2, dtype=p.dtype)
        torch.testing.assert_close(F.vmap(F.grad(lambda m: rt.revlinalg.LogDet(m)[0]))(square), F.vmap(F.grad(torch.logdet))(square))
        index = torch.tensor([[0, 1], [1, 1], [scale, 0]])
        gathered = [F.vmap(F.grad(lambda m, i: (h(m, i) ** 3).sum()), (None, 0))(p[0].mT, index) for h in (rt.revnn.Gather, lambda m, i: m[i])]
        torch.testing.assert_close(*gathered)
    singular = torch.zeros(2, 3, 3, dtype=a.dtype)
    with pytest.raises(revnum.NoResultError):
        F.vmap(F.grad(lambda m: rt.revlinalg.Inv(m).sum()))(singular)
    torch.testing.assert_close(F.vmap(F.grad(squares(f)))(a, b), F.vmap(F.grad(squares(g)))(a, b))


@pytest.mark.parametrize("n", [4, 0])
def test_vmap_is_kept(monkeypatch, n):
    """The library makes the third call on problems of a layout, and its gradient, without the operators."""
    if not rt._quick():
        pytest.skip("the library makes no calls here")
    a, b = x(3, 2, n).detach(), x(3, n, 5).detach()
    f = rt.revlinalg.MatMul
    ways = [F.vmap(f, dims) for dims in ((0, 0), (None, 2))] + [F.vmap(F.grad(lambda p, q: (f(p, q) ** 2).sum(), (0, 1)), dims) for dims in ((0, None), (2, 0))]
    args = [(a, b), (a[0], b.movedim(0, 2)), (a, b[0]), (a.movedim(0, 2), b)]
    want = [[way(*p) for way, p in zip(ways, args)] for _ in range(2)][0]

    def refuse(*_):
        raise AssertionError("an operator was called")

    for name in ("_run", "_value", "_vjp"):
        monkeypatch.setattr(rt, name, refuse)
    for way, p, w in zip(ways, args, want):
        torch.testing.assert_close(way(*p), w)


def test_vmap_of_grad_by_what_is_outside():
    """A factor of the loss that has a gradient outside of the vmap gets it, also from a call that is kept."""
    a = x(3, 4).detach()
    for _ in range(3):
        c = torch.tensor(2.0, dtype=a.dtype, requires_grad=True)
        each = F.vmap(F.grad(lambda v: c * rt.revlinalg.Norm2(v)))(a)
        torch.testing.assert_close(torch.autograd.grad(each.sum(), c)[0], (a / torch.linalg.vector_norm(a, dim=1, keepdim=True)).sum())


def _rows_by_vjp(f):
    """The gradient of a function of one value, by a vmap of its vjp."""

    def g(v):
        y, vjp = F.vjp(f, v)
        return F.vmap(vjp)(torch.ones(2, *y.shape, dtype=y.dtype))[0]

    return g


@pytest.mark.parametrize("transform", [F.grad, F.jacrev, _rows_by_vjp])
def test_vmap_of_rows_by_what_is_outside(transform):
    """The same, for a vmap of cotangents in the vmap, and with a second way to the factor: no gradient is lost without a word."""
    a = x(3, 4).detach()
    for _ in range(3):
        grads = []
        for norm in (rt.revlinalg.Norm2, torch.linalg.vector_norm):
            c = torch.tensor(2.0, dtype=a.dtype, requires_grad=True)
            each = F.vmap(transform(lambda v, c=c, norm=norm: c * norm(v)))(a)
            grads.append(torch.autograd.grad(each.sum() + c, c)[0])
        torch.testing.assert_close(*grads)


def test_vmap_that_is_not_kept():
    """No problems, and a tensor that is given twice."""
    a = x(3, 4).detach()
    torch.testing.assert_close(F.vmap(rt.revlinalg.Norm2)(a[:0]), torch.zeros(0, dtype=a.dtype))
    torch.testing.assert_close(F.vmap(F.grad(rt.revlinalg.Norm2))(a[:0]), a[:0])
    for _ in range(3):
        torch.testing.assert_close(F.vmap(lambda v: rt.revlinalg.Dot(v, v))(a), (a * a).sum(1))
        torch.testing.assert_close(F.vmap(lambda v: rt.revlinalg.Dot(v, Y=v))(a), (a * a).sum(1))


def test_kept_without_elements(monkeypatch):
    """The library makes such calls, too, and gives what PyTorch does."""
    if not rt._quick():
        pytest.skip("the library makes no calls here")
    a, b = x(2, 0).detach(), x(0, 3).detach()
    calls = [(rt.revlinalg.MatMul, (a, b), torch.zeros(2, 3, dtype=a.dtype)), (rt.revlinalg.Norm2, (a[0],), torch.tensor(0.0, dtype=a.dtype)), (rt.revlinalg.Exp, (a[0],), a[0])]
    for f, args, want in calls:
        torch.testing.assert_close(f(*args), want)

    def refuse(*_):
        raise AssertionError("Python made the call")

    monkeypatch.setattr(rt, "_key", refuse)
    for f, args, want in calls:
        torch.testing.assert_close(f(*args), want)
        with pytest.raises(AssertionError, match="Python made"):
            f(*[torch._efficientzerotensor(a.shape[0] + 1, dtype=a.dtype) for a in args[:1]], *args[1:])


def test_no_transforms():
    """What has no derivative says so."""
    f, a = mean_square(rt.revlinalg.MatMul), x(2, 3).detach()
    for transform in (F.jacfwd(F.jacfwd(f)), lambda a: F.jvp(lambda b: F.jvp(f, (b,), (b,))[1], (a,), (a,))):
        with pytest.raises(NotImplementedError, match="forward over forward"):
            transform(a)
    for transform in (F.jacfwd(F.hessian(f)), F.jacrev(F.hessian(f)), F.jacrev(F.jacrev(F.jacrev(f)))):
        with pytest.raises(NotImplementedError, match="third order|forward over forward"):
            transform(a)
    with pytest.raises(NotImplementedError, match="functionalize"):
        F.functionalize(f)(a)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="torch.func"):
        torch.compile(lambda a: F.jvp(f, (a,), (a,))[1], backend="aot_eager", fullgraph=True)(a)


@pytest.mark.parametrize("name", ["MatMul", "Unitary", "GMM", "batch", "sparse"])
def test_opcheck(name):
    """Each operator passes the check of torch.library: for a kernel that adds, one in place, problems of a vmap that share
    an operand, and a sparse matrix."""
    kernel, layout, args, constants, outputs, sizes = {
        "MatMul": ("revlinalg.MatMul", "A,B||||-1|", [x(2, 3), x(3, 2)], [], [(2, 2)], [2, 2]),
        "Unitary": ("revlinalg.Unitary", "X,Theta||||-1|", [x(3, 2), x(3)], [], [(3, 2)], [3, 2]),
        "GMM": ("gmm.LogPosterior", "Alpha,Means,Factors,X||||-1|", CASES["GMM"][1], [], [()], []),
        "batch": ("revlinalg.MatMul", "A,B||||4|1", [x(4, 2, 3), x(3, 2)], [], [(4, 2, 2)], [2, 2]),
        "sparse": ("revsparse.Mul", "Alpha,A,B||A||-1|", [x(), x(3), x(3, 2)], [torch.tensor([0, 1, 3]), torch.tensor([1, 0, 2])], [(2, 2)], [2, 3, 2, 2]),
    }[name]
    kernel += "[float64]"
    ct, t = [torch.randn(s, dtype=torch.float64) for s in outputs], [torch.randn_like(a) for a in args]
    if name == "batch":
        t[1] = torch.randn(4, 3, 2, dtype=torch.float64)  # derivatives are not shared
    for op, lists in (("value", []), ("vjp", [ct]), ("jvp", [t]), ("second", [ct, t])):
        given = [a.detach() for a in args] if op == "second" else args  # which has no derivative of third order
        torch.library.opcheck(getattr(torch.ops.revnum, op).default, (kernel, layout, given, *lists, constants, sizes, []))


def test_tensor_twice():
    """A tensor in two places, of which the call is kept."""
    x = torch.arange(3.0, dtype=torch.float64, requires_grad=True)
    for a in (x, x, x + 1):
        y = rt.revlinalg.Dot(a, a)
        torch.testing.assert_close(y, a @ a)
        torch.testing.assert_close(torch.autograd.grad(y, a, retain_graph=True)[0], 2 * a)
    z = torch.ones(3, dtype=torch.float64)
    torch.testing.assert_close(torch.autograd.grad(rt.revlinalg.Dot(x, z), x)[0], z)
    torch.testing.assert_close(rt.revlinalg.Dot(z, z), z @ z)


def test_kept_calls():
    """Calls that the library keeps give what others do, and no tensor that is not plain is taken for one."""
    a, b = x(8).detach(), x(8).detach()
    negative = torch.complex(a, a).conj().imag
    for _ in range(3):
        for p, q in [(a, b), (a.clone(), a), (a[::2], b[::2]), (torch.nn.Parameter(a), b), (negative, b), (-a, negative.resolve_neg()), (a[:0], b[:0]), (x(8), b)]:
            got = rt.revlinalg.Dot(p, q)
            torch.testing.assert_close(got, torch.dot(p, q))
            assert got.requires_grad == (p.requires_grad or q.requires_grad) and type(got) is torch.Tensor
        z = torch.complex(a, b)
        for p, q in [(z, z), (z.conj(), z), (z, z.conj())]:
            torch.testing.assert_close(rt.revlinalg.Dot(p, q), torch.vdot(p, q))
        with torch.no_grad():
            assert not rt.revlinalg.Norm2(x(8)).requires_grad
        with torch.autograd.forward_ad.dual_level():
            d = rt.revlinalg.Norm2(torch.autograd.forward_ad.make_dual(a, b))
            assert torch.autograd.forward_ad.unpack_dual(d).tangent is not None
        with pytest.raises(revnum.ArgumentError):
            rt.revlinalg.Dot(a, b[:3])
        with pytest.raises(revnum.NoResultError):
            rt.revlinalg.Inv(torch.zeros(2, 2, dtype=torch.float64))
        rt.revlinalg.Inv(torch.eye(2, dtype=torch.float64))
        torch.testing.assert_close(torch.func.vmap(rt.revlinalg.Norm2)(a.reshape(4, 2)), torch.linalg.vector_norm(a.reshape(4, 2), dim=1))
    for n in [*range(1, 400), *range(1, 400)]:
        assert rt.revlinalg.Sum(torch.ones(n)) == n


@pytest.mark.parametrize("n", [3, 40])  # the library copies the former
def test_kept_calls_of_copies(n):
    """Layouts that kernels do not take, again and again."""
    a, b = torch.randn(n, 40, dtype=torch.float64), torch.randn(n, 40, dtype=torch.float64)
    negative = torch._neg_view(b)
    for _ in range(3):
        for p, q in [(a, b.T), (a.T, b), (b[:, 1:].T, a[:, ::2]), (a[:1].expand(n, 40).T, b), (a.T, negative), (negative.T, a)]:
            torch.testing.assert_close(rt.revlinalg.MatMul(p, q), p @ q)
            p, q = p.detach().requires_grad_(), q.detach().requires_grad_()
            got = torch.autograd.grad(rt.revlinalg.MatMul(p, q).sin().sum(), (p, q))
            torch.testing.assert_close(got, torch.autograd.grad((p @ q).sin().sum(), (p, q)))
            with torch.no_grad():
                torch.testing.assert_close(rt.revlinalg.MatMul(p, q), p @ q)
        torch.testing.assert_close(rt.revlinalg.Exp(a[:, 0]), torch.exp(a[:, 0]))
        torch.testing.assert_close(rt.revlinalg.Exp(a[0, :1].expand(n)), torch.exp(a[0, :1].expand(n)))


def test_results_of_kept_calls():
    """Each is a tensor of its own, which may be changed and outlives what it was made of."""
    a = torch.ones(8, dtype=torch.float64)
    results = [rt.revlinalg.Exp(a * i) for i in range(100)]
    results[3] += 1
    gc.collect()
    for i, y in enumerate(results):
        torch.testing.assert_close(y, torch.exp(a * i) + (i == 3))
        assert y.data_ptr() % 64 == 0 and y.is_contiguous() and not y.requires_grad
    torch.testing.assert_close(copy.deepcopy(results[5]), results[5])
    torch.testing.assert_close(torch.autograd.grad(results[1].requires_grad_().sum(), results[1])[0], a)


def test_compile_after_kept_calls():
    """torch.compile looks into a function that has kept calls."""
    a = x(8).detach()
    for _ in range(2):
        rt.revlinalg.Norm2(a)
    torch.testing.assert_close(torch.compile(lambda a: rt.revlinalg.Norm2(a) + 1, fullgraph=True, backend="eager")(a), rt.revlinalg.Norm2(a) + 1)


def test_without_types():
    """A list has the numbers that the kernel takes, and an array of NumPy its own."""
    import numpy as np

    assert rt.revlinalg.Norm2([3.0, 4.0]).dtype == torch.float64
    assert rt.revlinalg.Norm2(np.array([3, 4], np.float32)) == torch.tensor(5.0)
    assert rt.revlinalg.Dot(torch.ones(2), [1.0, 2.0]) == torch.tensor(3.0)


def test_tensors_by_name():
    """A parameter that is a tensor may change from call to call, and no call keeps a tensor."""
    import weakref

    a, slope = torch.tensor([1.0, -1.0]), torch.tensor(0.5)
    assert rt.revnn.LeakyReLU(a, Slope=slope)[1] == -0.5
    slope.fill_(0.25)
    assert rt.revnn.LeakyReLU(a, Slope=slope)[1] == -0.25
    c = torch.empty(2, 2)
    gone = weakref.ref(c)
    rt.revlinalg.MatMul(torch.ones(2, 3), torch.ones(3, 2), C=c)
    del c
    assert gone() is None


def test_sparse():
    a = torch.tensor([[0, 2.0, 0], [1, 0, 3]], dtype=torch.float64)
    m = a.to_sparse_csr().requires_grad_()
    b = x(3, 2)
    y = rt.revsparse.Mul(A=m, B=b)
    torch.testing.assert_close(y, a @ b)
    y.sum().backward()
    assert m.grad.layout == torch.sparse_csr
    torch.testing.assert_close(m.grad.values(), b.detach().sum(1)[[1, 0, 2]])
    data = m.values().detach().clone().requires_grad_()
    f = lambda data, b, ptr=m.crow_indices(), ind=m.col_indices(): rt.revsparse.Mul(A=rt.CSR((2, 3), ptr, ind, data), B=b)
    assert gradcheck(f, [data, b], check_forward_ad=True, check_batched_grad=True) and gradgradcheck(f, [data, b], check_fwd_over_rev=True)
    for jacobian in (torch.func.jacfwd, torch.func.jacrev):
        torch.testing.assert_close(jacobian(f, argnums=1)(data, b), jacobian(torch.matmul, argnums=1)(a, b))
        with pytest.raises(revnum.ArgumentError, match="give a revnum.torch.CSR"):
            jacobian(lambda b: rt.revsparse.Mul(A=m, B=b))(b)

    full = spd(4)
    s = full.detach().to_sparse_csr()
    rhs = x(4, 2)
    f = lambda data, b: rt.revsparse.Solve(rt.CSR((4, 4), s.crow_indices(), s.col_indices(), data), b)
    data = s.values().clone().requires_grad_()
    torch.testing.assert_close(f(data, rhs), torch.linalg.solve(full, rhs))
    assert gradcheck(f, [data, rhs]) and gradgradcheck(f, [data, rhs])


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(backend):
    if backend == "inductor" and not shutil.which("g++"):
        pytest.skip("inductor needs a C++ compiler")
    f = lambda a, b: torch.sin(rt.revlinalg.Norm2(rt.revlinalg.MatMul(2 * a, b)[:, 0]))
    a, b = x(3, 2), x(2, 1)
    want = torch.autograd.grad(f(a, b), [a, b])
    compiled = torch.compile(f, backend=backend, fullgraph=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*[Dd]ynamo.*")  # such as of what it cannot trace
        torch.testing.assert_close(compiled(a, b), f(a, b))
    torch.testing.assert_close(torch.autograd.grad(compiled(a, b), [a, b]), want)


def test_compile_sparse():
    s = torch.tensor([[0, 2.0, 0], [1, 0, 3]], dtype=torch.float64).to_sparse_csr()
    ptr, ind = s.crow_indices(), s.col_indices()
    f = lambda data, b: (rt.revsparse.Mul(A=rt.CSR((2, 3), ptr, ind, data), B=b) ** 2).sum()
    data, b = x(3), x(3, 2)
    want = torch.autograd.grad(f(data, b), [data, b])
    torch.testing.assert_close(torch.autograd.grad(torch.compile(f, backend="aot_eager", fullgraph=True)(data, b), [data, b]), want)


def test_run_in_place():
    theta, state = torch.randn(3, dtype=torch.float64), torch.randn(3, 2, dtype=torch.float64)
    before, at = state.clone(), state.data_ptr()
    rt.run("revlinalg.Unitary", "Forward", {"X": state, "Theta": theta})
    torch.testing.assert_close(state, rt.revlinalg.Unitary(before, theta))
    rt.run("revlinalg.Unitary", "Inverse", {"X": state, "Theta": theta})
    torch.testing.assert_close(state, before)
    assert state.data_ptr() == at


def test_errors():
    with pytest.raises(revnum.ArgumentError, match="2 axes"):
        rt.revlinalg.Dot(x(3), x(3, 1))
    with pytest.raises(revnum.ArgumentError, match="Y is of shape"):
        rt.revlinalg.Dot(x(3), x(4))
    with pytest.raises(revnum.ArgumentError, match="want float64"):
        rt.revlinalg.Dot(x(3), x(3).to(torch.float32))
    with pytest.raises(revnum.NoResultError):
        rt.revlinalg.Log(-torch.ones(2, dtype=torch.float64))
    with pytest.raises(TypeError, match="no parameter 'colour'"):
        rt.revlinalg.Dot(x(3), x(3), colour=1)
    with pytest.raises(NotImplementedError, match="third"):
        a = x(3)
        g = torch.autograd.grad(rt.revnn.LogSumExp(a), a, create_graph=True)[0]
        h = torch.autograd.grad(g.sum(), a, create_graph=True)[0]
        torch.autograd.grad(h.sum(), a)


V = lambda *shape: torch.ones(shape, dtype=torch.float64)
BAD = {
    "type": (lambda: rt.revlinalg.Dot(V(3), V(3).to(torch.float32)), revnum.ArgumentError, "float32, want float64|float64, want float32"),
    "half": (lambda: rt.revlinalg.Sum(torch.ones(3, dtype=torch.float16)), revnum.ArgumentError, "float16"),
    "kernel's type": (lambda: rt.revlinalg.Exp(torch.ones(3, dtype=torch.complex128)), revnum.ArgumentError, "not offered over complex128"),
    "axes": (lambda: rt.revlinalg.Frobenius(V(2, 3, 1)), revnum.ArgumentError, "3 axes"),
    "missing": (lambda: rt.revlinalg.Dot(V(3)), revnum.ArgumentError, "Y"),
    "device": (lambda: rt.revlinalg.Sum(torch.ones(3, dtype=torch.float64, device="meta")), revnum.ArgumentError, "CPU"),
    "device of indices": (lambda: rt.revnn.Gather(torch.ones(3, 2, dtype=torch.float64), torch.zeros(2, dtype=torch.int64, device="meta")), revnum.ArgumentError, "Index is on meta"),
    "structure": (lambda: rt.revsparse.Mul(A=rt.CSR((2, 2), torch.tensor([0, 1, 2]), torch.tensor([0, 5]), V(2)), B=V(2, 1)), revnum.ArgumentError, "column 5"),
    "not sparse": (lambda: rt.revsparse.Mul(A=V(2, 2), B=V(2, 1)), revnum.ArgumentError, "sparse"),
    "indices": (lambda: rt.revnn.Gather(V(3, 2), V(2)), revnum.ArgumentError, "want integers"),
    "columns in place": (lambda: rt.run("revlinalg.Frobenius", "Forward", {"Out": V(), "A": V(3, 4).T}), revnum.ArgumentError, "between columns"),
    "overlap in place": (lambda: (lambda m: rt.run("revlinalg.MatMul", "Forward", {"C": m[:2, :2], "A": m[1:3, :2], "B": m[2:, 2:]}))(V(4, 4)), revnum.ArgumentError, "shares memory"),
    "no result": (lambda: rt.revlinalg.Solve(V(2, 2), V(2, 1)), revnum.NoResultError, "singular|condition"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    f, kind, text = BAD[name]
    with pytest.raises(kind, match=text):
        f()


def test_layouts():
    """Any layout has the value and gradient of the contiguous one; PyTorch has no negative strides."""
    a, b = torch.randn(6, 8, dtype=torch.float64), torch.randn(8, 6, dtype=torch.float64)
    for p, q in [(a[::2], b[:, :3]), (a.T[:6], b[:6]), (a[0].expand(4, 8), b), (a.flip(0), b), (a[:0], b)]:
        p = p.detach().requires_grad_()
        y = rt.revlinalg.MatMul(p, q)
        torch.testing.assert_close(y, p @ q)
        torch.testing.assert_close(torch.autograd.grad(y.sum(), p)[0], torch.autograd.grad((p @ q).sum(), p)[0])
    assert rt.revlinalg.Sum(V(0)) == 0
    assert torch.isnan(rt.revlinalg.Sum(torch.tensor([float("nan"), 1], dtype=torch.float64)))


GARBAGE = """
import gc, pytest, torch, revnum.torch as rt
f, tensors = rt.revlinalg.Sum, [torch.ones(n, dtype=torch.float64) for n in range(1, 560)]
for a in tensors[:250]:
    f(a)
    f(a)
asked = []

class Garbage:
    def __init__(self):
        self.own = self

    def __del__(self):
        if not asked:
            asked.append(self)
            for a in tensors[250:] + tensors[:250]:
                f(a)

sparse, before = torch.ones(8, dtype=torch.float64).to_sparse(), gc.get_threshold()
try:
    raise ValueError
except ValueError:  # in which an exception is an object at once
    for _ in range(3):
        Garbage()
    gc.set_threshold(1)
    with pytest.raises(RuntimeError):
        f(sparse)
    gc.set_threshold(*before)
assert asked and f(tensors[3]) == 4
"""


def test_garbage_makes_calls():
    """The exception of a tensor without strides may collect garbage whose finalizer makes so many calls that the
    library forgets those it is looking through. Freed memory is overwritten, for glibc's allocator."""
    r = subprocess.run([sys.executable, "-c", GARBAGE], capture_output=True, text=True, env={**os.environ, "MALLOC_PERTURB_": "165"})
    assert r.returncode == 0, r.stderr


ODD_NAMES = """
import torch
import revnum.torch as rt

f, a = rt.revnn.LeakyReLU, torch.linspace(-1, 1, 8, dtype=torch.float64)

class Name(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        for n in range(9, 309):
            f(torch.ones(n, dtype=torch.float64), Slope=0.25)
        return str.__eq__(self, other)

for i in range(5):
    f(a, Slope=i / 8)
for _ in range(2):
    assert torch.equal(f(a, **{Name("Slope"): 0.75}), torch.where(a < 0, 0.75 * a, a))
"""


def test_names_of_a_subclass_of_str():
    """As the test for NumPy."""
    r = subprocess.run([sys.executable, "-c", ODD_NAMES], capture_output=True, text=True, env={**os.environ, "MALLOC_PERTURB_": "165"})
    assert r.returncode == 0, r.stderr


def test_plans_for_other_tensors():
    """A plan is refused whose steps are for another number of tensors than there are."""
    quick = rt._quick()
    if not quick:
        pytest.skip("the library makes no plans here")
    steps, a = struct.pack("=3q", 0, 3, 0), torch.ones(2, dtype=torch.float64)
    plan = quick._plan(steps, 2, (None, a), 0, 0, b"")
    for tensors, results in ((2, (a, a)), (2, (None,)), (1, (a,)), (3, (a,))):
        with pytest.raises(revnum.ArgumentError, match="other tensors"):
            quick._plan(steps, tensors, results, 0, 0, b"")
    with pytest.raises(revnum.ArgumentError, match="other tensors"):
        quick._plan(b"", 0, (), 0, 0, b"")
    with pytest.raises(revnum.ArgumentError, match="other tensors"):
        quick._keep((a,), (False,), plan, None, {}, 0)


def test_trace():
    """torch.jit.trace records the operator, before and after the library keeps calls."""
    a = torch.ones(4, dtype=torch.float64)
    for _ in range(2):
        traced = torch.jit.trace(lambda a: rt.revlinalg.Exp(a) + 1, (a,))
        torch.testing.assert_close(traced(2 * a), torch.exp(2 * a) + 1)
        rt.revlinalg.Exp(a)
        rt.revlinalg.Exp(a)


@pytest.mark.parametrize("options", [{}, {"pre_dispatch": True}, {"tracing_mode": "fake"}, {"tracing_mode": "symbolic"}], ids=str)
def test_make_fx(options):
    """A traced function has the operators, and no result of them."""
    from torch.fx.experimental.proxy_tensor import make_fx

    f, a, b = rt.revlinalg.Exp, x(4).detach(), x(4).detach()

    def gradient(v):
        v = v.detach().requires_grad_()
        return torch.autograd.grad(f(v).sum(), v)[0]

    for _ in range(2):  # before calls are kept, and after
        for g in (lambda v: f(v) + 1, gradient, F.grad(lambda v: f(v).sum())):
            torch.testing.assert_close(make_fx(g, **options)(a)(b), g(b))
        for g in (F.vmap(lambda v: f(v[None])), F.vmap(F.grad(lambda v: f(v[None]).sum()))):
            try:
                got = make_fx(g, **options)(a)(b)
            except (RuntimeError, ValueError):  # PyTorch has no vmap before dispatch, and the operators none of a symbolic length
                assert "pre_dispatch" in options or "symbolic" in options.values()
            else:
                torch.testing.assert_close(got, g(b))
        gradient(a), gradient(a), f(a), f(a)


def test_mode_with_subclasses():
    class Other(torch.Tensor):
        pass

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            return out.as_subclass(Other) if function is torch.empty_strided else out

    a = torch.zeros(11, dtype=torch.float64)
    with Mode():
        torch.testing.assert_close(torch.Tensor(rt.revlinalg.Exp(a)).double(), torch.ones(11, dtype=torch.float64))
    torch.testing.assert_close(rt.revlinalg.Exp(a), torch.ones(11, dtype=torch.float64))


def cotangents(y):
    """Cotangents of y in all layouts."""
    wide = torch.randn([2 * n for n in y.shape], dtype=y.dtype)[(slice(None, None, 2),) * y.dim()]
    return [torch.randn_like(y), torch.ones((), dtype=y.dtype).expand(y.shape), wide, torch._neg_view(torch.randn_like(y)), torch._efficientzerotensor(y.shape, dtype=y.dtype), *([torch.randn_like(y.mT).mT] if y.dim() == 2 else [])]


@contextlib.contextmanager
def gradients_by_python():
    """A list that gets an element for each gradient of a value that Python makes, or None if it makes all."""
    calls, python = [], rt._gradients
    rt._gradients = lambda *args: calls.append(1) or python(*args)
    try:
        yield calls if rt._quick() else None
    finally:
        rt._gradients = python


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_kept_gradients(dtype):
    """Gradients by the library are those of PyTorch, for short and long tensors and cotangents of all layouts."""
    L = rt.revlinalg
    for n in (0, 5, 2000):
        a, m = torch.randn(3, n, dtype=dtype), torch.randn(n, 3, dtype=dtype)
        for ours, theirs, args in [(L.Exp, torch.exp, [m[:, 0]]), (L.Dot, torch.dot, [a[0], m[:, 1]]), (L.MatMul, torch.matmul, [a, m]), (L.MatMul, torch.matmul, [m.T, a.T])]:
            for turn in range(3):
                p, q = ([v.detach().requires_grad_() for v in args] for _ in "pq")
                y, z = ours(*p), theirs(*q)
                for ct in cotangents(y):
                    with gradients_by_python() as calls:
                        got, want = (torch.autograd.grad(v, of, ct, retain_graph=True) for v, of in ((y, p), (z, q)))
                    torch.testing.assert_close(got, want)
                    assert turn == 0 or calls is None or calls == [1] * (ct.is_neg() or ct._is_zerotensor() and ct.numel() > 0)
                torch.testing.assert_close(torch.autograd.grad(y, p[-1], ct), torch.autograd.grad(z, q[-1], ct))
    z, w = (torch.randn(4, dtype=torch.complex128, requires_grad=True) for _ in "zw")
    for of in ((z, w), (z.conj(), w), (z, w.conj())) * 2:
        for ct in (torch.tensor(1 + 2j, dtype=z.dtype), torch.tensor(1 + 2j, dtype=z.dtype).conj()):
            torch.testing.assert_close(torch.autograd.grad(L.Dot(*of), (z, w), ct), torch.autograd.grad(torch.vdot(*of), (z, w), ct))


def test_kept_keywords():
    """Numbers by name are told apart, with gradients too."""
    a = torch.randn(8, dtype=torch.float64, requires_grad=True)
    f = torch.nn.functional.leaky_relu
    for turn in range(3):
        for slope in (0.5, 0.25, 2, 0.0):
            y, z = rt.revnn.LeakyReLU(a, Slope=slope), f(a, slope)
            torch.testing.assert_close(y, z)
            torch.testing.assert_close(rt.revnn.LeakyReLU(a.detach(), Slope=slope), z)
            with gradients_by_python() as calls:
                got, want = torch.autograd.grad(y.sum(), a), torch.autograd.grad(z.sum(), a)
            torch.testing.assert_close(got, want)
            assert turn == 0 or not calls


def test_hooks_of_saved_tensors():
    """A tensor that comes back in another layout, as that of a negative, or as another tensor."""
    wide, saved = torch.randn(16, dtype=torch.float64), torch.autograd.graph.saved_tensors_hooks
    for v in (wide[::2], wide[:8]):
        a = v.detach().requires_grad_()
        negative = lambda t: torch._neg_view((-t).contiguous())
        for turn, back in enumerate((None, torch.clone, lambda t: t.clone().contiguous(), lambda t: t.repeat_interleave(3)[::3], negative) * 2):
            with saved(torch.detach, back) if back else torch.autograd.graph.save_on_cpu():
                y = rt.revlinalg.Exp(a)
            with gradients_by_python() as calls:
                torch.testing.assert_close(torch.autograd.grad(y.sum(), a)[0], torch.exp(v))
            if turn > 0 and calls is not None and v.is_contiguous():  # the library fills no gaps
                assert calls == [1] * (back is negative)
        for back in (lambda t: t.float(), lambda t: t[:3], lambda t: t.to("meta")):
            with saved(torch.detach, back):
                y = rt.revlinalg.Exp(a)
            with pytest.raises(revnum.ArgumentError):
                torch.autograd.grad(y.sum(), a)
        calls = []
        with saved(torch.detach, lambda t: calls.append(1) or t):
            y = rt.revlinalg.Exp(a)
        torch.autograd.grad(y, a, torch._efficientzerotensor(8, dtype=y.dtype))
        assert calls == [1]  # as torch.utils.checkpoint wants it


def test_saved_tensors_that_are_gone():
    """PyTorch refuses gradients by tensors that have changed, or that it has freed, whoever makes the gradients."""
    a = torch.randn(8, dtype=torch.float64, requires_grad=True)
    for turn in range(3):
        y = rt.revlinalg.Exp(a)
        with gradients_by_python() as calls:
            torch.autograd.grad(y.sum(), a)
        assert calls is None or turn == 0 or not calls
        with pytest.raises(RuntimeError, match="second time"):
            torch.autograd.grad(y, a, torch.ones_like(a))
        y = rt.revlinalg.Exp(a)
        with torch.no_grad():
            a.add_(1)
        with pytest.raises(RuntimeError, match="inplace"):
            torch.autograd.grad(y.sum(), a)


def test_tensors_without_memory():
    zero, a = (torch._efficientzerotensor(shape, dtype=torch.float64) for shape in ((8,), (3, 8)))
    one = torch.ones(8, dtype=torch.float64)
    for _ in range(3):  # before calls are kept, and after
        for v in (one, zero):
            b = torch.randn(8, dtype=torch.float64, requires_grad=True)
            torch.testing.assert_close(rt.revlinalg.Exp(v), torch.exp(v.clone() + 0))
            torch.testing.assert_close(torch.autograd.grad(rt.revlinalg.Dot(b, v), b)[0], v + 0)
        torch.testing.assert_close(torch.func.vmap(rt.revlinalg.Exp)(a), torch.ones(3, 8, dtype=torch.float64))
        torch.testing.assert_close(rt.revlinalg.MatMul(a, one[:, None]), torch.zeros(3, 1, dtype=torch.float64))


@pytest.mark.skipif(not rt._quick(), reason="Python makes all calls")
def test_modes_before_dispatch(monkeypatch):
    """The library asks Python where a mode looks at operations before dispatch."""
    a = torch.randn(8, dtype=torch.float64, requires_grad=True)
    for _ in range(3):
        y = rt.revlinalg.Exp(a).sum()
    state = torch._ops._mode_stack_state_for_pre_dispatch
    with monkeypatch.context() as m, gradients_by_python() as calls:
        torch.autograd.grad(y, a, retain_graph=True)
        torch.autograd.grad(y, a, retain_graph=True)
        before = len(calls)
        assert before <= 1 and not rt._recorded()
        m.setattr(state, "_schema_check_mode", object())
        assert rt._recorded()
        torch.autograd.grad(y, a)
        assert len(calls) == before + 1


def test_closed_library_with_plans():
    code = "import torch, revnum.torch as rt; from revnum import _library; a = torch.eye(2, dtype=torch.float64); rt.revlinalg.Inv(a); rt.revlinalg.Inv(a); _library.library.close(); rt.revlinalg.Inv(a)"
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert r.returncode == 1 and "the library is closed" in r.stderr


def test_forgets_during_a_call():
    """A mode of PyTorch makes so many other calls that the library forgets the one in progress."""
    a = torch.arange(7, dtype=torch.float64)
    for _ in range(3):
        rt.revlinalg.Sum(a)

    class Others(torch.overrides.TorchFunctionMode):
        asked = False

        def __torch_function__(self, function, types, args=(), kwargs=None):
            if not self.asked and function is torch.Tensor.is_neg:
                self.asked = True
                for n in range(8, 400):
                    rt.revlinalg.Sum(torch.ones(n, dtype=torch.float64))
            return function(*args, **(kwargs or {}))

    with Others() as mode:
        assert rt.revlinalg.Sum(a) == 21
    assert mode.asked or not rt._quick()


def test_interrupt_of_a_mode():
    a = torch.arange(7, dtype=torch.float64)
    for _ in range(3):
        rt.revlinalg.Sum(a)

    class Interrupts(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Interrupts():
        rt.revlinalg.Sum(a)


def test_fractions_for_fixed_point():
    with pytest.raises(revnum.ArgumentError):
        rt.call("revlinalg.Dot[Q43]", [1.5, 2], [2.5, 1])


def test_closed_library():
    code = "import torch, revnum.torch as rt; from revnum import _library; _library.library.close(); rt.revlinalg.Sum(torch.ones(2, dtype=torch.float64))"
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert r.returncode == 1 and "the library is closed" in r.stderr


def test_loaded_where_subnormal_numbers_are_flushed():
    """The library does not flush them if the thread that loads it does, and leaves that thread as it was."""
    code = """
import numpy as np, torch
assert torch.set_flush_denormal(True)
import revnum.numpy as rn
a, eye = np.full((600, 600), 1e-311), np.eye(600)
for _ in range(10):
    assert (rn.revlinalg.MatMul(a, eye).view(np.int64) == a.view(np.int64)).all()
assert (a[0] + a[0] == 0).all()
"""
    if not (sys.platform == "linux" and torch.set_flush_denormal(False)):
        pytest.skip("needs Linux on a processor with this mode")
    subprocess.run([sys.executable, "-c", code], check=True)
