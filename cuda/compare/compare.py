#!/usr/bin/env python3
"""Sets the kernels of package cuda beside PyTorch's and CuPy's on the same card.

    cd cuda
    go run -tags cuda ./cmd/revcuda bench --json >bench.json
    python -m venv VENV && VENV/bin/pip install torch cupy-cuda12x
    VENV/bin/python compare/compare.py bench.json

It takes the sizes from bench.json and prints the times of a pass in milliseconds, and how many
times as long as revnum a peer takes. All numbers have 64 bits. CuPy may be absent. Functions of
vectors are compiled by PyTorch, so that one kernel computes and adds. Mixtures, Jacobians and
losses of graphs by PyTorch go through the points, observations or vertices in batches, as their
intermediate results may not fit the memory of a card. Each size in --batch is tried that fits, and
the fastest counts. The equations are the same, but the random numbers differ. Unitary products and
the sums of bundle adjustment have no peer.

With --device cpu the script runs without a card, which shows that it works and nothing else.
"""

import argparse
import json
import re
import time
import warnings

import torch
from torch.func import jacrev, vmap
from torch.nn import functional

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bench", help="what revcuda bench --json printed")
parser.add_argument("--device", default="cuda")
parser.add_argument("--kernel", default="", help="only the passes whose names match this regular expression")
parser.add_argument("--reps", type=int, default=10)
parser.add_argument("--batch", type=int, nargs="+", default=[1 << 13, 1 << 15, 1 << 17, 1 << 20, 1 << 23])
args = parser.parse_args()
on_card = args.device.startswith("cuda")
with open(args.bench) as f:
    bench = json.load(f)
if bench.get("type", "float64") != "float64":
    parser.error(f"{args.bench} is of {bench['type']}, and peers have float64")
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


def elements(f, count=1):
    """y += f(x), or f of two vectors."""

    def peers(n):
        x, y = [torch.rand(n) for _ in range(count)], torch.rand(n)
        run = torch.compile(lambda y, *x: y.add_(f(*x)), dynamic=False, fullgraph=True)
        return {"torch.compile": [lambda: run(y, *x)]}

    return peers


def reduction(f, count=1):
    """out += f(x), or f of two vectors."""

    def peers(n):
        x, out = [torch.rand(n) for _ in range(count)], torch.rand(())
        compiled = torch.compile(lambda out, *x: out.add_(f(*x)), dynamic=False, fullgraph=True)
        return {"torch": [lambda: out.add_(f(*x))], "torch.compile": [lambda: compiled(out, *x)]}

    return peers


def rows(f, vector):
    """y += f(x) of each row of a square matrix: a number, or a row."""

    def peers(n):
        n = round(n**0.5)
        x, y = torch.rand(n, n), torch.rand(n) if vector else torch.rand(n, n)
        run = torch.compile(lambda y, x: y.add_(f(x)), dynamic=False, fullgraph=True)
        return {"torch.compile": [lambda: run(y, x)]}

    return peers


def norm(f, count):
    """y += f(x, c, gains ...) of each row of a square matrix of c columns."""

    def peers(n):
        n = round(n**0.5)
        x, y, vectors = torch.rand(n, n), torch.rand(n, n), [torch.rand(n) for _ in range(count)]
        run = torch.compile(lambda y, x, *v: y.add_(f(x, (n,), *v)), dynamic=False, fullgraph=True)
        return {"torch.compile": [lambda: run(y, x, *vectors)]}

    return peers


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
    x, y = torch.rand(n), torch.rand(n)
    return {"torch.add_": [lambda: y.add_(x, alpha=0.5)]}


def matvec(n):
    n = round(n**0.5)
    w, x, y = torch.rand(n, n), torch.rand(n), torch.rand(n)
    return {"torch.addmv_ (cuBLAS)": [lambda: y.addmv_(w, x)]}


def matmul_adjoint(n):
    a, b, c, ga, gb, gc = (torch.rand(n, n) for _ in range(6))
    return {"three torch.addmm (cuBLAS)": [lambda: (c.addmm_(a, b, alpha=-1), ga.addmm_(gc, b.T), gb.addmm_(a.T, gc))]}


