import ctypes
import gc
import math
import subprocess
import sys
import weakref

import numpy as np
import pytest

import revnum
import revnum.numpy as rn

rng = np.random.default_rng(1)


def test_value_vjp_jvp():
    a, b, gc_, da = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4)), rng.normal(size=(2, 3))
    c, pullback = rn.vjp("revlinalg.MatMul", a, b)
    np.testing.assert_allclose(c, a @ b, rtol=1e-14)
    for _ in range(2):
        ga, gb = pullback(gc_)
        np.testing.assert_allclose(ga, gc_ @ b.T, rtol=1e-13)
        np.testing.assert_allclose(gb, a.T @ gc_, rtol=1e-13)
    _, dc = rn.jvp("revlinalg.MatMul", (a, b), (da, None))
    np.testing.assert_allclose(dc, da @ b, rtol=1e-13)
    np.testing.assert_allclose(rn.revlinalg.MatMul(a, gc_, TransA=True), a.T @ gc_, rtol=1e-13)


def test_every_rule_has_shapes():
    """The shapes that this package computes are those of the exported test vectors."""
    for name, r in revnum.rules.items():
        assert repr(r) and (r.missing or r.outputs)


def test_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    a = sparse.random(6, 5, density=0.4, format="csr", rng=1)
    b, g = rng.normal(size=(5, 2)), rng.normal(size=(6, 2))
    y, pullback = rn.vjp("revsparse.Mul", A=a, B=b)
    np.testing.assert_allclose(y, a @ b, rtol=1e-13)
    galpha, ga, gb = pullback(g)
    assert galpha is None
    i, j = a.nonzero()
    np.testing.assert_allclose(ga.data, (g[i] * b[j]).sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(gb, a.T @ g, rtol=1e-13)


def test_graph():
    edges = np.array([(i, (i + 1) % 5) for i in range(5)])
    x = rng.normal(size=(5, 2))
    v, pullback = rn.vjp("graphembed.Loss", Free=x, Graph=edges, Margin=1)
    _, g = pullback(1.0)
    h = 1e-6
    e = np.zeros((5, 2))
    e[2, 1] = h
    d = (rn.graphembed.Loss(Free=x + e, Graph=edges, Margin=1) - rn.graphembed.Loss(Free=x - e, Graph=edges, Margin=1)) / (2 * h)
    np.testing.assert_allclose(g[2, 1], d, rtol=1e-6)


def hand(seed=1):
    """A hand of three vertices and two triangles, as arrays by name."""
    r = np.random.default_rng(seed)
    transforms = lambda: (np.eye(3, 4) + 0.1 * r.normal(size=(21, 3, 4))).reshape(21, 12)
    weights = np.zeros((3, 21))
    weights[[0, 1, 2], [1, 7, 12]] = 0.75
    weights[:, 3] = 0.25
    parents = np.array([-1] + [0 if i % 4 == 1 else i - 1 for i in range(1, 21)])
    return dict(Parents=parents, Relative=transforms(), InverseBase=transforms(), Positions=r.normal(size=(3, 3)), Weights=weights, Triangles=np.array([[0, 1, 2], [2, 0, 1]]))


def posed(theta, m):
    """The vertices of a posed hand, by products of 4×4 matrices."""
    def turn(axis, a):
        t, i, j = np.eye(4), (axis + 1) % 3, (axis + 2) % 3
        t[i, i] = t[j, j] = np.cos(a)
        t[i, j], t[j, i] = -np.sin(a), np.sin(a)
        return t
    full = lambda rows: np.vstack([rows.reshape(3, 4), [0, 0, 0, 1]])
    bones = []
    for i, parent in enumerate(m["Parents"]):
        t = full(m["Relative"][i])
        if i and i % 4 != 1:
            p, joint = 6 + 4 * ((i - 1) // 4), (i - 2) % 4
            t = t @ (turn(2, theta[p + 1]) @ turn(0, theta[p]) if joint == 0 else turn(0, theta[p + 1 + joint]))
        bones.append(t if parent < 0 else bones[parent] @ t)
    x = np.c_[m["Positions"], np.ones(3)]
    return sum(m["Weights"][:, [k]] * (x @ (b @ full(m["InverseBase"][k])).T)[:, :3] for k, b in enumerate(bones)) + theta[3:6]


def test_hand():
    m = hand()
    theta, points, uv = 0.3 * rng.normal(size=26), rng.normal(size=(2, 3)), rng.normal(size=(2, 2))
    theta[:3] = 0
    at = posed(theta, m)
    r = rn.hand.Residuals(Theta=theta, UV=np.zeros((0, 2)), Points=points, Correspondences=[2, 0], **m)
    np.testing.assert_allclose(r, (points - at[[2, 0]]).ravel(), rtol=1e-12, atol=1e-13)
    _, pullback = rn.vjp("hand.Residuals", Theta=theta, UV=uv, Points=points, Correspondences=[1, 0], Surface=True, **m)
    bar = rng.normal(size=6)
    gtheta, guv, gpoints = pullback(bar)
    np.testing.assert_allclose(gpoints, bar.reshape(2, 3), rtol=1e-15)
    np.testing.assert_allclose(guv, [[-b @ (at[t[0]] - at[t[2]]), -b @ (at[t[1]] - at[t[2]])] for b, t in zip(bar.reshape(2, 3), m["Triangles"][[1, 0]])], rtol=1e-12)
    f = lambda theta: bar @ rn.hand.Residuals(Theta=theta, UV=uv, Points=points, Correspondences=[1, 0], Surface=True, **m)
    np.testing.assert_allclose(gtheta, [(f(theta + e) - f(theta - e)) / 2e-6 for e in 1e-6 * np.eye(26)], atol=1e-8)


def test_bundle_jacobian():
    cameras = np.tile([0.1, -0.2, 0.3, 0, 0, -8, 500, 0.01, 0.0], (2, 1)) + rng.normal(size=(2, 9)) / 100
    points, seen = rng.normal(size=(3, 3)), rng.normal(size=(4, 2))
    camera, point = [0, 1, 1, 0], [0, 1, 2, 2]
    r, j = rn.bundle_jacobian(cameras, points, seen, camera, point)
    np.testing.assert_allclose(r, rn.ba.Snavely(cameras, points, seen, camera, point), rtol=1e-13)
    for i in range(12):
        dc, dp = np.zeros_like(cameras), np.zeros_like(points)
        (dc if i < 9 else dp)[:, i % 9] = 1
        column = rn.jvp("ba.Snavely", (cameras, points, seen, camera, point), (dc, dp, None))[1]
        np.testing.assert_allclose(j[:, i], column, rtol=1e-10, atol=1e-10)
    for wrong in (lambda: rn.bundle_jacobian(cameras[:, :8], points, seen, camera, point), lambda: rn.bundle_jacobian(cameras, points, seen, camera[:3], point),
                  lambda: rn.bundle_jacobian(cameras, points, seen, camera, [0, 1, 2, 9]), lambda: rn.bundle_jacobian(cameras, points, seen, camera, [0, 1, 2, 1.5]), lambda: rn.bundle_jacobian(cameras[0], points, seen, camera, point)):
        with pytest.raises(revnum.ArgumentError):
            wrong()


def test_indices():
    for ptr, ind in (([0, 1.0], [0]), ([0, 1], [0.5])):
        with pytest.raises(revnum.ArgumentError, match="want integers"):
            rn.CSR((1, 1), ptr, ind, [1.0])


def test_in_place():
    x, theta = rng.normal(size=(3, 2)), rng.normal(size=3)
    before = x.copy()
    rn.run("revlinalg.Unitary", "Forward", {"X": x, "Theta": theta})
    np.testing.assert_allclose(x, rn.revlinalg.Unitary(before, theta))
    assert not np.allclose(x, before)
    rn.run("revlinalg.Unitary", "Inverse", {"X": x, "Theta": theta})
    np.testing.assert_allclose(x, before, rtol=1e-13)


def test_layouts():
    """Any layout has the value of the contiguous one."""
    a, b = rng.normal(size=(6, 8)), rng.normal(size=(8, 6))
    for x, y in [(a[::2], b[:, :3]), (a[::-1, ::-1], b), (a.T[:6], b[:6]), (np.asfortranarray(a), b), (np.broadcast_to(a[0], (4, 8)), b)]:
        np.testing.assert_allclose(rn.revlinalg.MatMul(x, y), x @ y, rtol=1e-12, atol=1e-14)
    v = rng.normal(size=10)
    for x in (v[::3], v[::-2], np.broadcast_to(1.5, 4), np.asarray(v.astype(">f8"))[:0]):
        np.testing.assert_allclose(rn.revlinalg.Sum(x), x.sum(), rtol=1e-13)
    assert rn.revlinalg.Sum(np.zeros(0)) == 0
    assert rn.revlinalg.MatMul(np.zeros((0, 3)), np.zeros((3, 0))).shape == (0, 0)
    assert np.isnan(rn.revlinalg.Sum(np.array([np.nan, 1])))


BAD = {
    "type": (lambda: rn.run("revlinalg.Dot", "Forward", {"Out": np.zeros(()), "X": np.ones(3), "Y": np.ones(3, np.float32)}), revnum.ArgumentError, "Y has elements of float32"),
    "kernel's type": (lambda: rn.revlinalg.Exp(np.ones(3, complex)), revnum.ArgumentError, "not offered over complex128"),
    "objects": (lambda: rn.revlinalg.Sum(np.array([object()])), revnum.ArgumentError, "object"),
    "length": (lambda: rn.revlinalg.Dot(np.ones(3), np.ones(4)), revnum.ArgumentError, "length 4|shape"),
    "axes": (lambda: rn.revlinalg.Dot(np.ones(3), np.ones((3, 1))), revnum.ArgumentError, "2 axes"),
    "three axes": (lambda: rn.revlinalg.Frobenius(np.ones((3, 1, 2))), revnum.ArgumentError, "3 axes"),
    "missing": (lambda: rn.revlinalg.Dot(np.ones(3)), revnum.ArgumentError, r"Y is missing, want a vector of float64 of shape \(n\)"),
    "missing by name": (lambda: rn.revlinalg.MatMul(B=np.ones((3, 1))), revnum.ArgumentError, "A is missing, want a matrix"),
    "missing graph": (lambda: rn.graphembed.Loss(np.ones((2, 2)), np.ones((2, 2))), revnum.ArgumentError, "Graph is missing, want edges of int"),
    "row": (lambda: rn.revnn.Gather(np.ones((3, 2)), [0, 7]), ValueError, "Index .* has 7 at 1, want 0 to 2"),
    "negative row": (lambda: rn.revnn.Gather(np.ones((3, 2)), [-1]), ValueError, "Index .* has -1 at 0, want 0 to 2"),
    "label": (lambda: rn.revnn.CrossEntropy(np.ones((3, 2)), Labels=[0, 2, 0]), ValueError, "Labels .* has 2 at 1, want 0 to 1"),
    "camera": (lambda: rn.ba.Snavely(np.ones((2, 9)), np.ones((3, 3)), np.ones((1, 2)), [2], [0]), ValueError, "Camera .* has 2 at 0, want 0 to 1"),
    "vertex": (lambda: rn.graphembed.Loss(np.ones((2, 2)), np.ones((2, 2)), [[0, 9]]), ValueError, r"vertices 0 and 9, want vertices in \[0, 4\)"),
    "bone": (lambda: rn.hand.Residuals(np.zeros(26), np.zeros((0, 2)), np.ones((1, 3)), [0], **hand() | {"Parents": np.arange(21)}), ValueError, "bone 0: expected as parent -1"),
    "no bones": (lambda: rn.hand.Residuals(np.zeros(26), np.zeros((0, 2)), np.ones((1, 3)), [0]), revnum.ArgumentError, "Parents is missing"),
    "workers": (lambda: rn.revlinalg.MatMul(np.ones((1, 1)), np.ones((1, 1)), Workers=-1), ValueError, "Workers is -1, want 0 or more"),
    "no sizes": (lambda: rn.revnn.MaxPool(np.ones((1, 16))), revnum.ArgumentError, "shape of Y, .* divides by 0 where .*StrideHeight = 0"),
    "negative size": (lambda: rn.revnn.MaxPool(np.ones((1, 1)), Channels=1, Height=1, Width=1, WindowHeight=9, WindowWidth=1, StrideHeight=1, StrideWidth=1), revnum.ArgumentError, "shape of Y.*WindowHeight = 9|windows of 9"),
    "too many": (lambda: rn.revlinalg.Dot(1, 2, 3), TypeError, "2 operands"),
    "no kernel": (lambda: rn.call("revlinalg.Nothing", np.ones(1)), revnum.ArgumentError, "Nothing"),
    "no parameter": (lambda: rn.revlinalg.Sum(np.ones(1), colour=1), TypeError, "colour"),
    "parameter": (lambda: rn.revlinalg.MatMul(np.ones((1, 1)), np.ones((1, 1)), TransA=3), revnum.ArgumentError, "0 or 1"),
    "no result": (lambda: rn.revlinalg.Solve(np.zeros((2, 2)), np.ones((2, 1))), revnum.NoResultError, "condition|singular"),
    "negative stride": (lambda: rn.run("revlinalg.Sum", "Forward", {"Out": np.zeros(()), "X": np.ones(4)[::-1]}), revnum.ArgumentError, "stride"),
    "field": (lambda: rn.run("revlinalg.Sum", "Forward", {"Out": np.zeros(()), "X": np.ones(4, "f8,i4")["f0"]}), revnum.ArgumentError, r"strides of \(12,\) bytes"),
    "columns": (lambda: rn.run("revlinalg.Frobenius", "Forward", {"Out": np.zeros(()), "A": np.ones((3, 4)).T}), revnum.ArgumentError, "between columns"),
    "read-only": (lambda: rn.run("revlinalg.Sum", "Forward", {"Out": np.broadcast_to(1.0, ()), "X": np.ones(4)}), revnum.ArgumentError, "read-only"),
    "list": (lambda: rn.run("revlinalg.Sum", "Forward", {"Out": np.zeros(()), "X": [1.0]}), revnum.ArgumentError, "list"),
    "pass": (lambda: rn.run("revlinalg.Sum", "Sideways", {}), ValueError, "Sideways"),
    "structure": (lambda: rn.revsparse.Mul(A=rn.CSR((2, 2), [0, 1, 2], [0, 5], [1.0, 1.0]), B=np.ones((2, 1))), revnum.ArgumentError, "column 5"),
    "pointers": (lambda: rn.revsparse.Mul(A=rn.CSR((2, 2), [0, 9, 2], [0, 1], [1.0, 1.0]), B=np.ones((2, 1))), revnum.ArgumentError, "row"),
    "not sparse": (lambda: rn.revsparse.Mul(A=np.ones((2, 2)), B=np.ones((2, 1))), revnum.ArgumentError, "sparse"),
    "cotangent": (lambda: rn.vjp("revlinalg.Sum", np.ones(3))[1](np.ones(2)), revnum.ArgumentError, "cotangent"),
    "operator": (lambda: rn.call("revsparse.OperatorEig", np.ones(3)), revnum.ArgumentError, "Op"),
}


def test_proxies():
    """A proxy of an array is no array, whatever it says of its class, and a kept call does not take it for one."""
    x = np.arange(8.0)
    for a in x, weakref.proxy(x), x:
        assert rn.revlinalg.Norm2(a) == rn.revlinalg.Norm2(x.copy())


def test_rules_have_their_type():
    value, _ = rn.vjp(revnum.rules["revlinalg.Norm2[float32]"], np.arange(8, dtype=np.float32))
    assert value.dtype == np.float32
    with pytest.raises(revnum.ArgumentError):
        rn.vjp(revnum.rules["revlinalg.Norm2[float32]"], np.arange(8.0))


def test_parameters_are_zero():
    """Parameters that are left out are zero."""
    x = np.arange(16.0)[None]
    sizes = {"Channels": 1, "Height": 4, "Width": 4, "StrideHeight": 2, "StrideWidth": 2}
    np.testing.assert_array_equal(rn.revnn.MaxPool(x, WindowHeight=2, WindowWidth=2, **sizes), [[5, 7, 13, 15]])
    np.testing.assert_array_equal(rn.revnn.Conv2D(x, np.ones((1, 4)), [0.0], KernelHeight=2, KernelWidth=2, **sizes), [[10, 18, 42, 50]])


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    f, kind, text = BAD[name]
    with pytest.raises(kind, match=text):
        f()


def test_overlap():
    m = rng.normal(size=(4, 4))
    with pytest.raises(revnum.ArgumentError, match="shares memory"):
        rn.run("revlinalg.MatMul", "Forward", {"C": m[:2, :2], "A": m[1:3, :2], "B": m[2:, 2:]})
    # Derivatives may be the operands themselves.
    x = rng.normal(size=3)
    np.testing.assert_allclose(rn.jvp("revlinalg.Dot", (x, x), (x, x))[1], 2 * x @ x)


def test_errors_are_of_the_thread():
    import threading

    wrong = []

    def work(n):
        for _ in range(200):
            try:
                rn.revlinalg.Dot(np.ones(n), np.ones(n + 1))
            except revnum.ArgumentError as err:
                if f"{n + 1}" not in str(err):
                    wrong.append(str(err))

    threads = [threading.Thread(target=work, args=(10 * i,)) for i in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def run(code, **env):
    import os

    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | env)


def test_closed_library():
    r = run("import revnum, numpy, revnum.numpy as rn; from revnum import _library; _library.library.close(); rn.revlinalg.Sum(numpy.ones(2))")
    assert r.returncode == 1 and "the library is closed" in r.stderr


def test_imported_again():
    """Errors are those of the module that is called."""
    code = "import sys, numpy, revnum, revnum.numpy as rn\na = numpy.zeros((2, 2))\n" "def fails(revnum, rn):\n    for _ in range(3):\n        try:\n            rn.revlinalg.Inv(a)\n        except revnum.NoResultError:\n            pass\n" "fails(revnum, rn)\nold = revnum, rn\nfor m in [m for m in sys.modules if m.partition('.')[0] == 'revnum']:\n    del sys.modules[m]\nimport revnum, revnum.numpy as rn\nfails(revnum, rn)\nfails(*old)\nprint(old[1].uses_c, rn.uses_c)"
    r = run(code)
    assert r.returncode == 0, r.stderr


FIRST = "import numpy, revnum.numpy as rn; rn.revlinalg.Sum(numpy.ones(2))"


def test_other_library(tmp_path):
    r = run(FIRST, REVNUM_LIBRARY=str(tmp_path / "none.so"))
    assert r.returncode == 1 and "ImportError: revnum: cannot load" in r.stderr
    import shutil

    if shutil.which("cc"):
        (tmp_path / "old.c").write_text("int rev_abi_version(void) { return 77; }")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "old.so", tmp_path / "old.c"], check=True)
        r = run(FIRST, REVNUM_LIBRARY=str(tmp_path / "old.so"))
        assert r.returncode == 1 and "has version 77" in r.stderr


