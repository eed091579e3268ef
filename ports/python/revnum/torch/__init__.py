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
transforms of torch.func, is_grads_batched and vectorize; all problems of a vmap are one call
of the library. What there is not raises NotImplementedError: derivatives of third order, and
second ones forward over forward. torch.compile breaks its graph at such a transform, and so
refuses it with fullgraph. A transform takes a sparse matrix as a CSR.

They work on the CPU. Tensors are passed without a copy unless their layout is one that the
kernel does not take. Results may have memory that the library allocated. It cannot grow:
Tensor.resize_, out= and resize_ of the storage refuse it, as they do that of torch.from_numpy.

run works in place, on tensors that are the caller's, outside of autograd.

revnum.torch.nn has reversible modules, which train without a tape.
"""

import contextlib
import ctypes
import functools
import importlib
import itertools
import math
import struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch._functorch.utils import enable_single_level_autograd_function, unwrap_dead_wrappers
from torch.autograd import forward_ad

from .. import _library, _steps
from .. import numpy as rn
from .._library import ArgumentError, Package, bind, lookup

_TYPES = {"float64": torch.float64, "float32": torch.float32, "Q43": torch.int64, "complex128": torch.complex128, "int": torch.int64}
_NAMES = {torch.float64: "float64", torch.float32: "float32", torch.complex128: "complex128"}


class CSR(NamedTuple):
    """A sparse matrix stored by rows."""

    shape: tuple
    ptr: torch.Tensor
    ind: torch.Tensor
    data: torch.Tensor


_NUMPY = {torch.float64: np.dtype(np.float64), torch.float32: np.dtype(np.float32), torch.complex128: np.dtype(np.complex128), torch.int64: np.dtype(np.int64)}
_TORCH = {n: t for t, n in _NUMPY.items()}
_DLPACK = {torch.float64: (2, 64), torch.float32: (2, 32), torch.complex128: (5, 128), torch.int64: (0, 64)}  # the code of a type, and its bits
_library_ = _library.library
_CPU = torch.device("cpu")  # a text takes longer
_is_compiling, _is_dynamo = torch.compiler.is_compiling, torch.compiler.is_dynamo_compiling
_functorch = torch._C._functorch
_early = getattr(getattr(torch._ops, "_mode_stack_state_for_pre_dispatch", None), "__dict__", {})  # the modes of make_fx(pre_dispatch=True)
_early_modes = getattr(torch._ops, "_len_torch_dispatch_stack_pre_dispatch", int)  # how many there are
_INFRA, _SCHEMA = "_ModeStackStateForPreDispatch__infra_modes", "_schema_check_mode"  # a list of two, and a third
_MOST = 64  # tensors of a plan of the library
_is_batched, _Transform = _functorch.is_legacy_batchedtensor, _functorch.TransformType


@functools.lru_cache(4096)
def _parsed(name, layout, sizes, params):
    """The spec of a call. The operators take its parts as text and numbers: layout has the
    names of inputs, of other indices, of sparse matrices and of parameters, the number of
    problems and the names of what they share. sizes has the shapes of sparse matrices and of
    outputs."""
    rule = _library.rules[name]
    inputs, others, sparse, names, batch, shared = [part.split(",") if part else [] for part in layout.split("|")]
    constants = [(o, "") for o in others] + [(s, part) for s in sparse for part in ("ptr", "ind")]
    it = iter(sizes)
    shapes = tuple((s, (next(it), next(it))) for s in sparse)
    outputs = tuple((tuple(itertools.islice(it, 1 if o.sparse else o.axes)), _NUMPY[_TYPES[o.type]]) for o in rule.outputs)
    shared = tuple(inputs[int(i)] if int(i) < len(inputs) else constants[int(i) - len(inputs)] for i in shared)
    return _steps.Spec(name, tuple(inputs), tuple(constants), shapes, tuple(zip(names, params)), outputs, int(batch[0]), shared)


class _Plan:
    """The steps of a call on tensors, and the tensors that it makes: each as shape, strides and dtype,
    or None where it is not wanted."""

    def __init__(self, write, spec, tensors, results):
        self.made = [r and (tuple(r[0]), _strides(r[0]), r[1]) for r in results]
        arguments = [(tuple(a.shape), a.stride() if i < spec.n and a.dim() else None, _NUMPY[a.dtype]) for i, a in enumerate(tensors)]
        results = [r and (tuple(r[0]), None, _NUMPY[r[1]]) for r in results]
        self.steps = _steps.written(write, spec, arguments, results)
        self.at, self.words, self.n = self.steps.ctypes.data, self.steps.size, len(tensors) + sum(r is not None for r in results)
        self.pack = struct.Struct(f"={self.n}q").pack
        self.known, self.forward, self.backward, self.call = None, None, None, self._call
        if (calls := _quick()) and len(tensors) + len(self.made) <= _MOST:
            long = _library.rules[spec.rule].takes_long(name for name, _ in spec.params)
            short = not long and sum(math.prod(a.shape) for a in tensors) + sum(math.prod(r[0]) for r in results if r) <= 1024
            with torch._C.DisableTorchFunction():  # a mode may make subclasses
                made = tuple([r and torch.empty((), dtype=r[2], device=_CPU).expand(r[0]) for r in self.made])  # the library makes tensors like these
            steps = self.steps.tobytes()
            self.known = calls._plan(steps, len(tensors), made, not short, 0, b"")
            self.call = functools.partial(calls._run, self.known)
            if all(a.dim() <= 3 for a in tensors):  # under autograd
                layouts = b"".join(map(_packed, tensors))
                if write is _steps.value:
                    self.forward = calls._plan(steps, len(tensors), made, not short, 0, layouts)
                elif write is _steps.vjp:  # no gradients for the constants
                    results = (*made, *[None] * (len(tensors) - spec.n - len(spec.outputs)))
                    if len(tensors) + len(results) <= _MOST:
                        self.backward = calls._plan(steps, len(tensors), results, not short, spec.n, layouts)

    def _call(self, tensors):
        out = [r and torch.empty_strided(r[0], r[1], dtype=r[2], device=_CPU) for r in self.made]
        status = _library_.run(self.at, self.words, self.pack(*[a.data_ptr() for a in tensors], *[a.data_ptr() for a in out if a is not None]), self.n)
        if status:
            _library_.fail(status)
        return out


def _packed(a):
    """The layout of a tensor for the library."""
    pad = (0,) * (3 - a.dim())
    return struct.pack("=9q", *_DLPACK[a.dtype], a.dim(), *a.shape, *pad, *a.stride(), *pad)


class _Calls:
    """Calls on tensors that the library makes without Python's code where it keeps them, and others by slow."""

    __slots__ = ("_calls", "slow", "problems")  # the library reads the first


