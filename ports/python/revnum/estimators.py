"""Models with the manners of scikit-learn: GaussianMixture, KMeans, GraphEmbedding; and
solve_bundle, bundle adjustment.

The engines are those of revmodels/gmm, kmeans, graphembed and ba.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import numpy as rn
from ._library import ArgumentError, library


_COUNT, _FROM_ZERO = [Interval(Integral, 1, None, closed="left")], [Interval(Real, 0, None, closed="left")]
_STARTS = [StrOptions({"auto"}), *_COUNT]
_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)  # a tolerance of 0, which is a default in Go


def _seed(random_state):
    return int(check_random_state(random_state).randint(2**31))


def _starts(n_init):
    return 0 if n_init == "auto" else int(n_init)


class GaussianMixture(DensityMixin, BaseEstimator):
    """A mixture of Gaussians, fitted by expectation maximisation from the clusters of
    k-means. The parameters are those of sklearn.mixture.GaussianMixture that are here.

    weights_, means_ and covariances_ are the mixture, and may be set; covariances_ has a
    full matrix for each component, whatever covariance_type is. lower_bound_ is the mean log-likelihood.
    With n_init="auto" the library chooses the number of starts: more if there are few points.
    """

    def __init__(self, n_components=1, *, covariance_type="full", tol=1e-3, reg_covar=1e-6, max_iter=100, n_init="auto", polish=False, random_state=None):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.polish = polish
        self.random_state = random_state

    _kinds = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}
    _parameter_constraints = {
        "n_components": _COUNT, "covariance_type": [StrOptions(set(_kinds))], "tol": _FROM_ZERO, "reg_covar": _FROM_ZERO, "max_iter": _COUNT,
        "n_init": _STARTS, "polish": ["boolean"], "random_state": ["random_state"],
    }

    def fit(self, X, y=None, sample_weight=None):
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=max(2, self.n_components))
        args = [rn.task_argument(0, X)]
        if sample_weight is not None:
            w = np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
            args.append(rn.task_argument(1, w))
        k, d = int(self.n_components), X.shape[1]
        options = {
            "components": k, "covariance": self._kinds[self.covariance_type], "starts": _starts(self.n_init), "max_iter": int(self.max_iter),
            "tolerance": float(self.tol) or _SMALLEST, "reg_covar": float(self.reg_covar) or -1, "polish": bool(self.polish), "seed": _seed(self.random_state),
        }
        r = library.model("gmm.fit", options, args, 4096 + 32 * k * (d + 1) * (d + 1))
        self.weights_, self.means_, self.covariances_ = (np.array(r["mixture"][name]) for name in ("weights", "means", "covariances"))
        self.converged_, self.n_iter_ = r["converged"], r["iterations"]
        self.log_likelihood_ = r["log_likelihood"]
        self.lower_bound_ = r["log_likelihood"] / (X.shape[0] if sample_weight is None else w.sum())
        return self

    def _scores(self, X, responsibilities):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        scores = np.empty(X.shape[0])
        args = [rn.task_argument(0, X), rn.task_argument(1, scores)]
        r = None
        if responsibilities:
            r = np.empty((X.shape[0], len(self.weights_)))
            args.append(rn.task_argument(2, r))
        mixture = {name: np.asarray(getattr(self, name + "_"), np.float64).tolist() for name in ("weights", "means", "covariances")}
        library.model("gmm.score", {"mixture": mixture}, args, 64)
        return scores, r

    def score_samples(self, X):
        """The log density at each point."""
        return self._scores(X, False)[0]

    def score(self, X, y=None):
        """The mean log density of the points."""
        return float(self.score_samples(X).mean())

    def predict_proba(self, X):
        """The responsibility of each component for each point."""
        return self._scores(X, True)[1]

    def predict(self, X):
        """The component of each point that is most responsible for it."""
        return self.predict_proba(X).argmax(axis=1)

    def fit_predict(self, X, y=None, sample_weight=None):
        return self.fit(X, y, sample_weight).predict(X)

    def sample(self, n_samples=1):
        """Points drawn from the mixture, and their components."""
        check_is_fitted(self)
        rng = check_random_state(self.random_state)
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        x = np.vstack([rng.multivariate_normal(m, c, n) for m, c, n in zip(self.means_, self.covariances_, counts)])
        return x, np.repeat(np.arange(len(counts)), counts)


class KMeans(TransformerMixin, ClusterMixin, BaseEstimator):
    """Clusters of least squared distances to their centres. batch_size is that of mini-batch
    k-means, or 0 for Lloyd's algorithm. With n_init="auto" the library chooses the number of starts."""

    def __init__(self, n_clusters=8, *, n_init="auto", max_iter=300, tol=1e-4, batch_size=0, random_state=None):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.random_state = random_state

    _parameter_constraints = {
        "n_clusters": _COUNT, "n_init": _STARTS, "max_iter": _COUNT, "tol": _FROM_ZERO,
        "batch_size": [Interval(Integral, 0, None, closed="left")], "random_state": ["random_state"],
    }

    def fit(self, X, y=None, sample_weight=None):
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64, order="C")
        if X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")
        labels = np.empty(X.shape[0], np.int64)
        args = [rn.task_argument(0, X), rn.task_argument(2, labels)]
        if sample_weight is not None:
            w = np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
            args.append(rn.task_argument(1, w))
        options = {
            "clusters": int(self.n_clusters), "starts": _starts(self.n_init), "max_iter": int(self.max_iter),
            "tolerance": float(self.tol) or -1, "batch": int(self.batch_size), "seed": _seed(self.random_state),
        }
        r = library.model("kmeans.fit", options, args, 4096 + 32 * int(self.n_clusters) * (X.shape[1] + 1))
        self.cluster_centers_ = np.array(r["centroids"])
        self.inertia_, self.n_iter_ = r["cost"], r["iterations"]
        self.labels_ = labels
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        labels = np.empty(X.shape[0], np.int64)
        library.model("kmeans.predict", {}, [rn.task_argument(0, X), rn.task_argument(1, self.cluster_centers_), rn.task_argument(2, labels)], 64)
        return labels

    def transform(self, X):
        """The distance of each point to each centre."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return np.sqrt(((X[:, None, :] - self.cluster_centers_) ** 2).sum(axis=2))

    def score(self, X, y=None):
        """The negative sum of squared distances to the nearest centres."""
        return -float((self.transform(X).min(axis=1) ** 2).sum())


class GraphEmbedding(BaseEstimator):
    """Positions of the vertices of a graph at which connected vertices have one distance,
    and the others another, larger one. X is the adjacency matrix, dense or sparse.

    embedding_ are the positions, loss_ the misfit."""

    def __init__(self, n_components=2, *, margin=0.1, n_init=10, max_iter=100, random_state=None):
        self.n_components = n_components
        self.margin = margin
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    _parameter_constraints = {
        "n_components": _COUNT, "margin": [Interval(Real, 0, None, closed="neither")], "n_init": _COUNT, "max_iter": _COUNT,
        "random_state": ["random_state"],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        return tags

    def fit(self, X, y=None):
        self._validate_params()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"want a square matrix of adjacency, found {X.shape[0]}×{X.shape[1]}")
        i, j = X.nonzero()
        edges = np.ascontiguousarray(np.stack([i, j], axis=1)[i != j].astype(np.int64))
        self.embedding_ = np.empty((X.shape[0], self.n_components))
        options = {
            "vertices": X.shape[0], "dim": int(self.n_components), "margin": float(self.margin), "starts": int(self.n_init),
            "max_iter": int(self.max_iter), "seed": _seed(self.random_state),
        }
        r = library.model("graphembed.embed", options, [rn.task_argument(0, edges), rn.task_argument(1, self.embedding_)], 4096)
        self.loss_, self.n_iter_ = r["loss"], r["iterations"]
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X, y).embedding_


def solve_bundle(cameras, points, features, camera, point, *, max_iter=100, tolerance=1e-6, fixed_cameras=(), fixed_points=()):
    """Bundle adjustment: returns the cameras (n, 9) and points (m, 3) that best explain where
    each observation (features, (p, 2)) of camera[i] has point[i], and a report. It ends after
    max_iter steps, or one that lowers the cost by less than the fraction tolerance."""
    validate_parameter_constraints({"max_iter": _COUNT, "tolerance": _FROM_ZERO}, {"max_iter": max_iter, "tolerance": tolerance}, "solve_bundle")
    cameras, points = np.array(cameras, np.float64, order="C"), np.array(points, np.float64, order="C")
    features = np.ascontiguousarray(features, np.float64)
    camera, point = rn.indices("camera", camera), rn.indices("point", point)
    if any(a.ndim != 2 for a in (cameras, points, features)) or camera.ndim != 1 or point.ndim != 1:
        raise ArgumentError("solve_bundle: want matrices of cameras, points and features, and vectors of indices")
    options = {"max_iter": int(max_iter), "tolerance": float(tolerance) or _SMALLEST, "fixed_cameras": list(map(int, fixed_cameras)), "fixed_points": list(map(int, fixed_points))}
    args = [rn.task_argument(i, a) for i, a in enumerate((cameras, points, features, camera, point))]
    return cameras, points, library.model("ba.solve", options, args, 4096)
