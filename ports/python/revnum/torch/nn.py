"""Modules that are reversible: training keeps their last state alone, and no tape.

    from revnum.torch import nn

    flow = nn.Chain(*[nn.Coupling(2, mlp(1, 2), swap=i % 2) for i in range(32)])
    z, logdet = flow(x)                  # memory does not grow with the number of blocks
    x = flow.inverse(z)

    rnn = nn.UnitaryRNN(3, 64)
    h = rnn(x)                           # x is steps×batch×3; nor with the number of steps

The gradient walks back from the last state: it inverts a block, or a step, makes it again, and
takes its gradient. It takes the time of a third pass. Inverses round, so that gradients differ
from those with a tape by rounding. A block, such as Coupling, Residual,
InvertibleResidual and Unitary, is a module with

    y, logdet = block(x)                 # for each row of x, the log of the determinant of the Jacobian
    x = block.inverse(y)

Its networks must compute the same each time: dropout and the statistics of a batch are refused. So is
the gradient if parameters or buffers have changed since the forward pass, or if a block and its inverse
do not agree.
"""

import math

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.utils import parametrize

from . import ArgumentError, revlinalg


class Chain(nn.Module):
    """Blocks one after the other, whose gradient needs no tape.

    forward returns the rows of the last block and the sum of the logs of the determinants."""

    def __init__(self, *blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        _refuse(self.blocks)
        parameters = list(self.parameters())
        if torch.is_grad_enabled() and (x.requires_grad or any(p.requires_grad for p in parameters)):
            return _Walk.apply(self.blocks, x, *parameters)
        return _chain(self.blocks, x)

    def inverse(self, y):
        """The rows that forward takes to y."""
        for block in reversed(self.blocks):
            y = block.inverse(y)
        return y


def _chain(blocks, x):
    total = x.new_zeros(x.shape[:1])
    for block in blocks:
        x, logdet = block(x)
        total = total + logdet
    return x, total


def _refuse(blocks):
    for m in blocks.modules():
        if m.training and isinstance(m, (_DropoutNd, _BatchNorm)):
            raise ArgumentError(f"revnum: {type(m).__name__} computes something else each time, and cannot be in a Chain that is trained")


def _versions(blocks):
    """The parameters and buffers, each with a number that grows when it is changed in place."""
    return [(a, a._version) for a in (*blocks.parameters(), *blocks.buffers())]


def _check_versions(blocks, before):
    now = _versions(blocks)
    if len(now) != len(before) or any(a is not b or m != n for (a, m), (b, n) in zip(now, before)):
        raise RuntimeError("revnum: parameters or buffers were changed after the forward pass began, and the gradient computes with them again")


class _Walk(torch.autograd.Function):
    """The blocks of a Chain. The parameters are arguments so that they get gradients."""

    @staticmethod
    def forward(ctx, blocks, x, *parameters):
        ctx.versions = _versions(blocks)
        kind = x.device.type
        ctx.autocast = dict(device_type=kind, enabled=torch.is_autocast_enabled(kind), dtype=torch.get_autocast_dtype(kind))
        y, logdet = _chain(blocks, x)
        ctx.blocks, ctx.parameters = blocks, parameters
        ctx.save_for_backward(y)
        return y.view_as(y) if y is x else y, logdet

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gy, glogdet):
        (y,) = ctx.saved_tensors
        _check_versions(ctx.blocks, ctx.versions)
        _refuse(ctx.blocks)
        # Made first: among the temporary tensors of the blocks they would keep freed memory in pieces.
        gradients = {p: torch.zeros_like(p) if p.requires_grad else None for p in ctx.parameters}
        off, limits = torch.zeros((), device=y.device), torch.finfo(y.dtype)
        with torch.autocast(**ctx.autocast):
            for block in reversed(ctx.blocks):
                x = block.inverse(y)
                parameters = dict(block.named_parameters())
                # Their own hooks are for the sum of the gradients.
                copies = {name: p.detach().requires_grad_(p.requires_grad) for name, p in parameters.items()}
                with torch.enable_grad():
                    x = x.detach().requires_grad_()
                    out = torch.func.functional_call(block, copies, (x,))
                if y.numel():
                    again = out[0].detach()
                    size = torch.maximum(again.abs().amax(), x.detach().abs().amax()) + limits.tiny
                    off = torch.maximum(off, (again - y).abs().amax() / size)
                mine = [name for name, p in copies.items() if p.requires_grad]
                out, g = zip(*[(a, g) for a, g in zip(out, (gy, glogdet)) if a.requires_grad])  # logdet may be constant
                gx, *gp = torch.autograd.grad(out, [x, *[copies[name] for name in mine]], g, allow_unused=True)
                for name, g in zip(mine, gp):
                    if g is not None:
                        gradients[parameters[name]] += g
                y, gy = x.detach(), gx
        if off > math.sqrt(limits.eps):
            raise ArgumentError(f"revnum: a block of a Chain and its inverse differ by {off:.1g} of its rows: its networks must compute the same each time")
        return None, gy, *gradients.values()


