"""The kernels as operators of PyTorch.

    import revnum.torch as rt

    loss = rt.revlinalg.Norm2(rt.revlinalg.MatMul(a, x)[:, 0])
    loss.backward()

Operands and parameters are those of revnum.numpy. A sparse matrix is a sparse CSR tensor,
and its gradient is one of the same structure; CSR(shape, ptr, ind, data) takes the tensor
of the entries by itself, for derivatives of second order.

The operators are torch.library operators: revnum::value, revnum::vjp, revnum::jvp and
revnum::second. They have fake kernels and derivatives, so that they work under
torch.compile and twice backward. They work on the CPU. Tensors are passed without a copy
unless their layout is one that the kernel does not take.

run works in place, on tensors that are the caller's, outside of autograd.
"""

from typing import NamedTuple

import numpy as np
import torch

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


_value = torch.library.custom_op("revnum::value", _run_value, mutates_args=())


@_value.register_fake
def _(rule, layout, x, constants, sizes, params):
    return _fake_outputs(rule, layout, x, constants, sizes)


@torch.library.custom_op("revnum::jvp", mutates_args=())
def _jvp(rule: str, layout: str, x: list[torch.Tensor], t: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    """J·t"""
    c = _Call(rule, layout, x, constants, sizes)
    c.hold(x)
    out = c.outputs()
    args, outs = c.tangents(out, t)
    c.rule.run(_library.TANGENT, c.args + c.packed_outputs(0, out) + args + c.settings(params))
    return outs


@_jvp.register_fake
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


_vjp = torch.library.custom_op("revnum::vjp", _run_vjp, mutates_args=())


@_vjp.register_fake
def _(rule, layout, x, ct, constants, sizes, params):
    return [torch.empty(a.shape, dtype=a.dtype) for a in x]


@torch.library.custom_op("revnum::second", mutates_args=())
def _second(rule: str, layout: str, x: list[torch.Tensor], ct: list[torch.Tensor], v: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
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


@_second.register_fake
def _(rule, layout, x, ct, v, constants, sizes, params):
    return [torch.empty(a.shape, dtype=a.dtype) for a in x]


def _filled(grads, like):
    """Gradients, with zeros where there are none."""
    return [torch.zeros_like(a) if g is None else g for g, a in zip(grads, like)]


def _keep(groups):
    """The setup of the context for an operator whose tensors are in the given arguments."""

    def setup(ctx, inputs, output):
        ctx.plain = [inputs[0], inputs[1], inputs[-2], inputs[-1]]
        lists = [inputs[i] for i in (*groups, len(inputs) - 3)]
        ctx.counts = [len(l) for l in lists]
        ctx.save_for_backward(*[a for l in lists for a in l])
        ctx.outputs = [(a.shape, a.dtype) for a in output]

    return setup


def _kept(ctx):
    lists, at = [], 0
    for n in ctx.counts:
        lists.append(list(ctx.saved_tensors[at : at + n]))
        at += n
    return lists


def _zeros(ctx, grads):
    return [torch.zeros(s, dtype=t) if g is None else g for g, (s, t) in zip(grads, ctx.outputs)]


def _none(*lists):
    """The gradients of lists of numbers: PyTorch takes an empty one for a list of tensors."""
    return [None if l else [] for l in lists]


def _value_backward(ctx, grads):
    x, constants = _kept(ctx)
    rule, layout, sizes, params = ctx.plain
    return None, None, _vjp(rule, layout, x, _zeros(ctx, grads), constants, sizes, params), [None] * len(constants), *_none(sizes, params)


def _vjp_backward(ctx, grads):
    # <w, Jᵀ·ȳ> has the gradients J·w by ȳ, and (∂J[w])ᵀ·ȳ by x.
    x, ct, constants = _kept(ctx)
    rule, layout, sizes, params = ctx.plain
    w = _zeros(ctx, grads)
    by_x = _second(rule, layout, x, ct, w, constants, sizes, params)
    by_ct = _jvp(rule, layout, x, w, constants, sizes, params)
    return None, None, by_x, by_ct, [None] * len(constants), *_none(sizes, params)


def _jvp_backward(ctx, grads):
    # <ȳ, J·t> has the gradients Jᵀ·ȳ by t, and (∂J[t])ᵀ·ȳ by x.
    x, t, constants = _kept(ctx)
    rule, layout, sizes, params = ctx.plain
    ct = _zeros(ctx, grads)
    by_x = _second(rule, layout, x, ct, t, constants, sizes, params)
    by_t = _vjp(rule, layout, x, ct, constants, sizes, params)
    return None, None, by_x, by_t, [None] * len(constants), *_none(sizes, params)


def _second_backward(ctx, grads):
    raise NotImplementedError("revnum: kernels have no derivatives of third order")


_value.register_autograd(_value_backward, setup_context=_keep([2]))
_vjp.register_autograd(_vjp_backward, setup_context=_keep([2, 3]))
_jvp.register_autograd(_jvp_backward, setup_context=_keep([2, 3]))
_second.register_autograd(_second_backward, setup_context=_keep([2, 3, 4]))


class _Value(torch.autograd.Function):
    """revnum::value where nothing is traced: the dispatcher takes ten times as long as the
    kernel of a short vector. What it computes is what the operators compute."""

    @staticmethod
    def forward(ctx, rule, layout, n, sizes, params, *tensors):
        ctx.plain = rule, layout, n, sizes, params
        ctx.save_for_backward(*tensors)
        x, constants = list(tensors[:n]), list(tensors[n:])
        out = _run_value(rule, layout, x, constants, sizes, params)
        ctx.outputs = [(a.shape, a.dtype) for a in out]
        return tuple(out)

    @staticmethod
    def backward(ctx, *grads):
        rule, layout, n, sizes, params = ctx.plain
        tensors = ctx.saved_tensors
        ct = _zeros(ctx, grads)
        if torch.is_grad_enabled():  # for a second derivative
            g = _vjp(rule, layout, list(tensors[:n]), ct, list(tensors[n:]), sizes, params)
        else:
            g = _run_vjp(rule, layout, list(tensors[:n]), ct, list(tensors[n:]), sizes, params)
        return None, None, None, None, None, *g, *[None] * (len(tensors) - n)


def _plain(tensors):
    """Whether nothing looks at operations on the tensors but autograd."""
    return not torch.compiler.is_compiling() and all(type(a) in (torch.Tensor, torch.nn.Parameter) for a in tensors) and not torch._C._len_torch_dispatch_stack() and torch._C._functorch.peek_interpreter_stack() is None


def _sparse(m):
    """The shape, ptr, ind and data of a sparse matrix."""
    if isinstance(m, CSR):
        return tuple(m.shape), m.ptr, m.ind, m.data
    if isinstance(m, torch.Tensor) and m.layout == torch.sparse_csr:
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
        if o.role == "index":
            if a.is_floating_point() or a.is_complex():
                raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want integers")
            others.append(o.name)
            indices.append(a.to(torch.int64))
            continue
        if a.dtype != _TYPES[o.type]:
            raise ArgumentError(f"revnum: {o.name} has elements of {a.dtype}, want {o.type}")
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
    if _plain(x):
        out = _Value.apply(rule.name, layout, len(x), list(sizes), [float(v) for v in params.values()], *x, *constants)
        return out[0] if len(out) == 1 else out
    out = _value(rule.name, layout, x, constants, [int(n) if not isinstance(n, torch.SymInt) else n for n in sizes], [float(v) for v in params.values()])
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
