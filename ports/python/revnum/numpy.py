"""The kernels on NumPy arrays.

    import revnum.numpy as rn

    y = rn.revlinalg.MatMul(a, b)                      # the value
    y, pullback = rn.vjp(rn.revlinalg.MatMul, a, b)    # and its gradient
    ga, gb = pullback(gy)
    y, dy = rn.jvp(rn.revlinalg.MatMul, (a, b), (da, db))

A kernel is named by its function or as in docs/rules.json, "revlinalg.MatMul". Operands
come in the order of docs/rules.json, without those that are added into, or by name. Parameters are keywords. A sparse matrix is a scipy.sparse CSR array or a CSR
here, and its gradient is a CSR with the same structure. The type of the arrays chooses
the kernel; an array of another layout than the kernel takes is copied.

run works in place, on memory that is the caller's, and copies nothing. prepare returns
a function that does the same again and again.
"""

import ctypes
import functools
import struct
import sys
import types
from typing import TYPE_CHECKING

import numpy as np

from . import _library
from ._library import ArgumentError, Package, bind, lookup, pack

_TYPES = {"float64": np.dtype(np.float64), "float32": np.dtype(np.float32), "Q43": np.dtype(np.int64), "complex128": np.dtype(np.complex128), "int": np.dtype(np.int64)}
_NAMES = {np.dtype(np.float64): "float64", np.dtype(np.float32): "float32", np.dtype(np.complex128): "complex128"}
_PASSES = {"Forward": 0, "Inverse": 1, "Adjoint": 2, "Tangent": 3, "AdjointTangent": 4, "Gradient": 5}


def _addresses():
    """The function that returns the address of an array's data. NumPy's own ways make objects that take longer
    than a short kernel. In CPython the address comes first in an array, as NumPy's interface for C has it."""
    word, at = ctypes.c_size_t.from_address, object.__basicsize__
    quick, plain = lambda a: word(id(a) + at).value, lambda a: a.__array_interface__["data"][0]
    a = np.empty(4)
    known = sys.implementation.name == "cpython" and all(quick(x) == plain(x) for x in (a, a[1:], a[::2]))
    return quick if known else plain


address = _addresses()


def indices(name, a):
    """a as an array of int64 without gaps. Numbers that are not integers are refused."""
    a = np.asarray(a)
    if a.size and a.dtype.kind not in "iu":
        raise ArgumentError(f"revnum: {name} has elements of {a.dtype}, want integers")
    return np.ascontiguousarray(a, np.int64)


class CSR:
    """A sparse matrix stored by rows: the entries of row i are data[ptr[i]:ptr[i+1]], in
    the columns ind[ptr[i]:ptr[i+1]]."""

    def __init__(self, shape, ptr, ind, data):
        self.shape = tuple(shape)
        self.ptr = indices("ptr of a sparse matrix", ptr)
        self.ind = indices("ind of a sparse matrix", ind)
        self.data = np.ascontiguousarray(data)
        if self.ptr.ndim != 1 or self.ind.ndim != 1 or self.data.ndim != 1:
            raise ArgumentError("revnum: the arrays of a sparse matrix are vectors")

    @property
    def dtype(self):
        return self.data.dtype

    def with_data(self, data):
        """A matrix of the same structure with other numbers."""
        m = object.__new__(CSR)
        m.shape, m.ptr, m.ind, m.data = self.shape, self.ptr, self.ind, data
        return m

    def toarray(self):
        a = np.zeros(self.shape, self.dtype)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.ptr))
        np.add.at(a, (rows, self.ind), self.data)
        return a


def _sparse(m):
    """m as a CSR."""
    if isinstance(m, CSR):
        return m
    if getattr(m, "format", None) == "csr":
        return CSR(m.shape, m.indptr, m.indices, m.data)
    raise ArgumentError(f"revnum: want a sparse matrix, a CSR, found {type(m).__name__}")


