#!/usr/bin/env python3
"""Sets the kernels of package cuda beside PyTorch's and CuPy's on the same card.

    cd cuda
    go run -tags cuda ./cmd/revcuda bench --json >bench.json
    python -m venv VENV && VENV/bin/pip install torch cupy-cuda12x
    VENV/bin/python compare/compare.py bench.json

It takes the sizes from bench.json and prints the times of a pass in milliseconds, and how many
times as long as revnum a peer takes, or why a line has no peer. All numbers have 64 bits, but for
MatMul float32. CuPy may be absent. Functions of vectors are compiled by PyTorch, so that one kernel
computes and adds. Adjoint is torch.autograd, which adds to gradients, and Tangent torch.func.jvp.
Mixtures, observations and losses of graphs go through the points, observations or vertices in
batches, as intermediate results may not fit the memory of a card. Each size in --batch is tried that
fits, and the fastest counts. The equations are the same, but the random numbers differ.

    python compare/compare.py --check

runs all peers without a card, at small sizes, and compares their values, gradients and tangents
with those of the package of ports/python, which must be installed. --device cpu measures without a
card, which shows that it works and nothing else.
"""

import argparse
import json
import math
import re
import sys
import time
import warnings

import torch
from torch.func import jacrev, jvp, vmap
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bench", nargs="?", help="what revcuda bench --json printed")
parser.add_argument("--check", action="store_true", help="compare values on the processor, and measure nothing")
parser.add_argument("--device", default="cuda")
parser.add_argument("--kernel", default="", help="only the passes whose names match this regular expression")
parser.add_argument("--reps", type=int, default=10)
parser.add_argument("--batch", type=int, nargs="+", default=[1 << 13, 1 << 15, 1 << 17, 1 << 20, 1 << 23])
args = parser.parse_args()
if args.check:
    args.device = "cpu"
elif not args.bench:
    parser.error("want bench.json or --check")
on_card = args.device.startswith("cuda")
torch.set_default_dtype(torch.float64)
torch.set_default_device(args.device)
torch.manual_seed(1)
torch._dynamo.config.recompile_limit = 64  # each size of a batch is compiled
warnings.filterwarnings("ignore")


def seconds(run):
    """The time of a run, by events on a card, after one that is not measured."""
    run()
    if not on_card:
        start = time.perf_counter()
        for _ in range(args.reps):
            run()
        return (time.perf_counter() - start) / args.reps
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    for _ in range(args.reps):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / args.reps


def batched(one, total):
    """For each size of a batch, the run that does them all: one(lo, hi) does a batch."""
    for size in args.batch:
        yield lambda size=size: [one(lo, min(lo + size, total)) for lo in range(0, total, size)]
        if size >= total:
            break


def compiled(f):
    """f as one program for its sizes. A check runs that program operation by operation, which needs no compiler."""
    return torch.compile(f, dynamic=False, fullgraph=True, backend="aot_eager" if args.check else "inductor")


def tuple_of(y):
    return y if isinstance(y, tuple) else (y,)


