"""Reversible kernels with their gradients.

    revnum.numpy       calls on NumPy arrays
    revnum.torch       operators of PyTorch, with gradients of first and second order
    revnum.jax         functions of JAX, with derivatives of first and second order
    revnum.estimators  models with the manners of scikit-learn

revnum.rules lists all kernels. docs/adjoints.md has their equations.
"""

from ._library import ArgumentError, InternalError, NoResultError, RevnumError, UnsupportedError, Rule, rules

__all__ = ["ArgumentError", "InternalError", "NoResultError", "RevnumError", "UnsupportedError", "Rule", "rules"]