def argument(o, part, a, entries=True):
    """The packed argument of an array for operand o, or of the structure of a sparse matrix
    without its entries. The array must live until the call."""
    if not entries:
        return pack(0, 0, *a.shape, 0, 1, address(a.ptr), address(a.ind), a.ptr.size, a.ind.size, 0.0, part, o.index, o.code, 2)
    if o.sparse:
        d = a.data
        if not isinstance(d, np.ndarray):
            raise ArgumentError(f"revnum: the entries of {o.name} are a {d.__class__.__name__}, want an array of NumPy")
        if d.dtype != _TYPES[o.type]:
            raise ArgumentError(f"revnum: {o.name} has elements of {d.dtype}, want {o.type}")
        if not d.flags.c_contiguous:
            raise ArgumentError(f"revnum: the entries of {o.name} are not contiguous")
        return pack(address(d), d.size, *a.shape, 0, 1, address(a.ptr), address(a.ind), a.ptr.size, a.ind.size, 0.0, part, o.index, o.code, 2)
    if a.dtype != _TYPES[o.type]:
        raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want {o.type}")
    axes, shape, strides, size = a.ndim, a.shape, a.strides, o.size
    data = address(a)
    if axes == 0:
        return pack(data, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0.0, part, o.index, o.code, 0)
    if axes == 1:
        n, s = shape[0], strides[0] // size
        return pack(data, (n - 1) * s + 1 if n and s > 0 else n, n, 0, s, 1, 0, 0, 0, 0, 0.0, part, o.index, o.code, 1)
    if axes == 2:
        (m, n), s, c = shape, strides[0] // size, strides[1] // size
        span = (m - 1) * s + (n - 1) * c + 1 if m and n and s >= 0 and c >= 0 else m * n
        return pack(data, span, m, n, s, c, 0, 0, 0, 0, 0.0, part, o.index, o.code, 2)
    raise ArgumentError(f"revnum: {o.name} has {axes} axes, want {o.axes}")


def _type_of(arrays):
    found = None
    for a in arrays:
        name = _NAMES.get(getattr(a, "dtype", None))
        if name == "complex128" or found is None:
            found = name or found
    return found or "float64"


def _input(o, a):
    """a as an array that the kernel can read."""
    if o.sparse:
        return _sparse(a)
    a = np.asarray(a)
    want = _TYPES[o.type]
    if a.dtype != want:
        if not np.can_cast(a.dtype, want, "safe") and not (a.dtype.kind in "iu" and o.role == "index"):
            raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want {o.type}")
        a = a.astype(want)
    if a.ndim == 2 and not (a.shape[1] <= 1 or a.strides[1] == a.itemsize) or o.kind in ("edges", "slice") or any(s <= 0 or s % a.itemsize for s in a.strides):
        a = np.ascontiguousarray(a).reshape(a.shape)
    return a


def _prepare(kernel, args, kwargs):
    rule = lookup(kernel, _type_of([getattr(a, "data", a) if hasattr(a, "indptr") else a for a in [*args, *kwargs.values()]]))
    if rule.missing:
        raise ArgumentError(f"{rule.name} cannot be called: {rule.missing}")
    operands, params = bind(rule, args, kwargs)
    arrays = {o.name: _input(o, operands[o.name]) for o in rule.operands if operands.get(o.name) is not None}
    return rule, arrays, params


def _zeros_like(o, a):
    return a.with_data(np.zeros(a.ind.size, a.dtype)) if o.sparse else np.zeros(a.shape, a.dtype)


def _copy(o, a):
    return a.with_data(a.data.copy()) if o.sparse else np.array(a, order="C", ndmin=a.ndim)


def _new_outputs(rule, arrays, params):
    shapes = None
    out = []
    for i, o in enumerate(rule.outputs):
        if o.role == "inout":
            if o.name not in arrays:
                raise ArgumentError(f"{rule.name}: {o.name} is missing")
            out.append(_copy(o, arrays[o.name]))
        elif o.name in arrays:
            out.append(_zeros_like(o, arrays[o.name]))
        else:
            if o.sparse:
                raise ArgumentError(f"{rule.name}: the inputs do not tell the structure of {o.name}: give {o.name}=matrix")
            shapes = shapes or rule.output_shapes({name: a.shape for name, a in arrays.items()}, params)
            out.append(np.zeros(shapes[i], _TYPES[o.type]))
    return out


def _apart(o, a, arrays):
    """a, or a copy of it if it shares memory with an operand: kernels refuse that of derivatives."""
    data = a.data if o.sparse else a
    for b in arrays.values():
        if np.may_share_memory(data, b.data if isinstance(b, CSR) else b):
            return _copy(o, a)
    return a


def _pack_inputs(rule, arrays):
    return [argument(o, 0, arrays[o.name]) for o in rule.inputs if o.role != "inout" and o.name in arrays]


def _single(list):
    return list[0] if len(list) == 1 else tuple(list)


def _number(a):
    return a[()] if isinstance(a, np.ndarray) and a.ndim == 0 else a