@functools.cache
def _quick():
    """An instance of the subclass of _Calls that the library makes, or None."""
    api = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if not rn.uses_c or api is None or len(_early.get(_INFRA, ())) != 2 or _SCHEMA not in _early or not {"to_save", "materialize_grads"} <= set(dir(torch._C._FunctionBase)):
        return None
    objects = (
        None, True, False, torch.Tensor, torch.nn.Parameter, torch.Tensor.is_neg, torch.Tensor.is_conj, torch._C._are_functorch_transforms_active, torch._C._len_torch_dispatch_stack, _early[_INFRA], _early, vars(forward_ad), torch.is_grad_enabled, torch.Tensor.contiguous, torch._C._is_tracing,
        _functorch.maybe_current_level, _functorch.maybe_get_level, _functorch.maybe_get_bdim, _functorch.get_unwrapped, _functorch.is_gradtrackingtensor,
        _functorch._add_batch_dim, _functorch._wrap_for_grad, _functorch.get_single_level_autograd_function_allowed, _functorch.set_single_level_autograd_function_allowed,
        _functorch.peek_interpreter_stack, _Transform.Grad,
    )
    made = _library_.python_torch_type(_Calls, api, objects)
    return made and made()


def _strides(shape):
    strides, n = [], 1
    for length in reversed(shape):
        strides.insert(0, n)
        n *= max(1, length)
    return tuple(strides)


def _readable(rule, name, a, batched):
    """a, or a copy in a layout that kernels take."""
    if a._is_zerotensor():
        return _dense(a)
    a = a.detach().resolve_conj().resolve_neg()
    o = next(o for o in rule.operands if o.name == name)
    stride, shape = a.stride(), a.shape
    if batched or o.sparse or o.role == "inout" or o.kind in ("edges", "slice"):
        return a.contiguous()
    if a.dim() == 2 and (shape[1] > 1 and stride[1] != 1 or shape[0] > 1 and stride[0] < shape[1]) or a.dim() == 1 and shape[0] > 1 and stride[0] < 1:
        return a.contiguous()
    return a


def _dense(a):
    if a._is_zerotensor():  # which has no memory
        return torch.zeros(a.shape, dtype=a.dtype)
    return a.detach().resolve_conj().resolve_neg().contiguous()


@functools.lru_cache(4096)
def _plan(write, spec, layouts, wanted):
    """The plan of a call on tensors of these layouts. wanted are the inputs whose gradients
    are, or None if the results are outputs."""
    tensors = [torch.empty_strided(*layout[:2], dtype=layout[2], device="meta") for layout in layouts]
    if write in (_steps.value, _steps.jvp):
        results = [(shape, _TORCH[dtype]) for shape, dtype in spec.results()]
    else:
        shapes = spec.gradients([t.shape for t in tensors[: spec.n]])
        results = [(shape, t.dtype) if w else None for shape, t, w in zip(shapes, tensors, wanted or [True] * spec.n)]
    return _Plan(write, spec, tensors, results)


def _check(spec, x, constants):
    for name, a in zip([*spec.inputs, *(name for name, _ in spec.constants)], [*x, *constants]):
        if not a.is_cpu:
            raise ArgumentError(f"revnum: {name} is on {a.device}; the kernels run on the CPU: give {name}.cpu()")