def test_nothing_is_kept():
    """Arrays are freed, and the library does not look at them again."""
    import weakref

    x = rng.normal(size=(100, 100))
    y, pullback = rn.vjp("revlinalg.Solve", x, np.eye(100))
    ref = weakref.ref(x)
    pullback(y)
    del x, pullback
    gc.collect()
    assert ref() is None
    rn.revlinalg.Solve(rng.normal(size=(100, 100)), np.eye(100))


def test_scipy_least_squares():
    optimize = pytest.importorskip("scipy.optimize")
    t = np.linspace(0, 1, 20)
    target = np.array([1.0, -2, 0.5])
    v = np.vander(t, 3, increasing=True)
    y = np.exp(v @ target)

    def residuals(c):
        return rn.revlinalg.Exp(rn.revlinalg.MatMul(v, c[:, None])[:, 0]) - y

    def jacobian(c):
        z = rn.revlinalg.MatMul(v, c[:, None])[:, 0]
        return np.stack([rn.jvp("revlinalg.Exp", (z,), (column,))[1] for column in v.T.copy()], axis=1)

    r = optimize.least_squares(residuals, np.zeros(3), jac=jacobian, xtol=1e-12)
    np.testing.assert_allclose(r.x, target, rtol=1e-8)
    assert optimize.check_grad(lambda x: float(rn.revnn.LogSumExp(x)), lambda x: rn.vjp("revnn.LogSumExp", x)[1](1.0), target) < 1e-6