def call(kernel, *args, **kwargs):
    """The outputs of a kernel: one, or a tuple."""
    return _call(kernel, args, kwargs)[0]


def _call(kernel, args, kwargs):
    """The outputs of a kernel, and the call that was made, if one for arrays like these copies none."""
    rule, arrays, params = _prepare(kernel, args, kwargs)
    out = _new_outputs(rule, arrays, params)
    settings = rule.settings(params)
    inputs = [o for o in rule.inputs if o.role != "inout" and o.name in arrays]
    packed = [argument(o, 0, arrays[o.name]) for o in inputs] + [argument(o, 0, a) for o, a in zip(rule.outputs, out)]
    rule.run(_library.FORWARD, packed + settings)
    plain = not rule.in_place and not any(o.sparse for o in (*inputs, *rule.outputs))
    uncopied = len(inputs) == len(args) and all(arrays[o.name] is a for o, a in zip(inputs, args))
    made = (rule, packed, out, settings, params) if plain and uncopied else None
    return _single([_number(a) for a in out]), made


class _Again:
    """A call for arrays of the same types, shapes and strides as before: its arguments but for their addresses."""

    def __init__(self, rule, packed, out, settings):
        self.number, self.out = rule.number, [(a.shape, a.dtype) for a in out]
        self.fields, self.settings = [v for p in packed for v in (0, p[8:])], b"".join(settings)
        self.pack, self.n = struct.Struct("=" + f"q{len(packed[0]) - 8}s" * len(packed)).pack, len(packed) + len(settings)

    def __call__(self, args):
        # Loops: comprehensions are functions, whose calls take as long as what they do here.
        fields, out, i = self.fields.copy(), [], 0
        for a in args:
            fields[i] = address(a)
            i += 2
        for shape, dtype in self.out:
            a = np.zeros(shape, dtype)
            out.append(a)
            fields[i] = address(a)
            i += 2
        status = _library.library.call(self.number, _library.FORWARD, self.pack(*fields) + self.settings, self.n)
        if status:
            _library.library.fail(status)
        if len(out) == 1:
            return a if a.ndim else a[()]
        return tuple(map(_number, out))


class Function:
    """The function of a kernel. It keeps what it has found of calls for arrays of the same kind: the library does,
    which makes these calls without Python's code, or the function itself where the library does not know this
    Python. uses_c says which."""

    __slots__ = ("_calls", "_kept", "__dict__", "__weakref__")  # the library reads the first

    def __init__(self, kernel):
        self.kernel, self._kept = kernel, {}

    def slow(self, *args, **kwargs):
        try:
            key = tuple([(type(a), a.dtype, a.shape, a.strides) for a in args])  # a proxy has the class of its array
            if kwargs:
                for v in kwargs.values():
                    if not isinstance(v, (int, float)):
                        return call(self.kernel, *args, **kwargs)
                key += tuple([(name, repr(v)) for name, v in kwargs.items()])  # which tells 0.0 from -0.0
            again = self._kept.get(key)
        except AttributeError:  # not all are arrays
            return call(self.kernel, *args, **kwargs)
        if again is not None:
            return again(args)
        result, made = _call(self.kernel, args, kwargs)
        if made and all(type(a) is np.ndarray for a in args):
            rule, packed, out, settings, params = made
            if _quick() and all(type(v) in _library.NUMBERS for v in kwargs.values()):
                self.__class__ = _quick()
                self._calls = self._keep(rule.number, b"".join(packed + settings), args, tuple(out), kwargs, rule.takes_long(params))
            else:
                if len(self._kept) >= 256:
                    self._kept.clear()
                self._kept[key] = _Again(rule, packed, out, settings)
        return result

    __call__ = slow

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self):
        return _by_name, (self.kernel,)

    def __repr__(self):
        return f"<function {self.kernel}>"


def _by_name(kernel):
    package, _, name = kernel.partition(".")
    return getattr(getattr(sys.modules[__name__], package), name)


@functools.cache
def _quick():
    """The subclass of Function whose calls the library makes, or None."""
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get("numpy.core._multiarray_umath")  # before NumPy 2
    if sys.implementation.name != "cpython" or object.__basicsize__ != 2 * ctypes.sizeof(ctypes.c_void_p) or not hasattr(core, "_ARRAY_API"):
        return None
    f = Function("")
    f._calls = marker = object()
    if ctypes.c_void_p.from_address(id(f) + object.__basicsize__).value != id(marker):
        return None
    table = ctypes.c_void_p.from_address(_library.pointer(core._ARRAY_API))  # whose first function returns the version
    if ctypes.PYFUNCTYPE(ctypes.c_uint)(table.value)() not in (0x1000009, 0x2000000):
        return None  # ports/capi/python.c knows no other tables
    return _library.library.python_type(Function, core._ARRAY_API)


