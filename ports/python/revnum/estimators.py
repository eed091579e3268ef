"""Models with the manners of scikit-learn: GaussianMixture, KMeans, GraphEmbedding; and
solve_bundle, bundle adjustment.

GaussianMixture and KMeans are scikit-learn's classes with other engines, so that their parameters,
attributes, checks and other methods are those of scikit-learn. predict, transform, score and their kin go through the
points in blocks: beside X and the result they take about 120 MB at most, however many points there are. There is no
PCA and no FactorAnalysis: scikit-learn's also find a few components of large or sparse matrices, and ours would not.

The engines are those of revmodels/gmm, kmeans, graphembed and ba.
"""

import math
import warnings
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
import sklearn.cluster
import sklearn.mixture
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture._gaussian_mixture import _compute_precision_cholesky
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import _check_sample_weight, _is_arraylike_not_scalar, check_is_fitted, validate_data

from . import numpy as rn
from ._library import ArgumentError, NoResultError, library


_COUNT, _FROM_ZERO = [Interval(Integral, 1, None, closed="left")], [Interval(Real, 0, None, closed="left")]
_STARTS = [StrOptions({"auto"}), *_COUNT]
_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)  # a tolerance of 0, which is a default in Go


def _seed(random_state):
    return int(check_random_state(random_state).randint(2**31))


def _wide(X):
    return np.ascontiguousarray(X, np.float64)


def _weights(sample_weight, X):
    """The weights of the points, or None if all are 1, for which the engines draw as if there were none."""
    if sample_weight is None:
        return None
    w = _wide(_check_sample_weight(sample_weight, X))
    return None if (w == 1).all() else w