def test_hips_autograd():
    autograd = pytest.importorskip("autograd")
    import autograd.numpy as anp
    from autograd.extend import defvjp, primitive
    from autograd.test_util import check_grads

    norm = primitive(lambda x: rn.revlinalg.Norm2(x))
    gradient = primitive(lambda x, g: rn.vjp("revlinalg.Norm2", x)[1](g))
    defvjp(norm, lambda ans, x: lambda g: gradient(x, g))
    x = rng.normal(size=4)
    np.testing.assert_allclose(autograd.grad(lambda x: norm(x * x))(x), autograd.grad(lambda x: anp.sqrt(anp.sum(x**4)))(x), rtol=1e-12)
    check_grads(lambda x: norm(anp.sin(x)), modes=["rev"], order=1)(x)


def test_help():
    """Functions have the operands and parameters of the registry."""
    import inspect
    import pydoc

    assert str(inspect.signature(rn.revlinalg.MatMul)) == "(A, B, *, C=None, TransA=False, TransB=False, Workers=0)"
    text = pydoc.render_doc(rn.revlinalg.MatMul, renderer=pydoc.plaintext)
    for line in ("C += op(A)·op(B)", "A: matrix (TransA ? k,m : m,k)", "TransA: bool", "Returns:"):
        assert line in text
    assert {"revlinalg", "vjp", "bundle_jacobian"} <= set(dir(rn)) and "MatMul" in dir(rn.revlinalg)
    assert all(hasattr(rn, name) and not name.startswith("_") for name in dir(rn))
    for rule in revnum.rules.values():
        package, _, kernel = rule.kernel.partition(".")
        assert list(inspect.signature(getattr(getattr(rn, package), kernel)).parameters)[: len(rule.inputs)] == [o.name for o in rule.inputs]


