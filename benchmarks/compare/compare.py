#!/usr/bin/env python3
"""Sets fits of revnum beside scikit-learn's.

    python -m venv VENV && VENV/bin/pip install scikit-learn
    VENV/bin/python benchmarks/compare/compare.py [--data iris,moons] [--seeds 20] [--threads 1]

Each set of data is fitted by k-means and by mixtures with each kind of covariances, once
for each seed. Real data are those that come with scikit-learn; the others are drawn anew for
each seed. Both sides use the default options of their fits, except that regularisation and
tolerance of mixtures are scikit-learn's defaults on both sides.

Both models are scored by the same lines of NumPy. A fit is no worse if its cost is not higher
by more than 1e-9 of it, or its log-likelihood not lower by more than --slack for each point.
A table has, for each set and method, how many fits are no worse, how many are better, the
median and the worst of what revnum gains (in log-likelihood for each point, or as a fraction
of the cost), the median times, and how many times longer scikit-learn takes. Times are
processor time with one thread, so that other work on the machine counts little, and elapsed
time with more; the least of the repetitions.

--python takes the classes of revnum.estimators, which must be installed, in this process: both
sides then include the checks of their arguments in Python, and times are elapsed time.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seeds", type=int, default=20)
parser.add_argument("--repeat", type=int, default=3)
parser.add_argument("--data", default="", help="sets of data, with commas between; all but the large ones if empty")
parser.add_argument("--methods", default="kmeans,full,tied,diagonal,spherical")
parser.add_argument("--reg", type=float, default=1e-6)
parser.add_argument("--tolerance", type=float, default=1e-3)
parser.add_argument("--starts", type=int, default=0, help="number of starts of revnum; 0 means its default")
parser.add_argument("--slack", type=float, default=1e-6)
parser.add_argument("--python", action="store_true", help="fit with revnum.estimators")
parser.add_argument("--verbose", action="store_true", help="print each fit")
args = parser.parse_args()
if args.python and args.starts:
    parser.error("--starts is for the Go program, not with --python")
for name in "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMAXPROCS":
    os.environ[name] = str(args.threads)  # before NumPy is loaded
for name in "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE":
    os.environ.pop(name, None)
if args.python and "COMPARE_AGAIN" not in os.environ:  # a Go library reads the environment that its process began with
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"COMPARE_AGAIN": "1"})

import numpy as np
from scipy.special import logsumexp
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

warnings.filterwarnings("ignore")
root = pathlib.Path(__file__).resolve().parents[2]


def blobs(n, d, k, spread=1.0):
    return lambda rng: datasets.make_blobs(n, d, centers=k, cluster_std=spread, random_state=rng)[0]


def anisotropic(n, d, k):
    return lambda rng: blobs(n, d, k)(rng) @ rng.normal(size=(d, d))


def unequal(n, d, k):
    """Clusters whose sizes have a uniform distribution among all that sum to n."""

    def draw(rng):
        counts = rng.multinomial(n - 20 * k, rng.dirichlet(np.ones(k))) + 20
        return datasets.make_blobs(counts, d, centers=rng.uniform(-10, 10, (k, d)), random_state=rng)[0]

    return draw


def outliers(far):
    """Three blobs, and points that are far away."""
    return lambda rng: np.vstack([blobs(300, 2, 3)(rng), far])


def duplicates(rng):
    return np.repeat(rng.normal(size=(40, 3)), rng.randint(1, 12, 40), axis=0)


def constant(rng):
    return np.hstack([blobs(300, 2, 3)(rng), np.full((300, 1), 7.0)])


# The number of components of each set, and how it is drawn.
SETS = {
    "digits": (10, lambda rng: datasets.load_digits().data),
    "iris": (3, lambda rng: datasets.load_iris().data),
    "wine": (3, lambda rng: datasets.load_wine().data),
    "cancer": (2, lambda rng: datasets.load_breast_cancer().data),
    "blobs-tight": (5, blobs(500, 2, 5, 0.3)),
    "blobs": (5, blobs(500, 2, 5)),
    "blobs-wide": (5, blobs(500, 2, 5, 3.0)),
    "moons": (4, lambda rng: datasets.make_moons(500, noise=0.05, random_state=rng)[0]),
    "swiss-roll": (8, lambda rng: datasets.make_swiss_roll(1000, noise=0.1, random_state=rng)[0]),
    "anisotropic": (3, anisotropic(500, 2, 3)),
    "unequal": (4, unequal(500, 3, 4)),
    "one-cluster": (3, lambda rng: rng.normal(size=(500, 3))),
    "duplicates": (4, duplicates),
    "constant": (3, constant),
    "few": (3, lambda rng: rng.normal(size=(15, 2)) + 4 * rng.randint(0, 3, (15, 1))),
    "outlier": (3, outliers([[1e6, 1e6]])),
    "outliers": (4, outliers([[60, 70], [-80, 50], [90, -40]])),
    "units": (3, lambda rng: anisotropic(500, 4, 3)(rng) * [1e-3, 1, 30, 1e4]),
    "large-blobs": (20, blobs(20000, 10, 20)),
    "large-anisotropic": (20, anisotropic(20000, 10, 20)),
    "large-unequal": (20, unequal(20000, 10, 20)),
    "large-d64": (20, blobs(20000, 64, 20)),
}
KINDS = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}


def cost(x, centroids):
    least = np.full(len(x), np.inf)
    for c in centroids:
        least = np.minimum(least, ((x - c) ** 2).sum(1))
    return least.sum()


def log_likelihood(x, weights, means, covariances):
    """The mean log density of the points."""
    logs = []
    with np.errstate(divide="ignore"):
        for w, m, c in zip(weights, means, covariances):
            chol = np.linalg.cholesky(c)
            z = np.linalg.solve(chol, (x - m).T)
            logs.append(np.log(w) - np.log(np.diag(chol)).sum() - 0.5 * (z**2).sum(0))
    return logsumexp(logs, axis=0).mean() - 0.5 * x.shape[1] * np.log(2 * np.pi)


def full(model):
    """The covariances of scikit-learn's model as matrices."""
    k, d = model.means_.shape
    c = model.covariances_
    return {
        "full": lambda: c,
        "tied": lambda: [c] * k,
        "diag": lambda: [np.diag(v) for v in c],
        "spherical": lambda: [v * np.eye(d) for v in c],
    }[model.covariance_type]()


