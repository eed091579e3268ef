"""The kernels as functions of JAX.

    import revnum.jax as rj

    loss = lambda x: rj.revlinalg.Norm2(rj.revlinalg.MatMul(a, x)[:, 0])
    jax.grad(loss)(x)
    jax.hessian(loss)(x)

They work under jit, grad, jvp, vmap (all problems in one call of the library) and with
derivatives of second order in every mode. Derivatives of third order are there for the few kernels that XLA
differentiates from their value: Dot, Exp, Norm2, Softmax, SoftmaxRows and Sum of real numbers. Operands and
parameters are those of revnum.numpy. A sparse matrix is a BCSR or BCOO of jax.experimental.sparse
or a CSR of (shape, ptr, ind, data), and its gradient is that of its data. The entries of a BCOO
are sorted in each call. A sparse output is given by a matrix of its structure: for a BCSR or BCOO it is
one, for a CSR it is the data. The shape of an output that the inputs do not tell is given by an array or ShapeDtypeStruct.

The kernels run on the CPU. Under jit XLA calls the library without Python, by jax.ffi; where
that is not there, uses_ffi is False and the calls go through jax.pure_callback. A second
derivative forward over forward takes a pass for each element of the outputs, as kernels
have second derivatives backward.

Calls work in a shard_map. Under jit a vmap of problems that are sharded by their axis stays so: each
device computes its own. (Where the axis of the mesh is Explicit, gradients are gathered.) A sharded
array of a single problem is gathered, and so are problems whose number the devices do not divide. If data has
no result on one device, and others wait for it in a collective operation, XLA ends the process.

jax.export takes a call as any custom call: with
disabled_checks=[export.DisabledSafetyCheck.custom_call("revnum")].

A cotangent of a complex number in JAX is the conjugate of that of a kernel; that is
taken care of here.
"""

import functools
import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

try:
    from jax._src.dispatch import prim_requires_devices_during_lowering as _see_devices
except ImportError:  # a call is then made on whole arrays, also where they are sharded
    _see_devices = None

from . import _library, _steps
from . import numpy as rn
from ._library import ArgumentError, InternalError, Package, bind, lookup, through
from ._steps import Spec


class CSR(NamedTuple):
    """A sparse matrix stored by rows."""

    shape: tuple
    ptr: object
    ind: object
    data: object


def _split(spec, args, *counts):
    """Splits the arguments of a primitive: groups of counts, and the constants."""
    groups, at = [], 0
    for n in counts:
        groups.append(args[at : at + n])
        at += n
    return groups, args[at:]


@functools.lru_cache(4096)
def _written(write, spec, arguments, results):
    """The steps of a call for arguments and results of these shapes and types."""
    return _steps.written(write, spec, arguments, results, conjugates=True)


def _key(arrays):
    return tuple((tuple(a.shape), None, np.dtype(a.dtype)) for a in arrays)


def _register():
    """Registers the library with XLA's foreign function interface. Where there is none, or
    another version of it, calls under jit go through jax.pure_callback."""
    if not hasattr(jax, "ffi"):
        warnings.warn("revnum: this JAX has no jax.ffi, so calls under jit go through Python")
        return False
    try:
        jax.ffi.register_ffi_target("revnum", jax.ffi.pycapsule(_library.library.lib.rev_xla), platform="cpu")
    except Exception as err:
        warnings.warn(f"revnum: calls under jit go through Python, as JAX refuses the library: {err}")
        return False
    return True


uses_ffi = _register()


def _varying(args):
    """The arguments as arrays that vary over the same mesh axes of a shard_map, if there is one."""
    if not hasattr(jax.core.ShapedArray, "manual_axis_type"):  # of an older JAX
        return args
    axes = [jax.typeof(a).manual_axis_type.varying for a in args]
    every = frozenset().union(*axes)
    if not every:
        return args
    return [jax.lax.pcast(a, tuple(every - own), to="varying") if every - own else a for a, own in zip(args, axes)]


class _Primitive(Primitive):
    multiple_results = True

    def bind(self, *args, spec):
        return super().bind(*_varying(args), spec=spec)

    def def_results(self, results):
        """Results have the shapes and types of results(spec, *avals), and vary over a mesh as the
        arguments do."""

        def types(*avals, spec):
            out = [jax.core.ShapedArray(a.shape, a.dtype) for a in results(spec, *avals)]
            varies = getattr(avals[0], "manual_axis_type", None)
            if varies is None or varies.empty:
                return out
            at = lambda a: avals[0].sharding.update(spec=jax.sharding.PartitionSpec(*[None] * a.ndim))
            return [a.update(sharding=at(a), manual_axis_type=varies) for a in out]

        self.def_abstract_eval(types)