class Kernel:
    """The kernel y += f(x). The first tensors are those with derivatives; the others, in `fixed`, have none.

    If total is given, batches of so many rows are computed, of those tensors whose numbers are in
    `rows`. The value is a sum over the batches or has their rows.
    """

    def __init__(self, f, *x, fixed=(), total=None, rows=(), total_is_sum=False, by="torch.compile", plain=False, ours=None, checked=None, **params):
        self.plain = plain  # whether it also runs without a compiler
        self.checked = checked or f  # what has the derivatives of revnum
        self.f, self.x, self.fixed, self.total, self.rows, self.sum, self.by = f, x, fixed, total, rows, total_is_sum, by
        self.ours, self.params = ours, params  # the kernel of revnum, whose operands are x and fixed, and its parameters

    def compiled(self, f):
        return compiled(f) if self.by.startswith("torch.compile") else f

    def outputs(self):
        """Zeros for y."""
        if self.total is None or self.sum:
            with torch.no_grad():
                return [torch.zeros_like(v) for v in tuple_of(self.f(*self.cut(self.x + self.fixed, 0, 1)))]
        return [torch.zeros(self.total, *v.shape[1:]) for v in tuple_of(self.f(*self.cut(self.x + self.fixed, 0, 1)))]

    def cut(self, tensors, lo, hi):
        if self.total is None:
            return tensors
        return tuple(t[lo:hi] if i in self.rows else t for i, t in enumerate(tensors))

    def part(self, y, lo, hi):
        return y if self.total is None or self.sum else [v[lo:hi] for v in y]

    def peers(self, which):
        one = getattr(self, which.lower())()
        peers = {self.by: [lambda: one(0, 0)] if self.total is None else batched(one, self.total)}
        if self.plain:
            self.by, self.plain = "torch", False
            peers.update(self.peers(which))
        return peers

    def value(self, change):
        y = self.outputs()
        run = self.compiled(lambda y, *x: [getattr(v, change)(w) for v, w in zip(y, tuple_of(self.f(*x)))])

        @torch.no_grad()
        def one(lo, hi):
            run(self.part(y, lo, hi), *self.cut(self.x + self.fixed, lo, hi))

        return one

    def forward(self):
        return self.value("add_")

    def inverse(self):
        return self.value("sub_")

    def adjoint(self):
        """y -= f(x), and x.grad += Jᵀ·gy."""
        y, gy = self.outputs(), [torch.rand_like(v) for v in self.outputs()]
        f, g = self.compiled(self.f), [torch.zeros_like(v) for v in self.x]

        def one(lo, hi):
            cut = [v.detach().requires_grad_() for v in self.cut(self.x, lo, hi)]
            for v, grad in zip(cut, self.cut(g, lo, hi)):
                v.grad = grad  # to which backward adds
            v = tuple_of(f(*cut, *self.cut(self.x + self.fixed, lo, hi)[len(cut):]))
            torch.autograd.backward(v, [w.expand_as(u) for u, w in zip(v, self.part(gy, lo, hi))])
            with torch.no_grad():
                for to, w in zip(self.part(y, lo, hi), v):
                    to.sub_(w)

        return one

    def tangent(self):
        """y += f(x), and dy += J·dx."""
        y, dy, dx = self.outputs(), self.outputs(), tuple(torch.rand_like(v) for v in self.x)

        def both(y, dy, x, dx, fixed):
            for to, v in zip(y + dy, sum(map(tuple_of, jvp(lambda *x: self.f(*x, *fixed), x, dx)), ())):
                to.add_(v)

        run = self.compiled(both)

        @torch.no_grad()
        def one(lo, hi):
            x = self.cut(self.x + self.fixed, lo, hi)
            run(self.part(y, lo, hi), self.part(dy, lo, hi), x[: len(self.x)], self.cut(dx, lo, hi), x[len(self.x):])

        return one

    def check(self, numpy_kernels):
        """The largest error of the value, the gradient and the tangent, relative to the largest number of each."""
        import numpy as np

        rn, plain = numpy_kernels, lambda tensors: [t.detach().numpy() for t in tensors]
        x, dx = [v.detach().requires_grad_() for v in self.x], [torch.rand_like(v) for v in self.x]
        operands = [*plain(self.x), *plain(self.fixed)]
        theirs, pullback = rn.vjp(self.ours, *operands, **self.params)
        theirs = tuple_of(theirs)
        y = tuple_of(self.checked(*x, *self.fixed))
        gy = [torch.rand_like(v) for v in y]
        torch.autograd.backward(y, gy)
        shaped = [g.numpy().reshape(np.shape(v)) if np.ndim(v) else g.item() for g, v in zip(gy, theirs)]
        gradients = tuple_of(pullback(*shaped))[: len(x)]
        moving = plain(dx) + [None] * (len(rn_inputs(rn, self.ours)) - len(x))
        _, tangents = rn.jvp(self.ours, operands, moving, **self.params)
        _, dy = jvp(lambda *x: self.checked(*x, *self.fixed), tuple(self.x), tuple(dx))
        pairs = [*zip(y, theirs), *zip([v.grad for v in x], gradients), *zip(tuple_of(dy), tuple_of(tangents))]
        worst = 0
        for a, b in pairs:
            a, b = a.detach().numpy().ravel(), np.asarray(b).ravel()
            worst = max(worst, np.abs(a - b).max() / max(1, np.abs(b).max()))
        return worst


def rn_inputs(rn, name):
    """The operands of a kernel of revnum that have tangents."""
    return [o for o in rn.lookup(name, "complex128" if "FFT" in name else "float64").inputs if o.role != "index"]


def elements(f, count=1, **ours):
    """y += f(x), or f of two vectors."""
    return lambda n: Kernel(f, *(torch.rand(n) + 0.1 for _ in range(count)), **ours)


def rows(f, **ours):
    """y += f(x) of each row of a square matrix: a number, or a row."""
    return lambda n: Kernel(f, torch.rand(round(n**0.5), round(n**0.5)), **ours)


def norm(f, count, **ours):
    """y += f(x, c, gains ...) of each row of a square matrix of c columns."""

    def kernel(n):
        n = round(n**0.5)
        return Kernel(lambda x, *v: f(x, (n,), *v, eps=ours["Epsilon"]), torch.rand(n, n), *(torch.rand(n) for _ in range(count)), **ours)

    return kernel


def steps(method, **options):
    """A step of an optimiser, as one kernel."""

    def peers(n):
        x = torch.nn.Parameter(torch.rand(n))
        x.grad = torch.rand(n)
        return {"torch.optim, fused": [method([x], lr=1e-3, fused=True, **options).step]}

    return peers


def random(fill):
    """Random numbers, by Philox too."""

    def peers(n):
        x = torch.empty(n)
        return {"torch": [lambda: fill(x)]}

    return peers


def axpy(n):
    return Kernel(lambda alpha, x: alpha * x, torch.rand(()), torch.rand(n), ours="revlinalg.Axpy")