def _blocks(X, columns):
    """The rows of X in slices, such that columns numbers for each of them take 32 MB."""
    step = max(1, 2**22 // max(1, columns))
    return [slice(i, i + step) for i in range(0, X.shape[0], step)]


class GaussianMixture(sklearn.mixture.GaussianMixture):
    """sklearn.mixture.GaussianMixture, fitted by the expectation maximisation of revnum.

    Differences:
      - n_init="auto", the default, lets the library choose the number of starts: more if there
        are few points. The starts with init_params="kmeans" are those of the library.
      - polish=True continues to the maximum, of full covariances.
      - fit takes sample_weight.
      - tol is what all further iterations together may gain. A fit therefore makes more
        iterations than scikit-learn's with the same tol, and tol=0 goes on as long as one gains.
      - covariances_ may be set, as means_ and weights_ may.
    """

    _parameter_constraints = {**sklearn.mixture.GaussianMixture._parameter_constraints, "n_init": _STARTS, "polish": ["boolean"]}

    def __init__(
        self, n_components=1, *, covariance_type="full", tol=1e-3, reg_covar=1e-6, max_iter=100, n_init="auto", init_params="kmeans", weights_init=None,
        means_init=None, precisions_init=None, random_state=None, warm_start=False, verbose=0, verbose_interval=10, polish=False,
    ):
        super().__init__(
            n_components, covariance_type=covariance_type, tol=tol, reg_covar=reg_covar, max_iter=max_iter, n_init=n_init, init_params=init_params,
            weights_init=weights_init, means_init=means_init, precisions_init=precisions_init, random_state=random_state, warm_start=warm_start,
            verbose=verbose, verbose_interval=verbose_interval,
        )
        self.polish = polish

    @property
    def covariances_(self):
        try:
            return self.__dict__["covariances_"]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'covariances_'") from None

    @covariances_.setter
    def covariances_(self, value):
        self.__dict__["covariances_"] = value
        if value is not None:
            self.precisions_cholesky_ = _compute_precision_cholesky(np.asarray(value), self.covariance_type, xp=np)

    def fit_predict(self, X, y=None, sample_weight=None):
        return self.fit(X, y, sample_weight).predict(X)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        if self.max_iter == 0:  # the initialisation alone is that of scikit-learn
            n_init = self.n_init
            try:
                self.n_init = 1 if n_init == "auto" else n_init
                super().fit_predict(X)
            finally:
                self.n_init = n_init
            return self
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        if X.shape[0] < self.n_components:
            raise ValueError(f"Expected n_samples >= n_components but got n_components = {self.n_components}, n_samples = {X.shape[0]}")
        self._check_parameters(X, xp=np)
        random_state = check_random_state(self.random_state)
        weights = _weights(sample_weight, X)
        total = X.shape[0] if weights is None else weights.sum()
        best = None
        for start, init in enumerate(self._starts(X, random_state)):
            self._print_verbose_msg_init_beg(start)
            r = self._maximise(X, weights, init, random_state)
            history = [bound / total for bound in r["history"]]
            for i, change in enumerate(np.diff(history, prepend=-np.inf)):
                self._print_verbose_msg_iter_end(i + 1, change)
            self._print_verbose_msg_init_end(history[-1], r["converged"])
            if best is None or r["log_likelihood"] > best["log_likelihood"]:
                best, self.lower_bounds_ = r, history
        for name in ("weights", "means"):
            setattr(self, name + "_", best["mixture"][name].astype(X.dtype))
        covariances = best["mixture"]["covariances"]
        diagonals = np.diagonal(covariances, axis1=1, axis2=2)
        self.covariances_ = {"full": lambda: covariances, "tied": lambda: covariances[0], "diag": lambda: diagonals.copy(), "spherical": lambda: diagonals[:, 0].copy()}[self.covariance_type]().astype(X.dtype)
        q = self.precisions_cholesky_
        self.precisions_ = q @ np.swapaxes(q, -1, -2) if self.covariance_type in ("full", "tied") else q**2
        self.converged_, self.n_iter_ = best["converged"], max(1, best["iterations"])
        self.lower_bound_ = best["log_likelihood"] / total
        self.lower_bounds_.append(self.lower_bound_)
        if not self.converged_:
            warnings.warn("Best performing initialization did not converge. Try different init parameters, or increase max_iter, tol, or check for degenerate data.", ConvergenceWarning)
        return self

    def _starts(self, X, random_state):
        """What each start begins with: a mixture, or None for the starts of the library."""
        given = not all(a is None for a in (self.weights_init, self.means_init, self.precisions_init))
        if self.warm_start and hasattr(self, "converged_"):
            yield self._mixture()
        elif self.init_params == "kmeans" and not given:
            yield None
        else:
            for _ in range(1 if self.n_init == "auto" else self.n_init):
                self._initialize_parameters(X, random_state)
                m = self._mixture()
                yield m | {"weights": m["weights"] / np.sum(m["weights"])}

    def _maximise(self, X, weights, init, random_state):
        k, d = int(self.n_components), X.shape[1]
        options = {
            "components": k, "covariance": self._kind(), "max_iter": int(self.max_iter),
            "starts": 0 if self.n_init == "auto" or init else int(self.n_init), "tolerance": float(self.tol) or _SMALLEST,
            "reg_covar": float(self.reg_covar) or -1, "polish": bool(self.polish), "seed": _seed(random_state),
        }
        if init:
            options["init"] = {name: a.tolist() for name, a in init.items()}
        X = _wide(X)
        args = [rn.task_argument(0, X)]
        if weights is not None:
            args.append(rn.task_argument(1, weights))
        found = {"weights": np.empty(k), "means": np.empty((k, d)), "covariances": np.empty((k, d, d))}
        args += self._mixture_arguments(2, found)
        try:
            starts = 1 if init else options["starts"] or 24
            work = math.inf if self.polish else self._work(len(X), k, d) * options["max_iter"] * starts + X.size * k * 600  # of two clusterings
            return library.model("gmm.fit", options, args, 4096 + 32 * options["max_iter"], work) | {"mixture": found}
        except NoResultError as err:
            raise ValueError(
                "Fitting the mixture model failed because some components have ill-defined empirical covariance (for instance caused by singleton or "
                f"collapsed samples). Try to decrease the number of components, increase reg_covar, or scale the input data. ({err})"
            ) from err

    def _work(self, n, k, d):
        """About how many numbers go into the densities of k components at n points."""
        return (n + d) * k * d * (d if self.covariance_type in ("full", "tied") else 1)

    def _kind(self):
        """The name that the library has for covariance_type."""
        return {"diag": "diagonal"}.get(self.covariance_type, self.covariance_type)

    def _mixture(self):
        """The mixture of the attributes for the library, which takes covariances as matrices."""
        q, d = np.asarray(self.precisions_cholesky_, np.float64), np.shape(self.means_)[1]
        if self.covariance_type in ("full", "tied"):
            p = np.linalg.inv(q)
            covariances = np.swapaxes(p, -1, -2) @ p
        else:
            q = q if q.ndim == 2 else q[:, None] * np.ones(d)
            covariances = np.eye(d) / (q**2)[:, None, :]
        if self.covariance_type == "tied":
            covariances = np.broadcast_to(covariances, (len(self.means_), d, d))
        return {"weights": _wide(self.weights_), "means": _wide(self.means_), "covariances": _wide(covariances)}

    def _mixture_arguments(self, first, mixture):
        """The arguments of a task for a mixture, whose arrays have no gaps."""
        c = mixture["covariances"]
        return [rn.task_argument(first + i, a) for i, a in enumerate([mixture["weights"], mixture["means"], c.reshape(-1, c.shape[-1])])]

    def _scores(self, X, index, *columns, dtype=None):
        """What the library writes to argument index of gmm.score, for blocks of points one after the other."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        kind = {"covariance": self._kind()}
        mixture, out = self._mixture(), np.empty((X.shape[0], *columns), dtype or X.dtype)
        for rows in _blocks(X, max(X.shape[1], *columns, 1)):
            wide = _wide(X[rows])
            block = np.empty((len(wide), *columns), dtype or np.float64)
            library.model("gmm.score", kind, [rn.task_argument(0, wide), rn.task_argument(index, block), *self._mixture_arguments(4, mixture)], 64, self._work(len(wide), *mixture["means"].shape))
            out[rows] = block
        return out

    def score_samples(self, X):
        """The log density at each point."""
        return self._scores(X, 1)

    def predict_proba(self, X):
        """The responsibility of each component for each point."""
        check_is_fitted(self)
        return self._scores(X, 2, len(self.weights_))

    def predict(self, X):
        """The component of each point that is most responsible for it."""
        return self._scores(X, 3, dtype=np.int64)


class KMeans(sklearn.cluster.KMeans):
    """sklearn.cluster.KMeans with the engine of revnum.

    Differences:
      - With init="k-means++" the starts are those of the library, which also tries to move
        centres. n_init="auto" lets it choose how many there are: more if there are few points.
      - batch_size, if not 0, is that of mini-batch k-means.
      - algorithm is of no effect. A sparse X goes to scikit-learn's own engine.
    """

    _parameter_constraints = {**sklearn.cluster.KMeans._parameter_constraints, "batch_size": [Interval(Integral, 0, None, closed="left")]}

    def __init__(self, n_clusters=8, *, init="k-means++", n_init="auto", max_iter=300, tol=1e-4, verbose=0, random_state=None, copy_x=True, algorithm="lloyd", batch_size=0):
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, verbose=verbose, random_state=random_state, copy_x=copy_x, algorithm=algorithm)
        self.batch_size = batch_size

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        if sp.issparse(X):
            return super().fit(X, y, sample_weight)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", accept_large_sparse=False)
        self._check_params_vs_input(X[: self.n_clusters])  # it looks at their number, and at variances for another engine
        self._n_threads = 1
        random_state = check_random_state(self.random_state)
        weights = _weights(sample_weight, X)
        wide = _wide(X)
        best = None
        for init in self._starts(X, random_state, weights):
            labels, centres = np.empty(X.shape[0], np.int64), np.empty((self.n_clusters, X.shape[1]))
            args = [rn.task_argument(0, wide), rn.task_argument(2, labels), rn.task_argument(4, centres)]
            if weights is not None:
                args.append(rn.task_argument(1, weights))
            if init is not None:
                args.append(rn.task_argument(3, init))
            options = {
                "clusters": int(self.n_clusters), "starts": 0 if self.n_init == "auto" or init is not None else int(self.n_init), "max_iter": int(self.max_iter),
                "tolerance": float(self.tol) or -1, "batch": int(self.batch_size), "seed": _seed(random_state),
            }
            work = X.size * options["clusters"] * (options["max_iter"] + 10) * (1 if init is not None else options["starts"] or 16)  # of k-means++, about 10
            r = library.model("kmeans.fit", options, args, 4096, work)
            if self.verbose:
                print(f"Initialization complete\nIteration {r['iterations']}, inertia {r['cost']}.")
                if r["converged"]:
                    print(f"Converged at iteration {r['iterations']}: " + (f"center shift below {self.tol}, within tolerance." if self.tol else "strict convergence."))
            if best is None or r["cost"] < best["cost"]:
                best, self.labels_, self.cluster_centers_ = r, labels.astype(np.int32), centres.astype(X.dtype)
        self._n_features_out = len(self.cluster_centers_)
        self.inertia_, self.n_iter_ = best["cost"], max(1, best["iterations"])
        found = np.count_nonzero(np.bincount(self.labels_))
        if found < self.n_clusters:
            warnings.warn(f"Number of distinct clusters ({found}) found smaller than n_clusters ({self.n_clusters}). Possibly due to duplicate points in X.", ConvergenceWarning, stacklevel=2)
        return self

    def _starts(self, X, random_state, weights):
        """The centres of each start, or None for the starts of the library."""
        init = self.init
        if isinstance(init, str) and init == "k-means++":
            yield None
            return
        if _is_arraylike_not_scalar(init):
            init = check_array(init, dtype=X.dtype, copy=True, order="C")
            self._validate_center_shape(X, init)
        weights = np.ones(len(X)) if weights is None else weights
        for _ in range(self._n_init):
            yield _wide(self._init_centroids(X, row_norms(X, squared=True), init, random_state, weights))

    def _transform(self, X):
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])  # fit_transform gives what it got
        out = np.empty((X.shape[0], len(self.cluster_centers_)), np.result_type(X, self.cluster_centers_))
        for rows in _blocks(X, max(X.shape[1], out.shape[1])):
            out[rows] = super()._transform(X[rows])
        return out

    def predict(self, X):
        """The closest cluster of each point."""
        check_is_fitted(self)
        if sp.issparse(X):
            return super().predict(X)
        X = self._check_test_data(X)
        labels, centres = np.empty(X.shape[0], np.int32), _wide(self.cluster_centers_)
        for rows in _blocks(X, X.shape[1]):
            wide = _wide(X[rows])
            found = np.empty(len(wide), np.int64)
            library.model("kmeans.predict", {}, [rn.task_argument(0, wide), rn.task_argument(1, centres), rn.task_argument(2, found)], 64, wide.size * len(centres))
            labels[rows] = found
        return labels


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
