"""Installs a wheel where there is neither Go nor a C compiler, and runs what the README says, and the tests.

    python fresh.py WHEEL [--quick] [--site FOLDER]

It makes an empty environment whose PATH has nothing else, installs the wheel and the packages of requirements.txt
and requirements-torch.txt, or takes those of a folder of packages. Where there is Go, it writes the operands for the
tests of all kernels before. --quick is the example of the README, and some of PyTorch's gradcheck and JAX's check_grads.
Otherwise all tests run: these two for all kernels, and scikit-learn's own, too. That takes some 15 minutes."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv

here = pathlib.Path(__file__).resolve().parent

# What the example of the README leaves to the reader.
GIVEN = """
import jax, jax.numpy as jnp, numpy as np, torch
jax.config.update("jax_enable_x64", True)
a, b, gy = np.ones((3, 4)), np.ones((4, 2)), np.ones((3, 2))
given = lambda: (torch.ones(3, 4, dtype=torch.float64, requires_grad=True), torch.ones(4, 2, dtype=torch.float64))
alpha, means, factors = jnp.zeros(2), jnp.ones((2, 2)), jnp.zeros((2, 3))
points = np.random.default_rng(1).normal(size=(50, 2))
net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
cameras, landmarks = np.tile([0.0, 0, 0, 0, 0, -5, 500, 0, 0], (2, 1)), np.random.default_rng(2).normal(size=(4, 3))
features, camera, point = np.zeros((8, 2)), np.repeat([0, 1], 4), np.tile(range(4), 2)
"""
# Its names mean other things from these lines on.
MEANWHILE = {
    "import torch,": "a, b = given()",
    "z, logdet": "points = torch.as_tensor(np.array(points), dtype=torch.float32)",
    "residuals,": "points, clusters = landmarks, points.numpy()",
    "GaussianMixture(3)": "points = clusters",
}


def example():
    lines = []
    for line in re.search(r"```python\n(.*?)```", (here / "README.md").read_text(encoding="utf-8"), re.S)[1].splitlines():
        lines += [given for start, given in MEANWHILE.items() if line.startswith(start)] + [line]
    return "\n".join([GIVEN, *lines, "print('The example of the README ran.')"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--site", help="a folder of packages, such as site-packages of another environment of this Python")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        venv.create(folder / "venv", with_pip=not args.site)
        python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        env = {k: v for k, v in os.environ.items() if k not in ("CC", "PYTHONPATH", "REVNUM_LIBRARY")} | {"PATH": str(python.parent)}
        run = lambda *command, **options: subprocess.run([python, *map(str, command)], check=True, env=env, cwd=folder, **options)
        pip = ["-m", "pip", "install", "-q"]
        if args.site:
            site = run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))", capture_output=True, text=True).stdout.strip()
            pathlib.Path(site, "site.pth").write_text(str(pathlib.Path(args.site).resolve()))
            pip.append("--no-deps")
        else:
            run(*pip, "-r", here / "requirements.txt")
            run(*pip, "--no-deps", "-r", here / "requirements-torch.txt")
        run(*pip, args.wheel.resolve())
        for name in ("tests", "examples"):
            shutil.copytree(here / name, folder / "ports" / "python" / name)
        shutil.copy(here / "stubs.py", folder / "ports" / "python")
        (folder / "docs").mkdir()
        shutil.copy(here.parents[1] / "docs" / "rules.json", folder / "docs")
        if shutil.which("go") and not args.quick:
            env["REVNUM_VECTORS"] = str(folder / "vectors")
            subprocess.run(["go", "run", "./benchmarks", "rules", "export", folder / "vectors", "--rows", "2", "--cols", "3", "--format", "npz"], check=True, cwd=here.parents[1])
        run("-c", example())
        tests, chosen = folder / "ports" / "python" / "tests", []
        if args.quick:
            env.pop("REVNUM_LONG", None)
            chosen = ["-k", "(test_torch and test_gradcheck) or (test_jax and test_grads)"]
        else:
            env["REVNUM_LONG"] = "1"
        run("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--import-mode=importlib", tests, *chosen)


if __name__ == "__main__":
    main()
