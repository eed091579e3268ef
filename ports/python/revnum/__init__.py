"""Reversible kernels with their gradients.

    revnum.numpy       calls on NumPy arrays
    revnum.torch       operators of PyTorch, with gradients of first and second order
    revnum.torch.nn    reversible modules, which train without a tape
    revnum.jax         functions of JAX, with derivatives of first and second order
    revnum.estimators  models with the manners of scikit-learn

revnum.rules lists all kernels. docs/adjoints.md has their equations.
"""

from ._library import ArgumentError, InternalError, NoResultError, RevnumError, UnsupportedError, Rule, rules


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("revnum")
        except PackageNotFoundError:  # the sources are used as they lie
            return "0+unknown"
    raise AttributeError(f"module 'revnum' has no attribute {name!r}")


__all__ = ["ArgumentError", "InternalError", "NoResultError", "RevnumError", "UnsupportedError", "Rule", "rules"]
