import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks

import revnum
from revnum import estimators
from revnum.estimators import GaussianMixture, GraphEmbedding, KMeans, solve_bundle


# As for scikit-learn's KMeans: where points are drawn to start from, one of weight 2 is not two. With some seeds the
# fits agree nevertheless (those of a GaussianMixture with 3 of 12), so that a check that passes is no failure.
NOT = dict.fromkeys(["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"], "the start is drawn from the points")


@parametrize_with_checks([GaussianMixture(n_components=2), KMeans(n_clusters=3), GraphEmbedding()], expected_failed_checks=lambda e: NOT)
def test_check_estimator(estimator, check):
    check(estimator)


def blobs():
    rng = np.random.default_rng(1)
    centres = np.array([[0, 0], [8, 0], [0, 8.0]])
    labels = np.repeat(np.arange(3), 100)
    return centres[labels] + rng.normal(size=(300, 2)), labels, centres


def same_partition(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def test_mixture():
    x, labels, centres = blobs()
    m = GaussianMixture(3, random_state=1).fit(x)
    assert same_partition(m.predict(x), labels)
    assert np.abs(np.sort(m.means_, axis=0) - np.sort(centres, axis=0)).max() < 0.5
    # The density of the mixture by its definition.
    want = 0
    for w, mu, c in zip(m.weights_, m.means_, m.covariances_):
        d = x - mu
        want = want + w * np.exp(-0.5 * np.einsum("ni,ij,nj->n", d, np.linalg.inv(c), d)) / (2 * np.pi * np.sqrt(np.linalg.det(c)))
    np.testing.assert_allclose(m.score_samples(x), np.log(want), rtol=1e-10)
    np.testing.assert_allclose(m.score(x), m.lower_bound_, rtol=1e-10)
    doubled = GaussianMixture(2, random_state=1).fit(x, sample_weight=np.full(300, 2.0))
    np.testing.assert_allclose(doubled.score(x), doubled.lower_bound_, rtol=1e-10)
    assert GaussianMixture(3, reg_covar=0.5, random_state=1).fit(np.random.default_rng(2).normal(size=(500, 3))).weights_.min() > 0.1
    np.testing.assert_allclose(m.predict_proba(x).sum(axis=1), 1, rtol=1e-12)
    y, from_ = m.sample(30)
    assert y.shape == (30, 2) and from_.shape == (30,)
    from sklearn.mixture import GaussianMixture as Theirs

    assert m.score(x) > Theirs(3, random_state=1).fit(x).score(x) - 1e-3


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_mixture_far(kind):
    """Labels and densities where clusters lie far apart beside their standard deviations are scikit-learn's, up to the
    rounding of theirs, and those of the definition."""
    from sklearn.mixture import GaussianMixture as Theirs

    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(3), 100)
    x = np.array([[0, 0], [0.02, 0], [1e6, 1e6]])[labels] + rng.normal(size=(300, 2)) * 1e-3
    means = np.array([x[labels == c].mean(axis=0) for c in range(3)])
    precisions = {"full": np.tile(1e6 * np.eye(2), (3, 1, 1)), "tied": 1e6 * np.eye(2), "diag": np.full((3, 2), 1e6), "spherical": np.full(3, 1e6)}[kind]
    m = GaussianMixture(3, covariance_type=kind, reg_covar=1e-6, random_state=1).fit(x)
    np.testing.assert_allclose(m.score(x), m.lower_bound_, rtol=1e-9)
    m.weights_, m.means_, m.covariances_ = np.array([0.3, 0.3, 0.4]), means, 1 / precisions if kind in ("diag", "spherical") else np.linalg.inv(precisions)
    assert (m.predict(x) == labels).all()
    square = ((x[:, None] - means) ** 2).sum(axis=2) * 1e6
    log = np.log(m.weights_) - square / 2 + np.log(1e6 / (2 * np.pi))
    want = log.max(axis=1) + np.log(np.exp(log - log.max(axis=1, keepdims=True)).sum(axis=1))
    np.testing.assert_allclose(m.score_samples(x), want, rtol=0, atol=1e-8)
    theirs = Theirs(3, covariance_type=kind)
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        setattr(theirs, name, getattr(m, name))
    near = slice(0, 200) if kind in ("tied", "full") else slice(0, 100)  # their squares about 0 cancel at 1e6
    np.testing.assert_allclose(m.predict_proba(x[near]), theirs.predict_proba(x[near]), atol=1e-6)
    assert (m.predict(x[near]) == theirs.predict(x[near])).all()


