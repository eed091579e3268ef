"""Calls of kernels as lists of steps for rev_run, which are written once for arrays of some
shapes and then made on any such arrays. revnum.torch and revnum.jax consist of these:

    value    y                 of x
    both     y, Jᵀ·ȳ           of x, ȳ, for kernels that are not in place
    jvp      J·u               of x, u
    vjp      Jᵀ·ȳ              of x, ȳ
    second   (∂J[v])ᵀ·ȳ        of x, ȳ, v

Constants (indices, and the structure of sparse matrices) come after these arrays.
"""

import math
import struct
from typing import NamedTuple

import numpy as np

from . import _library
from ._library import CALL, CONJUGATE, COPY, WIDEN, ZERO, BATCH, pack, rules


class Spec(NamedTuple):
    """What of a call is no array.

    A batch is many problems in one call. Arrays then have the problems as their first axis,
    but for inputs and constants that all problems share. Derivatives are never shared."""

    rule: str
    inputs: tuple  # names of the inputs that have derivatives; of sparse ones, their entries
    constants: tuple  # (name, part) of the others: "" an index, "ptr" and "ind" structure
    shapes: tuple  # (name, shape) of sparse inputs
    params: tuple  # (name, value)
    outputs: tuple  # (shape, dtype), of one problem
    batch: int = -1  # problems; -1 is one problem without that axis
    shared: tuple = ()  # names of inputs, and (name, part) of constants
    wanted: tuple = ()  # names of inputs, whose gradients both computes

    @property
    def n(self):
        return len(self.inputs)

    def results(self):
        """The shapes and types of the outputs, with the axis of problems."""
        return self.outputs if self.batch < 0 else [((self.batch, *shape), dtype) for shape, dtype in self.outputs]

    def gradients(self, shapes):
        """The shapes of the gradients of inputs of these shapes."""
        return [(self.batch, *shape) if name in self.shared else tuple(shape) for name, shape in zip(self.inputs, shapes)]


class Buffer(NamedTuple):
    """A buffer of the steps of rev_run, which revnum.h describes."""

    number: int
    shape: tuple  # of all problems
    dtype: np.dtype
    strides: tuple = None  # in elements; None is without gaps
    shared: bool = True  # by the problems of a batch
    zero: bool = False  # a batch sets it to zero, problem by problem

    @property
    def bytes(self):
        n = math.prod(self.shape)
        if self.strides and n:
            n = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        return n * self.dtype.itemsize