class Coupling(nn.Module):
    """The coupling layer of RealNVP: of the two parts a, b of a row,

        b <- b·exp(s) + t  with (s, t) = net(a),  log det = Σ s

    or, with scale=False, that of NICE: b <- b + net(a), log det = 0. a has the first half of the
    features, rounded up. With swap b has it. net takes rows of the length of a to rows of twice the
    length of b, or with scale=False of its length.
    s is limit·tanh(s/limit) of what net says, so that exp does not overflow.

    Dinh, Sohl-Dickstein, Bengio, Density estimation using Real NVP, 2017."""

    def __init__(self, features, net, *, swap=False, scale=True, limit=2.0):
        super().__init__()
        self.net, self.swap, self.scale, self.limit = net, bool(swap), scale, limit
        first = (features + 1) // 2
        self.sizes = [first, features - first]

    def extra_repr(self):
        return f"features={sum(self.sizes)}, swap={self.swap}, scale={self.scale}, limit={self.limit}"

    def _parts(self, x):
        a, b = x.split(self.sizes, dim=-1)
        return (b, a) if self.swap else (a, b)

    def _joined(self, a, b):
        return torch.cat([b, a] if self.swap else [a, b], dim=-1)

    def _moves(self, a, b):
        """s, which is None for NICE, and t."""
        out = self.net(a)
        if out.shape[-1] != b.shape[-1] * (2 if self.scale else 1):
            raise ArgumentError(f"revnum: the network of a Coupling returns rows of {out.shape[-1]}, want {b.shape[-1] * (2 if self.scale else 1)}")
        if not self.scale:
            return None, out
        s, t = out.chunk(2, dim=-1)
        return self.limit * torch.tanh(s / self.limit), t

    def forward(self, x):
        a, b = self._parts(x)
        s, t = self._moves(a, b)
        if s is None:
            return self._joined(a, b + t), x.new_zeros(x.shape[:1])
        return self._joined(a, b * torch.exp(s) + t), s.flatten(1).sum(1)

    def inverse(self, y):
        a, b = self._parts(y)
        s, t = self._moves(a, b)
        return self._joined(a, b - t if s is None else (b - t) / torch.exp(s))


class Residual(nn.Module):
    """The reversible residual block: of the two halves a, b of the features,

        a <- a + f(b),  b <- b + g(a),  log det = 0

    Gomez, Ren, Urtasun, Grosse, The reversible residual network, 2017."""

    def __init__(self, f, g):
        super().__init__()
        self.f, self.g = f, g

    @staticmethod
    def _halves(x):
        if x.shape[1] % 2:
            raise ArgumentError(f"revnum: a Residual has an even number of features, found {x.shape[1]}")
        return x.chunk(2, dim=1)

    def forward(self, x):
        a, b = self._halves(x)
        a = a + self.f(b)
        return torch.cat([a, b + self.g(a)], dim=1), x.new_zeros(x.shape[:1])

    def inverse(self, y):
        a, b = self._halves(y)
        b = b - self.g(a)
        return torch.cat([a - self.f(b), b], dim=1)


class AtMost(nn.Module):
    """A parametrization: the weight of a layer, scaled so that the norm of the layer is at most c,

        W·min(1, c/σ),  σ = √k·‖W‖

    ‖W‖ is the largest singular value of the weight as a matrix with a row for each output. k is 1 for nn.Linear. A
    convolution with a kernel of k places uses each input at most k times, so σ bounds its norm."""

    def __init__(self, c):
        super().__init__()
        self.c = c

    def forward(self, weight):
        m = weight.flatten(1)
        gram = m @ m.mH if m.shape[0] <= m.shape[1] else m.mH @ m
        places = math.prod(weight.shape[2:])
        norm = (places * torch.linalg.eigvalsh(gram)[-1]).clamp_min(torch.finfo(weight.dtype).tiny).sqrt()
        return weight * (self.c / norm).clamp_max(1)


_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
# Functions of single elements, and arrangements, whose Lipschitz constant is 1.
_NONEXPANSIVE = (nn.Tanh, nn.ReLU, nn.ReLU6, nn.Sigmoid, nn.Softplus, nn.Hardtanh, nn.Softsign, nn.LogSigmoid, nn.Identity, nn.Flatten, nn.Unflatten)


