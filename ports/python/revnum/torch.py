"""The kernels as operators of PyTorch.

    import revnum.torch as rt

    loss = rt.revlinalg.Norm2(rt.revlinalg.MatMul(a, x)[:, 0])
    loss.backward()

Operands and parameters are those of revnum.numpy. A sparse matrix is a sparse CSR tensor,
and its gradient is one of the same structure; CSR(shape, ptr, ind, data) takes the tensor
of the entries by itself, for derivatives of second order.

The operators are torch.library operators: revnum::value, revnum::vjp, revnum::jvp and
revnum::second. They have fake kernels and derivatives, so that they work under
torch.compile and twice backward. They have forward-mode derivatives, and work under the
transforms of torch.func, is_grads_batched and vectorize; a batch is one call after the other.
What there is not raises NotImplementedError: derivatives of third order, and second ones
forward over forward. torch.compile breaks its graph at such a transform, and so refuses it
with fullgraph. A transform takes a sparse matrix as a CSR.

They work on the CPU. Tensors are passed without a copy unless their layout is one that the
kernel does not take.

run works in place, on tensors that are the caller's, outside of autograd.
"""

import itertools
from typing import NamedTuple

import numpy as np
import torch
from torch.autograd import forward_ad

from . import _library
from ._library import ArgumentError, Package, bind, lookup, pack

_TYPES = {"float64": torch.float64, "float32": torch.float32, "Q43": torch.int64, "complex128": torch.complex128, "int": torch.int64}
_NAMES = {torch.float64: "float64", torch.float32: "float32", torch.complex128: "complex128"}


class CSR(NamedTuple):
    """A sparse matrix stored by rows."""

    shape: tuple
    ptr: torch.Tensor
    ind: torch.Tensor
    data: torch.Tensor


def _argument(o, part, a, sparse=None):
    """The packed argument of a tensor for operand o."""
    if a.dtype != _TYPES[o.type]:
        raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want {o.type}")
    if not a.is_cpu:
        raise ArgumentError(f"revnum: {o.name} is on {a.device}; the kernels run on the CPU")
    if sparse is not None:
        shape, ptr, ind = sparse
        return pack(a.data_ptr(), a.numel(), *shape, 0, 1, ptr.data_ptr(), ind.data_ptr(), ptr.numel(), ind.numel(), 0.0, part, o.index, o.code, 2)
    shape, stride = a.shape, a.stride()
    axes = len(shape)
    if axes == 0:
        return pack(a.data_ptr(), 1, 1, 1, 1, 1, 0, 0, 0, 0, 0.0, part, o.index, o.code, 0)
    if axes == 1:
        n, s = shape[0], stride[0]
        return pack(a.data_ptr(), (n - 1) * s + 1 if n else 0, n, 0, s, 1, 0, 0, 0, 0, 0.0, part, o.index, o.code, 1)
    if axes == 2:
        (m, n), (s, c) = shape, stride
        return pack(a.data_ptr(), (m - 1) * s + (n - 1) * c + 1 if m and n else 0, m, n, s, c, 0, 0, 0, 0, 0.0, part, o.index, o.code, 2)
    raise ArgumentError(f"revnum: {o.name} has {axes} axes, want {o.axes}")


def _dense(o, a):
    """a, or a copy in a layout that kernels take."""
    a = a.detach().resolve_conj().resolve_neg()
    if a.dim() == 0:
        return a
    stride, shape = a.stride(), a.shape
    if a.dim() == 2 and (shape[1] > 1 and stride[1] != 1 or shape[0] > 1 and stride[0] < shape[1]) or a.dim() == 1 and shape[0] > 1 and (stride[0] < 1 or o.sparse and stride[0] != 1) or o.kind in ("edges", "slice"):
        return a.contiguous()
    return a


def _fresh(a):
    """A contiguous copy of a."""
    return a.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)