def test_kernels_by_function():
    """A kernel is named by its function too, and an error says which names there are."""
    a = np.arange(6.0).reshape(2, 3)
    y, pullback = rn.vjp(rn.revlinalg.MatMul, a, a, TransB=True)
    np.testing.assert_array_equal(y, a @ a.T)
    np.testing.assert_array_equal(pullback(np.eye(2))[0], a)
    np.testing.assert_array_equal(rn.jvp(rn.revlinalg.Norm2, (a[0],), (a[0],))[1], rn.revlinalg.Norm2(a[0]))
    with pytest.raises(revnum.ArgumentError, match="no kernel 'Norm2': give 'revlinalg.Norm2'$"):
        rn.vjp("Norm2", a)
    with pytest.raises(revnum.ArgumentError, match=r"B is of shape \(2, 3\), want k,n where k = 3$"):
        rn.revlinalg.MatMul(a, a)
    with pytest.raises(revnum.ArgumentError, match=r"B is of shape \(2, 2\), want n,k where k = 3$"):
        rn.revlinalg.MatMul(a, a[:, :2], TransB=True)


def test_nested_parameters():
    q, v, mu = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), np.ones(3)
    want = rn.nbody.Steps(q, v, mu, N=2, **{"Options.Dt": 0.1, "Options.Softening": 0.5})
    for params in ({"Options": {"Dt": 0.1, "Softening": 0.5}}, {"Dt": 0.1, "Softening": 0.5}, {"Options": {"Dt": 0.1}, "Softening": 0.5}):
        for a, b in zip(rn.nbody.Steps(q, v, mu, N=2, **params), want):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(TypeError, match="Options.Dt is given twice"):
        rn.nbody.Steps(q, v, mu, N=2, Options={"Dt": 0.1}, Dt=0.1)
    with pytest.raises(TypeError, match="no parameter 'Options.Colour'"):
        rn.nbody.Steps(q, v, mu, N=2, Options={"Colour": 0.1})