def _primitive(name, write, results):
    """A primitive with the steps that write writes, and with results(spec, *avals)."""
    p = _Primitive(name)
    p.def_results(results)

    def eager(*args, spec):
        args = [np.ascontiguousarray(a).reshape(np.shape(a)) for a in args]
        out = [np.empty(a.shape, a.dtype) for a in results(spec, *args)]
        _library.run_steps(_written(write, spec, _key(args), _key(out)), [rn.address(a) for a in args + out])
        return out

    def compiled(*args, spec):
        out = results(spec, *args)
        steps = _written(write, spec, _key(args), _key(out))
        return jax.ffi.ffi_call("revnum", out, vmap_method="sequential")(*args, steps=steps)

    @functools.lru_cache(4096)
    def partitioned(spec, ranks, out):
        """compiled for many devices: each has a part of the problems."""
        keys = [*spec.inputs, *[None] * (len(ranks) - spec.n - len(spec.constants)), *spec.constants]
        apart = [k is None or k not in spec.shared for k in keys]
        first = apart.index(True)
        letters, whole = iter(range(10**6)), []

        def axes(rank, apart):
            names = ["problem"] * apart + [f"a{next(letters)}" for _ in range(rank - apart)]
            whole.extend(names[apart:])
            return " ".join(names)

        rule = ", ".join(map(axes, ranks, apart)) + " -> " + ", ".join(axes(n, True) for n in out)

        def partition(mesh, arguments, outputs):
            by = getattr(arguments[first].sharding, "spec", ())[:1]  # there is none without a mesh
            parts = math.prod(mesh.shape[name] for names in by if names for name in (names if isinstance(names, tuple) else [names]))
            if arguments[first].shape[0] % parts:
                by = ()  # else XLA adds problems of zeros
            along, same = (jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*p)) for p in (by, ()))
            run = lambda *args: tuple(compiled(*args, spec=spec._replace(batch=args[first].shape[0])))
            return mesh, run, (along,) * len(out), tuple(along if a else same for a in apart)

        f = custom_partitioning(lambda *args: tuple(compiled(*args, spec=spec)))
        f.def_partition(partition, sharding_rule=rule, need_replication_factors=tuple(whole))
        return f

    def lower(ctx, *args, spec):
        devices = getattr(ctx.module_context.axis_context, "num_devices", 1)
        if spec.batch < 0 or devices in (None, 1) or _see_devices is None:
            f = functools.partial(compiled, spec=spec)
        else:
            f = partitioned(spec, tuple(a.ndim for a in ctx.avals_in), tuple(a.ndim for a in ctx.avals_out))
        return mlir.lower_fun(f, multiple_results=True)(ctx, *args)

    def callback(*args, spec):
        return jax.pure_callback(functools.partial(eager, spec=spec), results(spec, *args), *args, vmap_method="sequential")

    p.def_impl(lambda *args, spec: [jnp.asarray(a) for a in eager(*args, spec=spec)])
    mlir.register_lowering(p, mlir.lower_fun(callback, multiple_results=True))
    if uses_ffi:
        mlir.register_lowering(p, lower, platform="cpu")
        if _see_devices is not None:
            _see_devices.add(p)  # for custom_partitioning
    batching.primitive_batchers[p] = functools.partial(_batch, p)
    return p


