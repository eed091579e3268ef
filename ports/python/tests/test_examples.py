import json
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples"))


def test_unitary_rnn():
    torch = pytest.importorskip("torch")
    import unitary_rnn

    args = unitary_rnn.problem(5, 4, 50)
    theta, w, _, x, _ = args
    for f in (unitary_rnn.network, unitary_rnn.on_tape):
        g = torch.autograd.grad((f(theta, w, x) ** 2).sum(), [theta, w])
        if f is unitary_rnn.on_tape:
            torch.testing.assert_close(g, ours)
        ours = g
    first, last = unitary_rnn.train(steps=200, iterations=60)
    assert last < 0.5 * first


def test_realnvp():
    torch = pytest.importorskip("torch")
    import realnvp

    torch.set_num_threads(1)  # the products are small
    first, last = realnvp.train(layers=8, hidden=16, batch=128, iterations=40)
    assert last < first - 0.3


def test_tour():
    """The cells of the notebook run, one after the other, and draw four pictures."""
    pytest.importorskip("torch")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    path = pathlib.Path(__file__).parents[1] / "examples" / "tour.ipynb"
    names = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            drawn = len(pyplot.get_fignums())
            pyplot.close("all")
            assert drawn == any("image/png" in o["data"] for o in cell["outputs"])
    assert names["found"][2]["final_cost"] < 100 < names["found"][2]["initial_cost"]


def test_gmm_optax():
    pytest.importorskip("optax")
    import gmm_optax

    points, centres = gmm_optax.blobs()
    params, history = gmm_optax.fit(points, 3)
    from sklearn.mixture import GaussianMixture

    best = GaussianMixture(3, random_state=1, tol=1e-8).fit(np.asarray(points)).score(np.asarray(points))
    assert history[-1] > best - 1e-2 > history[0]


def test_bundle_scipy():
    pytest.importorskip("scipy")
    import bundle_scipy

    s = bundle_scipy.scene(cameras=3, points=15)
    r, residuals, jacobian = bundle_scipy.solve(*s)
    j, h = jacobian(s[0]).toarray(), 1e-6
    for i in (0, 7, 27, 40):
        e = np.zeros(len(s[0]))
        e[i] = h
        np.testing.assert_allclose(j[:, i], (residuals(s[0] + e) - residuals(s[0] - e)) / (2 * h), rtol=1e-5, atol=1e-5)
    from revnum.estimators import solve_bundle

    cameras, points = s[0][:27].reshape(3, 9), s[0][27:].reshape(15, 3)
    _, _, report = solve_bundle(cameras, points, s[1], s[2], s[3], max_iter=200, tolerance=1e-12)
    assert abs(report["final_cost"] - r.cost) < 1e-3 * r.cost
