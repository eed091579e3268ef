"""scikit-learn's own tests of GaussianMixture and KMeans, with ours in their place."""

import os
import pathlib
import subprocess
import sys

import pytest

sklearn = pytest.importorskip("sklearn")

# What fails, and why.
SKIPPED = {
    "mixture": {
        "test_multiple_init": 'n_init="auto" is the default, which makes more starts than the 5 that it compares with',
        "test_gaussian_mixture_all_init_does_not_estimate": "it counts calls of scikit-learn's own steps",
        "test_gaussian_mixture_precisions_init_diag": "components of equal fits come in another order",
    },
    "cluster": {
        "test_dense_sparse and KMeans and not MiniBatch": "sparse points go to the engine of scikit-learn, which draws other starts",
        "test_kmeans_results and dense": "n_iter_ counts the iterations that move centres, and not the last, which only looks",
        "MiniBatchKMeans": "there is none of ours",
    },
}
FILES = {
    "mixture": ("mixture/tests/test_gaussian_mixture.py", "from sklearn.mixture import GaussianMixture\n", ""),
    "cluster": ("cluster/tests/test_k_means.py", "from sklearn.cluster import KMeans, MiniBatchKMeans,", "from sklearn.cluster import MiniBatchKMeans,"),
}


@pytest.mark.skipif(not os.environ.get("REVNUM_LONG"), reason="takes a minute: set REVNUM_LONG")
@pytest.mark.parametrize("package", FILES)
def test_sklearn(package, tmp_path):
    name, theirs, rest = FILES[package]
    source = pathlib.Path(sklearn.__file__).parent / name
    if not source.exists():
        pytest.skip("scikit-learn is installed without its tests")
    text = source.read_text()
    ours = f"from revnum.estimators import {'GaussianMixture' if package == 'mixture' else 'KMeans'}\n"
    assert text.count(theirs) == 1
    file = tmp_path / "test_ours.py"
    file.write_text(text.replace(theirs, ours + rest))
    chosen = " and ".join(f"not ({k})" for k in SKIPPED[package])
    r = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "sklearn.conftest", "-W", "ignore", "-k", chosen, str(file)], capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 0, r.stdout[-5000:] + r.stderr[-2000:]