class _Call:
    """The operands of a call. The operators take them as lists: tensors that have
    derivatives, tensors that are structure, the shapes of sparse matrices and of
    outputs as one list of numbers, and parameters. layout says which are which."""

    def __init__(self, name, layout, x, constants, sizes):
        self.rule = _library.rules[name]
        self.byname = {o.name: o for o in self.rule.operands}
        inputs, others, sparse, params = layout.split("|")
        self.names = inputs.split(",") if inputs else []
        self.sparse, self.indices, self.params = {}, {}, {}
        at = 0
        self.index_args = []
        it = iter(constants)
        for other in others.split(",") if others else []:
            self.indices[other] = next(it).contiguous()
        for s in sparse.split(",") if sparse else []:
            self.sparse[s] = (tuple(sizes[at : at + 2]), next(it).contiguous(), next(it).contiguous())
            at += 2
        self.shapes = []
        for o in self.rule.outputs:
            n = 1 if o.sparse else o.axes
            self.shapes.append(tuple(sizes[at : at + n]))
            at += n
        self.param_names = params.split(",") if params else []

    def settings(self, values):
        return self.rule.settings(dict(zip(self.param_names, values)))

    def pack(self, o, part, a):
        return _argument(o, part, a, self.sparse.get(o.name))

    def hold(self, x):
        """Packs the inputs, and keeps them."""
        self.x = {name: _dense(self.byname[name], a) for name, a in zip(self.names, x)}
        self.args = [self.pack(self.byname[name], 0, a) for name, a in self.x.items() if self.byname[name].role != "inout"]
        self.args += [_argument(self.byname[name], 0, a) for name, a in self.indices.items()]

    def outputs(self):
        out = []
        for o, shape in zip(self.rule.outputs, self.shapes):
            out.append(_fresh(self.x[o.name]) if o.role == "inout" else torch.zeros(shape, dtype=_TYPES[o.type]))
        return out

    def packed_outputs(self, part, out):
        return [self.pack(o, part, a) for o, a in zip(self.rule.outputs, out)]

    def gradients(self, part, ct):
        """The packed cotangents of outputs and of inputs, and the latter."""
        args, grads, places = [], [], {}
        for o, a in zip(self.rule.outputs, ct):
            places[o.name] = _fresh(a)
            args.append(self.pack(o, part, places[o.name]))
        for name, a in self.x.items():
            o = self.byname[name]
            if o.role == "inout":
                grads.append(places[name])
                continue
            grads.append(torch.zeros(a.shape, dtype=a.dtype))
            args.append(self.pack(o, part, grads[-1]))
        self.keep = places
        return args, grads

    def tangents(self, out, t):
        """The packed tangents of inputs and of outputs, and the latter."""
        given = {name: _fresh(a) for name, a in zip(self.names, t)}
        outs = [given.pop(o.name) if o.role == "inout" else torch.zeros_like(a) for o, a in zip(self.rule.outputs, out)]
        self.keep_tangents = given
        return self.packed_outputs(2, outs) + [self.pack(self.byname[name], 2, a) for name, a in given.items()], outs


def _fake_outputs(name, layout, x, constants, sizes):
    c = _Call(name, layout, x, constants, sizes)
    return [x[0].new_empty(shape, dtype=_TYPES[o.type]) for o, shape in zip(c.rule.outputs, c.shapes)]