class InvertibleResidual(nn.Module):
    """The block of the invertible residual network,

        y = x + g(x),  log det = log det(1 + ∂g/∂x)

    for a g whose Lipschitz constant L is less than 1. net is g: an nn.Sequential of nn.Linear, convolutions that pad
    with zeros, and activations of Lipschitz constant 1 (Tanh, ReLU, ELU with alpha ≤ 1, ...). Its layers get the
    parametrization AtMost, so that L is lipschitz.

    The inverse is the fixed point of x <- y - g(x), which begins with y. k iterations leave an error of at most
    Lᵏ/(1-L)·‖g(y)‖ in a row. It stops when this is below ε·‖g(y)‖, or when L/(1-L) times the last change is below
    ε·‖y‖, where ε is the spacing of floating-point numbers at 1. Rounding in g adds 1/(1-L) times its own. With lipschitz=0.9 and float64 that takes
    at most 380 iterations, and fewer where g is flatter. The gradient of the inverse is a fixed point too, and keeps one state.

    The determinant is computed from the whole Jacobian, which takes a gradient for each feature. With
    logdet=False it is not computed, and NaN.

    Behrmann, Grathwohl, Chen, Duvenaud, Jacobsen, Invertible residual networks, 2019."""

    def __init__(self, net, *, lipschitz=0.9, logdet=True):
        super().__init__()
        if not 0 < lipschitz < 1:
            raise ArgumentError(f"revnum: lipschitz is {lipschitz}, want more than 0 and less than 1")
        layers = [m for m in (net if isinstance(net, nn.Sequential) else [net]) if isinstance(m, _LAYERS)]
        for m in net if isinstance(net, nn.Sequential) else [net]:
            known = isinstance(m, (*_LAYERS, *_NONEXPANSIVE)) or isinstance(m, (nn.ELU, nn.CELU)) and 0 < m.alpha <= 1 or isinstance(m, nn.LeakyReLU) and abs(m.negative_slope) <= 1
            if not known or getattr(m, "padding_mode", "zeros") != "zeros" or parametrize.is_parametrized(m):
                raise ArgumentError(f"revnum: the Lipschitz constant of {m} is not known")
        if not layers:
            raise ArgumentError("revnum: the Lipschitz constant of a net without linear layers cannot be made smaller than 1")
        for m in layers:
            parametrize.register_parametrization(m, "weight", AtMost(lipschitz ** (1 / len(layers))))
        self.net, self.lipschitz, self.logdet = net, lipschitz, logdet

    def extra_repr(self):
        return f"lipschitz={self.lipschitz}, logdet={self.logdet}"

    def forward(self, x):
        y = x + self.net(x)
        if not self.logdet:
            return y, x.new_full(x.shape[:1], math.nan)
        jacobian = torch.func.vmap(torch.func.jacrev(lambda row: self.net(row[None])[0].flatten()))(x).flatten(2)
        return y, torch.linalg.slogdet(jacobian + torch.eye(jacobian.shape[1], dtype=x.dtype, device=x.device))[1]

    def inverse(self, y):
        parameters = list(self.parameters())
        if torch.is_grad_enabled() and (y.requires_grad or any(p.requires_grad for p in parameters)):
            return _FixedPoint.apply(self, y, *parameters)
        return self._solve(y)

    @torch.no_grad()
    def _solve(self, y):
        with parametrize.cached():
            return self._fixed_point(self.net, y)

    def _fixed_point(self, f, y):
        """The x with x + f(x) = y, for an f of the Lipschitz constant of g."""
        bound, eps = self.lipschitz / (1 - self.lipschitz), torch.finfo(y.dtype).eps
        norm = lambda a: torch.linalg.vector_norm(a.flatten(1), dim=1)
        enough = eps * norm(y)
        x = y
        for _ in range(math.ceil(math.log(eps * (1 - self.lipschitz), self.lipschitz))):
            x, before = y - f(x), x
            if (bound * norm(x - before) <= enough).all():
                break
        return x