def test_mixture_set():
    """Attributes that are set are those of the mixture."""
    x, _, centres = blobs()
    m = GaussianMixture(3, random_state=1).fit(x)
    m.weights_, m.means_, m.covariances_ = [0.25, 0.25, 0.5], centres + 1, np.tile(4 * np.eye(2), (3, 1, 1))
    d = ((x[:, None] - centres - 1) ** 2).sum(axis=2)
    density = np.array([0.25, 0.25, 0.5]) * np.exp(-d / 8) / (8 * np.pi)
    np.testing.assert_allclose(m.score_samples(x), np.log(density.sum(axis=1)), rtol=1e-12)
    np.testing.assert_allclose(m.predict_proba(x), density / density.sum(axis=1, keepdims=True), rtol=1e-10, atol=1e-300)
    m.weights_ = [0.5, 0.5, 0.5]
    with pytest.raises(ValueError, match="weights"):
        m.predict(x)
    m.means_ = centres[:2]
    with pytest.raises(ValueError, match="2 means for 3 weights"):
        m.predict(x)


BAD = [
    (GaussianMixture, {"n_components": 2.5}), (GaussianMixture, {"n_components": 0}), (GaussianMixture, {"max_iter": -1}), (GaussianMixture, {"n_init": 0}),
    (GaussianMixture, {"tol": -1}), (GaussianMixture, {"tol": np.nan}), (GaussianMixture, {"reg_covar": -1}), (GaussianMixture, {"covariance_type": "round"}),
    (GaussianMixture, {"polish": "yes"}), (GaussianMixture, {"random_state": "x"}),
    (KMeans, {"n_clusters": 2.5}), (KMeans, {"n_clusters": -1}), (KMeans, {"n_init": 0}), (KMeans, {"max_iter": 0}), (KMeans, {"tol": -1}), (KMeans, {"batch_size": -1}),
    (GraphEmbedding, {"n_components": 1.5}), (GraphEmbedding, {"margin": 0}), (GraphEmbedding, {"n_init": 0}), (GraphEmbedding, {"max_iter": 0}),
]


@pytest.mark.parametrize("kind, params", BAD)
def test_bad_parameters(kind, params):
    (name, value), = params.items()
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {kind.__name__} must be .* Got .*"):
        kind(**params).fit(np.ones((4, 4)))


def test_numpy_parameters():
    """Numbers of NumPy are numbers."""
    x = blobs()[0]
    m = GaussianMixture(np.int64(3), tol=np.float32(1e-3), max_iter=np.int32(50), random_state=1).fit(x)
    assert m.means_.shape == (3, 2) and KMeans(np.int64(3), n_init=np.int8(2)).fit(x).cluster_centers_.shape == (3, 2)


def test_zero_tolerance():
    """With tol=0 the fit goes on while it gets better: as far as with any tolerance, and farther than with the default's."""
    x = np.random.default_rng(3).normal(size=(300, 2))
    fit = lambda tol: GaussianMixture(4, tol=tol, max_iter=2000, n_init=1, random_state=1).fit(x)
    zero, small, default = fit(0), fit(1e-9), fit(1e-3)
    assert zero.n_iter_ >= small.n_iter_ > default.n_iter_ and zero.score(x) >= small.score(x) > default.score(x)
    k = KMeans(8, tol=0, random_state=1).fit(x)
    np.testing.assert_array_equal(k.cluster_centers_, KMeans(8, tol=1e-300, random_state=1).fit(x).cluster_centers_)
    # Lloyd's algorithm has ended: each centre is the mean of its cluster.
    np.testing.assert_allclose(k.cluster_centers_, [x[k.predict(x) == c].mean(axis=0) for c in range(8)], rtol=1e-12)