def _run(write, spec, x, others, constants, wanted=None):
    """Makes a call: x are its inputs, others their and the outputs' derivatives."""
    _check(spec, x, constants)
    rule = _library.rules[spec.rule]
    x = [_readable(rule, name, a, spec.batch >= 0) for name, a in zip(spec.inputs, x)]
    others = [_dense(a) for a in others]
    tensors = [*x, *others, *[_dense(a) for a in constants]]
    return list(_plan(write, spec, tuple((tuple(a.shape), a.stride(), a.dtype) for a in tensors), wanted).call(tensors))


def _fake_outputs(rule, layout, x, sizes):
    batch, sizes = int(layout.split("|")[4]), iter(sizes[2 * len(list(filter(None, layout.split("|")[2].split(",")))) :])
    outputs = _library.rules[rule].outputs
    return [x[0].new_empty(([batch] if batch >= 0 else []) + list(itertools.islice(sizes, 1 if o.sparse else o.axes)), dtype=_TYPES[o.type]) for o in outputs]


def _fake_gradients(rule, layout, x):
    batch, shared = (layout.split("|")[i] for i in (4, 5))
    shared = set(shared.split(","))
    return [a.new_empty((int(batch), *a.shape) if str(i) in shared else a.shape) for i, a in enumerate(x)]


def _define(name, write):
    """The operator of a call. Its derivatives are registered below."""
    return torch.library.custom_op(f"revnum::{name}", mutates_args=())(write)