def affine(n):
    n = round(n**0.5)
    return Kernel(torch.mv, torch.rand(n, n), torch.rand(n), by="torch.mv (cuBLAS)", ours="revlinalg.Affine")


class MatMul(Kernel):
    """C += A·B of matrices or stacks of them, whose derivatives are products too: nothing else runs."""

    def __init__(self, n, matrices=0, dtype=torch.float64):
        a, b = (torch.rand(*[matrices] * bool(matrices), n, n, dtype=dtype) for _ in range(2))
        super().__init__(torch.matmul, a, b, by="torch.baddbmm_ (cuBLAS)" if matrices else "torch.addmm_ (cuBLAS)", ours="revlinalg.MatMul")

    def peers(self, which):
        a, b = self.x
        c, ga, gb, gc = (torch.rand_like(a) for _ in range(4))
        add = torch.Tensor.baddbmm_ if a.dim() == 3 else torch.Tensor.addmm_
        run = {
            "Forward": lambda: add(c, a, b),
            "Inverse": lambda: add(c, a, b, alpha=-1),
            "Adjoint": lambda: (add(c, a, b, alpha=-1), add(ga, gc, b.mT), add(gb, a.mT, gc)),
            "Tangent": lambda: (add(c, a, b), add(gc, ga, b), add(gc, a, gb)),
        }[which]
        return {self.by: [run]}


def affine_batch(n):
    f = lambda x, w, b: torch.addmm(b, x, w)
    return Kernel(f, torch.rand(n, n), torch.rand(n, n), torch.rand(n), by="torch.addmm (cuBLAS)", ours="revnn.AffineBatch")


def stack(n, matrices):
    """Matrices with large diagonals."""
    return torch.rand(*[matrices] * bool(matrices), n, n) + n * torch.eye(n)


def solves(n, matrices=0):
    f = lambda a, b: torch.linalg.solve_triangular(a, b, upper=True)
    return Kernel(f, stack(n, matrices).triu(), stack(n, matrices), by="torch.linalg.solve_triangular", ours="revlinalg.TriSolve", Upper=True)


def systems(n, matrices=0):
    """x += a⁻¹·b, by LU with partial pivoting."""
    return Kernel(torch.linalg.solve, stack(n, matrices), stack(n, matrices), by="torch.linalg.solve", ours="revlinalg.Solve")


def cholesky(n, matrices=0):
    """l += the factor of a, of which revnum reads the upper triangle."""
    a, upper = stack(n, matrices), lambda a: torch.linalg.cholesky(a.triu() + a.triu(1).mT)
    return Kernel(torch.linalg.cholesky, a + a.mT, by="torch.linalg.cholesky", ours="revlinalg.Cholesky", checked=upper)


def qr(n, matrices=0):
    return Kernel(lambda a: tuple(torch.linalg.qr(a)), stack(n, matrices), by="torch.linalg.qr", ours="revlinalg.QR")


def convolution(inputs, channels, side):
    def f(x, w, b):
        y = functional.conv2d(x.view(inputs, channels, side, side), w.view(channels, channels, 3, 3), b, padding=1)
        return y.flatten(1)

    x, w, b = torch.rand(inputs, channels * side * side), torch.rand(channels, channels * 9), torch.rand(channels)
    names = "Channels Height Width KernelHeight KernelWidth StrideHeight StrideWidth PadHeight PadWidth".split()
    shape = dict(zip(names, [channels, side, side, 3, 3, 1, 1, 1, 1]))
    return Kernel(f, x, w, b, by="torch conv2d (cuDNN)", ours="revnn.Conv2D", **shape)


def attention(n, heads, columns):
    def f(*operands):
        q, k, v = (x.view(1, n, heads, -1).transpose(1, 2) for x in operands)
        with sdpa_kernel(SDPBackend.MATH):  # the others have no float64 or no tangents
            return functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, -1)

    return Kernel(f, *(torch.rand(n, columns) for _ in range(3)), by="torch attention", ours="revnn.Attention", Heads=heads)


class FFT(Kernel):
    """Spectra in place of signals. Adjoint and Tangent transform two vectors."""

    def __init__(self, n, transforms=0):
        x = torch.rand(*[transforms] * bool(transforms), n, dtype=torch.complex128)
        super().__init__(lambda x: torch.fft.fft(x, norm="ortho"), x, by="torch.fft (cuFFT)", ours="revlinalg.FFT")

    def peers(self, which):
        to = torch.fft.ifft if which in ("Inverse", "Adjoint") else torch.fft.fft
        both = [*self.x] + [torch.rand_like(self.x[0])] * (which in ("Adjoint", "Tangent"))
        return {self.by: [lambda: [to(x, norm="ortho") for x in both]]}


def real_transforms(n, transforms=0):
    x = torch.rand(*[transforms] * bool(transforms), n)
    return Kernel(lambda x: torch.fft.rfft(x, norm="ortho"), x, by="torch.fft (cuFFT)", ours="revlinalg.RealFFT[complex128]")


