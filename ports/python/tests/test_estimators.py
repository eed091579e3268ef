import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks

import revnum
from revnum.estimators import GaussianMixture, GraphEmbedding, KMeans, solve_bundle


# As for scikit-learn's KMeans: where points are drawn to start from, one of weight 2 is not two.
NOT = {"check_sample_weight_equivalence_on_dense_data": "the start is drawn from the points"}


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
    with pytest.raises(revnum.ArgumentError, match="columns"):
        solve_bundle(cameras[:, :8], points, features, camera, point)