def test_import():
    """The import loads no library, and starts no threads."""
    r = run("import os, numpy; n = len(os.listdir('/proc/self/task')); import revnum; print(len(os.listdir('/proc/self/task')) - n, 'librevnum' in open('/proc/self/maps').read())")
    assert r.stdout == "0 False\n", r.stderr


def test_prepared_arrays():
    """A prepared pass keeps its arrays, whatever becomes of the dict."""
    import weakref

    x, out = np.ones(3), np.zeros(())
    kept, operands = weakref.ref(x), {"X": x, "Out": out}
    go = rn.prepare("revlinalg.Sum", "Forward", operands)
    del x
    operands.clear()
    assert kept() is not None
    go()
    assert out == 3


def test_calls_again():
    """A call for arrays like those of an earlier call computes with its own arrays and parameters."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 4))
    for a, b in ((x, x), (x, y), (y, x), (y[::2], x[::2]), (x[::2], y[:2]), (x.astype(np.float32), y.astype(np.float32))):
        for _ in range(2):
            np.testing.assert_allclose(rn.revlinalg.Dot(a, b), a @ b, rtol=1e-6)
    a, b = rng.normal(size=(2, 3, 3))
    for _ in range(2):
        np.testing.assert_allclose(rn.revlinalg.MatMul(a, b), a @ b)
        np.testing.assert_allclose(rn.revlinalg.MatMul(a, b, TransA=True), a.T @ b)
        np.testing.assert_allclose(rn.revlinalg.MatMul(a.T, b), a.T @ b)
        with pytest.raises(revnum.ArgumentError, match="want"):
            rn.revlinalg.MatMul(a, b[:2])
        with pytest.raises(revnum.NoResultError):
            rn.revlinalg.Solve(np.ones((3, 3)), b)


def varied(a):
    """Arrays with the numbers of a, and others that a kept call must not take for it."""
    frozen = a.copy()
    frozen.flags.writeable = False
    swapped = a.astype(a.dtype.newbyteorder())
    return [a, a.copy(), frozen, swapped, a[::-1], np.repeat(a, 2)[::2], a[:1], a[:0], a.astype(np.float32), a.view(np.recarray), np.ma.array(a), list(a), a.tolist()]


@pytest.mark.parametrize("kernel, n", [("Norm2", 1), ("Dot", 2), ("Exp", 1), ("MulElem", 2)])
def test_kept_calls(kernel, n):
    """Calls that the library keeps, those that the function keeps, and calls of their own give the same."""
    a = rng.normal(size=8)
    slow = rn.Function(f"revlinalg.{kernel}").slow  # one that has not been called
    for _ in range(3):
        for v in varied(a):
            args, given = [v] * n, np.array(v)
            want = rn.call(f"revlinalg.{kernel}", *args)
            for got in (getattr(rn.revlinalg, kernel)(*args), slow(*args)):
                np.testing.assert_array_equal(got, want)
                assert type(got) is type(want) and np.asarray(got).dtype == np.asarray(want).dtype
            np.testing.assert_array_equal(np.array(v), given)
    if rn.uses_c:
        assert type(getattr(rn.revlinalg, kernel)) is not rn.Function


def test_kept_calls_with_keywords(monkeypatch):
    """The library tells numbers that are given by name from others, and -0.0 from 0.0."""
    a, m = rng.normal(size=8), rng.normal(size=(3, 3))
    f, g = rn.Function("revnn.LeakyReLU"), rn.Function("revlinalg.MatMul")
    slow, calls = rn.Function.slow, []
    monkeypatch.setattr(rn.Function, "slow", lambda self, *args, **kwargs: calls.append(kwargs) or slow(self, *args, **kwargs))
    slopes = [{}, {"Slope": 0.5}, {"Slope": -0.0}, {"Slope": 0.0}, {"Slope": 2}, {"Slope": 2.0}, {"Slope": True}, {"Slope": 0.5, "Workers": 1}, {"Slope": np.float64(0.25)}, {"Slope": math.inf}]
    for turn in range(3):
        calls.clear()
        for kwargs in slopes:
            want = rn.call("revnn.LeakyReLU", a, **kwargs)
            np.testing.assert_array_equal(f(a, **dict(reversed(kwargs.items()))), want)
            np.testing.assert_array_equal(np.signbit(f(a, **kwargs)), np.signbit(want))
        for trans in ({}, {"TransA": True}, {"TransA": False}, {"TransB": True}, {"TransA": True, "TransB": True}):
            np.testing.assert_array_equal(g(m, m, **trans), rn.call("revlinalg.MatMul", m, m, **trans))
        with pytest.raises(TypeError):
            f(a, Slop=0.5)
        if rn.uses_c and turn > 0:
            assert calls == [{"Slope": 0.25}] * 2 + [{"Slop": 0.5}]


ODD_NAMES = """
import numpy as np
import revnum.numpy as rn