def test_kmeans():
    x, labels, _ = blobs()
    m = KMeans(3, random_state=1).fit(x)
    assert same_partition(m.labels_, labels) and (m.predict(x) == m.labels_).all()
    np.testing.assert_allclose(m.inertia_, -m.score(x), rtol=1e-10)
    weighted = KMeans(1, random_state=1).fit(x, sample_weight=np.arange(300.0))
    np.testing.assert_allclose(weighted.cluster_centers_[0], np.average(x, axis=0, weights=np.arange(300.0)), rtol=1e-10)


def test_graph():
    # The five corners of a pentagon: sides have one length, diagonals another.
    a = np.zeros((5, 5))
    for i in range(5):
        a[i, (i + 1) % 5] = a[(i + 1) % 5, i] = 1
    m = GraphEmbedding(2, random_state=1).fit(a)
    x = m.embedding_
    side = [np.linalg.norm(x[i] - x[(i + 1) % 5]) for i in range(5)]
    diagonal = [np.linalg.norm(x[i] - x[(i + 2) % 5]) for i in range(5)]
    assert m.loss_ < 1e-12 and np.ptp(side) < 1e-5 and np.ptp(diagonal) < 1e-5 and min(diagonal) > max(side)
    with pytest.raises(ValueError, match="square"):
        GraphEmbedding().fit(np.zeros((3, 4)))


def test_bundle():
    rng = np.random.default_rng(2)
    cameras = np.tile([0, 0, 0, 0, 0, -8, 500, 0, 0.0], (4, 1))
    cameras[:, :6] += rng.normal(size=(4, 6)) / 10
    points = rng.normal(size=(30, 3))
    camera, point = np.repeat(np.arange(4), 30), np.tile(np.arange(30), 4)
    import revnum.numpy as rn

    features = rn.ba.Snavely(cameras, points, np.zeros((120, 2)), camera, point).reshape(120, 2)
    c, p, report = solve_bundle(cameras + 1e-3 * rng.normal(size=cameras.shape), points + 0.01 * rng.normal(size=points.shape), features, camera, point)
    assert report["final_cost"] < 1e-6 < report["initial_cost"]
    for name, value in (("max_iter", 0), ("max_iter", 1.5), ("tolerance", -1)):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of solve_bundle must be"):
            solve_bundle(cameras, points, features, camera, point, **{name: value})
    with pytest.raises(revnum.ArgumentError, match="columns"):
        solve_bundle(cameras[:, :8], points, features, camera, point)


@pytest.fixture
def none_short(monkeypatch):
    """Another thread does all tasks."""
    monkeypatch.setattr("revnum._library.SHORT", -1)


def test_short_tasks(monkeypatch):
    """Short tasks begin no thread, and give what others give."""
    from revnum._library import library

    x = blobs()[0]
    fits = lambda: [f.fit(x) for f in (KMeans(3, random_state=1), GaussianMixture(3, random_state=1))]
    found, start, started = lambda m: (m.predict(x), m.score(x)), library._start, []
    monkeypatch.setattr(library, "_start", lambda *task: (started.append(task), start(*task)))
    here = fits()
    want = list(map(found, here))
    assert not started
    KMeans(3, max_iter=10**9).fit(x)
    assert len(started) == 1
    monkeypatch.setattr("revnum._library.SHORT", -1)
    for m, (labels, score) in zip(fits(), want):
        np.testing.assert_array_equal(found(m)[0], labels)
        assert found(m)[1] == score
    assert len(started) > 5


