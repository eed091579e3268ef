#!/usr/bin/env python3
"""Sets the kernels of package cuda beside PyTorch's and CuPy's on the same card.

    cd cuda
    go run -tags cuda ./cmd/revcuda bench --json >bench.json
    python -m venv VENV && VENV/bin/pip install torch cupy-cuda12x
    VENV/bin/python compare/compare.py bench.json

It takes the sizes from bench.json and prints the times of a pass in milliseconds, and how many
times as long as revnum a peer takes, or why a line has no peer. All numbers have 64 bits, but for
MatMul float32. CuPy may be absent. Functions of vectors are compiled by PyTorch, so that one kernel
computes and adds. Adjoint is torch.autograd, which adds to gradients, and Tangent torch.func.jvp, but
for MatMul, Mul and FFT, whose derivatives are products or transforms too. Mixtures, observations and losses of graphs go through the points, observations or vertices in
batches, as intermediate results may not fit the memory of a card. Each size in --batch is tried that
fits, and the fastest counts. The equations are the same, but the random numbers differ.

    python compare/compare.py --check

runs all peers without a card, at small sizes and in small batches. It compares what each pass adds up
with what the package of ports/python computes, which must be installed, or, for BundlePoints, with sums
over all pairs of rows and columns. Steps of optimisers and random numbers only run. --device cpu
measures without a card, which shows that it works and nothing else.
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
    args.device, args.batch = "cpu", [3]
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

    def __init__(self, f, *x, fixed=(), total=None, rows=(), total_is_sum=False, by="torch.compile", plain=False, ours=None, **params):
        self.plain = plain  # whether it also runs without a compiler
        self.f, self.x, self.fixed, self.total, self.rows, self.sum, self.by = f, x, fixed, total, rows, total_is_sum, by
        self.ours, self.params = ours, params  # the kernel of revnum, whose operands are x and fixed, and its parameters

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
        """The runs of a pass by each peer, which add to `sums`."""
        self.allocate(which)
        return self.passes(which)

    def allocate(self, which):
        self.y, self.g, self.dy = self.outputs(), [], []
        if which == "Adjoint":
            self.gy, self.g = [torch.rand_like(v) for v in self.y], [torch.zeros_like(v) for v in self.x]
        if which == "Tangent":
            self.dx, self.dy = tuple(torch.rand_like(v) for v in self.x), self.outputs()
        self.sums = self.y + self.g + self.dy

    def passes(self, which):
        peers, compilers = {}, {self.by: compiled if self.by.startswith("torch.compile") else lambda f: f}
        if self.plain:
            compilers["torch"] = lambda f: f
        for by, self.compiled in compilers.items():
            one = getattr(self, which.lower())()
            peers[by] = [lambda one=one: one(0, 0)] if self.total is None else batched(one, self.total)
        return peers

    def value(self, change):
        y = self.y
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
        y, gy, g, f = self.y, self.gy, self.g, self.compiled(self.f)

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
        y, dy, dx = self.y, self.dy, self.dx

        def both(y, dy, x, dx, fixed):
            for to, v in zip(y + dy, sum(map(tuple_of, jvp(lambda *x: self.f(*x, *fixed), x, dx)), ())):
                to.add_(v)

        run = self.compiled(both)

        @torch.no_grad()
        def one(lo, hi):
            x = self.cut(self.x + self.fixed, lo, hi)
            run(self.part(y, lo, hi), self.part(dy, lo, hi), x[: len(self.x)], self.cut(dx, lo, hi), x[len(self.x):])

        return one

    def reference(self, rn, which, at=...):
        """What a pass of revnum adds to `sums`, or to those of matrix `at` of a stack."""
        operands = [v[at].numpy() for v in self.x] + [v.numpy() for v in self.fixed]
        y, pullback = rn.vjp(self.ours, *operands, **self.params)
        y = list(tuple_of(y))
        if which == "Tangent":
            moving = [v[at].numpy() for v in self.dx] + [None] * (len(rn_inputs(rn, self.ours)) - len(self.x))
            return y + list(tuple_of(rn.jvp(self.ours, operands, moving, **self.params)[1]))
        if which == "Forward":
            return y
        g = []
        if which == "Adjoint":
            gy = [w[at].reshape(torch.as_tensor(v).shape) for v, w in zip(y, self.gy, strict=True)]
            g = tuple_of(pullback(*(w.numpy() if w.dim() else w.item() for w in gy)))[: len(self.x)]
        return [-v for v in y] + list(g)


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

    def passes(self, which):
        (a, b), (c,) = self.x, self.y
        add = torch.Tensor.baddbmm_ if a.dim() == 3 else torch.Tensor.addmm_
        if which == "Adjoint":
            (gc,), (ga, gb) = self.gy, self.g
            return {self.by: [lambda: (add(c, a, b, alpha=-1), add(ga, gc, b.mT), add(gb, a.mT, gc))]}
        if which == "Tangent":
            (da, db), (dc,) = self.dx, self.dy
            return {self.by: [lambda: (add(c, a, b), add(dc, da, b), add(dc, a, db))]}
        return {self.by: [lambda: add(c, a, b, alpha=1 if which == "Forward" else -1)]}


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


class Cholesky(Kernel):
    """l += the factor of a. Revnum reads the upper triangle of a, and has all of the gradient there."""

    def __init__(self, n, matrices=0):
        a = stack(n, matrices)
        super().__init__(torch.linalg.cholesky, a + a.mT, by="torch.linalg.cholesky", ours="revlinalg.Cholesky")

    def allocate(self, which):
        super().allocate(which)
        if which == "Tangent":
            self.dx = (self.dx[0] + self.dx[0].mT,)

    def reference(self, rn, which, at=...):
        want = super().reference(rn, which, at)
        return [want[0], (want[1] + want[1].T) / 2] if which == "Adjoint" else want


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

    def passes(self, which):
        to = torch.fft.ifft if which in ("Inverse", "Adjoint") else torch.fft.fft
        both = [*self.x, *(self.gy if which == "Adjoint" else self.dx if which == "Tangent" else [])]

        def run():
            self.sums = [to(x, norm="ortho") for x in both]

        return {self.by: [run]}

    def reference(self, rn, which, at=...):
        want = super().reference(rn, which, at)
        if which in ("Inverse", "Adjoint"):
            want[0] = rn.vjp(self.ours, self.x[0][at].numpy().conj())[0].conj()  # F⁻¹·x
        return want


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

    def passes(self, which):
        x, theta = self.x

        def adjoint():
            cut = [v.detach().requires_grad_() for v in self.x]
            for v, grad in zip(cut, self.g):
                v.grad = grad
            torch.autograd.backward(self.rotate(*cut), self.gy)

        def tangent():
            self.sums = jvp(self.rotate, self.x, self.dx)

        if which == "Adjoint":
            self.sums, run = self.g, adjoint
        elif which == "Tangent":
            run = tangent
        else:
            self.sums = [x.clone()]
            sign = 1 if which == "Forward" else -1
            run = lambda: self.turn(self.sums[0], theta, self.layers[::sign], sign)
        return {self.by: [run]}

    def reference(self, rn, which, at=...):
        if which == "Inverse":  # the product with the transpose
            self.gy = self.x[:1]
            return super().reference(rn, "Adjoint")[1:2]
        return super().reference(rn, which)[which == "Adjoint" :]


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
        f = lambda values, b: torch.mv(self.matrix(self.structure, values), b)
        super().__init__(f, torch.rand(len(ind)), torch.rand(rows), by="torch.mv (cuSPARSE)", ours="revsparse.Mul")

    @staticmethod
    def matrix(structure, values):
        n = len(structure[0]) - 1
        return torch.sparse_csr_tensor(*structure, values, (n, n))

    def passes(self, which):
        (values, b), (c,) = self.x, self.y
        a = self.matrix(self.structure, values)
        if which == "Adjoint":
            (g,), (dvalues, db) = self.gy, self.g
            run = lambda: (
                c.sub_(torch.mv(a, b)),
                db.add_(torch.mv(self.matrix(self.transpose, values[self.order]), g)),
                dvalues.add_(g[self.lines] * b[self.ind]),
            )
        elif which == "Tangent":
            (dc,), (dvalues, db) = self.dy, self.dx
            da = self.matrix(self.structure, dvalues)
            run = lambda: (c.add_(torch.mv(a, b)), dc.add_(torch.mv(a, db)), dc.add_(torch.mv(da, b)))
        else:
            change = c.add_ if which == "Forward" else c.sub_
            run = lambda: change(torch.mv(a, b))
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

    def reference(self, rn, which, at=...):
        ptr, ind = (t.numpy() for t in self.structure)
        n = len(ptr) - 1
        mul = lambda values, b: rn.vjp(self.ours, A=rn.CSR((n, n), ptr, ind, values.numpy()), B=b[:, None].numpy())
        (values, b), (y, pullback) = self.x, mul(*self.x)
        if which == "Adjoint":
            a, gb = (g for g in pullback(self.gy[0][:, None].numpy()) if g is not None)
            return [-y, a.data, gb]
        if which == "Tangent":
            return [y, mul(self.dx[0], b)[0] + mul(values, self.dx[1])[0]]
        return [y if which == "Forward" else -y]


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

    def passes(self, which):
        peers = {}
        for name, forms in ("x - μ first", self.differences), ("Q·x by one product", self.product):
            self.f, self.by = self.density(forms), "torch.compile, " + name
            peers.update(super().passes(which))
        return peers


class Graph(Kernel):
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
        self.x, self.size = (torch.rand(n, 3),), args.batch[0] if args.check else 1024

    def outputs(self):
        return [torch.zeros(())]

    @staticmethod
    def distances(x, some, linked):
        d = (some[:, None] - x[None]).square().sum(2).clamp_min(1e-300).sqrt()
        e = torch.where(linked, d, 0)
        return torch.stack([e.sum(), (e * e).sum(), d.sum(), (d * d).sum()]) / 2

    def loss(self, s):
        n, m = self.edges, self.others
        mean, other = s[0] / n, (s[2] - s[0]) / m
        var = (s[1] - n * mean**2) / (n - 1) + (s[3] - s[1] - m * other**2) / (m - 1)
        return var + torch.exp(torch.relu(mean - other + self.margin)) - 1

    def passes(self, which):
        sums = compiled(self.distances)
        both = compiled(lambda x, dx, some, dsome, linked: jvp(lambda x, some: self.distances(x, some, linked), (x, some), (dx, dsome)))
        (x,), (y,) = self.x, self.y
        cuts = [slice(lo, lo + self.size) for lo in range(0, len(x), self.size)]

        @torch.no_grad()
        def value():
            return sum(sums(x, x[c], self.linked[c]) for c in cuts)

        def adjoint():
            total, leaf = value().requires_grad_(), x.detach().requires_grad_()
            leaf.grad = self.g[0]  # to which backward adds
            loss = self.loss(total)
            loss.backward(self.gy[0])
            for c in cuts:
                sums(leaf, leaf[c], self.linked[c]).backward(total.grad)
            y.sub_(loss.detach())

        @torch.no_grad()
        def tangent():
            (dx,) = self.dx
            parts = [both(x, dx, x[c], dx[c], self.linked[c]) for c in cuts]
            for to, v in zip(self.sums, jvp(self.loss, *((sum(p),) for p in zip(*parts)))):
                to.add_(v)

        change = y.add_ if which == "Forward" else y.sub_
        run = {"Adjoint": adjoint, "Tangent": tangent}.get(which, lambda: change(self.loss(value())))
        return {"torch.compile": [run]}

    def reference(self, rn, which, at=...):
        edges = self.linked.triu().nonzero().numpy()
        y, pullback = rn.vjp("graphembed.Loss", Free=self.x[0].numpy(), Graph=edges, Margin=self.margin)
        gradients = lambda gy: dict(zip((o.name for o in rn_inputs(rn, "graphembed.Loss")), pullback(gy)))["Free"]
        if which == "Adjoint":
            return [-y, gradients(self.gy[0].item())]
        if which == "Tangent":
            return [y, (self.dx[0].numpy() * gradients(1.0)).sum()]
        return [y if which == "Forward" else -y]


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

    def passes(self, which):
        return self.jacobians() if which == "Jacobian" else super().passes(which)

    def reference(self, rn, which, at=...):
        if which != "Jacobian":
            return super().reference(rn, which)
        rows, (camera, point) = [], self.fixed
        for i in range(self.total):
            for k in range(2):
                self.gy = [torch.zeros_like(v) for v in self.y]
                self.gy[0][i, k] = 1
                cameras, points, *weights, _ = map(torch.as_tensor, super().reference(rn, "Adjoint")[len(self.y) :])
                rows.append(torch.cat([cameras[camera[i]], points[point[i]]] + [w[i : i + 1] for w in weights]))
        return [torch.stack(rows)]

    def jacobians(self):
        """The Jacobian of each observation, 2×12 or 2×15, written to memory."""
        j = torch.zeros(self.total, 2, self.x[0].shape[1] + 3 + self.heavy)
        self.sums = [j]

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
        n = self.total = observations or max(2, pairs // 2)
        cameras, points = cameras or n // 3000 + 1, points or (n + 4) // 5
        self.F, self.E, self.r = torch.rand(n, 2, 9), torch.rand(n, 2, 3), torch.rand(n, 2)
        self.camera, self.point = torch.randint(cameras, (n,)), torch.arange(n) // 5 % points
        self.x, self.H = torch.rand(cameras, 9), torch.rand(points, 3, 3)  # (V+Q)⁻¹, or L⁻¹ of the reduced system
        self.U, self.b = torch.zeros(cameras, 9, 9), torch.zeros(cameras, 9)
        self.V, self.c = torch.zeros(points, 3, 3), torch.zeros(points, 3)
        self.blocks, self.pairs = max(1, blocks), pairs

    def peers(self, which):
        runs = {"normal equations": self.normals, "product": self.products, "reduced system": self.reduced}[which]
        return {"torch.index_add_": runs()}

    def normals(self):
        self.sums = [self.U, self.b, self.V, self.c]

        def one(lo, hi):
            F, E, r, camera, point = (t[lo:hi] for t in (self.F, self.E, self.r, self.camera, self.point))
            self.U.index_add_(0, camera, F.mT @ F)
            self.b.index_add_(0, camera, (F.mT @ r[:, :, None])[:, :, 0])
            self.V.index_add_(0, point, E.mT @ E)
            self.c.index_add_(0, point, (E.mT @ r[:, :, None])[:, :, 0])

        return batched(one, self.total)

    def products(self):
        """b = Fᵀ·(F·x - E·z), where z = H·Eᵀ·F·x: two sums over the observations."""
        self.sums = [self.b]
        held = {}

        def first(lo, hi):
            F, E, camera, point = (t[lo:hi] for t in (self.F, self.E, self.camera, self.point))
            self.c.index_add_(0, point, (E.mT @ (F @ self.x[camera][:, :, None]))[:, :, 0])

        def second(lo, hi):
            F, E, camera, point = (t[lo:hi] for t in (self.F, self.E, self.camera, self.point))
            y = F @ self.x[camera][:, :, None] - E @ held["z"][point]
            self.b.index_add_(0, camera, (F.mT @ y)[:, :, 0])

        def product(first, second):
            self.b.zero_()
            self.c.zero_()
            first()
            held["z"] = self.H @ self.c[:, :, None]
            second()

        for parts in zip(batched(first, self.total), batched(second, self.total)):
            yield lambda parts=parts: product(*parts)

    def reduced(self):
        """Blocks Σ F_iᵀ·H_iᵀ·H_k·F_k over pairs of observations, H = L⁻¹·Eᵀ. H·F is computed once."""
        self.i, self.k = torch.arange(self.pairs) % self.total, (torch.arange(self.pairs) + 1) % self.total
        self.block, to = torch.randint(self.blocks, (self.pairs,)), torch.zeros(self.blocks, 9, 9)
        self.sums = [to]
        held = {}

        def one(lo, hi):
            if lo == 0:
                held["G"] = self.H[self.point] @ self.E.mT @ self.F
            G = held["G"]
            to.index_add_(0, self.block[lo:hi], G[self.i[lo:hi]].mT @ G[self.k[lo:hi]])

        return batched(one, self.pairs)

    def reference(self, rn, which):
        """The sums by the matrices F and E of all observations, cameras and points."""
        at = torch.arange(self.total)
        F, E = torch.zeros(self.total, 2, *self.b.shape), torch.zeros(self.total, 2, *self.c.shape)
        F[at, :, self.camera], E[at, :, self.point] = self.F, self.E
        if which == "normal equations":
            return [s for J in (F, E) for s in (torch.einsum("nkca,nkcb->cab", J, J), torch.einsum("nkca,nk->ca", J, self.r))]
        if which == "product":
            y = torch.einsum("nkca,ca->nk", F, self.x)
            z = torch.einsum("pab,nkpb,nk->pa", self.H, E, y)
            return [torch.einsum("nkca,nk->ca", F, y - torch.einsum("nkpa,pa->nk", E, z))]
        G = [self.H[p] @ E.T @ F for p, E, F in zip(self.point, self.E, self.F)]
        want = torch.zeros(self.blocks, 9, 9)
        for block, i, k in zip(self.block, self.i, self.k):
            want[block] += G[i].T @ G[k]
        return [want]


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
    "batched Cholesky": (Cholesky, STACK),
    "Cholesky": (Cholesky, SQUARE),
    "batched QR": (qr, STACK),
    "QR": (qr, SQUARE),
    "Attention": (attention, {"n": 8, "heads": 2, "columns": 6}),
    "LogPosterior": (Mixture, {"n": 10, "d": 4, "K": 3}),
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


def error_of(kernel, rn, which, count):
    """The largest error of the sums of a pass, relative to the largest number of each, or NaN. If count is
    not 0, they are of so many matrices, of which Python's kernels take one."""
    errors = []
    for name in kernel.peers(which):
        [run] = kernel.peers(which)[name]
        run()
        want = [*map(torch.as_tensor, kernel.reference(rn, which))] if not count else [
            torch.stack([*map(torch.as_tensor, parts)]) for parts in zip(*(kernel.reference(rn, which, i) for i in range(count)))
        ]
        for a, b in zip(kernel.sums, want, strict=True):
            errors.append((a.reshape(b.shape) - b).abs().max() / b.abs().max().clamp_min(1))
    return torch.stack(errors).max().item()  # NaN if one is


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
        errors = {}
        torch._dynamo.reset()  # as there is a limit to what it compiles of the same lines
        try:
            for which in passes:
                errors[which] = error_of(make(**sizes), rn, which, sizes.get("matrices", sizes.get("transforms", 0)))
        except Exception as e:
            print(f"{name:22} {which}: {type(e).__name__} {e}"[:400], flush=True)
            wrong.append(name)
            continue
        print(f"{name:22} errors {' '.join(f'{e:.1e}' for e in errors.values())}", flush=True)
        most = 1e-3 if "float32" in name else 1e-10
        wrong += [f"{name} {which}" for which, e in errors.items() if not e < most]
    return wrong


def compare(bench):
    name = torch.cuda.get_device_name() if on_card else "the processor"
    print(f"revnum on {bench['device']}; PyTorch {torch.__version__} on {name}")
    row = "{:30} {:>11} {:36} {:>11} {:>8}"
    print(row.format("", "revnum, ms", "peer", "peer, ms", "times"))
    for rate in bench["rates"]:
        if not re.search(args.kernel, rate["name"]):
            continue
        torch._dynamo.reset()
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