f, a = rn.Function("revnn.LeakyReLU"), np.linspace(-1, 1, 8)

class Name(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        for n in range(9, 309):
            f(np.ones(n), Slope=0.25)
        return str.__eq__(self, other)

for i in range(5):
    f(a, Slope=i / 8)
for _ in range(2):
    np.testing.assert_array_equal(f(a, **{Name("Slope"): 0.75}), np.where(a < 0, 0.75 * a, a))
"""


def test_names_of_a_subclass_of_str():
    """Their methods may make so many calls that the library forgets those it is looking through. Freed memory is
    overwritten, for glibc's allocator."""
    r = run(ODD_NAMES, MALLOC_PERTURB_="165")
    assert r.returncode == 0, r.stderr


def test_calls_that_let_others_run():
    """Those with a parameter of kind int are, whatever its value is."""
    import threading
    import time

    if not rn.uses_c:
        pytest.skip("Python code lets others run")
    turns, done, f, a = 0, False, rn.Function("revnn.LeakyReLU"), rng.normal(size=8)

    def work():
        nonlocal turns
        while not done:
            turns += 1
            time.sleep(0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # others run only if they are let
    other = threading.Thread(target=work)
    other.start()
    try:
        for kwargs, lets in (({"Slope": 2}, False), ({"Slope": 0.5}, False), ({"Workers": 1}, True), ({"Workers": 1.0}, True)):
            f(a, **kwargs)
            was, calls = turns, 0
            while calls < 1000 or lets and turns == was and calls < 1e7:
                f(a, **kwargs)
                calls += 1
            assert (turns > was) == lets
    finally:
        sys.setswitchinterval(before)
        done = True
        other.join()


def test_kept_calls_of_many_shapes():
    for n in [*range(1, 600), *range(1, 600)]:
        assert rn.revlinalg.Sum(np.ones(n)) == n
    a, b = rng.normal(size=(3, 2)), rng.normal(size=(2, 4))
    for _ in range(2):
        np.testing.assert_allclose(rn.revlinalg.MatMul(a, b), a @ b, rtol=1e-14)
        with pytest.raises(revnum.ArgumentError, match="want"):
            rn.revlinalg.MatMul(a, a)
        q, r = rn.revlinalg.SymEig(np.diag([2.0, 1.0]))  # two outputs
        with pytest.raises(revnum.NoResultError):
            rn.revlinalg.Inv(np.zeros((2, 2)))
        rn.revlinalg.Inv(np.eye(2))
    with pytest.raises(revnum.NoResultError, match="singular"):  # of a kept call
        rn.revlinalg.Inv(np.zeros((2, 2)))


def test_kept_calls_hold_nothing():
    """No array, and no memory of a call that failed."""
    import sys
    import weakref

    a, singular = np.eye(3), np.zeros((3, 3))
    rn.revlinalg.Inv(a)
    dtype = sys.getrefcount(a.dtype)
    for _ in range(1000):
        rn.revlinalg.Inv(a)
        with pytest.raises(revnum.NoResultError):
            rn.revlinalg.Inv(singular)
    assert abs(sys.getrefcount(a.dtype) - dtype) < 100
    ref = weakref.ref(a)
    del a
    assert ref() is None


def test_kept_calls_in_threads():
    """Large calls, which let other threads run and forget what is kept."""
    import threading

    wrong = []

    def work(n):
        for i in range(300):
            a = np.ones(n + i)
            if rn.revlinalg.Sum(a) != n + i or not (rn.revlinalg.Exp(0 * a) == a).all():
                wrong.append(n + i)

    threads = [threading.Thread(target=work, args=(n,)) for n in (900, 5000, 9000)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_functions_are_like_functions():
    import copy
    import pickle

    f = rn.revlinalg.Norm2
    f(np.ones(3))
    assert pickle.loads(pickle.dumps(f)) is f and copy.deepcopy(f) is f
    assert type("C", (), {"m": f})().m.__func__ is f and f.__name__ == "Norm2"


def test_without_c():
    """The same calls where the library does not know Python."""
    import os
    import subprocess
    import sys

    if not rn.uses_c:
        pytest.skip("there is no other way here")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", __file__, "-k", "kept or like_functions or kernels_by_function"]
    subprocess.run(command, env=os.environ | {"REVNUM_PYTHON": "plain"}, check=True)
