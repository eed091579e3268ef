"""What the package says of itself."""

import ast
import importlib.util
import pathlib

import pytest

import revnum

HERE = pathlib.Path(__file__).resolve().parents[1]


def test_stubs(tmp_path):
    """The stubs have the kernels of the registry, and the modules their packages."""
    spec = importlib.util.spec_from_file_location("stubs", HERE / "stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    stubs.write(HERE.parents[1] / "docs" / "rules.json", tmp_path / "_kernels.pyi")
    classes = {c.name: {f.name for f in c.body} for c in ast.parse((tmp_path / "_kernels.pyi").read_text()).body if isinstance(c, ast.ClassDef)}
    kernels = {r.kernel for r in revnum.rules.values()}
    assert {f"{package}.{kernel}" for package, names in classes.items() for kernel in names} == kernels
    for module in ("numpy.py", "torch/__init__.py", "jax.py"):
        text = (pathlib.Path(revnum.__file__).parent / module).read_text()
        typed = {a.target.id for n in ast.parse(text).body if isinstance(n, ast.If) for a in n.body if isinstance(a, ast.AnnAssign)}
        assert typed == set(classes), module


def test_version():
    assert isinstance(revnum.__version__, str)
    with pytest.raises(AttributeError):
        revnum.nothing