def timed(fit):
    clock = time.process_time if args.threads == 1 and not args.python else time.perf_counter
    best = np.inf
    for _ in range(args.repeat):
        begin = clock()
        model = fit()
        best = min(best, clock() - begin)
    return best, model


def theirs(x, k, method, seed, KMeans=KMeans, GaussianMixture=GaussianMixture):
    """The time and the score of scikit-learn's fit, or of that of other classes."""
    if method == "kmeans":
        t, model = timed(lambda: KMeans(k, random_state=seed).fit(x))
        return t, -cost(x, model.cluster_centers_)
    try:
        t, model = timed(lambda: GaussianMixture(k, covariance_type=KINDS[method], reg_covar=args.reg, tol=args.tolerance, random_state=seed).fit(x))
        return t, log_likelihood(x, model.weights_, model.means_, full(model))
    except (ValueError, np.linalg.LinAlgError):  # a covariance is singular in spite of args.reg
        return np.nan, -np.inf


def ours(x, k, method, result):
    """The time and the score of revnum's fit."""
    t, m = result["CPU" if args.threads == 1 else "Wall"], result["Model"]
    if method == "kmeans":
        return t, -cost(x, np.array(m["centroids"]))
    return t, log_likelihood(x, m["weights"], np.array(m["means"]), np.array(m["covariances"]))


with tempfile.TemporaryDirectory() as folder:
    binary, data = pathlib.Path(folder, "compare"), pathlib.Path(folder, "x.npy")
    if args.python:
        from revnum import estimators
    else:
        subprocess.run(["go", "build", "-o", binary, "./benchmarks/compare"], cwd=root, check=True)
    print(f"threads={args.threads} seeds={args.seeds} reg={args.reg} tolerance={args.tolerance} slack={args.slack}")
    fits, good, ratios = 0, 0, []
    for name in args.data.split(",") if args.data else [s for s in SETS if not s.startswith("large")]:
        k, draw = SETS[name]
        rows = {method: [] for method in args.methods.split(",")}
        for seed in range(args.seeds):
            x = draw(np.random.RandomState(1000 + seed))
            if not args.python:
                np.save(data, x)
                out = subprocess.run(
                    [binary, "-k", str(k), "-seed", str(seed + 1), "-repeat", str(args.repeat), "-methods", args.methods,
                     "-reg", str(args.reg), "-tolerance", str(args.tolerance), "-starts", str(args.starts), data],
                    check=True, capture_output=True).stdout
                results = json.loads(out)
            for method, row in rows.items():
                a = theirs(x, k, method, seed)
                b = theirs(x, k, method, seed, estimators.KMeans, estimators.GaussianMixture) if args.python else ours(x, k, method, results[method])
                unit = abs(a[1]) if method == "kmeans" else 1
                row.append((a[0], b[0], (b[1] - a[1]) / unit if b[1] != a[1] else 0.0))
                if args.verbose:
                    print(name, seed, method, a, b, flush=True)
        print(f"\n{name}: n={len(x)} D={x.shape[1]} K={k}")
        print(f"{'method':>10}{'no worse':>9}{'better':>8}{'median gain':>13}{'worst':>11}{'sklearn ms':>12}{'revnum ms':>11}{'times':>7}")
        for method, row in rows.items():
            t, u, gain = np.array(row).T
            slack = 1e-9 if method == "kmeans" else args.slack
            no_worse = int((gain >= -slack).sum())
            fits, good, ratios = fits + len(row), good + no_worse, ratios + list(t / u)
            print(f"{method:>10}{no_worse:9}{int((gain > slack).sum()):8}{np.median(gain):13.2g}{gain.min():11.2g}"
                  f"{1e3 * np.nanmedian(t):12.2f}{1e3 * np.median(u):11.2f}{np.nanmedian(t / u):7.1f}", flush=True)
    print(f"\n{good} of {fits} fits are no worse ({100 * good / fits:.1f} %); scikit-learn takes {np.nanmedian(ratios):.1f} times longer in the median, "
          f"and {np.nanpercentile(ratios, 5):.1f} times in the least 5 %")