def graph(vertices, edges):
    """The loss of graphembed.Loss and its gradient."""
    n = vertices
    linked = torch.zeros(n, n, dtype=torch.bool)
    ends = torch.randint(n, (2, edges))
    linked[ends[0], ends[1]] = linked[ends[1], ends[0]] = True
    linked.fill_diagonal_(False)
    pairs = n * (n - 1) / 2
    x = torch.rand(n, 3, requires_grad=True)

    def sums(x, lo, hi):
        v = x[lo:hi, None] - x[None]
        d = v.square().sum(2).clamp_min(1e-300).sqrt()
        e = torch.where(linked[lo:hi], d, 0)
        return torch.stack([e.sum(), (e * e).sum(), d.sum(), (d * d).sum()]) / 2

    def loss(s):
        mean, other = s[0] / edges, (s[2] - s[0]) / (pairs - edges)
        var = (s[1] - edges * mean**2) / (edges - 1) + (s[3] - s[1] - (pairs - edges) * other**2) / (pairs - edges - 1)
        return var + torch.exp(torch.relu(mean - other + 10)) - 1

    compiled = torch.compile(sums, dynamic=False, fullgraph=True)

    def value(lo, hi):
        with torch.no_grad():
            return compiled(x, lo, hi)

    def gradient():
        total = sum(value(lo, min(lo + size, n)) for lo in range(0, n, size)).requires_grad_()
        loss(total).backward()
        for lo in range(0, n, size):
            compiled(x, lo, min(lo + size, n)).backward(total.grad)

    size = min(n, 1024)
    return value, gradient, size


def graph_forward(vertices, edges):
    value, _, size = graph(vertices, edges)
    return {"torch.compile": [lambda: [value(lo, lo + size) for lo in range(0, vertices, size)]]}


def graph_adjoint(vertices, edges):
    _, gradient, _ = graph(vertices, edges)
    return {"torch.compile": [gradient]}


def matmul(n):
    a, b, c = torch.rand(n, n), torch.rand(n, n), torch.rand(n, n)
    return {"torch.addmm (cuBLAS)": [lambda: c.addmm_(a, b)]}


def bmm(n, matrices):
    a, b, c = (torch.rand(matrices, n, n) for _ in range(3))
    return {"torch.baddbmm_ (cuBLAS)": [lambda: c.baddbmm_(a, b)]}


def solves(n, matrices=1):
    a, b, x = torch.rand(matrices, n, n).triu(), torch.rand(matrices, n, n), torch.zeros(matrices, n, n)
    return {"torch.linalg.solve_triangular": [lambda: x.add_(torch.linalg.solve_triangular(a, b, upper=True))]}


def systems(n, matrices=1):
    """x += a⁻¹·b, by LU with partial pivoting."""
    a, b, x = [torch.rand(matrices, n, n) for _ in range(3)]
    return {"torch.linalg.solve": [lambda: x.add_(torch.linalg.solve(a, b))]}


def cholesky(n, matrices=1):
    a = torch.rand(matrices, n, n)
    a, l = a @ a.mT + torch.eye(n), torch.zeros(matrices, n, n)
    return {"torch.linalg.cholesky": [lambda: l.add_(torch.linalg.cholesky(a))]}


def affine(n):
    x, w, y, b = torch.rand(n, n), torch.rand(n, n), torch.rand(n, n), torch.rand(n)
    return {"torch.addmm (cuBLAS)": [lambda: y.add_(torch.addmm(b, x, w))]}


def convolution(inputs, channels, side):
    x, y = torch.rand(inputs, channels, side, side), torch.rand(inputs, channels, side, side)
    w, b = torch.rand(channels, channels, 3, 3), torch.rand(channels)
    return {"torch conv2d (cuDNN)": [lambda: y.add_(functional.conv2d(x, w, b, padding=1))]}


