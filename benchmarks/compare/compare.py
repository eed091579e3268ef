#!/usr/bin/env python3
"""Sets fits of revnum beside scikit-learn's, both with their default options.

    python -m venv VENV && VENV/bin/pip install scikit-learn
    VENV/bin/python benchmarks/compare/compare.py [--threads 1] [--seeds 20]

Points are drawn in four shapes. Of each it prints how often revnum's optimum is at
least as good as scikit-learn's and how often it is better, by k-means and by a
mixture with full covariances, and how many times longer scikit-learn takes. Both
models are scored by the same lines of NumPy. An optimum is as good if its cost is not
higher by more than 1e-9 of it, or its log-likelihood not lower by more than 1e-6 a
point. Times are processor
time with one thread, so that other work on the machine counts little, and elapsed
time with more; the least of the repetitions.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seeds", type=int, default=20)
parser.add_argument("--points", type=int, default=20000)
parser.add_argument("--clusters", type=int, default=20)
parser.add_argument("--repeat", type=int, default=3)
parser.add_argument("--shapes", default="blobs,anisotropic,unequal,d64")
parser.add_argument("--verbose", action="store_true", help="print each fit")
args = parser.parse_args()
for name in "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMAXPROCS":
    os.environ[name] = str(args.threads)  # before NumPy is loaded

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

warnings.filterwarnings("ignore")
root = pathlib.Path(__file__).resolve().parents[2]


def draw(shape, seed):
    """Points around centres drawn from a cube of width 20, with unit variances."""
    rng = np.random.RandomState(1000 + seed)
    n, k, d = args.points, args.clusters, 64 if shape == "d64" else 10
    if shape == "unequal":  # sizes from a uniform distribution of all that sum to n
        counts = rng.multinomial(n - 20 * k, rng.dirichlet(np.ones(k))) + 20
        return make_blobs(counts, d, centers=rng.uniform(-10, 10, (k, d)), random_state=seed)[0]
    x = make_blobs(n, d, centers=k, random_state=seed)[0]
    if shape == "anisotropic":
        x = x @ rng.normal(size=(d, d))
    return x


def cost(x, centroids):
    least = np.full(len(x), np.inf)
    for c in centroids:
        least = np.minimum(least, ((x - c) ** 2).sum(1))
    return least.sum()


def log_likelihood(x, weights, means, covariances):
    logs = []
    for w, m, c in zip(weights, means, covariances):
        chol = np.linalg.cholesky(c)
        z = np.linalg.solve(chol, (x - m).T)
        logs.append(np.log(w) - np.log(np.diag(chol)).sum() - 0.5 * (z**2).sum(0))
    return logsumexp(logs, axis=0).sum() - 0.5 * x.size * np.log(2 * np.pi)


def timed(fit):
    clock = time.process_time if args.threads == 1 else time.perf_counter
    best = np.inf
    for _ in range(args.repeat):
        begin = clock()
        model = fit()
        best = min(best, clock() - begin)
    return best, model


with tempfile.TemporaryDirectory() as folder:
    binary, data = pathlib.Path(folder, "compare"), pathlib.Path(folder, "x.npy")
    subprocess.run(["go", "build", "-o", binary, "./benchmarks/compare"], cwd=root, check=True)
    print(f"n={args.points} K={args.clusters} threads={args.threads} seeds={args.seeds}")
    print(f"{'shape':12}{'method':>8}{'as good':>9}{'better':>8}{'sklearn ms':>12}{'revnum ms':>11}{'times':>7}{'least':>7}")
    for shape in args.shapes.split(","):
        rows = {"kmeans": [], "gmm": []}
        for seed in range(args.seeds):
            x = draw(shape, seed)
            np.save(data, x)
            out = subprocess.run([binary, "-k", str(args.clusters), "-seed", str(seed + 1), "-repeat", str(2 * args.repeat), data],
                                 check=True, capture_output=True).stdout
            ours = json.loads(out)
            t, model = timed(lambda: KMeans(args.clusters, random_state=seed).fit(x))
            a, b = cost(x, model.cluster_centers_), cost(x, np.array(ours["kmeans"]["Model"]["centroids"]))
            rows["kmeans"].append((t, b <= a * (1 + 1e-9), b < a * (1 - 1e-9), a, b))
            t, model = timed(lambda: GaussianMixture(args.clusters, random_state=seed).fit(x))
            m = ours["gmm"]["Model"]
            a = log_likelihood(x, model.weights_, model.means_, model.covariances_)
            b = log_likelihood(x, m["weights"], np.array(m["means"]), np.array(m["covariances"]))
            rows["gmm"].append((t, b >= a - 1e-6 * len(x), b > a + 1e-6 * len(x), a, b))
            for method, row in rows.items():
                row[-1] += (ours[method]["CPU" if args.threads == 1 else "Wall"],)
                if args.verbose:
                    print(shape, seed, method, row[-1], flush=True)
        for method, row in rows.items():
            theirs, ours = np.array([r[0] for r in row]), np.array([r[5] for r in row])
            print(f"{shape:12}{method:>8}{sum(r[1] for r in row):9}{sum(r[2] for r in row):8}"
                  f"{1e3 * np.median(theirs):12.1f}{1e3 * np.median(ours):11.1f}"
                  f"{np.median(theirs / ours):7.1f}{np.min(theirs / ours):7.1f}", flush=True)