def _run_value(rule: str, layout: str, x: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    c = _Call(rule, layout, x, constants, sizes)
    c.hold(x)
    out = c.outputs()
    c.rule.run(_library.FORWARD, c.args + c.packed_outputs(0, out) + c.settings(params))
    return out


_value_op = torch.library.custom_op("revnum::value", _run_value, mutates_args=())


@_value_op.register_fake
def _(rule, layout, x, constants, sizes, params):
    return _fake_outputs(rule, layout, x, constants, sizes)


@torch.library.custom_op("revnum::jvp", mutates_args=())
def _jvp_op(rule: str, layout: str, x: list[torch.Tensor], t: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    """J·t"""
    c = _Call(rule, layout, x, constants, sizes)
    c.hold(x)
    out = c.outputs()
    args, outs = c.tangents(out, t)
    c.rule.run(_library.TANGENT, c.args + c.packed_outputs(0, out) + args + c.settings(params))
    return outs


@_jvp_op.register_fake
def _(rule, layout, x, t, constants, sizes, params):
    return _fake_outputs(rule, layout, x, constants, sizes)


def _run_vjp(rule: str, layout: str, x: list[torch.Tensor], ct: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    """Jᵀ·ct"""
    c = _Call(rule, layout, x, constants, sizes)
    c.hold(x)
    args, grads = c.gradients(1, ct)
    args += c.settings(params)
    if not c.rule.in_place:
        c.rule.run(_library.GRADIENT, c.args + args)
        return grads
    out = c.outputs()
    packed = c.args + c.packed_outputs(0, out)
    c.rule.run(_library.FORWARD, packed + c.settings(params))
    c.rule.run(_library.ADJOINT, packed + args)
    return grads


_vjp_op = torch.library.custom_op("revnum::vjp", _run_vjp, mutates_args=())


@_vjp_op.register_fake
def _(rule, layout, x, ct, constants, sizes, params):
    return [torch.empty(a.shape, dtype=a.dtype) for a in x]


@torch.library.custom_op("revnum::second", mutates_args=())
def _second_op(rule: str, layout: str, x: list[torch.Tensor], ct: list[torch.Tensor], v: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    """(∂J[v])ᵀ·ct"""
    c = _Call(rule, layout, x, constants, sizes)
    c.hold(x)
    g, _ = c.gradients(1, ct)
    kept = c.keep, _
    gt, grads = c.gradients(3, [torch.zeros_like(a) for a in ct])
    settings = c.settings(params)
    out = c.outputs()
    t, outs = c.tangents(out, v)
    if c.rule.in_place:
        packed = c.args + c.packed_outputs(0, out)
        c.rule.run(_library.TANGENT, packed + t + settings)
        c.rule.run(_library.ADJOINT_TANGENT, packed + g + t + gt + settings)
    else:
        c.rule.run(_library.ADJOINT_TANGENT, c.args + g + t[len(outs) :] + gt + settings)
    del kept
    return grads


@_second_op.register_fake
def _(rule, layout, x, ct, v, constants, sizes, params):
    return [torch.empty(a.shape, dtype=a.dtype) for a in x]


class _Spec(NamedTuple):
    """What of a call is no tensor."""

    rule: str
    layout: str
    sizes: list
    params: list


def _transformed():
    """Whether a transform of torch.func looks at operations, or forward-mode derivatives do."""
    return torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0


def _batched(tensors):
    """Whether one of the tensors is a batch of the vmap under is_grads_batched and vectorize."""
    return any(map(torch._C._functorch.is_legacy_batchedtensor, tensors))


def _each(f, tensors):
    """The outputs of f for each element of such batches, one call after the other, as batches."""
    level = torch._C._vmapmode_decrement_nesting() + 1
    try:  # f may have batches of the level below
        # A tensor that is no batch of this level gets a dimension of length 1.
        parts = [torch._remove_batch_dim(a, level, 1, 0) for a in tensors]
        n = max(map(len, parts))
        each = [f([a[i if len(a) == n else 0] for a in parts]) for i in range(n)]
        return [torch._add_batch_dim(torch.stack(a), 0, level) for a in zip(*each)]
    finally:
        torch._C._vmapmode_increment_nesting()


def _flat(lists):
    return [a for l in lists for a in l]


def _split(tensors, counts):
    it = iter(tensors)
    return [list(itertools.islice(it, n)) for n in counts]


def _shapes(tensors):
    return [(a.shape, a.dtype) for a in tensors]


def _filled(given, shapes):
    """Derivatives, with zeros where there are none."""
    return [torch.zeros(shape, dtype=dtype) if g is None else g for g, (shape, dtype) in zip(given, shapes)]


def _sum(*terms):
    """The sum of lists of derivatives. None is zero."""
    return [sum(column) for column in zip(*[t for t in terms if t is not None])]


class _Operator:
    """An operator of torch.library and its derivatives. Transforms of torch.func and forward
    mode take nothing from torch.library, and no derivative there is zero without a word. So
    an autograd.Function stands for the operator there. torch.compile takes only the operator.

    backward and jvp get a _Spec and the lists of tensors, and then the cotangents, or a list
    of tangents for each list but that of constants. Such a list is None if all are zero.
    backward returns a list of gradients for each list but that of constants."""

    def __init__(self, op, backward, jvp):
        def save(ctx, spec, lists, output):
            ctx.spec, ctx.counts, ctx.shapes = spec, [len(l) for l in lists], _shapes(output)
            ctx.save_for_backward(*_flat(lists))

        def gradients(ctx, ct):
            return backward(ctx.spec, *_split(ctx.saved_tensors, ctx.counts), _filled(ct, ctx.shapes))

        def setup(ctx, inputs, output):
            rule, layout, *lists, sizes, params = inputs
            save(ctx, _Spec(rule, layout, sizes, params), lists, output)

        def lists_of_gradients(ctx, ct):
            # For a list of tensors PyTorch takes an empty list, but not None.
            numbers = [None if l else [] for l in (ctx.spec.sizes, ctx.spec.params)]
            return None, None, *gradients(ctx, ct), [None] * ctx.counts[-1], *numbers

        op.register_autograd(lists_of_gradients, setup_context=setup)
        self.op = op

        class Function(torch.autograd.Function):
            @staticmethod
            def forward(spec, counts, *tensors):
                return tuple(op(spec.rule, spec.layout, *_split(tensors, counts), spec.sizes, spec.params))

            @staticmethod
            def setup_context(ctx, inputs, output):
                spec, counts, *tensors = inputs
                save(ctx, spec, _split(tensors, counts), output)
                ctx.save_for_forward(*tensors)
                ctx.set_materialize_grads(False)

            @staticmethod
            def backward(ctx, *ct):
                return None, None, *_flat(gradients(ctx, ct)), *[None] * ctx.counts[-1]

            @staticmethod
            def jvp(ctx, spec, counts, *tangents):
                lists = _split(ctx.saved_tensors, ctx.counts)
                given = [None if all(a is None for a in t) else _filled(t, _shapes(l)) for t, l in zip(_split(tangents, ctx.counts), lists)]
                return tuple(jvp(ctx.spec, *lists, *given[:-1]))

            @staticmethod
            def vmap(info, dims, spec, counts, *tensors):
                """One call after the other."""
                each = [Function.apply(spec, counts, *[a if d is None else a.select(d, i) for a, d in zip(tensors, dims[2:])]) for i in range(info.batch_size)]
                out = tuple(torch.stack(a) for a in zip(*each))
                return out, (0,) * len(out)

        self.function = Function

    def __call__(self, spec, *lists):
        if torch.compiler.is_compiling():
            if _transformed():
                torch._dynamo.graph_break(msg="revnum: torch.compile does not look into torch.func and forward-mode derivatives of kernels")
        elif _batched(_flat(lists)):
            counts = [len(l) for l in lists]
            return _each(lambda tensors: self(spec, *_split(tensors, counts)), _flat(lists))
        if _transformed():
            return list(self.function.apply(spec, [len(l) for l in lists], *_flat(lists)))
        return self.op(spec.rule, spec.layout, *lists, spec.sizes, spec.params)


def _value_backward(spec, x, constants, ct):
    return [_vjp(spec, x, ct, constants)]


def _value_jvp(spec, x, constants, t):
    return _jvp(spec, x, t, constants)


def _vjp_backward(spec, x, ct, constants, w):
    # <w, Jᵀ·ȳ> has the gradients (∂J[w])ᵀ·ȳ by x, and J·w by ȳ.
    return [_second(spec, x, ct, w, constants), _jvp(spec, x, w, constants)]


def _vjp_jvp(spec, x, ct, constants, dx, dct):
    return _sum(dx and _second(spec, x, ct, dx, constants), dct and _vjp(spec, x, dct, constants))


def _jvp_backward(spec, x, t, constants, ct):
    # <ȳ, J·t> has the gradients (∂J[t])ᵀ·ȳ by x, and Jᵀ·ȳ by t.
    return [_second(spec, x, ct, t, constants), _vjp(spec, x, ct, constants)]


def _jvp_jvp(spec, x, t, constants, dx, dt):
    if dx:
        raise NotImplementedError("revnum: kernels have no second derivatives forward over forward; take torch.func.hessian, or jacfwd of jacrev")
    return _jvp(spec, x, dt, constants)


def _second_backward(*_):
    raise NotImplementedError("revnum: kernels have no derivatives of third order")


def _second_jvp(spec, x, ct, v, constants, dx, dct, dv):
    if dx:
        _second_backward()
    return _sum(dct and _second(spec, x, dct, v, constants), dv and _second(spec, x, ct, dv, constants))


_value = _Operator(_value_op, _value_backward, _value_jvp)
_vjp = _Operator(_vjp_op, _vjp_backward, _vjp_jvp)
_jvp = _Operator(_jvp_op, _jvp_backward, _jvp_jvp)
_second = _Operator(_second_op, _second_backward, _second_jvp)


class _Value(torch.autograd.Function):
    """revnum::value where nothing is traced: the dispatcher takes ten times as long as the
    kernel of a short vector. What it computes is what the operators compute."""

    @staticmethod
    def forward(ctx, spec, n, *tensors):
        ctx.spec, ctx.n = spec, n
        ctx.save_for_backward(*tensors)
        out = _run_value(spec.rule, spec.layout, list(tensors[:n]), list(tensors[n:]), spec.sizes, spec.params)
        ctx.shapes = _shapes(out)
        return tuple(out)

    @staticmethod
    def backward(ctx, *grads):
        spec, x, constants = ctx.spec, list(ctx.saved_tensors[: ctx.n]), list(ctx.saved_tensors[ctx.n :])
        ct = _filled(grads, ctx.shapes)
        if torch.is_grad_enabled() or _transformed() or _batched(ct):  # for a second derivative, or cotangents in a batch
            g = _vjp(spec, x, ct, constants)
        else:
            g = _run_vjp(spec.rule, spec.layout, x, ct, constants, spec.sizes, spec.params)
        return None, None, *g, *[None] * len(constants)


def _plain(tensors):
    """Whether nothing looks at operations on the tensors but autograd."""
    return not torch.compiler.is_compiling() and all(type(a) in (torch.Tensor, torch.nn.Parameter) for a in tensors) and not torch._C._len_torch_dispatch_stack() and not _transformed()


def _sparse(m):
    """The shape, ptr, ind and data of a sparse matrix."""
    if isinstance(m, CSR):
        return tuple(m.shape), m.ptr, m.ind, m.data
    if isinstance(m, torch.Tensor) and m.layout == torch.sparse_csr:
        if torch._C._are_functorch_transforms_active():
            raise ArgumentError("revnum: torch.func takes no sparse CSR tensors: give a revnum.torch.CSR")
        return tuple(m.shape), m.crow_indices(), m.col_indices(), _Values.apply(m)
    raise ArgumentError(f"revnum: want a sparse matrix, a sparse CSR tensor or a CSR, found {type(m).__name__}")


class _Values(torch.autograd.Function):
    """The entries of a sparse CSR tensor. Their gradient goes to the tensor."""

    @staticmethod
    def forward(ctx, m):
        ctx.save_for_backward(m.crow_indices(), m.col_indices())
        ctx.shape = m.shape
        return m.values().clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        ptr, ind = ctx.saved_tensors
        return torch.sparse_csr_tensor(ptr, ind, g, ctx.shape, check_invariants=False)


def _tensor(a):
    return a if isinstance(a, torch.Tensor) else torch.as_tensor(a)


def call(kernel, *args, **kwargs):
    """The outputs of a kernel: one, or a tuple."""
    found = None
    for a in (*args, *kwargs.values()):
        name = _NAMES.get(getattr(getattr(a, "data", a) if isinstance(a, CSR) else a, "dtype", None))
        if name == "complex128" or found is None:
            found = name or found
    rule = lookup(kernel, found or "float64")
    if rule.missing:
        raise ArgumentError(f"{rule.name} cannot be called: {rule.missing}")
    operands, params = bind(rule, args, kwargs)
    names, x, others, indices, sparse, structure, sizes, shapes = [], [], [], [], [], [], [], {}
    for o in rule.operands:
        a = operands.get(o.name)
        if a is None:
            continue
        if o.sparse:
            shape, ptr, ind, a = _sparse(a)
            sparse.append(o.name)
            structure += [ptr.to(torch.int64), ind.to(torch.int64)]
            sizes += shape
            shapes[o.name] = shape
        else:
            a = _tensor(a)
            shapes[o.name] = tuple(a.shape)
        if o.role == "acc":
            operands[o.name] = a
            continue
        if o.role == "index" and o.type == "int":
            if a.is_floating_point() or a.is_complex():
                raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want integers")
            others.append(o.name)
            indices.append(a.to(torch.int64))
            continue
        if a.dtype != _TYPES[o.type]:
            raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want {o.type}")
        if o.role == "index":
            others.append(o.name)
            indices.append(a.detach())
            continue
        if not o.sparse and a.dim() != o.axes:
            raise ArgumentError(f"{rule.name}: {o.name} has {a.dim()} axes, want {o.axes} of a {o.kind}")
        names.append(o.name)
        x.append(a)
    told = None
    for i, o in enumerate(rule.outputs):
        given = operands.get(o.name)
        if o.role == "acc" and given is not None:
            sizes += given.shape
        elif o.sparse:
            raise ArgumentError(f"{rule.name}: the inputs do not tell the structure of {o.name}: give {o.name}=matrix")
        else:
            told = told or rule.output_shapes({k: v for k, v in shapes.items() if operands.get(k) is not None}, params)
            sizes += told[i]
    layout = "|".join(",".join(l) for l in (names, others, sparse, params))
    if rule.parameters or params:
        rule.settings(params)  # refuses what is unknown
    constants = indices + structure
    spec = _Spec(rule.name, layout, [int(n) if not isinstance(n, torch.SymInt) else n for n in sizes], [float(v) for v in params.values()])
    out = _Value.apply(spec, len(x), *x, *constants) if _plain(x) else _value(spec, x, constants)
    return out[0] if len(out) == 1 else tuple(out)


def prepare(kernel, which, operands, cotangents=None, tangents=None, cotangent_tangents=None, **params):
    """revnum.numpy.prepare on tensors: a pass in place, without copies and outside autograd."""
    from . import numpy as rn

    parts = [{k: a.detach().numpy() for k, a in (p or {}).items()} for p in (operands, cotangents, tangents, cotangent_tangents)]
    return rn.prepare(kernel, which, *parts, **params)


def run(kernel, which, operands, cotangents=None, tangents=None, cotangent_tangents=None, **params):
    """revnum.numpy.run on tensors."""
    prepare(kernel, which, operands, cotangents, tangents, cotangent_tangents, **params)()


def __getattr__(name):
    if name in _library.packages():
        p = globals()[name] = Package(name, call)
        return p
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