class Unitary(Kernel):
    """X becomes the product of n(n-1)/2 rotations of neighbouring rows and X, in the order of
    revlinalg.Unitary. With j and i from 0, rotation (j, i) of rows i and i+1 is of layer n-2-i + 2j. The
    rotations of a layer touch different rows. Adjoint keeps X after some of the layers, and computes
    those between again."""

    def __init__(self, n):
        first = [j * n - j * (j + 1) // 2 for j in range(n)]  # of the angles of j
        self.layers = []
        for t in range(2 * n - 3):
            js = [j for j in range(n - 1) if j <= n - 2 - t + 2 * j <= n - 2]
            self.layers.append((n - 2 - t + 2 * js[0], torch.tensor([first[j] + t - 2 * j for j in js])))
        by = "torch, a layer of rotations at a time"
        super().__init__(self.rotate, torch.rand(n, n), torch.rand(n * (n - 1) // 2), by=by, ours="revlinalg.Unitary")

    @staticmethod
    def some(x, theta, layers):
        for row, angles in layers:
            end = row + 2 * len(angles)
            a, b = x[row:end].view(len(angles), 2, -1).unbind(1)
            c, s = theta[angles].cos()[:, None], theta[angles].sin()[:, None]
            x = torch.cat([x[:row], torch.stack([c * a - s * b, s * a + c * b], 1).flatten(0, 1), x[end:]])
        return x

    def rotate(self, x, theta):
        apart = math.isqrt(len(self.layers))
        for at in range(0, len(self.layers), apart):
            layers = self.layers[at : at + apart]
            x = checkpoint(self.some, x, theta, layers, use_reentrant=False) if x.requires_grad else self.some(x, theta, layers)
        return x

    @staticmethod
    @torch.no_grad()
    def turn(x, theta, layers, sign):
        """Rotates in place, by the angles or back."""
        for row, angles in layers:
            pairs = x[row : row + 2 * len(angles)].view(len(angles), 2, -1)
            c, s = theta[angles].cos()[:, None], sign * theta[angles].sin()[:, None]
            a = c * pairs[:, 0] - s * pairs[:, 1]
            pairs[:, 1].mul_(c).add_(s * pairs[:, 0])
            pairs[:, 0] = a

    def peers(self, which):
        x, theta = self.x
        run = {
            "Forward": lambda: self.turn(x, theta, self.layers, 1),
            "Inverse": lambda: self.turn(x, theta, self.layers[::-1], -1),
            "Adjoint": lambda: torch.autograd.backward(self.rotate(*(v.detach().requires_grad_() for v in self.x)), x),
            "Tangent": lambda: jvp(self.rotate, (x, theta), (x, theta)),
        }[which]
        return {self.by: [run]}

    def check(self, rn):
        x = self.x[0].clone()
        self.turn(x, self.x[1], self.layers, 1)
        forward = (x - self.rotate(*self.x)).abs().max().item()
        self.turn(x, self.x[1], self.layers[::-1], -1)
        return max(forward, (x - self.x[0]).abs().max().item(), super().check(rn))


class Band(Kernel):
    """C += A·B, where A has a band. If `full`, its first row is full besides."""

    def __init__(self, rows, entries, full=False):
        width = 10 if full else entries // rows
        first = (torch.arange(rows) - width // 2).clamp(0, rows - width)
        ind, count = (first[:, None] + torch.arange(width)).flatten(), torch.full((rows,), width)
        if full:
            ind, count[0] = torch.cat([torch.arange(rows), ind[width:]]), rows
        self.lines = torch.arange(rows).repeat_interleave(count)
        self.order = torch.argsort(ind, stable=True)  # of the entries of the transpose
        start = lambda count: torch.cat([torch.zeros(1, dtype=torch.long), count.cumsum(0)]).int()
        self.structure = start(count), ind.int()
        self.transpose = start(torch.bincount(ind, minlength=rows)), self.lines[self.order].int()
        self.ind = ind
        super().__init__(None, torch.rand(len(ind)), torch.rand(rows), by="torch.mv (cuSPARSE)", ours="revsparse.Mul")

    def peers(self, which):
        values, b = self.x
        n = len(b)
        self.g = g = torch.rand(n)
        self.gradient = dvalues, db = torch.zeros_like(values), torch.zeros_like(b)
        self.c = c = torch.zeros(n)
        matrix = lambda structure, values: torch.sparse_csr_tensor(*structure, values, (n, n))
        a, da = matrix(self.structure, values), matrix(self.structure, torch.rand_like(values))
        run = {
            "Forward": lambda: c.add_(torch.mv(a, b)),
            "Inverse": lambda: c.sub_(torch.mv(a, b)),
            "Adjoint": lambda: (
                c.sub_(torch.mv(a, b)),
                db.add_(torch.mv(matrix(self.transpose, values[self.order]), g)),
                dvalues.add_(g[self.lines] * b[self.ind]),
            ),
            "Tangent": lambda: (c.add_(torch.mv(a, b)), g.add_(torch.mv(a, db)), g.add_(torch.mv(da, b))),
        }[which]
        peers = {self.by: [run]}
        if which == "Forward" and on_card:
            peers.update(self.cupy(c))
        return peers

    def cupy(self, c):
        try:
            import cupy
            from cupyx.scipy import sparse
        except ImportError:
            return {}
        stream = lambda: cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
        with stream():
            ptr, ind = self.structure
            theirs = sparse.csr_matrix(tuple(map(cupy.from_dlpack, (self.x[0], ind, ptr))), shape=(len(c), len(c)))
            column, out = cupy.from_dlpack(self.x[1]), cupy.from_dlpack(c)

        def product():
            with stream():
                out[:] += theirs @ column

        return {"CuPy (cuSPARSE)": [product]}

    def check(self, rn):
        n = len(self.x[1])
        ptr, ind = (t.numpy() for t in self.structure)
        y, pullback = rn.vjp(self.ours, A=rn.CSR((n, n), ptr, ind, self.x[0].numpy()), B=self.x[1][:, None].numpy())
        self.peers("Adjoint")[self.by][0]()  # -A·b, and the gradient
        a, b = (g for g in pullback(self.g[:, None].numpy()) if g is not None)
        pairs = (-self.c, y), (self.gradient[0], a.data), (self.gradient[1], b)
        return max((p - torch.as_tensor(q).flatten()).abs().max().item() for p, q in pairs)


class Mixture(Kernel):
    """Σ_i log Σ_k exp(α_k + Σ_j q_kj - ‖Q_k·(x_i - μ_k)‖²/2) - n·log Σ_k exp(α_k) - n·d/2·log 2π, where Q_k
    has exp(q_k) on its diagonal and the columns of the rest of the factors below it."""

    def __init__(self, n, d, K):
        self.d, self.K = d, K
        self.columns, self.lines = torch.triu_indices(d, d, 1)
        x = torch.rand(K), torch.rand(K, d), torch.rand(K, d * (d + 1) // 2)
        super().__init__(self.density(self.differences), *x, fixed=(torch.rand(n, d),), total=n, rows=(3,), total_is_sum=True, ours="gmm.LogPosterior")

    def density(self, forms):
        def value(alpha, means, factors, x):
            d = self.d
            Q = torch.diag_embed(factors[:, :d].exp()).index_put((torch.arange(self.K)[:, None], self.lines, self.columns), factors[:, d:])
            inner = alpha + factors[:, :d].sum(1) - forms(Q, means, x).square().sum(2) / 2
            return torch.logsumexp(inner, 1).sum() - len(x) * (torch.logsumexp(alpha, 0) + d / 2 * math.log(2 * math.pi))

        return value

    def differences(self, Q, means, x):
        return torch.einsum("kij,nkj->nki", Q, x[:, None] - means)

    def product(self, Q, means, x):  # one large product, with n·K·d² multiply-adds
        return (x @ Q.flatten(0, 1).T).view(-1, self.K, self.d) - (Q @ means[:, :, None])[:, :, 0]

    def peers(self, which):
        peers = {}
        for name, forms in ("x - μ first", self.differences), ("Q·x by one product", self.product):
            self.f, self.by = self.density(forms), "torch.compile, " + name
            peers.update(super().peers(which))
        return peers


class Graph:
    """The loss of graphembed.Loss in 3 dimensions, whose vertices come in batches."""

    margin = 0.1

    def __init__(self, vertices, edges):
        n = vertices
        ends = torch.randint(n, (2, edges))
        self.linked = torch.zeros(n, n, dtype=torch.bool)
        self.linked[ends[0], ends[1]] = self.linked[ends[1], ends[0]] = True
        self.linked.fill_diagonal_(False)
        self.edges = int(self.linked.sum()) // 2
        self.others = n * (n - 1) // 2 - self.edges
        self.x = torch.rand(n, 3)
        self.size = min(n, 1024)

    @staticmethod
    def sums(x, some, linked):
        d = (some[:, None] - x[None]).square().sum(2).clamp_min(1e-300).sqrt()
        e = torch.where(linked, d, 0)
        return torch.stack([e.sum(), (e * e).sum(), d.sum(), (d * d).sum()]) / 2

    def loss(self, s):
        n, m = self.edges, self.others
        mean, other = s[0] / n, (s[2] - s[0]) / m
        var = (s[1] - n * mean**2) / (n - 1) + (s[3] - s[1] - m * other**2) / (m - 1)
        return var + torch.exp(torch.relu(mean - other + self.margin)) - 1

    def peers(self, which):
        sums = compiled(self.sums)
        both = compiled(lambda x, dx, some, dsome, linked: jvp(lambda x, some: self.sums(x, some, linked), (x, some), (dx, dsome)))
        cuts = [slice(lo, lo + self.size) for lo in range(0, len(self.x), self.size)]
        x, dx, leaf = self.x, torch.rand_like(self.x), self.x.clone().requires_grad_()

        @torch.no_grad()
        def value(x):
            return sum(sums(x, x[c], self.linked[c]) for c in cuts)

        def adjoint():
            total = value(x).requires_grad_()
            self.loss(total).backward()
            for c in cuts:
                sums(leaf, leaf[c], self.linked[c]).backward(total.grad)

        @torch.no_grad()
        def tangent():
            parts = [both(x, dx, x[c], dx[c], self.linked[c]) for c in cuts]
            jvp(self.loss, *((sum(p),) for p in zip(*parts)))

        run = {"Adjoint": adjoint, "Tangent": tangent}.get(which, lambda: self.loss(value(x)))
        return {"torch.compile": [run]}

    def check(self, rn):
        f = lambda x: self.loss(self.sums(x, x, self.linked))
        edges, dx = self.linked.triu().nonzero().numpy(), torch.rand_like(self.x)
        options = {"Free": self.x.numpy(), "Graph": edges, "Margin": self.margin}
        y, pullback = rn.vjp("graphembed.Loss", **options)
        x = self.x.clone().requires_grad_()
        f(x).backward()
        gradient = dict(zip((o.name for o in rn_inputs(rn, "graphembed.Loss")), pullback(1.0)))["Free"]
        pairs = (f(self.x), y), (x.grad, gradient), (jvp(f, (self.x,), (dx,))[1], (dx.numpy() * gradient).sum())
        return max((p.detach() - torch.as_tensor(q)).abs().max().item() for p, q in pairs)


def rotated(r, x):
    """x turned by the rotation vector r."""
    s = r @ r
    theta = s.sqrt()
    c = torch.linalg.cross(r, x)
    return x + torch.sin(theta) / theta * c + (1 - torch.cos(theta)) / s * torch.linalg.cross(r, c)


def distorted(p, k1, k2):
    s = p @ p
    return (1 + k1 * s + k2 * s * s) * p


def snavely(v, feature):
    """The residual of a camera of 9 parameters and a point."""
    y = rotated(v[:3], v[9:]) + v[3:6]
    return v[6] * distorted(-y[:2] / y[2], v[7], v[8]) - feature


def weighted(v, feature):
    """The residual of a camera of 11 parameters, a point and a weight."""
    y = rotated(v[:3], v[11:14] - v[3:6])
    return v[14] * (v[6] * distorted(y[:2] / y[2], v[9], v[10]) + v[7:9] - feature)


class Observations(Kernel):
    """The residuals of observations by cameras of 9 parameters, or by those of 11 with weights, whose
    residuals are 1 - w² besides."""

    def __init__(self, residual, params, observations, cameras, points):
        n = observations
        heavy = residual is weighted
        point = torch.arange(n) // 5 % points
        x = [torch.rand(cameras, params), torch.rand(points, 3) + torch.tensor([0, 0, 2.0])] + [torch.rand(n)] * heavy + [torch.rand(n, 2)]
        self.residual, self.heavy = residual, heavy
        super().__init__(self.residuals, *x, fixed=(torch.randint(cameras, (n,)), point), total=n, rows=range(2, 6),
                         by="torch.compile of vmap", ours="ba.Weighted" if heavy else "ba.Snavely")

    def operands(self, cameras, points, *rest):
        *weights, features, camera, point = rest
        return torch.cat([cameras[camera], points[point]] + [w[:, None] for w in weights], 1), features

    def residuals(self, *x):
        r = vmap(self.residual)(*self.operands(*x))
        return (r, 1 - x[2] * x[2]) if self.heavy else r

    def peers(self, which):
        return self.jacobians() if which == "Jacobian" else super().peers(which)

    def jacobians(self):
        """The Jacobian of each observation, 2×12 or 2×15, written to memory."""
        j = torch.empty(self.total, 2, self.x[0].shape[1] + 3 + self.heavy)

        def compute(*x):
            return vmap(jacrev(self.residual))(*self.operands(*x))

        def peer(f):
            def one(lo, hi):
                j[lo:hi] = f(*self.cut(self.x + self.fixed, lo, hi))

            return batched(one, self.total)

        return {"vmap(jacrev)": peer(compute), "torch.compile of vmap(jacrev)": peer(compiled(compute))}


class BundlePoints:
    """Sums over the observations of cameras and points. F and E are the derivatives of an observation."""

    def __init__(self, observations=0, cameras=0, points=0, blocks=0, pairs=0):
        n = self.total = observations or max(2, pairs // 3)
        cameras, points = cameras or n // 3000 + 1, points or (n + 4) // 5
        self.F, self.E, self.r = torch.rand(n, 2, 9), torch.rand(n, 2, 3), torch.rand(n, 2)
        self.camera, self.point = torch.randint(cameras, (n,)), torch.arange(n) // 5 % points
        self.x, self.z = torch.rand(cameras, 9), torch.rand(points, 3)
        self.U, self.V = torch.zeros(cameras, 9, 9), torch.zeros(points, 3, 3)
        self.blocks, self.pairs = max(1, blocks), pairs

    def peers(self, which):
        one, total = {
            "normal equations": (self.normal, self.total),
            "product": (self.product, self.total),
            "reduced system": (self.reduced(), self.pairs),
        }[which]
        return {"torch.index_add_": batched(one, total)}

    def normal(self, lo, hi):
        F, E, r, camera, point = (t[lo:hi] for t in (self.F, self.E, self.r, self.camera, self.point))
        self.U.index_add_(0, camera, F.mT @ F)
        self.x.index_add_(0, camera, (F.mT @ r[:, :, None])[:, :, 0])
        self.V.index_add_(0, point, E.mT @ E)
        self.z.index_add_(0, point, (E.mT @ r[:, :, None])[:, :, 0])

    def product(self, lo, hi):
        F, E, camera, point = (t[lo:hi] for t in (self.F, self.E, self.camera, self.point))
        y = F @ self.x[camera][:, :, None] - E @ self.z[point][:, :, None]
        self.x.index_add_(0, camera, (F.mT @ y)[:, :, 0])

    def reduced(self):
        """Blocks Σ F_iᵀ·H_iᵀ·H_k·F_k over pairs of observations, H = L⁻¹·Eᵀ. H·F is computed once."""
        i, k = torch.arange(self.pairs) % self.total, (torch.arange(self.pairs) + 1) % self.total
        block, to = torch.randint(self.blocks, (self.pairs,)), torch.zeros(self.blocks, 9, 9)
        held = {}

        def one(lo, hi):
            if lo == 0:
                held["G"] = self.V[self.point] @ self.E.mT @ self.F
            G = held["G"]
            to.index_add_(0, block[lo:hi], G[i[lo:hi]].mT @ G[k[lo:hi]])

        return one


VECTOR, SQUARE, STACK = {"n": 256}, {"n": 8}, {"n": 4, "matrices": 3}
# A kernel of `revcuda bench` is a function of its sizes, and there are small sizes.
KERNELS = {
    "Dot": (lambda n: Kernel(torch.dot, torch.rand(n), torch.rand(n), plain=True, ours="revlinalg.Dot"), VECTOR),
    "Axpy": (axpy, VECTOR),
    "Sum": (elements(torch.sum, plain=True, ours="revlinalg.Sum"), VECTOR),
    "Norm1": (elements(lambda x: torch.linalg.vector_norm(x, 1), plain=True, ours="revlinalg.Norm1"), VECTOR),
    "Norm2": (elements(torch.linalg.vector_norm, plain=True, ours="revlinalg.Norm2"), VECTOR),
    "NormInf": (elements(lambda x: torch.linalg.vector_norm(x, torch.inf), plain=True, ours="revlinalg.NormInf"), VECTOR),
    "LogSumExp": (elements(lambda x: torch.logsumexp(x, 0), plain=True, ours="revnn.LogSumExp"), VECTOR),
    "Softmax": (elements(lambda x: torch.softmax(x, 0), ours="revnn.Softmax"), VECTOR),
    "LogSumExpRows": (rows(lambda x: torch.logsumexp(x, 1), ours="revnn.LogSumExpRows"), VECTOR),
    "SoftmaxRows": (rows(lambda x: torch.softmax(x, 1), ours="revnn.SoftmaxRows"), VECTOR),
    "LayerNorm": (norm(functional.layer_norm, 2, ours="revnn.LayerNorm", Epsilon=1e-5), VECTOR),
    "RMSNorm": (norm(functional.rms_norm, 1, ours="revnn.RMSNorm", Epsilon=1e-5), VECTOR),
    "LeakyReLU": (elements(lambda x: functional.leaky_relu(x, 0.01), ours="revnn.LeakyReLU", Slope=0.01), VECTOR),
    "MulElem": (elements(torch.mul, 2, ours="revlinalg.MulElem"), VECTOR),
    "DivElem": (elements(torch.div, 2, ours="revlinalg.DivElem"), VECTOR),
    "Atan2": (elements(torch.atan2, 2, ours="revlinalg.Atan2"), VECTOR),
    "Pow": (elements(torch.pow, 2, ours="revlinalg.Pow"), VECTOR),
    "Affine": (affine, VECTOR),
    "MatMul": (MatMul, SQUARE),
    "MatMul float32": (lambda n: MatMul(n, dtype=torch.float32), SQUARE),
    "AffineBatch": (affine_batch, SQUARE),
    "batched MatMul": (MatMul, STACK),
    "Conv2D": (convolution, {"inputs": 2, "channels": 3, "side": 5}),
    "Mul": (Band, {"rows": 16, "entries": 160}),
    "Mul with a full row": (lambda **s: Band(full=True, **s), {"rows": 16, "entries": 166}),
    "Unitary": (Unitary, SQUARE),
    "Snavely": (lambda **s: Observations(snavely, 9, **s), {"observations": 16, "cameras": 2, "points": 4}),
    "Weighted": (lambda **s: Observations(weighted, 11, **s), {"observations": 16, "cameras": 2, "points": 4}),
    "GraphLoss": (Graph, {"vertices": 32, "edges": 64}),
    "batched TriSolve": (solves, STACK),
    "TriSolve": (solves, SQUARE),
    "batched Solve": (systems, STACK),
    "Solve": (systems, SQUARE),
    "batched Cholesky": (cholesky, STACK),
    "Cholesky": (cholesky, SQUARE),
    "batched QR": (qr, STACK),
    "QR": (qr, SQUARE),
    "Attention": (attention, {"n": 8, "heads": 2, "columns": 6}),
    "LogPosterior": (Mixture, {"n": 9, "d": 4, "K": 3}),
    "batched FFT": (FFT, {"n": 8, "transforms": 3}),
    "RealFFT": (real_transforms, {"n": 8, "transforms": 3}),
    "FFT": (FFT, SQUARE),
    "BundlePoints": (BundlePoints, {"observations": 16, "cameras": 2, "points": 4, "blocks": 3, "pairs": 20}),
}
for name in "Exp", "Log", "Sqrt", "Sin", "Cos", "Abs":
    KERNELS[name] = elements(getattr(torch, name.lower()), ours="revlinalg." + name), VECTOR
for name in "Tanh", "Sigmoid", "Softplus", "GELU", "SiLU", "ReLU":
    f = getattr(torch, name.lower(), None) or getattr(functional, name.lower())
    KERNELS[name] = elements(f, ours="revnn." + name), VECTOR

# These lines are of functions of their own.
OTHERS = {
    "SGD Step": steps(torch.optim.SGD, momentum=0.9),
    "Adam Step": steps(torch.optim.Adam),
    "Uniform": random(torch.Tensor.uniform_),
    "Normal": random(torch.Tensor.normal_),
}
# These have no peer.
NONE = {
    "(copy|multiply-add.*)": "a rate by which others are divided",
    "FixedLogPosterior .*": "neither library has numbers in fixed point",
}
PASSES = re.compile("(.*) (Forward|Inverse|Adjoint|Tangent|Jacobian|normal equations|product|reduced system)")


def peers_of(line, sizes):
    """The peers of a line, or why there are none."""
    for names, why in NONE.items():
        if re.fullmatch(names, line):
            return why
    if line in OTHERS:
        return OTHERS[line](**sizes)
    kernel, which = PASSES.fullmatch(line).groups()
    return KERNELS[kernel][0](**sizes).peers(which)


def check():
    """Runs all peers, and compares those of kernels of revnum with them. It returns what is wrong."""
    import revnum.numpy as rn

    wrong = []
    for name, peers in OTHERS.items():
        if re.search(args.kernel, name):
            for runs in peers(**VECTOR).values():
                [run() for run in runs]
    for name, (make, sizes) in KERNELS.items():
        if not re.search(args.kernel, name):
            continue
        passes = ["Forward", "Inverse", "Adjoint", "Tangent"] + ["Jacobian"] * (name in ("Snavely", "Weighted"))
        if name == "BundlePoints":
            passes = ["normal equations", "product", "reduced system"]
        try:
            for which in passes:
                for runs in make(**sizes).peers(which).values():
                    [run() for run in runs]
            # Kernels of revnum that Python has are of one matrix.
            kernel = make(**{k: v for k, v in sizes.items() if k not in ("matrices", "transforms")})
            error = kernel.check(rn) if hasattr(kernel, "check") else None
        except Exception as e:
            print(f"{name:22} {which}: {type(e).__name__} {e}"[:400], flush=True)
            wrong.append(name)
            continue
        print(f"{name:22} {'runs' if error is None else f'error {error:.1e}'}", flush=True)
        if error is not None and not error < (1e-3 if "float32" in name else 1e-10):
            wrong.append(name)
    return wrong


def compare(bench):
    name = torch.cuda.get_device_name() if on_card else "the processor"
    print(f"revnum on {bench['device']}; PyTorch {torch.__version__} on {name}")
    row = "{:30} {:>11} {:36} {:>11} {:>8}"
    print(row.format("", "revnum, ms", "peer", "peer, ms", "times"))
    for rate in bench["rates"]:
        if not re.search(args.kernel, rate["name"]):
            continue
        try:
            peers = peers_of(rate["name"], rate.get("sizes", {}))
        except torch.OutOfMemoryError:
            peers = {"the operands": []}
        if isinstance(peers, str):
            print(row.format(rate["name"], f"{rate['seconds'] * 1e3:.3f}", "none: " + peers, "", "").rstrip())
            continue
        for peer, runs in peers.items():
            times = []
            for run in runs:
                try:
                    times.append(seconds(run))
                except torch.OutOfMemoryError:
                    torch.cuda.empty_cache()
            best = ["no memory", "-"] if not times else [f"{min(times) * 1e3:.3f}", f"{min(times) / rate['seconds']:.2f}"]
            print(row.format(rate["name"], f"{rate['seconds'] * 1e3:.3f}", peer, *best), flush=True)
        del peers
        if on_card:
            torch.cuda.empty_cache()


if args.check:
    if wrong := check():
        sys.exit("values differ: " + ", ".join(wrong))
else:
    with open(args.bench) as f:
        bench = json.load(f)
    if bench.get("type", "float64") != "float64":
        parser.error(f"{args.bench} is of {bench['type']}, and peers have float64")
    compare(bench)