def attention(n, heads, columns):
    q, k, v = (torch.rand(1, heads, n, columns // heads) for _ in range(3))
    y = torch.zeros_like(q)
    return {"torch attention": [lambda: y.add_(functional.scaled_dot_product_attention(q, k, v))]}


def transforms(f, kind, n, transforms=1):
    """Spectra of signals, of which those of real numbers are added to what is there."""
    x = torch.rand(transforms, n, dtype=kind)
    if kind.is_complex:
        return {"torch.fft (cuFFT)": [lambda: f(x, norm="ortho")]}
    y = torch.zeros(transforms, n // 2 + 1, dtype=torch.complex128)
    return {"torch.fft (cuFFT)": [lambda: y.add_(f(x, norm="ortho"))]}


def band(rows, entries):
    """C += A·B, where A has a band."""
    width = entries // rows
    first = (torch.arange(rows) - width // 2).clamp(0, rows - width)
    ind = (first[:, None] + torch.arange(width)).flatten().to(torch.int32)
    ptr = (torch.arange(rows + 1) * width).to(torch.int32)
    values, b, c = torch.rand(entries), torch.rand(rows), torch.zeros(rows)
    a = torch.sparse_csr_tensor(ptr, ind, values, (rows, rows))
    peers = {"torch.mv (cuSPARSE)": [lambda: c.add_(torch.mv(a, b))]}
    try:
        import cupy
        from cupyx.scipy import sparse
    except ImportError:
        return peers
    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        theirs = sparse.csr_matrix(tuple(map(cupy.from_dlpack, (values, ind, ptr))), shape=(rows, rows))
        column, out = cupy.from_dlpack(b), cupy.from_dlpack(c)

    def product():
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            out[:] += theirs @ column

    peers["CuPy (cuSPARSE)"] = [product]
    return peers


def qr(n, matrices=1):
    a = torch.rand(matrices, n, n)
    return {"torch.linalg.qr": [lambda: torch.linalg.qr(a)]}


def mixture(n, d, K, gradient):
    """Σ_i log Σ_k exp(α_k + Σ_j q_kj - ‖Q_k·(x_i - μ_k)‖²/2) - n·log Σ_k exp(α_k), where Q_k has
    exp(q_k) on its diagonal and the rest of the factors below it. The constant is left out."""
    x = torch.rand(n, d)
    parameters = [torch.rand(K, requires_grad=True), torch.rand(K, d, requires_grad=True), torch.rand(K, d * (d + 1) // 2, requires_grad=True)]
    rows, cols = torch.tril_indices(d, d, -1)

    def value(forms, alpha, means, factors, x):
        Q = torch.diag_embed(factors[:, :d].exp()).index_put((torch.arange(K)[:, None], rows, cols), factors[:, d:])
        square = forms(Q, means, x).square().sum(2)
        inner = alpha + factors[:, :d].sum(1) - square / 2
        return torch.logsumexp(inner, 1).sum() - len(x) * torch.logsumexp(alpha, 0)

    def differences(Q, means, x):
        return torch.einsum("kij,nkj->nki", Q, x[:, None] - means)

    def product(Q, means, x):  # one large product, with n·K·d² multiply-adds
        return (x @ Q.flatten(0, 1).T).view(-1, K, d) - (Q @ means[:, :, None])[:, :, 0]

    def peer(forms):
        f = torch.compile(lambda *a: value(forms, *a), dynamic=False, fullgraph=True)

        def one(lo, hi):
            if not gradient:
                with torch.no_grad():
                    return f(*parameters, x[lo:hi])
            f(*parameters, x[lo:hi]).backward()  # adds to the gradient

        return batched(one, n)

    return {"torch.compile, x - μ first": peer(differences), "torch.compile, Q·x by one product": peer(product)}


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


def jacobian(residual, params, observations, cameras, points):
    """The Jacobian of each observation, 2×12 or 2×15, written to memory."""
    n = observations
    camera, point = torch.randint(cameras, (n,)), torch.arange(n) // 5
    C, X, w, features = torch.rand(cameras, params), torch.rand(points, 3), torch.rand(n, 1), torch.rand(n, 2)
    j = torch.empty(n, 2, params + 3 + (residual is weighted))

    def compute(camera, point, w, features):
        v = [C[camera], X[point]] + [w] * (residual is weighted)
        return vmap(jacrev(residual))(torch.cat(v, 1), features)

    def peer(f):
        def one(lo, hi):
            j[lo:hi] = f(camera[lo:hi], point[lo:hi], w[lo:hi], features[lo:hi])

        return batched(one, n)

    return {"vmap(jacrev)": peer(compute), "torch.compile of vmap(jacrev)": peer(torch.compile(compute, dynamic=False, fullgraph=True))}


PEERS = {
    "Dot Forward": reduction(torch.dot, 2),
    "Axpy Forward": axpy,
    "Sum Forward": reduction(torch.sum),
    "Norm1 Forward": reduction(lambda x: torch.linalg.vector_norm(x, 1)),
    "Norm2 Forward": reduction(torch.linalg.vector_norm),
    "NormInf Forward": reduction(lambda x: torch.linalg.vector_norm(x, torch.inf)),
    "LogSumExp Forward": reduction(lambda x: torch.logsumexp(x, 0)),
    "Softmax Forward": elements(lambda x: torch.softmax(x, 0)),
    "LogSumExpRows Forward": rows(lambda x: torch.logsumexp(x, 1), True),
    "SoftmaxRows Forward": rows(lambda x: torch.softmax(x, 1), False),
    "LayerNorm Forward": norm(functional.layer_norm, 2),
    "RMSNorm Forward": norm(functional.rms_norm, 1),
    "SGD Step": steps(torch.optim.SGD, momentum=0.9),
    "Adam Step": steps(torch.optim.Adam),
    "Uniform": random(torch.Tensor.uniform_),
    "Normal": random(torch.Tensor.normal_),
    "LeakyReLU Forward": elements(lambda x: functional.leaky_relu(x, 0.01)),
    "MulElem Forward": elements(torch.mul, 2),
    "DivElem Forward": elements(torch.div, 2),
    "Atan2 Forward": elements(torch.atan2, 2),
    "Pow Forward": elements(torch.pow, 2),
    "Affine Forward": matvec,
    "MatMul Forward": matmul,
    "MatMul Adjoint": matmul_adjoint,
    "batched MatMul Forward": bmm,
    "batched TriSolve Forward": solves,
    "TriSolve Forward": solves,
    "batched Solve Forward": systems,
    "Solve Forward": systems,
    "batched Cholesky Forward": cholesky,
    "Cholesky Forward": cholesky,
    "AffineBatch Forward": affine,
    "Conv2D Forward": convolution,
    "Attention Forward": attention,
    "FFT Forward": lambda **s: transforms(torch.fft.fft, torch.complex128, **s),
    "batched FFT Forward": lambda **s: transforms(torch.fft.fft, torch.complex128, **s),
    "RealFFT Forward": lambda **s: transforms(torch.fft.rfft, torch.float64, **s),
    "Mul Forward": band,
    "batched QR Forward": qr,
    "QR Forward": qr,
    "LogPosterior Forward": lambda **s: mixture(gradient=False, **s),
    "LogPosterior Adjoint": lambda **s: mixture(gradient=True, **s),
    "Snavely Jacobian": lambda **s: jacobian(snavely, 9, **s),
    "Weighted Jacobian": lambda **s: jacobian(weighted, 11, **s),
    "GraphLoss Forward": graph_forward,
    "GraphLoss Adjoint": graph_adjoint,
}
for name in "Exp", "Log", "Sqrt", "Sin", "Cos", "Abs", "Tanh", "Sigmoid", "Softplus", "GELU", "SiLU", "ReLU":
    PEERS[name + " Forward"] = elements(getattr(torch, name.lower(), None) or getattr(functional, name.lower()))

name = torch.cuda.get_device_name() if on_card else "the processor"
print(f"revnum on {bench['device']}; PyTorch {torch.__version__} on {name}")
row = "{:22} {:>11} {:36} {:>11} {:>8}"
print(row.format("", "revnum, ms", "peer", "peer, ms", "times"))
for rate in bench["rates"]:
    if rate["name"] not in PEERS or not re.search(args.kernel, rate["name"]):
        continue
    try:
        peers = PEERS[rate["name"]](**rate["sizes"])
    except torch.OutOfMemoryError:
        peers = {"the operands": []}
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