def test_long_tasks(monkeypatch):
    """What may take long starts a thread: with many columns, automatic starts, a polish, or many iterations."""
    from revnum._library import library

    class Started(Exception):
        pass

    def start(*_):
        raise Started

    monkeypatch.setattr(library, "_start", start)
    x = np.random.default_rng(0).normal(size=(1600, 1000))
    small = x[:200, :4]
    for m, points in [
        (GaussianMixture(1, max_iter=5), x),
        (GaussianMixture(1, max_iter=5, covariance_type="tied"), x),
        (GaussianMixture(1, max_iter=1, n_init=1), x[:2]),  # the factor of a covariance
        (GaussianMixture(3, max_iter=1000), small),
        (GaussianMixture(3, max_iter=20, n_init=1, polish=True), small),
        (KMeans(100, max_iter=1, n_init=1), x[:, :100]),
        (KMeans(3, max_iter=3000), small),
    ]:
        with pytest.raises(Started):
            m.fit(points)
    m = GaussianMixture(3, max_iter=1000, n_init=1).fit(small)  # short, by one start
    KMeans(3, max_iter=3000, n_init=1).fit(small)
    m.weights_, m.means_, m.precisions_cholesky_ = np.ones(1), np.zeros((1, 1000)), np.eye(1000)[None]
    m.n_features_in_ = 1000
    for score in (m.score, m.predict, m.predict_proba):
        with pytest.raises(Started):
            score(x)


@pytest.mark.parametrize("raised", [MemoryError, SystemExit])
@pytest.mark.parametrize("most", [-1, 1e9])
def test_task_raises(monkeypatch, raised, most):
    """What a task raises is the caller's, and the next fit does not wait for a thread that has ended."""
    from revnum._library import library

    monkeypatch.setattr("revnum._library.SHORT", most)
    x = blobs()[0]
    KMeans(3).fit(x)  # keeps a thread
    with monkeypatch.context() as m:

        def rev_model(*args):
            raise raised("in the task")

        m.setattr(library.lib, "rev_model", rev_model)
        with pytest.raises(raised, match="in the task"):
            KMeans(3).fit(x)
    KMeans(3).fit(x)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_serve_ends(none_short):
    """A thread that ends is not kept, and sets done."""
    import threading

    from revnum._library import library

    KMeans(3).fit(blobs()[0])  # keeps a thread
    done, kept = threading.Event(), len(library._waiting)

    def do():
        raise MemoryError

    library._start(do, done)
    assert done.wait(60)
    assert len(library._waiting) == kept - 1


@pytest.mark.parametrize("first", [False, True])
def test_interrupted_starts(none_short, first):
    """An interrupt at any line of the start of a fit loses no thread, whether there is one or this is the first."""
    import sys
    import threading

    from revnum._library import library

    x, starts = blobs()[0], library._start.__code__
    threads = lambda: sum(t.name == "revnum" for t in threading.enumerate())
    KMeans(3).fit(x)
    before, hit = threads(), 0

    def interrupt_at(line):
        def local(frame, event, arg):
            local.count += event in ("line", "return")
            if local.count == line:
                local.count = 1000
                raise KeyboardInterrupt
            return local

        local.count = 0
        return lambda frame, event, arg: local if frame.f_code is starts else None

    for line in range(1, 12):
        if first:
            library._waiting.clear()  # as if none were there
        sys.settrace(interrupt_at(line))
        try:
            KMeans(3).fit(x)
        except KeyboardInterrupt:
            hit += 1
        finally:
            sys.settrace(None)
        KMeans(3).fit(x)
    assert hit >= 3
    if not first:
        assert threads() <= before


def test_interrupted_twice(monkeypatch):
    """A second interrupt may end a fit before its task ends. The arrays stay until then, and no longer."""
    import threading
    import time
    import weakref

    import revnum.numpy as rn
    from revnum._library import library

    a = np.zeros(5)
    array, began, left, there = weakref.ref(a), threading.Event(), threading.Event(), []
    start = library._start

    def rev_model(*args):
        began.set()
        left.wait(60)
        there.append(array() is not None)
        return 0

    def interrupted_start(do, done):
        start(do, done)
        assert began.wait(60)
        raise KeyboardInterrupt

    def again(done):
        raise KeyboardInterrupt

    monkeypatch.setattr(library.lib, "rev_model", rev_model)
    monkeypatch.setattr(library, "_start", interrupted_start)
    monkeypatch.setattr(library, "_interrupt", again)
    with pytest.raises(KeyboardInterrupt):
        library.model("kmeans.fit", {}, [rn.task_argument(0, a)], 64)
    del a
    left.set()
    for _ in range(600):
        if array() is None:
            break
        time.sleep(0.01)
    assert there == [True] and array() is None