def _cotangents(rule, cotangents, out, arrays):
    if len(cotangents) != len(out):
        raise TypeError(f"{rule.name} has {len(out)} outputs, found {len(cotangents)} cotangents")
    g = []
    for o, a, like in zip(rule.outputs, cotangents, out):
        if a is None:
            g.append(_zeros_like(o, like))
            continue
        a = _input(o, a)
        if a.shape != like.shape:
            raise ArgumentError(f"{rule.name}: the cotangent of {o.name} is of shape {a.shape}, want {like.shape}")
        g.append(_copy(o, a) if o.role == "inout" else _apart(o, a, arrays))
    return g


def vjp(kernel, *args, **kwargs):
    """The outputs of a kernel, and a function from their cotangents to the gradients of
    all inputs but indices. It may be called any number of times."""
    rule, arrays, params = _prepare(kernel, args, kwargs)
    out = _new_outputs(rule, arrays, params)
    settings = rule.settings(params)
    inputs = _pack_inputs(rule, arrays)
    rule.run(_library.FORWARD, inputs + [argument(o, 0, a) for o, a in zip(rule.outputs, out)] + settings)
    kept = [_copy(o, a) if o.role == "inout" else None for o, a in zip(rule.outputs, out)]

    def pullback(*cotangents):
        g = _cotangents(rule, cotangents, out, arrays)
        args = inputs + [argument(o, 0, a, entries=False) for o, a in zip(rule.outputs, out) if o.sparse]
        gradients, state = [], []
        for o, a, k in zip(rule.outputs, g, kept):
            args.append(argument(o, 1, a))
            if k is not None:
                state.append(_copy(o, k))
                args.append(argument(o, 0, state[-1]))
        for o in rule.inputs:
            if o.role == "index" or o.name not in arrays:
                if o.role != "index":
                    gradients.append(None)
                continue
            if o.role == "inout":
                gradients.append(g[rule.outputs.index(o)])
                continue
            gradients.append(_zeros_like(o, arrays[o.name]))
            args.append(argument(o, 1, gradients[-1]))
        rule.run(_library.ADJOINT if rule.in_place else _library.GRADIENT, args + settings)
        return _single([_number(a) for a in gradients])

    return _single([_number(a) for a in out]), pullback


def jvp(kernel, args, tangents, **kwargs):
    """The outputs of a kernel and their tangents, for tangents of the inputs but indices;
    None is zero."""
    rule, arrays, params = _prepare(kernel, args, kwargs)
    out = _new_outputs(rule, arrays, params)
    packed = _pack_inputs(rule, arrays) + [argument(o, 0, a) for o, a in zip(rule.outputs, out)] + rule.settings(params)
    moving = [o for o in rule.inputs if o.role != "index"]
    if len(tangents) != len(moving):
        raise TypeError(f"{rule.name} has {len(moving)} inputs with tangents, found {len(tangents)}")
    given = {o.name: _apart(o, _input(o, t), arrays) for o, t in zip(moving, tangents) if t is not None}
    for name, t in given.items():
        if t.shape != arrays[name].shape:
            raise ArgumentError(f"{rule.name}: the tangent of {name} is of shape {t.shape}, want {arrays[name].shape}")
    out_tangents = []
    for o, a in zip(rule.outputs, out):
        t = _copy(o, given.pop(o.name)) if o.name in given else _zeros_like(o, a)
        out_tangents.append(t)
        packed.append(argument(o, 2, t))
    packed += [argument(o, 2, given[o.name]) for o in moving if o.name in given]
    rule.run(_library.TANGENT, packed)
    return _single([_number(a) for a in out]), _single([_number(a) for a in out_tangents])