class Steps:
    """The steps of a call. Its buffers are the arguments and the results, each as (shape,
    strides, dtype), and what new makes. Results that are None are not computed.

    conjugates says that cotangents of complex numbers are the conjugates of those of kernels,
    as in JAX."""

    def __init__(self, spec, arguments, results, conjugates=False):
        self.spec, self.rule, self.conjugates = spec, rules[spec.rule], conjugates
        self.batch = spec.batch
        self.steps = []
        keys = [*spec.inputs, *[None] * (len(arguments) - spec.n - len(spec.constants)), *spec.constants]
        shared = [self.batch < 0 or k in spec.shared for k in keys] + [self.batch < 0] * len(results)
        self.buffers = []
        made = []
        for (array, s) in zip([*arguments, *results], shared):
            made.append(None if array is None else self._add(*array, s))
        self.count = len(self.buffers)
        self.problem_outputs = list(spec.outputs)
        if self.batch >= 0 and not any(b and b.shared for b in made):
            made = self._as_one(made)
        self.arguments, self.results = made[: len(arguments)], made[len(arguments) :]
        self.byname = {o.name: o for o in self.rule.operands}
        self.settings = self.rule.settings(dict(spec.params))
        self.shapes = dict(spec.shapes)
        self.indices, self.structure = {}, {}
        for (name, part), b in zip(spec.constants, self.arguments[len(arguments) - len(spec.constants) :]):
            if b.dtype == np.int32:
                wide = self._add(b.shape, None, np.dtype(np.int64), b.shared)
                self.step(WIDEN, wide.number, b.number)
                b = wide
            if part == "":
                self.indices[name] = b
            else:
                self.structure[name, part] = b

    def _add(self, shape, strides, dtype, shared):
        self.buffers.append(Buffer(len(self.buffers), tuple(shape), dtype, strides, shared))
        return self.buffers[-1]

    def _as_one(self, made):
        """Makes the problems of a batch one, if there is a kernel that does it: the elements of
        vectors one behind the other, or, for Softmax, the vectors as rows of SoftmaxRows."""
        rows = rules.get(f"{self.rule.kernel}Rows[{self.rule.type}]")
        if self.rule.elementwise:
            shape = lambda s: (math.prod(s),)
        elif rows:
            self.rule, shape = rows, lambda s: s
        else:
            return made
        self.problem_outputs = [(shape((self.batch, *s)), dtype) for s, dtype in self.problem_outputs]
        self.batch = -1
        return [b and b._replace(shape=shape(b.shape), strides=None, shared=True) for b in made]

    def step(self, kind, a, b, rest=b""):
        self.steps.append(struct.pack("=qqqq", kind, 4 + len(rest) // 8, a, b) + rest)

    def new(self, shape, dtype):
        """A temporary buffer of the problems, each of this shape."""
        return self._add(shape if self.batch < 0 else (self.batch, *shape), None, dtype, self.batch < 0)

    def zeros(self, b):
        """b, which is zero before the next call."""
        if self.batch >= 0 and not b.shared and not self.rule.in_place:  # kernels in place make two calls
            return b._replace(zero=True)
        self.step(ZERO, b.number, 0)
        return b

    def copy(self, to, b):
        """Copies a buffer without gaps; one that is shared, for each problem."""
        if to.bytes:
            self.step(COPY, to.number, b.number)
        return to

    def like(self, b):
        return self.new(b.shape if b.shared else b.shape[1:], b.dtype)

    def conjugate(self, b):
        if self.conjugates and b.dtype.kind == "c":
            self.step(CONJUGATE, b.number, 0)
        return b

    def call(self, which, args):
        texts = [text for text, _ in args] + self.settings
        if self.batch < 0:
            self.step(CALL, self.rule.number, which, b"".join(texts))
        else:
            moves = [move for _, move in args] + [0] * len(self.settings)
            self.step(BATCH, self.rule.number, which, struct.pack(f"={1 + len(moves)}q", self.batch, *moves) + b"".join(texts))

    def text(self):
        """The steps as an array of numbers."""
        head = [_library.library.hash, self.count, len(self.buffers) - self.count, *(b.bytes for b in self.buffers)]
        return np.concatenate([np.array(head, np.int64), np.frombuffer(b"".join(self.steps), np.int64)])

    def pack(self, o, part, b):
        """The argument of rev_call for a buffer, that of the first problem, and how many
        bytes it is from a problem to the next."""
        shape, strides = (b.shape, b.strides) if b.shared else (b.shape[1:], None)
        n = math.prod(shape)
        move = 0 if b.shared else n * b.dtype.itemsize
        zero = float(b.zero)
        if o.sparse:
            return self._sparse(o, part, b.number + 1, n, zero), move
        rows, cols = (*shape, 1, 1)[:2] if shape else (1, 1)
        stride = strides[0] if strides and n else max(1, cols)
        span = 1 + (rows - 1) * stride + (cols - 1) * (strides[1] if strides and len(shape) > 1 else 1) if n else 0
        return pack(b.number + 1, span, rows, cols, stride, 1, 0, 0, 0, 0, zero, part, o.index, o.code, len(shape)), move

    def hold(self, x):
        """Packs the inputs x."""
        self.x = dict(zip(self.spec.inputs, x))
        self.inputs = [self.pack(self.byname[name], 0, b) for name, b in (self.x | self.indices).items() if self.byname[name].role != "inout"]

    def structures(self):
        """Packs the sparse outputs without their entries, where these are not computed."""
        return [(self._sparse(o, 0, 0, 0), 0) for o in self.rule.outputs if o.sparse]

    def _sparse(self, o, part, buffer, n, zero=0.0):
        ptr, ind = self.structure[o.name, "ptr"], self.structure[o.name, "ind"]
        return pack(buffer, n, *self.shapes[o.name], 0, 1, ptr.number + 1, ind.number + 1, math.prod(ptr.shape), math.prod(ind.shape), zero, part, o.index, o.code, 2)

    def outputs(self, out):
        """Sets outputs to what they are before the kernel, and packs them."""
        ready = lambda o, b: self.copy(b, self.x[o.name]) if o.role == "inout" else self.zeros(b)
        return [self.pack(o, 0, ready(o, b)) for o, b in zip(self.rule.outputs, out)]

    def temporary_outputs(self):
        return [self.new(shape, np.dtype(dtype)) for shape, dtype in self.problem_outputs]

    def tangents(self, t, outs):
        """Packs copies of the tangents t of inputs, and those of outputs. (Kernels refuse
        derivatives that share memory with operands, and callers may give an array twice.)"""
        given = dict(zip(self.spec.inputs, t))
        args = []
        for o, b in zip(self.rule.outputs, outs):
            b = self.copy(b, given.pop(o.name)) if o.role == "inout" else self.zeros(b)
            args.append(self.pack(o, 2, b))
        return args + [self.pack(self.byname[name], 2, self.copy(self.like(b), b)) for name, b in given.items()]

    def gradients(self, part, ct, grads):
        """Packs the cotangents ct of outputs, zeros if None, and those of inputs, which are
        left out where they are None."""
        grads = dict(zip(self.spec.inputs, grads))
        args = []
        for o, (shape, dtype), b in zip(self.rule.outputs, self.problem_outputs, ct or [None] * len(self.rule.outputs)):
            to = grads.pop(o.name, None) if o.role == "inout" else None
            to = self.new(shape, np.dtype(dtype)) if to is None else to
            to = self.zeros(to) if b is None else self.conjugate(self.copy(to, b))
            args.append(self.pack(o, part, to))
        return args + [self.pack(self.byname[name], part, self.zeros(b)) for name, b in grads.items() if b is not None]


def value(s):
    s.hold(s.arguments)
    s.call(_library.FORWARD, s.inputs + s.outputs(s.results))


def jvp(s):
    n = s.spec.n
    s.hold(s.arguments[:n])
    s.call(_library.TANGENT, s.inputs + s.outputs(s.temporary_outputs()) + s.tangents(s.arguments[n : 2 * n], s.results))


def vjp(s):
    n = s.spec.n
    s.hold(s.arguments[:n])
    ct = s.arguments[n : n + len(s.rule.outputs)]
    if s.rule.in_place:
        out = s.outputs(s.temporary_outputs())
        s.call(_library.FORWARD, s.inputs + out)
        s.call(_library.ADJOINT, s.inputs + out + s.gradients(1, ct, s.results))
    else:
        s.call(_library.GRADIENT, s.inputs + s.structures() + s.gradients(1, ct, s.results))
    for b in s.results:
        if b is not None:
            s.conjugate(b)


def both(s):
    n, m = s.spec.n, len(s.rule.outputs)
    s.hold(s.arguments[:n])
    given = dict(zip(s.spec.wanted, s.results[m:]))
    grads = [given.get(name) for name in s.spec.inputs]
    s.call(_library.GRADIENT, s.inputs + s.outputs(s.results[:m]) + s.gradients(1, s.arguments[n : n + m], grads))


def second(s):
    n, m = s.spec.n, len(s.rule.outputs)
    s.hold(s.arguments[:n])
    v = s.arguments[n + m : 2 * n + m]
    g = s.gradients(1, s.arguments[n : n + m], [s.like(b) for b in s.results])
    gt = s.gradients(3, None, s.results)
    if s.rule.in_place:
        out = s.outputs(s.temporary_outputs())
        t = s.tangents(v, s.temporary_outputs())
        s.call(_library.TANGENT, s.inputs + out + t)
        s.call(_library.ADJOINT_TANGENT, s.inputs + out + g + t + gt)
    else:
        t = [s.pack(s.byname[name], 2, s.copy(s.like(b), b)) for name, b in zip(s.spec.inputs, v)]
        s.call(_library.ADJOINT_TANGENT, s.inputs + s.structures() + g + t + gt)
    for b in s.results:
        s.conjugate(b)


def written(write, spec, arguments, results, conjugates=False):
    """The steps of a call for arguments and results, as an array of numbers."""
    s = Steps(spec, arguments, results, conjugates)
    write(s)
    return s.text()
