"""The kernels as functions of JAX.

    import revnum.jax as rj

    loss = lambda x: rj.revlinalg.Norm2(rj.revlinalg.MatMul(a, x)[:, 0])
    jax.grad(loss)(x)
    jax.hessian(loss)(x)

They work under jit, grad, jvp, vmap (one call after the other) and with derivatives of
second order in every mode. Derivatives of third order are not there. Operands and
parameters are those of revnum.numpy. A sparse matrix is a jax.experimental.sparse.BCSR
or a CSR of (shape, ptr, ind, data), and its gradient is that of its data. The shape
of an output that the inputs do not tell is given by an array or ShapeDtypeStruct.

The kernels run on the CPU, by jax.pure_callback under jit. A second derivative forward over
forward takes a pass for each element of the outputs, as kernels have second
derivatives backward.

A cotangent of a complex number in JAX is the conjugate of that of a kernel; that is
taken care of here.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _library
from . import numpy as rn
from ._library import ArgumentError, Package, bind, lookup


class CSR(NamedTuple):
    """A sparse matrix stored by rows."""

    shape: tuple
    ptr: object
    ind: object
    data: object


class _Spec(NamedTuple):
    """What of a call is known when it is traced."""

    rule: str
    inputs: tuple  # names of the inputs that have derivatives; of sparse ones, their data
    constants: tuple  # (name, part) of the others: "" an index, "ptr" and "ind" structure
    shapes: tuple  # (name, shape) of sparse inputs
    params: tuple  # (name, value)
    outputs: tuple  # (shape, dtype)

    @property
    def n(self):
        return len(self.inputs)


def _split(spec, args, *counts):
    """Splits the arguments of a primitive: groups of counts, and the constants."""
    groups, at = [], 0
    for n in counts:
        groups.append(args[at : at + n])
        at += n
    return groups, args[at:]


class _Host:
    """A call on the host: the packed arguments of the inputs, and the rule."""

    def __init__(self, spec, x, constants):
        self.spec, self.rule = spec, _library.rules[spec.rule]
        self.byname = {o.name: o for o in self.rule.operands}
        shapes, structure = dict(spec.shapes), {}
        self.keep = []
        for (name, part), a in zip(spec.constants, constants):
            structure[name, part] = self.hold(np.ascontiguousarray(a, np.int64))
        self.arrays = {}
        self.structure = structure
        self.shapes = shapes
        for name, a in zip(spec.inputs, x):
            self.arrays[name] = self.array(name, a)
        for (name, part), a in structure.items():
            if part == "":
                self.arrays[name] = a
        self.settings = self.rule.settings(dict(spec.params))

    def hold(self, a):
        self.keep.append(a)
        return a

    def array(self, name, a, copy=False):
        """a as a numpy array, or CSR, for an input."""
        a = np.array(a) if copy else np.ascontiguousarray(a).reshape(np.shape(a))
        self.hold(a)
        if name in self.shapes:
            m = object.__new__(rn.CSR)
            m.shape, m.ptr, m.ind, m.data = self.shapes[name], self.structure[name, "ptr"], self.structure[name, "ind"], a
            return m
        return a

    def outputs(self):
        """New outputs, and the packed arguments of the inputs and of them."""
        out = []
        for o, (shape, dtype) in zip(self.rule.outputs, self.spec.outputs):
            if o.role == "inout":
                out.append(np.array(self.arrays[o.name]))
            elif o.sparse:
                out.append(np.zeros(shape, dtype))
            else:
                out.append(np.zeros(shape, dtype))
        return out

    def wrap(self, o, a):
        return self.array(o.name, a) if o.sparse else a

    def inputs(self, out=None):
        """The packed arguments of inputs, and of outputs."""
        args = [rn.argument(o, 0, self.arrays[o.name]) for o in self.rule.inputs if o.role != "inout" and o.name in self.arrays]
        for i, o in enumerate(self.rule.outputs):
            if out is not None and out[i] is not None:
                args.append(rn.argument(o, 0, self.wrap(o, out[i])))
        return args + self.settings

    def tangents(self, out, t):
        """The packed tangents of inputs t and of outputs, and the latter."""
        args, outs = [], []
        given = dict(zip(self.spec.inputs, t))
        for o, a in zip(self.rule.outputs, out):
            moving = np.array(given.pop(o.name)) if o.role == "inout" else np.zeros_like(a)
            outs.append(moving)
            args.append(rn.argument(o, 2, self.wrap(o, moving)))
        for name, a in given.items():
            args.append(rn.argument(self.byname[name], 2, self.array(name, a, copy=True)))
        return args, outs

    def gradients(self, part, ct):
        """The packed cotangents ct of outputs and of inputs, and the latter."""
        args, grads = [], []
        places = {}
        for o, a in zip(self.rule.outputs, ct):
            a = np.array(np.conj(a)) if np.iscomplexobj(a) else np.array(a)
            places[o.name] = a
            args.append(rn.argument(o, part, self.wrap(o, self.hold(a))))
        for name in self.spec.inputs:
            o = self.byname[name]
            if o.role == "inout":
                grads.append(places[name])
                continue
            like = self.arrays[name]
            a = np.zeros_like(like.data if o.sparse else like)
            grads.append(a)
            args.append(rn.argument(o, part, self.array(name, a)))
        return args, grads


def _finish(grads):
    return [np.conj(g) if np.iscomplexobj(g) else g for g in grads]


def _run_value(spec, *args):
    (x,), c = _split(spec, args, spec.n)
    h = _Host(spec, x, c)
    out = h.outputs()
    h.rule.run(_library.FORWARD, h.inputs(out))
    return out


def _run_jvp(spec, *args):
    (x, t), c = _split(spec, args, spec.n, spec.n)
    h = _Host(spec, x, c)
    out = h.outputs()
    packed, outs = h.tangents(out, t)
    h.rule.run(_library.TANGENT, h.inputs(out) + packed)
    return outs


def _run_vjp(spec, *args):
    (x, ct), c = _split(spec, args, spec.n, len(spec.outputs))
    h = _Host(spec, x, c)
    packed, grads = h.gradients(1, ct)
    if not h.rule.in_place:
        h.rule.run(_library.GRADIENT, h.inputs() + packed)
        return _finish(grads)
    out = h.outputs()
    h.rule.run(_library.FORWARD, h.inputs(out))
    h.rule.run(_library.ADJOINT, h.inputs(out) + packed)
    return _finish(grads)


def _run_second(spec, *args):
    """(∂J[v])ᵀ·ȳ"""
    (x, ct, v), c = _split(spec, args, spec.n, len(spec.outputs), spec.n)
    h = _Host(spec, x, c)
    g, _ = h.gradients(1, ct)
    gt, grads = h.gradients(3, [np.zeros_like(a) for a in ct])
    if not h.rule.in_place:
        given = zip(spec.inputs, v)
        t = [rn.argument(h.byname[name], 2, h.array(name, a, copy=True)) for name, a in given]
        h.rule.run(_library.ADJOINT_TANGENT, h.inputs() + g + t + gt)
        return _finish(grads)
    out = h.outputs()
    t, _ = h.tangents(out, v)
    h.rule.run(_library.TANGENT, h.inputs(out) + t)
    h.rule.run(_library.ADJOINT_TANGENT, h.inputs(out) + g + t + gt)
    return _finish(grads)


def _run_second_tangent(spec, *args):
    """∂J[v]·u, an element of the outputs after the other."""
    (x, u, v), c = _split(spec, args, spec.n, spec.n, spec.n)
    outs = [np.zeros(shape, dtype) for shape, dtype in spec.outputs]
    for a in outs:
        units = [1, 1j] if np.iscomplexobj(a) else [1]
        for i in np.ndindex(a.shape):
            for unit in units:
                ct = [np.zeros(shape, dtype) for shape, dtype in spec.outputs]
                for b, o in zip(ct, outs):
                    if o is a:
                        b[i] = np.conj(unit)
                s = _run_second(spec, *x, *ct, *v, *c)
                # Re Σ s·u is the real inner product of ∂J[v]·u with the unit.
                a[i] += unit * sum(np.sum(np.real(p * np.asarray(q))) for p, q in zip(s, u))
    return outs


def _like(avals):
    return [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]


def _primitive(name, host, results):
    """A primitive that runs host, and whose results are like results(spec, *avals)."""
    p = Primitive(name)
    p.multiple_results = True
    p.def_abstract_eval(lambda *avals, spec: [jax.core.ShapedArray(a.shape, a.dtype) for a in results(spec, *avals)])

    def traced(*args, spec):
        return jax.pure_callback(functools.partial(_numpy_host, host, spec), results(spec, *args), *args, vmap_method="sequential")

    def eager(*args, spec):
        return [jnp.asarray(a) for a in host(spec, *[np.asarray(a) for a in args])]

    p.def_impl(eager)
    mlir.register_lowering(p, mlir.lower_fun(traced, multiple_results=True))

    def batch(args, dims, spec):
        size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
        moved = [jnp.broadcast_to(a, (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(args, dims)]
        out = jax.lax.map(lambda xs: p.bind(*xs, spec=spec), tuple(moved))
        return out, [0] * len(out)

    batching.primitive_batchers[p] = batch
    return p


def _numpy_host(host, spec, *args):
    return host(spec, *[np.asarray(a) for a in args])


def _outputs(spec, *_):
    return [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in spec.outputs]


def _inputs(spec, *args):
    return _like(args[: spec.n])


_value = _primitive("revnum", _run_value, _outputs)
_jvp = _primitive("revnum_jvp", _run_jvp, _outputs)  # J·u
_vjp = _primitive("revnum_vjp", _run_vjp, _inputs)  # Jᵀ·ȳ
_second = _primitive("revnum_second", _run_second, _inputs)  # (∂J[v])ᵀ·ȳ
_second_tangent = _primitive("revnum_second_tangent", _run_second_tangent, _outputs)  # ∂J[v]·u


def _full(tangents, primals):
    """Tangents, with zeros where there are none; None if there are none at all."""
    if all(type(t) is ad.Zero for t in tangents):
        return None
    return [ad.instantiate_zeros(t) if type(t) is ad.Zero else t for t in tangents]


def _sum(terms, like):
    """The sum of lists of tangents of like."""
    terms = [t for t in terms if t is not None]
    if not terms:
        return [ad.Zero.from_primal_value(a) for a in like]
    return [functools.reduce(jnp.add, column) for column in zip(*terms)]


def _value_rule(primals, tangents, spec):
    (x,), c = _split(spec, primals, spec.n)
    (t,), _ = _split(spec, tangents, spec.n)
    out = _value.bind(*primals, spec=spec)
    t = _full(t, x)
    return out, _sum([t and _jvp.bind(*x, *t, *c, spec=spec)], out)


def _jvp_rule(primals, tangents, spec):
    (x, u), c = _split(spec, primals, spec.n, spec.n)
    (dx, du), _ = _split(spec, tangents, spec.n, spec.n)
    out = _jvp.bind(*primals, spec=spec)
    dx, du = _full(dx, x), _full(du, u)
    terms = [dx and _second_tangent.bind(*x, *u, *dx, *c, spec=spec), du and _jvp.bind(*x, *du, *c, spec=spec)]
    return out, _sum(terms, out)


def _vjp_rule(primals, tangents, spec):
    m = len(spec.outputs)
    (x, ct), c = _split(spec, primals, spec.n, m)
    (dx, dct), _ = _split(spec, tangents, spec.n, m)
    out = _vjp.bind(*primals, spec=spec)
    dx, dct = _full(dx, x), _full(dct, ct)
    terms = [dx and _second.bind(*x, *ct, *dx, *c, spec=spec), dct and _vjp.bind(*x, *dct, *c, spec=spec)]
    return out, _sum(terms, out)


def _bilinear_rule(p, counts):
    """The rule of _second and _second_tangent, which are linear in two groups."""

    def rule(primals, tangents, spec):
        sizes = [spec.n if k == "x" else len(spec.outputs) for k in counts]
        (x, a, b), c = _split(spec, primals, spec.n, *sizes)
        (dx, da, db), _ = _split(spec, tangents, spec.n, *sizes)
        if _full(dx, x) is not None:
            raise NotImplementedError("revnum: kernels have no derivatives of third order")
        out = p.bind(*primals, spec=spec)
        da, db = _full(da, a), _full(db, b)
        terms = [da and p.bind(*x, *da, *b, *c, spec=spec), db and p.bind(*x, *a, *db, *c, spec=spec)]
        return out, _sum(terms, out)

    return rule


ad.primitive_jvps[_value] = _value_rule
ad.primitive_jvps[_jvp] = _jvp_rule
ad.primitive_jvps[_vjp] = _vjp_rule
ad.primitive_jvps[_second] = _bilinear_rule(_second, "yx")
ad.primitive_jvps[_second_tangent] = _bilinear_rule(_second_tangent, "xx")


def _known(args):
    return not any(ad.is_undefined_primal(a) for a in args)


def _cotangents(ct, avals):
    return [jnp.zeros(a.shape, a.dtype) if type(g) is ad.Zero else g for g, a in zip(ct, avals)]


def _place(n, at, values):
    """A list of n, with values from at on and None elsewhere."""
    out = [None] * n
    out[at : at + len(values)] = values
    return out


def _mixed(args):
    """Replaces undefined inputs of a partly undefined group by zeros."""
    return [jnp.zeros(a.aval.shape, a.aval.dtype) if ad.is_undefined_primal(a) else a for a in args]


def _transpose_jvp(ct, *args, spec):
    (x, _), c = _split(spec, args, spec.n, spec.n)
    g = _vjp.bind(*x, *_cotangents(ct, _outputs(spec)), *c, spec=spec)
    return _place(len(args), spec.n, g)


def _transpose_vjp(ct, *args, spec):
    (x, _), c = _split(spec, args, spec.n, len(spec.outputs))
    g = _jvp.bind(*x, *_cotangents(ct, x), *c, spec=spec)
    return _place(len(args), spec.n, g)


def _transpose_second(ct, *args, spec):
    m = len(spec.outputs)
    (x, y, v), c = _split(spec, args, spec.n, m, spec.n)
    w = _cotangents(ct, x)
    if not _known(y):
        return _place(len(args), spec.n, _second_tangent.bind(*x, *w, *v, *c, spec=spec))
    return _place(len(args), spec.n + m, _second.bind(*x, *y, *w, *c, spec=spec))


def _transpose_second_tangent(ct, *args, spec):
    (x, u, v), c = _split(spec, args, spec.n, spec.n, spec.n)
    y = _cotangents(ct, _outputs(spec))
    if not _known(u):
        return _place(len(args), spec.n, _second.bind(*x, *y, *v, *c, spec=spec))
    return _place(len(args), 2 * spec.n, _second.bind(*x, *y, *u, *c, spec=spec))


ad.primitive_transposes[_jvp] = _transpose_jvp
ad.primitive_transposes[_vjp] = _transpose_vjp
ad.primitive_transposes[_second] = _transpose_second
ad.primitive_transposes[_second_tangent] = _transpose_second_tangent


def _sparse(m):
    """The shape, ptr, ind and data of a sparse matrix."""
    if isinstance(m, (CSR, rn.CSR)):
        return tuple(m.shape), m.ptr, m.ind, m.data
    if hasattr(m, "indptr"):
        if getattr(m, "n_batch", 0) or getattr(m, "n_dense", 0):
            raise ArgumentError("revnum: a BCSR with batch or dense axes")
        return tuple(m.shape), m.indptr, m.indices, m.data
    raise ArgumentError(f"revnum: want a sparse matrix, a BCSR or CSR, found {type(m).__name__}")


def call(kernel, *args, **kwargs):
    """The outputs of a kernel: one, or a tuple."""
    values = [_sparse(a)[3] if hasattr(a, "indptr") or isinstance(a, (CSR, rn.CSR)) else a for a in [*args, *kwargs.values()]]
    rule = lookup(kernel, rn._type_of([v for v in values if hasattr(v, "dtype")]))
    if rule.missing:
        raise ArgumentError(f"{rule.name} cannot be called: {rule.missing}")
    if rule.type == "Q43":
        raise ArgumentError("revnum: numbers of fixed point have no derivatives in JAX")
    operands, params = bind(rule, args, kwargs)
    inputs, x, constants, c, shapes = [], [], [], [], {}
    for o in rule.operands:
        a = operands.get(o.name)
        if a is None:
            continue
        if o.sparse:
            shape, ptr, ind, a = _sparse(a)
            shapes[o.name] = shape
            constants += [(o.name, "ptr"), (o.name, "ind")]
            c += [jnp.asarray(ptr), jnp.asarray(ind)]
        if o.role == "acc":
            operands[o.name] = a
            continue
        if o.role == "index":
            a = jnp.asarray(a)
            if a.dtype.kind not in "iu":
                raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want integers")
            constants.append((o.name, ""))
            c.append(a)
            continue
        a = jnp.asarray(a)
        want = rn._TYPES[o.type]
        if a.dtype != want:
            raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want {o.type}")
        if not o.sparse and a.ndim != o.axes:
            raise ArgumentError(f"{rule.name}: {o.name} has {a.ndim} axes, want {o.axes} of a {o.kind}")
        inputs.append(o.name)
        x.append(a)
    known = {name: a.shape for name, a in zip(inputs, x)} | {name: a.shape for (name, part), a in zip(constants, c) if part == ""} | shapes
    outputs = []
    told = None
    for i, o in enumerate(rule.outputs):
        given = operands.get(o.name)
        if o.role == "acc" and given is not None:
            shape = tuple(np.shape(given)) if not hasattr(given, "shape") else tuple(given.shape)
        else:
            told = told or rule.output_shapes(known, params)
            shape = told[i]
        outputs.append((shape, rn._TYPES[o.type]))
    settings = tuple(sorted((k, float(v)) for k, v in params.items()))
    rule.settings(dict(settings))  # refuses what is unknown
    spec = _Spec(rule.name, tuple(inputs), tuple(constants), tuple(sorted(shapes.items())), settings, tuple(outputs))
    out = _value.bind(*x, *c, spec=spec)
    return out[0] if len(out) == 1 else tuple(out)


def __getattr__(name):
    if name in _library.packages():
        p = globals()[name] = Package(name, call)
        return p
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