def prepare(kernel, which, operands, cotangents=None, tangents=None, cotangent_tangents=None, **params):
    """A function without arguments that makes a pass in place, as run does, each time it is
    called: always on the memory of these arrays. A call takes a microsecond or two."""
    parts = [operands, cotangents or {}, tangents or {}, cotangent_tangents or {}]
    rule = lookup(kernel, _type_of(operands.values()))
    byname = {o.name: o for o in rule.operands}
    packed, used = [], []  # used has the arrays, as a dict or a CSR may get others
    for part, arrays in enumerate(parts):
        for name, a in arrays.items():
            if name not in byname:
                raise TypeError(f"{rule.name} has no operand {name!r}")
            o = byname[name]
            if not o.sparse and not isinstance(a, np.ndarray):
                raise ArgumentError(f"revnum: {name} is a {type(a).__name__}, want an array")
            if not o.sparse and any(n > 1 and s % a.itemsize for n, s in zip(a.shape, a.strides)):  # a field of a structured array
                raise ArgumentError(f"revnum: {name} has strides of {a.strides} bytes for elements of {a.itemsize}")
            if o.role in ("acc", "inout") or part > 0:
                if not (a.data if o.sparse else a).flags.writeable:
                    raise ArgumentError(f"revnum: {name} is read-only")
            packed.append(argument(o, part, a))
            used += (a.ptr, a.ind, a.data) if o.sparse else (a,)
    if which not in _PASSES:
        raise ValueError(f"revnum: no pass {which!r}, want one of {', '.join(_PASSES)}")
    packed += rule.settings(params)
    args, n, number, which = b"".join(packed), len(packed), rule.number, _PASSES[which]

    def go(keep=used):
        status = _library.library.call(number, which, args, n)
        if status:
            _library.library.fail(status)

    return go


def run(kernel, which, operands, cotangents=None, tangents=None, cotangent_tangents=None, **params):
    """Makes a pass in place: "Forward", "Inverse", "Adjoint", "Tangent", "AdjointTangent"
    or "Gradient". The arrays are given by the names of operands. None of them is
    copied: it is an error if the kernel cannot work on one as it lies in memory."""
    prepare(kernel, which, operands, cotangents, tangents, cotangent_tangents, **params)()


def task_argument(index, a):
    """The argument of a task of rev_model, a vector or matrix of float64 or int64, and its array."""
    if not isinstance(a, np.ndarray):
        raise ArgumentError(f"revnum: argument {index} is a {a.__class__.__name__}, want an array of NumPy")
    if a.ndim not in (1, 2) or a.dtype not in (np.float64, np.int64):
        raise ArgumentError(f"revnum: argument {index} has {a.ndim} axes of {a.dtype}")
    type, kind = ("int" if a.dtype == np.int64 else "float64"), ("vector" if a.ndim == 1 else "matrix")
    return argument(_library.Operand(index, {"name": f"argument {index}", "role": "inout", "kind": kind, "type": type}), 0, a), a


def bundle_jacobian(cameras, points, features, camera, point):
    """The residuals of bundle adjustment, 2p of them, and their Jacobian, 2p×12: row 2i+c has
    the derivatives of residual c of observation i by the nine parameters of its camera and
    the three of its point. Operands are those of ba.Snavely: cameras (n, 9), points (m, 3),
    features (p, 2), and the camera and the point of each observation."""
    arrays = [np.ascontiguousarray(a, np.float64) for a in (cameras, points, features)]
    arrays += [indices("camera", camera), indices("point", point)]
    n = arrays[2].size
    r, j = np.empty(n), np.empty((n, 12))
    _library.library.model("ba.jacobian", {}, [task_argument(i, a) for i, a in enumerate([*arrays, r, j])], 64)
    return r, j


uses_c: bool  # whether the library makes the calls that are kept: __getattr__ says

if TYPE_CHECKING:
    from . import _kernels

    ba: _kernels.ba[np.ndarray]
    gmm: _kernels.gmm[np.ndarray]
    graphembed: _kernels.graphembed[np.ndarray]
    hand: _kernels.hand[np.ndarray]
    kmeans: _kernels.kmeans[np.ndarray]
    lstm: _kernels.lstm[np.ndarray]
    nbody: _kernels.nbody[np.ndarray]
    revlinalg: _kernels.revlinalg[np.ndarray]
    revlog: _kernels.revlog[np.ndarray]
    revmath: _kernels.revmath[np.ndarray]
    revnn: _kernels.revnn[np.ndarray]
    revsparse: _kernels.revsparse[np.ndarray]
    revtropical: _kernels.revtropical[np.ndarray]
    wave: _kernels.wave[np.ndarray]


def __dir__():
    return ["ArgumentError", "CSR", "bundle_jacobian", "call", "jvp", "prepare", "run", "uses_c", "vjp", *_library.packages()]


def __getattr__(name):
    if name == "uses_c":
        return _quick() is not None
    if name in _library.packages():
        p = globals()[name] = Package(name, Function)
        return p
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