def _merged(a, d, size, outer):
    """a with its axis d of problems as the first, one axis with that of the problems outside."""
    a = jnp.broadcast_to(a[None], (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0)
    return a.reshape(size * a.shape[1], *a.shape[2:]) if outer else a


def _batch(p, args, dims, spec):
    """One call for all problems. If it has problems already, all of them become one axis."""
    size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
    keys = [*spec.inputs, *[None] * (len(args) - spec.n - len(spec.constants)), *spec.constants]
    if any(d is not None and isinstance(k, tuple) and k[1] for k, d in zip(keys, dims)):
        return _each(p, args, dims, spec)  # sparse matrices of many structures
    nested = spec.batch >= 0
    shared = tuple(k for k, d in zip(keys, dims) if k is not None and d is None and (not nested or k in spec.shared))
    moved = []
    for k, a, d in zip(keys, args, dims):
        if k is not None and k in shared:
            moved.append(a)
        elif nested and k is not None and k in spec.shared:  # by the problems that there were
            a = jnp.moveaxis(a, d, 0)[:, None]
            a = jnp.broadcast_to(a, (size, spec.batch, *a.shape[2:]))
            moved.append(a.reshape(size * spec.batch, *a.shape[2:]))
        else:
            moved.append(_merged(a, d, size, nested))
    total = size * spec.batch if nested else size
    out = p.bind(*moved, spec=spec._replace(batch=total, shared=shared))
    return [a.reshape(size, spec.batch, *a.shape[1:]) if nested else a for a in out], [0] * len(out)


def _each(p, args, dims, spec):
    """One call after the other."""
    size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
    moved = [jnp.broadcast_to(a, (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(args, dims)]
    out = jax.lax.map(lambda xs: p.bind(*xs, spec=spec), tuple(moved))
    return out, [0] * len(out)


def _outputs(spec, *_):
    return [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in spec.results()]


def _both_results(spec, *args):
    gradients = dict(zip(spec.inputs, _inputs(spec, *args)))
    return _outputs(spec) + [gradients[name] for name in spec.wanted]


def _inputs(spec, *args):
    return [jax.ShapeDtypeStruct(shape, a.dtype) for shape, a in zip(spec.gradients([a.shape for a in args[: spec.n]]), args)]


_value = _primitive("revnum", _steps.value, _outputs)
_jvp = _primitive("revnum_jvp", _steps.jvp, _outputs)  # J·u
_vjp = _primitive("revnum_vjp", _steps.vjp, _inputs)  # Jᵀ·ȳ
_second = _primitive("revnum_second", _steps.second, _inputs)  # (∂J[v])ᵀ·ȳ
_both = _primitive("revnum_both", _steps.both, _both_results)  # y, Jᵀ·ȳ


@functools.partial(jax.jit, static_argnames="spec")
def _each_second_tangent(*args, spec):
    """∂J[v]·u, an element of the outputs after the other. Its real inner product with a
    unit is that of u and (∂J[v])ᵀ·unit."""
    (x, u, v), c = _split(spec, args, spec.n, spec.n, spec.n)
    if spec.batch >= 0:  # a problem after the other
        one = spec._replace(batch=-1, shared=())
        keys = [*spec.inputs, *[None] * (2 * spec.n), *spec.constants]
        dims = [None if k in spec.shared else 0 for k in keys]
        return _each(_second_tangent, args, dims, one)[0]

    def along(which, unit, i):
        ct = [jnp.zeros(shape, dtype) for shape, dtype in spec.outputs]
        ct[which] = ct[which].ravel().at[i].set(np.conj(unit)).reshape(ct[which].shape)
        return sum(jnp.sum(jnp.real(p * q)) for p, q in zip(_second.bind(*x, *ct, *v, *c, spec=spec), u))

    outs = []
    for which, (shape, dtype) in enumerate(spec.outputs):
        units = [1, 1j] if np.dtype(dtype).kind == "c" else [1]
        parts = [unit * jax.lax.map(functools.partial(along, which, unit), jnp.arange(math.prod(shape))) for unit in units]
        outs.append(sum(parts).reshape(shape).astype(dtype))
    return outs


_second_tangent = _Primitive("revnum_second_tangent")
_second_tangent.def_results(_outputs)
_second_tangent.def_impl(_each_second_tangent)
mlir.register_lowering(_second_tangent, mlir.lower_fun(_each_second_tangent, multiple_results=True))
batching.primitive_batchers[_second_tangent] = functools.partial(_each, _second_tangent)


def _full(tangents, spec=None):
    """Tangents, with zeros where there are none; None if there are none at all. With spec
    they are those of inputs, and get the axis of problems that shared inputs do not have."""
    if all(type(t) is ad.Zero for t in tangents):
        return None
    tangents = [ad.instantiate_zeros(t) if type(t) is ad.Zero else t for t in tangents]
    if spec is None:
        return tangents
    return [jnp.broadcast_to(t, shape) for t, shape in zip(tangents, spec.gradients([t.shape for t in tangents]))]


def _sum(terms, like):
    """The sum of lists of tangents of like."""
    terms = [t for t in terms if t is not None]
    if not terms:
        return [ad.Zero.from_primal_value(a) for a in like]
    return [functools.reduce(jnp.add, column) for column in zip(*terms)]


def _value_rule(primals, tangents, spec):
    (x,), c = _split(spec, primals, spec.n)
    (t,), _ = _split(spec, tangents, spec.n)
    moving = {name: v for name, v in zip(spec.inputs, t) if type(v) is not ad.Zero}
    rule = _library.rules[spec.rule]
    if moving and rule.kernel in _TANGENTS and rule.type != "complex128":
        (y,) = _value.bind(*primals, spec=spec)
        return [y], [_TANGENTS[rule.kernel](y, dict(zip(spec.inputs, x)), moving)]
    if moving and _is_loss(spec):
        ((shape, dtype),) = spec.results()
        y, *g = _both.bind(*x, jnp.ones(shape, dtype), *c, spec=spec._replace(wanted=tuple(moving)))
        return [y], [sum(jnp.sum(g * t, tuple(range(len(shape), g.ndim))) for g, t in zip(g, moving.values()))]
    out = _value.bind(*primals, spec=spec)
    t = _full(t, spec)
    return out, _sum([t and _jvp.bind(*x, *t, *c, spec=spec)], out)


def _dots(pairs):
    return sum(jnp.sum(a * b, -1) for a, b in pairs)


@jax.custom_jvp
def _unit(x, y):
    """x/y, where y is the norm of x, or 0 where y is 0, as the subgradient of the kernel. XLA multiplies by 1/y, and
    takes it for 0 if it is subnormal."""
    scale = jnp.where(y > 1, 0.25, 1).astype(y.dtype)
    some = (y != 0)[..., None]
    return jnp.where(some, x * scale[..., None] / jnp.where(some, (y * scale)[..., None], 1), 0)


@_unit.defjvp
def _unit_rule(primals, tangents):  # without 1/y², which is out of range before 1/y is
    (_, y), (dx, dy) = primals, tangents
    u = _unit(*primals)
    return u, _unit(dx - u * dy[..., None], y)


def _norm_tangent(y, x, t):
    return _dots([(_unit(x["X"], y), t["X"])])


def _softmax_tangent(y, x, t):
    return y * (t["X"] - jnp.sum(y * t["X"], -1, keepdims=True))


# Derivatives that are products with the value and the inputs, which XLA makes in one loop with what follows. A
# call would compute exponentials, or read long vectors, once more.
_TANGENTS = {
    "revlinalg.Dot": lambda y, x, t: _dots([(t[a], x[b]) for a, b in (("X", "Y"), ("Y", "X")) if a in t]),
    "revlinalg.Exp": lambda y, x, t: y * t["X"],
    "revlinalg.Norm2": _norm_tangent,
    "revlinalg.Sum": lambda y, x, t: jnp.sum(t["X"], -1),
    "revnn.Softmax": _softmax_tangent,
    "revnn.SoftmaxRows": _softmax_tangent,
}


def _is_loss(spec):
    """Whether the output is a real number, as the inputs are: its gradient is then the whole derivative, and one
    call computes both."""
    rule = _library.rules[spec.rule]
    return rule.type != "complex128" and not rule.in_place and [shape for shape, _ in spec.outputs] == [()]


def _both_rule(primals, tangents, spec):
    (x, ct), c = _split(spec, primals, spec.n, len(spec.outputs))
    (dx, dct), _ = _split(spec, tangents, spec.n, len(spec.outputs))
    out, value = _both.bind(*primals, spec=spec), spec._replace(wanted=())
    dx, dct = _full(dx, spec), _full(dct)
    wanted = lambda g: [a for name, a in zip(spec.inputs, g) if name in spec.wanted]
    terms = [dx and wanted(_second.bind(*x, *ct, *dx, *c, spec=value)), dct and wanted(_vjp.bind(*x, *dct, *c, spec=value))]
    m = len(spec.outputs)
    return out, _sum([dx and _jvp.bind(*x, *dx, *c, spec=value)], out[:m]) + _sum(terms, out[m:])


def _jvp_rule(primals, tangents, spec):
    (x, u), c = _split(spec, primals, spec.n, spec.n)
    (dx, du), _ = _split(spec, tangents, spec.n, spec.n)
    out = _jvp.bind(*primals, spec=spec)
    dx, du = _full(dx, spec), _full(du)
    terms = [dx and _second_tangent.bind(*x, *u, *dx, *c, spec=spec), du and _jvp.bind(*x, *du, *c, spec=spec)]
    return out, _sum(terms, out)


def _vjp_rule(primals, tangents, spec):
    m = len(spec.outputs)
    (x, ct), c = _split(spec, primals, spec.n, m)
    (dx, dct), _ = _split(spec, tangents, spec.n, m)
    out = _vjp.bind(*primals, spec=spec)
    dx, dct = _full(dx, spec), _full(dct)
    terms = [dx and _second.bind(*x, *ct, *dx, *c, spec=spec), dct and _vjp.bind(*x, *dct, *c, spec=spec)]
    return out, _sum(terms, out)


def _bilinear_rule(p, counts):
    """The rule of _second and _second_tangent, which are linear in two groups."""

    def rule(primals, tangents, spec):
        sizes = [spec.n if k == "x" else len(spec.outputs) for k in counts]
        (x, a, b), c = _split(spec, primals, spec.n, *sizes)
        (dx, da, db), _ = _split(spec, tangents, spec.n, *sizes)
        if _full(dx) is not None:
            raise NotImplementedError("revnum: kernels have no derivatives of third order")
        out = p.bind(*primals, spec=spec)
        da, db = _full(da), _full(db)
        terms = [da and p.bind(*x, *da, *b, *c, spec=spec), db and p.bind(*x, *a, *db, *c, spec=spec)]
        return out, _sum(terms, out)

    return rule


ad.primitive_jvps[_value] = _value_rule
ad.primitive_jvps[_both] = _both_rule
ad.primitive_jvps[_jvp] = _jvp_rule
ad.primitive_jvps[_vjp] = _vjp_rule
ad.primitive_jvps[_second] = _bilinear_rule(_second, "yx")
ad.primitive_jvps[_second_tangent] = _bilinear_rule(_second_tangent, "xx")


def _known(args):
    return not any(ad.is_undefined_primal(a) for a in args)


def _cotangents(ct):
    return [ad.instantiate_zeros(g) if type(g) is ad.Zero else g for g in ct]


def _place(n, at, values):
    """A list of n, with values from at on and None elsewhere."""
    out = [None] * n
    out[at : at + len(values)] = values
    return out


def _transpose_jvp(ct, *args, spec):
    (x, _), c = _split(spec, args, spec.n, spec.n)
    g = _vjp.bind(*x, *_cotangents(ct), *c, spec=spec)
    return _place(len(args), spec.n, g)


def _transpose_vjp(ct, *args, spec):
    (x, _), c = _split(spec, args, spec.n, len(spec.outputs))
    g = _jvp.bind(*x, *_cotangents(ct), *c, spec=spec)
    return _place(len(args), spec.n, g)


def _transpose_second(ct, *args, spec):
    m = len(spec.outputs)
    (x, y, v), c = _split(spec, args, spec.n, m, spec.n)
    w = _cotangents(ct)
    if not _known(y):
        return _place(len(args), spec.n, _second_tangent.bind(*x, *w, *v, *c, spec=spec))
    return _place(len(args), spec.n + m, _second.bind(*x, *y, *w, *c, spec=spec))


def _transpose_second_tangent(ct, *args, spec):
    (x, u, v), c = _split(spec, args, spec.n, spec.n, spec.n)
    y = _cotangents(ct)
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
    if type(m).__name__ == "BCOO":
        from jax.experimental.sparse import BCSR

        return _sparse(BCSR.from_bcoo(m))  # sorts the entries, under jit too
    raise ArgumentError(f"revnum: want a sparse matrix, a BCSR, BCOO or CSR, found {type(m).__name__}")


def _like(m):
    """A function that makes a matrix like m, which is a BCSR or BCOO, of entries in order."""
    from jax.experimental.sparse import BCSR

    shape, ptr, ind, _ = _sparse(m)
    make = lambda data: BCSR((data, ind, ptr), shape=shape)
    return make if hasattr(m, "indptr") else lambda data: make(data).to_bcoo()


def _is_sparse(m):
    return isinstance(m, (CSR, rn.CSR)) or hasattr(m, "indptr") or type(m).__name__ == "BCOO"


def _constant(o, a):
    """a as an array of int32 or int64, or of the numbers of a constant operand."""
    a = jnp.asarray(a)
    if o.role == "index" and o.type != "int":
        if a.dtype != rn._TYPES[o.type]:
            raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want {o.type}")
        return a
    if a.dtype.kind not in "iu":
        raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want integers")
    return a if a.dtype in (np.int32, np.int64) else a.astype(int)


def call(kernel, *args, **kwargs):
    """The outputs of a kernel: one, or a tuple."""
    if _library.library.forked:  # XLA would wait for its threads to compile the call
        raise InternalError("revnum: the process was forked after the import, and cannot call the library; use multiprocessing with \"spawn\"")
    values = [a.data if _is_sparse(a) else a for a in [*args, *kwargs.values()]]
    rule = lookup(kernel, rn._type_of([v for v in values if hasattr(v, "dtype")]))
    if rule.missing:
        raise ArgumentError(f"{rule.name} cannot be called: {rule.missing}")
    if rule.type == "Q43":
        raise ArgumentError("revnum: numbers of fixed point have no derivatives in JAX")
    operands, params = bind(rule, args, kwargs)
    inputs, x, constants, c, shapes, sparse = [], [], [], [], {}, {}
    for o in rule.operands:
        a = operands.get(o.name)
        if a is None:
            continue
        if o.sparse:
            if o.role == "acc" and not isinstance(a, (CSR, rn.CSR)):
                sparse[o.name] = _like(a)
            shape, ptr, ind, a = _sparse(a)
            shapes[o.name] = shape
            constants += [(o.name, "ptr"), (o.name, "ind")]
            c += [_constant(o, ptr), _constant(o, ind)]
        if o.role == "acc":
            operands[o.name] = a
            continue
        if o.role == "index":
            constants.append((o.name, ""))
            c.append(_constant(o, a))
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
    spec = Spec(rule.name, tuple(inputs), tuple(constants), tuple(sorted(shapes.items())), settings, tuple(outputs))
    out = [sparse[o.name](a) if o.name in sparse else a for o, a in zip(rule.outputs, _value.bind(*x, *c, spec=spec))]
    return out[0] if len(out) == 1 else tuple(out)


@jax.custom_vjp
def _unitary_steps(h, u, weight, x):
    return jax.lax.scan(lambda h, xt: (u @ h + weight @ xt.T, None), h, x)[0]


def _unitary_steps_back(kept, gh):
    h, u, weight, x = kept
    back = u.T

    def step(state, xt):
        h, gh, gu, gweight = state
        before = back @ (h - weight @ xt.T)
        return (before, back @ gh, gu + gh @ before.T, gweight + gh @ xt), gh.T @ weight

    state, gx = jax.lax.scan(step, (h, gh, jnp.zeros_like(u), jnp.zeros_like(weight)), x, reverse=True)
    return *state[1:], gx


_unitary_steps.defvjp(lambda h, *rest: (lambda last: (last, (last, *rest)))(_unitary_steps(h, *rest)), _unitary_steps_back)


def unitary_steps(h, theta, weight, x):
    """The last state of h <- U(θ)·h + W·x_tᵀ, a unitary recurrent network. States are columns: h is
    hidden×batch, weight is hidden×inputs, and x is steps×batch×inputs. U(θ) is computed once, as a matrix.
    No state but the last is kept: jax.grad computes them from it, by Uᵀ. That restores a state within
    rounding, which grows with the steps as that of the rotations does. There is no forward mode."""
    h, theta, weight, x = map(jnp.asarray, (h, theta, weight, x))
    u = call("revlinalg.Unitary", jnp.eye(h.shape[0], dtype=theta.dtype), theta)
    return _unitary_steps(h, u, weight, x)


if TYPE_CHECKING:
    from . import _kernels

    ba: _kernels.ba[jax.Array]
    gmm: _kernels.gmm[jax.Array]
    graphembed: _kernels.graphembed[jax.Array]
    hand: _kernels.hand[jax.Array]
    kmeans: _kernels.kmeans[jax.Array]
    lstm: _kernels.lstm[jax.Array]
    nbody: _kernels.nbody[jax.Array]
    revlinalg: _kernels.revlinalg[jax.Array]
    revlog: _kernels.revlog[jax.Array]
    revmath: _kernels.revmath[jax.Array]
    revnn: _kernels.revnn[jax.Array]
    revsparse: _kernels.revsparse[jax.Array]
    revtropical: _kernels.revtropical[jax.Array]
    wave: _kernels.wave[jax.Array]


def __dir__():
    return ["ArgumentError", "CSR", "call", "unitary_steps", "uses_ffi", *_library.packages()]


def __getattr__(name):
    if name in _library.packages():
        p = globals()[name] = Package(name, through(call))
        return p
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