@functools.partial(_define, "value")
def _value_op(rule: str, layout: str, x: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    return _run(_steps.value, _parsed(rule, layout, tuple(sizes), tuple(params)), x, [], constants)


@_value_op.register_fake
def _(rule, layout, x, constants, sizes, params):
    return _fake_outputs(rule, layout, x, sizes)


@functools.partial(_define, "jvp")
def _jvp_op(rule: str, layout: str, x: list[torch.Tensor], t: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    return _run(_steps.jvp, _parsed(rule, layout, tuple(sizes), tuple(params)), x, t, constants)


@_jvp_op.register_fake
def _(rule, layout, x, t, constants, sizes, params):
    return _fake_outputs(rule, layout, x, sizes)


@functools.partial(_define, "vjp")
def _vjp_op(rule: str, layout: str, x: list[torch.Tensor], ct: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    return _run(_steps.vjp, _parsed(rule, layout, tuple(sizes), tuple(params)), x, ct, constants)


@_vjp_op.register_fake
def _(rule, layout, x, ct, constants, sizes, params):
    return _fake_gradients(rule, layout, x)


@functools.partial(_define, "second")
def _second_op(rule: str, layout: str, x: list[torch.Tensor], ct: list[torch.Tensor], v: list[torch.Tensor], constants: list[torch.Tensor], sizes: list[int], params: list[float]) -> list[torch.Tensor]:
    return _run(_steps.second, _parsed(rule, layout, tuple(sizes), tuple(params)), x, [*ct, *v], constants)


@_second_op.register_fake
def _(rule, layout, x, ct, v, constants, sizes, params):
    return _fake_gradients(rule, layout, x)


class _Spec(NamedTuple):
    """What of a call is no tensor."""

    rule: str
    layout: str
    sizes: list
    params: list

    def batch(self):
        """The number of problems, -1 if there is no such axis, and what they share: numbers
        of inputs, and those of constants after them."""
        n, shared = self.layout.split("|")[4:]
        return int(n), {int(i) for i in shared.split(",") if i}

    def batched(self, n, shared):
        """The spec of a batch."""
        return self._replace(layout="|".join([*self.layout.split("|")[:4], str(n), ",".join(map(str, sorted(shared)))]))


def _expanded(spec, derivatives):
    """Derivatives of inputs, with the axis of problems where problems share the input."""
    n, shared = spec.batch()
    return [a.expand(n, *a.shape) if i in shared else a for i, a in enumerate(derivatives)]


def _reduced(spec, derivatives):
    """Gradients of inputs: of a shared one the sum over problems."""
    _, shared = spec.batch()
    return [a.sum(0) if i in shared else a for i, a in enumerate(derivatives)]


def _transformed():
    """Whether a transform of torch.func looks at operations, or forward-mode derivatives do."""
    return torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0


def _batched(tensors):
    """Whether one of the tensors is a batch of the vmap under is_grads_batched and vectorize."""
    for a in tensors:
        if _is_batched(a):
            return True
    return False


def _each(operator, spec, counts, tensors):
    """The call for all problems of such batches, as batches."""
    level = torch._C._vmapmode_decrement_nesting() + 1
    try:  # the call may have batches of the level below
        # A tensor that is no batch of this level gets a dimension of length 1.
        parts = [torch._remove_batch_dim(a, level, 1, 0) for a in tensors]
        n = max(map(len, parts))
        dims = [0 if len(a) == n else None for a in parts]
        parts = [a if len(a) == n else a[0] for a in parts]
        out, _ = _batched_call(lambda spec, counts, *tensors: operator(spec, *_split(tensors, counts)), n, dims, spec, counts, parts)
        return [torch._add_batch_dim(a, 0, level) for a in out]
    finally:
        torch._C._vmapmode_increment_nesting()


@contextlib.contextmanager
def _without_transform():
    """Without the innermost transform of torch.func."""
    layer = _functorch.pop_dynamic_layer_stack()
    try:
        yield
    finally:
        _functorch.push_dynamic_layer_stack(layer)


def _vmapped(operator, spec, counts, tensors, level):
    """The call for all problems of the vmap of a level, as batches of it."""
    ours = [_functorch.is_batchedtensor(a) and _functorch.maybe_get_level(a) == level for a in tensors]
    dims = [_functorch.maybe_get_bdim(a) if is_ours else None for a, is_ours in zip(tensors, ours)]
    parts = [_functorch.get_unwrapped(a) if is_ours else a for a, is_ours in zip(tensors, ours)]
    size = next((a.shape[d] for a, d in zip(parts, dims) if d is not None), None)
    call = lambda spec, counts, *tensors: operator(spec, *_split(tensors, counts))
    with _without_transform():
        if size is None:
            return call(spec, counts, *parts)
        out, _ = _batched_call(call, size, dims, spec, counts, parts)
    return [_functorch._add_batch_dim(a, 0, level) for a in out]


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

    The innermost transform is made here, and then the call without it: a vmap as a batch, and grad and
    jvp by a function of their level. torch.func does the same with an autograd.Function, and takes ten
    times as long, because it looks for tensors in all arguments again and again.

    backward and jvp get a _Spec and the lists of tensors, and then the cotangents, or a list
    of tangents for each list but that of constants. Such a list is None if all are zero.
    backward returns a list of gradients for each list but that of constants."""

    def __init__(self, op, write, backward, jvp):
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
        self.op, self.write = op, write

        class Rules:
            @staticmethod
            def forward(level, spec, counts, *tensors):
                if level is None:
                    return tuple(op(spec.rule, spec.layout, *_split(tensors, counts), spec.sizes, spec.params))
                with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True), _without_transform():
                    out = self(spec, *_split([_functorch._unwrap_for_grad(a, level) for a in tensors], counts))
                return tuple(_functorch._wrap_for_grad(a, level) for a in out)

            @staticmethod
            def setup_context(ctx, inputs, output):
                _, spec, counts, *tensors = inputs
                save(ctx, spec, _split(tensors, counts), output)
                ctx.save_for_forward(*tensors)
                ctx.set_materialize_grads(False)

            @staticmethod
            def backward(ctx, *ct):
                return None, None, None, *_flat(gradients(ctx, ct)), *[None] * ctx.counts[-1]

            @staticmethod
            def jvp(ctx, level, spec, counts, *tangents):
                lists = _split(ctx.saved_tensors, ctx.counts)
                given = [None if all(a is None for a in t) else _filled(t, _shapes(l)) for t, l in zip(_split(tangents, ctx.counts), lists)]
                return tuple(jvp(ctx.spec, *lists, *given[:-1]))

        class Function(Rules, torch.autograd.Function):
            pass

        class AtLevel(Rules, torch.autograd.function._SingleLevelFunction):
            pass

        self.function, self.at_level = Function, AtLevel

    def __call__(self, spec, *lists):
        if torch.compiler.is_compiling():
            if not _transformed():
                return self.op(spec.rule, spec.layout, *lists, spec.sizes, spec.params)
            torch._dynamo.graph_break(msg="revnum: torch.compile does not look into torch.func and forward-mode derivatives of kernels")
        tensors, counts = unwrap_dead_wrappers(tuple(_flat(lists))), [len(l) for l in lists]  # saved ones may be of a transform that has ended
        if _batched(tensors):
            return _each(self, spec, counts, tensors)
        if torch._C._are_functorch_transforms_active():
            layer = _functorch.peek_interpreter_stack()
            if layer.key() == _Transform.Functionalize:
                raise NotImplementedError("revnum: kernels do not work under torch.func.functionalize")
            if layer.key() == _Transform.Vmap:
                return _vmapped(self, spec, counts, tensors, layer.level())
            with enable_single_level_autograd_function():
                return list(self.at_level.apply(layer.level(), spec, counts, *tensors))
        if forward_ad._current_level >= 0:
            return list(self.function.apply(None, spec, counts, *tensors))
        if _plain(tensors) and not (torch.is_grad_enabled() and True in [a.requires_grad for a in tensors]):
            x, *others, constants = _split(tensors, counts)  # without the dispatcher, as _Value is
            return _run(self.write, _parsed(spec.rule, spec.layout, tuple(spec.sizes), tuple(spec.params)), x, _flat(others), constants)
        return self.op(spec.rule, spec.layout, *lists, spec.sizes, spec.params)


def _batched_call(apply, size, dims, spec, counts, tensors):
    """One call for all problems. If there are problems already, all of them become one axis."""
    inputs, last = counts[0], sum(counts[:-1])
    # The number of a tensor among what may be shared, inputs and then constants, or None.
    numbers = [i if i < inputs else i - last + inputs if i >= last else None for i in range(len(tensors))]
    indices = len(list(filter(None, spec.layout.split("|")[1].split(","))))
    if any(n is not None and n >= inputs + indices and d is not None for n, d in zip(numbers, dims)):
        # Sparse matrices of many structures: one call after the other.
        each = [apply(spec, counts, *[a if d is None else a.select(d, i) for a, d in zip(tensors, dims)]) for i in range(size)]
        return tuple(torch.stack(a) for a in zip(*each)), (0,) * len(each[0])
    inner, before = spec.batch()
    nested = inner >= 0
    shared = {n for n, d in zip(numbers, dims) if n is not None and d is None and (not nested or n in before)}
    moved = []
    for n, a, d in zip(numbers, tensors, dims):
        if n in shared and n is not None:
            moved.append(a)
            continue
        a = a.expand(size, *a.shape) if d is None else a.movedim(d, 0)
        if nested:
            a = a.unsqueeze(1).expand(size, inner, *a.shape[1:]) if n is not None and n in before else a
            a = a.reshape(size * inner, *a.shape[2:])
        moved.append(a)
    out = apply(spec.batched(size * inner if nested else size, shared), counts, *moved)
    return tuple(a.reshape(size, inner, *a.shape[1:]) if nested else a for a in out), (0,) * len(out)


def _value_backward(spec, x, constants, ct):
    return [_reduced(spec, _vjp(spec, x, ct, constants))]


def _value_jvp(spec, x, constants, t):
    return _jvp(spec, x, _expanded(spec, t), constants)


def _vjp_backward(spec, x, ct, constants, w):
    # <w, Jᵀ·ȳ> has the gradients (∂J[w])ᵀ·ȳ by x, and J·w by ȳ.
    return [_reduced(spec, _second(spec, x, ct, w, constants)), _jvp(spec, x, w, constants)]


def _vjp_jvp(spec, x, ct, constants, dx, dct):
    return _sum(dx and _second(spec, x, ct, _expanded(spec, dx), constants), dct and _vjp(spec, x, dct, constants))


def _jvp_backward(spec, x, t, constants, ct):
    # <ȳ, J·t> has the gradients (∂J[t])ᵀ·ȳ by x, and Jᵀ·ȳ by t.
    return [_reduced(spec, _second(spec, x, ct, t, constants)), _vjp(spec, x, ct, constants)]


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


_value = _Operator(_value_op, _steps.value, _value_backward, _value_jvp)
_vjp = _Operator(_vjp_op, _steps.vjp, _vjp_backward, _vjp_jvp)
_jvp = _Operator(_jvp_op, _steps.jvp, _jvp_backward, _jvp_jvp)
_second = _Operator(_second_op, _steps.second, _second_backward, _second_jvp)


class _Value(torch.autograd.Function):
    """revnum::value where nothing is traced: the dispatcher takes ten times as long as the
    kernel of a short vector. What it computes is what the operators compute."""

    @staticmethod
    def forward(ctx, plans, *tensors):
        ctx.plans = plans
        ctx.save_for_backward(*tensors)
        ctx.set_materialize_grads(False)
        return tuple(plans.value(tensors))

    @staticmethod
    def backward(ctx, *ct):
        return None, *_gradients(ctx.plans, ctx.saved_tensors, ctx.needs_input_grad[1:], ct)


def _gradients(plans, tensors, needs, ct):
    """The gradients of the tensors that need one, for the cotangents of the value."""
    n = plans.n
    for a in ct:
        if a is None:  # "None in ct" would compare it with tensors, which takes 30 µs
            ct = _filled(ct, plans.shapes)
            break
    if torch.is_grad_enabled() or _transformed() or _batched(ct):  # for a second derivative, or cotangents in a batch
        g = _vjp(plans.parts, list(tensors[:n]), list(ct), list(tensors[n:]))
    else:
        g = plans.gradients(tensors, ct, needs)
    return *g, *[None] * (len(tensors) - n)


def _own(base, plan, gradients, in_a_vmap, forward, backward):
    """apply of a function of autograd of its own, whose passes the library makes by a plan of the value and a dict of what
    makes the gradients that are needed. forward and backward make what the library does not."""
    value, back = type(_quick())(), type(_quick())()
    value._calls = back._calls = plan, gradients, in_a_vmap  # the library reads these
    value.slow, back.slow = forward, backward
    own = type("_Value", (base,), {"forward": staticmethod(value._forward), "backward": staticmethod(back._gradients)})
    method = ctypes.pythonapi.PyInstanceMethod_New  # which makes a method of a function in C
    method.restype, method.argtypes = ctypes.py_object, [ctypes.py_object]
    own._backward_cls.apply = method(back._gradients)  # PyTorch's calls backward, by two functions in Python
    return super(base, own).apply


class _Plans:
    """The plans of a call and its gradients on tensors of some layout."""

    def __init__(self, spec, tensors):
        self.parts, self.tensors = spec, tensors
        self.spec = _parsed(*spec[:2], tuple(spec.sizes), tuple(spec.params))
        self.n, self.vjp = self.spec.n, {}
        _check(self.spec, tensors[: self.n], tensors[self.n :])
        self.shapes = [(shape, _TORCH[dtype]) for shape, dtype in self.spec.results()]
        rule = _library.rules[self.spec.rule]
        read = [_readable(rule, name, a, self.spec.batch >= 0) for name, a in zip(self.spec.inputs, tensors)] + [_dense(a) for a in tensors[self.n :]]
        self.copied = tuple([a.data_ptr() != b.data_ptr() or a.stride() != b.stride() for a, b in zip(read, tensors)])
        self.layouts = tuple((tuple(a.shape), a.stride(), a.dtype) for a in read)
        # The library makes copies without gaps, but not of conjugates, negatives and tensors without memory.
        self.plan = None if any(a.is_conj() or a.is_neg() or a._is_zerotensor() for a in tensors) else _plan(_steps.value, self.spec, self.layouts, None)
        self.forward, self.backward = self.plan and self.plan.forward, {}  # the library's, for the gradients by which are needed

    @functools.cached_property
    def apply(self):
        """_Value.apply for plans that are kept."""
        if not _quick():
            return functools.partial(_Value.apply, self)
        forward = lambda ctx, *tensors: _Value.forward(ctx, self, *tensors)
        backward = lambda ctx, saved, *ct: _gradients(self, ctx.saved_tensors if saved is None else saved, ctx.needs_input_grad, ct)
        return _own(torch.autograd.Function, self.forward, self.backward, False, forward, backward)

    def value(self, tensors):
        if self.plan:
            return self.plan.call(self._read(tensors))
        return _run(_steps.value, self.spec, tensors[: self.n], [], tensors[self.n :])

    def _read(self, tensors):
        """The tensors, or copies, as the plans take them."""
        return [a.contiguous() if copied else a for a, copied in zip(tensors, self.copied)] if True in self.copied else tensors

    def _planned(self, read):
        """Whether the plans are for these tensors. Hooks of saved tensors may return others."""
        return not any(a.is_conj() or a.is_neg() or not a.is_cpu for a in read) and tuple([(tuple(a.shape), a.stride(), a.dtype) for a in read]) == self.layouts

    def planned_gradients(self, needs):
        """The plan of the gradients that are needed."""
        plan = self.vjp.get(needs)
        if plan is None:
            layouts = self.layouts[: self.n] + tuple((shape, _strides(shape), dtype) for shape, dtype in self.shapes) + self.layouts[self.n :]
            plan = self.vjp[needs] = _plan(_steps.vjp, self.spec, layouts, tuple(needs[: self.n]))
            if plan.backward:
                self.backward[needs] = plan.backward
        return plan

    def gradients(self, tensors, ct, needs):
        """The gradients of the inputs that need one."""
        if self.plan and self._planned(read := self._read(tensors)):
            tensors, ct = read, [_dense(a) for a in ct]
            plan = self.planned_gradients(needs)
            return plan.call([*tensors[: self.n], *ct, *tensors[self.n :]])
        return _run(_steps.vjp, self.spec, tensors[: self.n], ct, tensors[self.n :], tuple(needs[: self.n]))


def _recorded():
    """Whether a mode or torch.jit.trace looks at operations."""
    return torch._C._len_torch_dispatch_stack() or torch._C._is_tracing() or _early_modes()


def _plain(tensors):
    """Whether nothing looks at operations on the tensors but autograd."""
    return not torch.compiler.is_compiling() and all(type(a) in (torch.Tensor, torch.nn.Parameter) for a in tensors) and not _recorded() and not _transformed()


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


def _tensor(o, a):
    """a as a tensor. What has no type of its own, such as a list, gets that of the operand, unless that is Q43."""
    if isinstance(a, torch.Tensor):
        return a
    own = o.role == "index" or o.type == "Q43" or hasattr(a, "dtype")  # as_tensor would cut fractions to whole numbers
    return torch.as_tensor(a, dtype=None if own else _TYPES[o.type])


def call(kernel, *args, **kwargs):
    """The outputs of a kernel: one, or a tuple."""
    return _call(kernel, args, kwargs)[0]


def _call(kernel, args, kwargs):
    """The outputs of a kernel, and the plans for tensors like these, if there are any."""
    spec, x, constants = _bound(kernel, args, kwargs)
    if _plain(x):
        plans = _Plans(spec, [*x, *constants])
        return _applied(plans, plans.tensors, functools.partial(_Value.apply, plans)), plans
    out = _value(spec, x, constants)
    return out[0] if len(out) == 1 else tuple(out), None


def _bound(kernel, args, kwargs):
    """The spec of a call, its inputs and its constants."""
    found = None
    for a in (*args, *kwargs.values()):
        dtype = getattr(a.data if isinstance(a, CSR) else a, "dtype", None)
        name = _NAMES.get(_TORCH.get(dtype, dtype))
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
            a = _tensor(o, a)
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
    layout = "|".join([*(",".join(l) for l in (names, others, sparse, params)), "-1", ""])
    if rule.parameters or params:
        rule.settings(params)  # refuses what is unknown
    constants = indices + structure
    return _Spec(rule.name, layout, [int(n) if not isinstance(n, torch.SymInt) else n for n in sizes], [float(v) for v in params.values()]), x, constants


def _applied(plans, tensors, apply=None):
    """The value, by a function of autograd if a tensor has a gradient: by that of the plans, if they are kept."""
    out = (apply or plans.apply)(*tensors) if torch.is_grad_enabled() and True in [a.requires_grad for a in tensors] else plans.value(tensors)
    return out[0] if len(out) == 1 else tuple(out)


def prepare(kernel, which, operands, cotangents=None, tangents=None, cotangent_tangents=None, **params):
    """revnum.numpy.prepare on tensors: a pass in place, without copies and outside autograd."""
    parts = [{k: a.detach().numpy() for k, a in (p or {}).items()} for p in (operands, cotangents, tangents, cotangent_tangents)]
    return rn.prepare(kernel, which, *parts, **params)


def run(kernel, which, operands, cotangents=None, tangents=None, cotangent_tangents=None, **params):
    """revnum.numpy.run on tensors."""
    prepare(kernel, which, operands, cotangents, tangents, cotangent_tangents, **params)()


def _function(kernel):
    """The function of a kernel. It keeps the plans of its calls."""
    kept = {}

    def slow(*args, **kwargs):
        if _is_compiling():
            return call(kernel, *args, **kwargs)
        # Other parameters may change, as a tensor does, or be large.
        if kwargs and not all(isinstance(v, (int, float)) for v in kwargs.values()):
            return call(kernel, *args, **kwargs)
        if torch._C._are_functorch_transforms_active():
            if state[0] is slow and _quick():
                return quick()(*args, **kwargs)
            return call(kernel, *args, **kwargs)
        key = _key(args, kwargs)
        if key is None:
            return call(kernel, *args, **kwargs)
        plans, order = kept.get(key, (None, None))
        if plans is None:
            if len(set(map(id, args))) < len(args):  # a view tells the places of a tensor that is given twice
                args = [a.view_as(a) for a in args]
            out, plans = _call(kernel, args, kwargs)
            order = plans and _order(plans.tensors, args)
            if order:
                _keep(kept, key, plans, order)
                if order is _ALL and plans.plan and plans.plan.known and all(type(v) in _library.NUMBERS for v in kwargs.values()):
                    made = quick()
                    made._calls = made._keep(tuple(args), plans.copied, plans.plan.known, plans, kwargs, 0)
            return out
        if _recorded() or _transformed():
            return call(kernel, *args, **kwargs)
        return _applied(plans, args if order is _ALL else [args[i] for i in order])

    def problems(parts, axes, args, kwargs):
        """The first call on all problems of a vmap, or a grad in one, on tensors like parts. axes has two bits for each of
        them: 1 more than its axis of problems, or 0."""
        kwargs, types = kwargs or {}, tuple([a.dtype for a in parts])
        twice = len(set(map(id, args))) < len(args)
        dims = [(axes >> 2 * i & 3) - 1 for i in range(len(parts))]
        none = any(d >= 0 and a.shape[d] == 0 for a, d in zip(parts, dims))
        if none or twice or types in refused or any(a.is_conj() for a in parts) or not all(type(v) in _library.NUMBERS for v in kwargs.values()):
            return call(kernel, *args, **kwargs)
        spec, x, constants = _bound(kernel, args, kwargs)
        if _order([*x, *constants], args) is not _ALL:
            refused.add(types)
        else:
            made = _Problems(spec, parts, dims)
            if made.plans.plan and made.plans.plan.known:
                state[0]._calls = state[0]._keep(parts, made.plans.copied, made.plans.plan.known, made, kwargs, axes)
        return call(kernel, *args, **kwargs)

    state = [slow]  # what makes the calls
    refused = set()  # types of tensors that the kernel takes in another order or as copies, which problems does not keep

    def quick():
        if state[0] is slow:
            made = type(_quick())()
            made.slow, made.problems = slow, problems
            state[0] = made  # which another thread may call at once
        return state[0]

    def function(*args, **kwargs):
        if _is_dynamo():  # is_compiling takes longer
            return call(kernel, *args, **kwargs)
        return state[0](*args, **kwargs) if kwargs else state[0](*args)  # a dict takes longer

    return function


def _key(tensors, kwargs):
    """What a plan of a call depends on, or None if not all are tensors with strides."""
    try:
        key = [(a.is_conj(), a.is_neg(), a._is_zerotensor(), a.dtype, a.shape, a.stride(), type(a), a.is_cpu) for a in tensors]
        hash(tuple(key))  # which symbols for lengths have not
    except (AttributeError, RuntimeError, TypeError):
        return None
    if kwargs:
        key += [(k, repr(v)) for k, v in kwargs.items()]  # which tells 0.0 from -0.0
    return tuple(key)


def _keep(kept, key, plans, order):
    plans.tensors = None
    if len(kept) >= 256:
        kept.clear()
    kept[key] = plans, order


class _Problems:
    """The plans of all problems of a vmap, and the function of autograd for a grad in it: what the operators do in a call
    for each transform, in one. dims are the axes of problems of the parts, or -1."""

    def __init__(self, spec, parts, dims):
        size = max(a.shape[d] for a, d in zip(parts, dims) if d >= 0)
        shared = {i for i, d in enumerate(dims) if d < 0}
        self.spec, self.backward = spec, {}
        self.plans = _without_transforms(lambda: _Plans(spec.batched(size, shared), [a.movedim(d, 0) if d > 0 else a for a, d in zip(parts, dims)]))
        self.plans.tensors = None

    @functools.cached_property
    def apply(self):
        n = self.plans.n

        def forward(ctx, *tensors):
            _save(ctx, tensors)
            return tuple(_value(self.spec, list(tensors[:n]), list(tensors[n:])))

        def backward(ctx, saved, *ct):
            needs, tensors = ctx.needs_input_grad, unwrap_dead_wrappers(ctx.saved_tensors if saved is None else saved)
            if needs not in self.backward:
                plan = _without_transforms(lambda: self.plans.planned_gradients(needs)).backward
                if plan:
                    self.backward[needs] = self._gradients(plan, needs, len(ct)), n
            ct = _filled(ct, [(shape[1:], dtype) for shape, dtype in self.plans.shapes])
            (g,) = _value_backward(self.spec, list(tensors[:n]), list(tensors[n:]), list(unwrap_dead_wrappers(tuple(ct))))
            return *g, *[None] * (len(tensors) - n)

        return _own(torch.autograd.function._SingleLevelFunction, self.plans.forward, self.backward, True, forward, backward)

    def _gradients(self, plan, needs, outputs):
        """apply of the function of autograd for gradients, of the inputs, cotangents and constants."""
        n = self.plans.n
        split = lambda tensors: (list(tensors[:n]), list(tensors[n : n + outputs]), list(tensors[n + outputs :]))

        def forward(ctx, *tensors):
            _save(ctx, tensors)
            x, ct, constants = split(tensors)
            (g,) = _value_backward(self.spec, x, constants, ct)
            return *[a if need else None for a, need in zip(g, needs)], *[None] * len(constants)

        def backward(ctx, saved, *w):
            x, ct, constants = split(unwrap_dead_wrappers(ctx.saved_tensors if saved is None else saved))
            gx, gct = _vjp_backward(self.spec, x, ct, constants, _filled(w[:n], _shapes(x)))
            return *gx, *gct, *[None] * len(constants)

        return _own(torch.autograd.function._SingleLevelFunction, plan, {}, True, forward, backward)


def _save(ctx, tensors):
    ctx.save_for_backward(*tensors)
    ctx.set_materialize_grads(False)


def _without_transforms(f):
    """What f returns without transforms of torch.func."""
    layers = []
    try:
        while torch._C._are_functorch_transforms_active():
            layers.append(_functorch.pop_dynamic_layer_stack())
        return f()
    finally:
        while layers:
            _functorch.push_dynamic_layer_stack(layers.pop())


_ALL = object()


def _order(tensors, args):
    """Which of the arguments the tensors are, or None if they are not arguments."""
    at = [next((i for i, a in enumerate(args) if a is t), None) for t in tensors]
    if None in at or set(at) != set(range(len(args))):
        return None
    return _ALL if at == list(range(len(args))) else at


if TYPE_CHECKING:
    from .. import _kernels

    ba: _kernels.ba[torch.Tensor]
    gmm: _kernels.gmm[torch.Tensor]
    graphembed: _kernels.graphembed[torch.Tensor]
    hand: _kernels.hand[torch.Tensor]
    kmeans: _kernels.kmeans[torch.Tensor]
    lstm: _kernels.lstm[torch.Tensor]
    nbody: _kernels.nbody[torch.Tensor]
    revlinalg: _kernels.revlinalg[torch.Tensor]
    revlog: _kernels.revlog[torch.Tensor]
    revmath: _kernels.revmath[torch.Tensor]
    revnn: _kernels.revnn[torch.Tensor]
    revsparse: _kernels.revsparse[torch.Tensor]
    revtropical: _kernels.revtropical[torch.Tensor]
    wave: _kernels.wave[torch.Tensor]


def __dir__():
    return ["ArgumentError", "CSR", "call", "nn", "prepare", "run", *_library.packages()]


def __getattr__(name):
    if name == "nn":
        return importlib.import_module(".nn", __name__)
    if name in _library.packages():
        p = globals()[name] = Package(name, _function)
        return p
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