class _FixedPoint(torch.autograd.Function):
    """The inverse of an InvertibleResidual. With v + (∂g/∂x)ᵀ·v = x̄, its gradients are v by y, and those of -<v, g(x)> by parameters."""

    @staticmethod
    def forward(ctx, block, y, *parameters):
        ctx.versions = _versions(block)
        x = block._solve(y)
        ctx.block, ctx.parameters = block, parameters
        ctx.save_for_backward(x)
        return x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gx):
        (x,) = ctx.saved_tensors
        _check_versions(ctx.block, ctx.versions)
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            out = ctx.block.net(x)
        v = ctx.block._fixed_point(lambda v: torch.autograd.grad(out, x, v, retain_graph=True)[0], gx)
        wanted = [p for p in ctx.parameters if p.requires_grad]
        given = iter(torch.autograd.grad(out, wanted, -v, allow_unused=True) if wanted else ())
        return None, v, *[next(given) if p.requires_grad else None for p in ctx.parameters]


def _angles(features, dtype):
    return nn.Parameter(torch.empty(features * (features - 1) // 2, dtype=dtype).uniform_(-math.pi, math.pi))


class Unitary(nn.Module):
    """Rows times an orthogonal matrix: x <- U(θ)·x of each row x, by the kernel revlinalg.Unitary.
    log det = 0, as the determinant is 1 or -1."""

    def __init__(self, features, dtype=None):
        super().__init__()
        self.features = features
        self.theta = _angles(features, dtype or torch.get_default_dtype())

    def extra_repr(self):
        return f"features={self.features}"

    def matrix(self):
        """U(θ)."""
        return revlinalg.Unitary(torch.eye(self.features, dtype=self.theta.dtype), self.theta)

    def forward(self, x):
        return revlinalg.Unitary(x.T, self.theta).T, x.new_zeros(x.shape[:1])

    def inverse(self, y):
        return y @ self.matrix()


class _Steps(torch.autograd.Function):
    """The last state of h <- U·h + W·x_tᵀ for an orthogonal U, with the states as columns."""

    @staticmethod
    def forward(ctx, h, u, weight, x):
        h = h.clone(memory_format=torch.contiguous_format)
        other = torch.empty_like(h)
        for xt in x:
            torch.mm(u, h, out=other).addmm_(weight, xt.T)
            h, other = other, h
        ctx.save_for_backward(u, weight, x, h.clone())
        return h

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gh):
        u, weight, x, last = ctx.saved_tensors
        gu, gweight, gx = torch.zeros_like(u), torch.zeros_like(weight), torch.empty_like(x) if ctx.needs_input_grad[3] else None
        both = torch.cat([last, gh], 1)  # the state and its cotangent, which go back by one product
        other, back, n = torch.empty_like(both), u.T.contiguous(), last.shape[1]
        parts = [(a, a[:, :n], a[:, n:]) for a in (both, other)]
        for t in range(len(x) - 1, -1, -1):
            (both, h, gh), (other, before, _) = parts
            h.addmm_(weight, x[t].T, alpha=-1)
            gweight.addmm_(gh, x[t])
            if gx is not None:
                torch.mm(gh.T, weight, out=gx[t])
            torch.mm(back, both, out=other)
            gu.addmm_(gh, before.T)
            parts.reverse()
        return parts[0][2].contiguous(), gu, gweight, gx


def unitary_steps(h, theta, weight, x):
    """The last state of h <- U(θ)·h + W·x_tᵀ. States are columns: h is hidden×batch, weight is
    hidden×inputs, and x is steps×batch×inputs. U(θ) is computed once, as a matrix. No state but the last
    is kept: the gradient computes them from it, by Uᵀ. That restores a state within rounding, which grows
    with the steps as that of the rotations does."""
    u = revlinalg.Unitary(torch.eye(len(h), dtype=theta.dtype), theta)
    return _Steps.apply(h, u, weight, x)


class UnitaryRNN(nn.Module):
    """A recurrent layer whose state neither vanishes nor explodes, as each step turns it:

        h <- U(θ)·h + W·x_t

    It takes inputs of steps×batch×inputs to the last state, batch×hidden. Memory does not grow with
    the number of steps, but for the inputs."""

    def __init__(self, inputs, hidden, dtype=None):
        super().__init__()
        dtype = dtype or torch.get_default_dtype()
        self.theta = _angles(hidden, dtype)
        self.weight = nn.Parameter(torch.randn(hidden, inputs, dtype=dtype) / math.sqrt(inputs))

    def extra_repr(self):
        return f"inputs={self.weight.shape[1]}, hidden={self.weight.shape[0]}"

    def forward(self, x, h=None):
        if x.dim() != 3 or x.shape[2] != self.weight.shape[1]:
            raise ArgumentError(f"revnum: inputs of shape {tuple(x.shape)}, want steps×batch×{self.weight.shape[1]}")
        h = x.new_zeros(self.weight.shape[0], x.shape[1]) if h is None else h.T
        return unitary_steps(h, self.theta, self.weight, x).T
