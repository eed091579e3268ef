"""Bundle adjustment by scipy.optimize.least_squares with the Jacobian of revnum.

The residuals of an observation depend on the nine parameters of one camera and the three
of one point, so a row of the Jacobian has twelve numbers. SciPy gets them as a sparse
matrix.

    python bundle_scipy.py
"""

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_array

import revnum.numpy as rn


def scene(cameras=6, points=60, noise=0.3, seed=1):
    rng = np.random.default_rng(seed)
    c = np.tile([0, 0, 0, 0, 0, -8, 500, 0, 0.0], (cameras, 1))
    c[:, :6] += rng.normal(size=(cameras, 6)) / 10
    p = rng.normal(size=(points, 3))
    camera, point = np.repeat(np.arange(cameras), points), np.tile(np.arange(points), cameras)
    none = np.zeros((len(camera), 2))
    seen = rn.ba.Snavely(c, p, none, camera, point).reshape(-1, 2)
    start = np.concatenate([(c + 1e-3 * rng.normal(size=c.shape)).ravel(), (p + 0.02 * rng.normal(size=p.shape)).ravel()])
    return start, seen + noise * rng.normal(size=seen.shape), camera, point, cameras, points


def solve(start, seen, camera, point, cameras, points):
    n = len(camera)
    parts = lambda x: (x[: 9 * cameras].reshape(cameras, 9), x[9 * cameras :].reshape(points, 3))
    rows = np.repeat(np.arange(2 * n), 12)
    of_camera = 9 * np.repeat(camera, 2)[:, None] + np.arange(9)
    of_point = 9 * cameras + 3 * np.repeat(point, 2)[:, None] + np.arange(3)
    columns = np.concatenate([of_camera, of_point], axis=1).ravel()

    def residuals(x):
        return rn.ba.Snavely(*parts(x), seen, camera, point)

    def jacobian(x):
        _, j = rn.bundle_jacobian(*parts(x), seen, camera, point)
        return csr_array((j.ravel(), (rows, columns)), shape=(2 * n, len(x)))

    return least_squares(residuals, start, jacobian, x_scale="jac", method="trf"), residuals, jacobian


if __name__ == "__main__":
    s = scene()
    r, residuals, _ = solve(*s)
    print(f"cost {0.5 * (residuals(s[0]) ** 2).sum():.3f} -> {r.cost:.6f} in {r.nfev} evaluations")