@pytest.mark.parametrize("raised", [KeyboardInterrupt, RuntimeError, TimeoutError])
def test_interrupt(raised):
    """Ctrl-C, and any error of a handler of signals, ends a fit before its next iteration."""
    import os
    import signal
    import threading

    def handler(*_):
        raise raised

    x = np.random.default_rng(5).normal(size=(20000, 8))
    KMeans(2).fit(x[:10])
    before = signal.signal(signal.SIGINT, handler)  # a shell ignores it for what runs in the background
    threads = threading.enumerate()
    try:
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(raised):
            GaussianMixture(32, tol=0, max_iter=10**6, n_init=10).fit(x)
        for t in threading.enumerate():
            if t not in threads:
                t.join(1)
                assert not t.is_alive()  # while the arrays are there
    finally:
        signal.signal(signal.SIGINT, before)
    assert GaussianMixture(2, max_iter=1000, random_state=1).fit(x[:50]).converged_  # another fit goes on


def test_swaps_in():
    """Parameters and attributes are those of scikit-learn."""
    from sklearn import cluster, mixture

    assert set(mixture.GaussianMixture().get_params()) < set(GaussianMixture().get_params()) and set(cluster.KMeans().get_params()) < set(KMeans().get_params())
    x, _, centres = blobs()
    for kind in ("full", "tied", "diag", "spherical"):
        m = GaussianMixture(3, covariance_type=kind, tol=0, n_init=5, random_state=1).fit(x)
        theirs = mixture.GaussianMixture(3, covariance_type=kind, tol=1e-9, max_iter=1000, n_init=5, random_state=1).fit(x)
        for name in ("covariances_", "precisions_", "precisions_cholesky_"):
            assert getattr(m, name).shape == getattr(theirs, name).shape
        np.testing.assert_allclose([m.aic(x), m.bic(x), m.score(x), m.lower_bound_], [theirs.aic(x), theirs.bic(x), theirs.score(x), theirs.lower_bound_], rtol=1e-5)
        start = GaussianMixture(3, covariance_type=kind, means_init=centres, random_state=1).fit(x)
        np.testing.assert_allclose(start.means_, centres, atol=0.5)  # in this order
        again = GaussianMixture(3, covariance_type=kind, warm_start=True, random_state=1).fit(x).fit(x)
        assert again.converged_ and again.n_iter_ <= 3
    assert GaussianMixture(2).fit(x.astype(np.float32)).means_.dtype == np.float32
    with pytest.warns(sklearn.exceptions.ConvergenceWarning):
        GaussianMixture(3, max_iter=1, tol=0, random_state=1).fit(x)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="distinct clusters"):
        KMeans(3).fit(np.ones((5, 2)))
    m = KMeans(3, init=centres).fit(x)
    np.testing.assert_allclose(m.cluster_centers_, centres, atol=0.5)
    assert list(m.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks(monkeypatch, dtype):
    """What is computed of blocks of points is what is computed of all at once."""
    x = np.random.default_rng(1).normal(size=(50, 3)).astype(dtype)
    g, k = GaussianMixture(3, random_state=1).fit(x), KMeans(3, random_state=1).fit(x)
    results = lambda: [g.predict(x), g.predict_proba(x), g.score_samples(x), g.score(x), k.predict(x), k.transform(x), k.score(x)]
    want = results()
    np.testing.assert_array_equal(want[0], want[1].argmax(1))
    np.testing.assert_allclose(KMeans(3, random_state=1).fit_transform(x.tolist()), want[5], rtol=1e-4)
    assert k.transform(x.astype(np.float32)).dtype == x.dtype  # the type of the centroids, as in scikit-learn
    assert estimators._blocks(x, 3) == [slice(0, 2**22 // 3)]
    monkeypatch.setattr(estimators, "_blocks", lambda X, columns: [slice(i, i + 7) for i in range(0, len(X), 7)])
    for a, b in zip(want, results()):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-5 if dtype == np.float32 else 1e-12)
