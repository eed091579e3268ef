"""Times functions of NumPy, SciPy, PyTorch, FFTW and loops in C, for benchmarks peers.

It answers lines of JSON on the standard input:

    {"case": FILE, "kernel": NAME}                  reads the operands and the value of a kernel (.npz)
    {"pass": "value" or "gradient", "seconds": S}   measures its peers

The answer to the first is {"peers": {PASS: [NAMES]}, "wrong": {NAME: difference}}, and to the
second {NAME: seconds of the fastest call}. All run with the threads that the environment sets.
"""

import ctypes
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np


def optional(name):
    try:
        return __import__(name, fromlist=["x"])
    except ImportError:
        return None


scipy, torch = optional("scipy"), optional("torch")
if scipy:
    import scipy.fft
    import scipy.linalg
    import scipy.sparse
    import scipy.sparse.linalg
    import scipy.special
    from scipy.linalg import blas
if torch:
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
fftw = optional("pyfftw")


def loops():
    """Returns the library of loops.c, compiled by cc, or None."""
    folder = tempfile.mkdtemp()
    library = os.path.join(folder, "loops.so")
    flags = ["-O3", "-march=native", *(["-mprefer-vector-width=512"] if platform.machine() == "x86_64" else []), "-ffast-math", "-shared", "-fPIC", "-o", library, "-lm"]
    try:
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loops.c")
        subprocess.run(["cc", source, *flags], check=True, capture_output=True)
        return ctypes.CDLL(library)
    except (OSError, subprocess.CalledProcessError) as e:
        print("peers.py: no loops in C:", e, file=sys.stderr)
        return None


C = loops()


class Operands:
    """The arrays of a case by their names, the parameters among them."""

    def __init__(self, arrays):
        for name, a in arrays.items():
            setattr(self, name, a)


def sparse(o, name):
    data = getattr(o, name)
    shape = getattr(o, name + "_shape")
    return scipy.sparse.csr_array((data, getattr(o, name + "_ind"), getattr(o, name + "_ptr")), shape=shape)


# FUNCTIONS has functions of NumPy and SciPy by kernel and name. Each takes the operands, and
# returns a function that computes the outputs of the kernel, in their order.
def elementwise(f, *names):
    def make(o):
        xs = [getattr(o, name) for name in names]
        y = np.empty_like(xs[0])
        return lambda: f(*xs, out=y)

    return {"numpy": make}


def fftw_of(o):
    x = fftw.empty_aligned(o.X.shape, "complex128")
    plan = fftw.FFTW(x, fftw.empty_aligned(o.X.shape, "complex128"), flags=["FFTW_ESTIMATE"], threads=1)
    x[:] = o.X
    return lambda: plan.execute()  # without the factor 1/√n, which compare therefore does not see


def symmetric(o):
    """Returns the matrix of which A has the lower triangle."""
    a = sparse(o, "A")
    return scipy.sparse.csr_array(a + a.T - scipy.sparse.diags_array(a.diagonal()))


def bind(f, *prepared):
    """Returns f of what is made before the clock runs."""
    return f(*prepared)


def transposed(a, t):
    return a.T if t else a


X = "X"
FUNCTIONS = {
    "revlinalg.Affine": {"numpy": lambda o: lambda: o.W @ o.X + o.B},
    "revlinalg.MatMul": {"numpy": lambda o: lambda: transposed(o.A, o.TransA) @ transposed(o.B, o.TransB)},
    "revlinalg.FFT": {"scipy": lambda o: lambda: scipy.fft.fft(o.X, norm="ortho"), **({"FFTW": fftw_of} if fftw else {})},
    "revlinalg.RealFFT": {"scipy": lambda o: lambda: scipy.fft.rfft(o.X, norm="ortho")},
    "revlinalg.Dot": {"numpy": lambda o: lambda: np.vdot(o.X, o.Y)},
    "revlinalg.Sum": {"numpy": lambda o: lambda: o.X.sum()},
    "revlinalg.SumSquares": {"numpy": lambda o: lambda: np.dot(o.X, o.X)},
    "revlinalg.Norm2": {"scipy": lambda o: lambda: blas.dnrm2(o.X), "numpy": lambda o: lambda: np.linalg.norm(o.X)},
    "revlinalg.Frobenius": {"numpy": lambda o: lambda: np.linalg.norm(o.A)},
    "revlinalg.Norm1": {"scipy": lambda o: lambda: blas.dasum(o.X)},
    "revlinalg.NormInf": {"numpy": lambda o: lambda: np.abs(o.X).max()},
    "revlinalg.Outer": {"numpy": lambda o: lambda: np.multiply.outer(o.Alpha * o.X, o.Y)},
    "revlinalg.Mean": {"numpy": lambda o: lambda: o.X.mean()},
    "revlinalg.Variance": {"numpy": lambda o: lambda: o.X.var(ddof=1)},
    "revlinalg.Covariance": {"numpy": lambda o: lambda: np.cov(o.X, rowvar=False)},
    "revlinalg.ComplexSumSquares": {"numpy": lambda o: lambda: np.vdot(o.X, o.X).real},
    "revlinalg.ComplexNorm2": {"scipy": lambda o: lambda: blas.dznrm2(o.X)},
    "revlinalg.ComplexNorm1": {"numpy": lambda o: lambda: np.abs(o.X).sum()},
    "revlinalg.ComplexAbs": elementwise(np.abs, X) | {"numpy": lambda o: lambda: np.abs(o.X)},
    "revlinalg.Exp": elementwise(np.exp, X),
    "revlinalg.Log": elementwise(np.log, X),
    "revlinalg.Sqrt": elementwise(np.sqrt, X),
    "revlinalg.Sin": elementwise(np.sin, X),
    "revlinalg.Cos": elementwise(np.cos, X),
    "revlinalg.Abs": elementwise(np.abs, X),
    "revlinalg.Tan": elementwise(np.tan, X),
    "revlinalg.Expm1": elementwise(np.expm1, X),
    "revlinalg.Log1p": elementwise(np.log1p, X),
    "revlinalg.Erf": {"scipy": lambda o: bind(lambda y: lambda: scipy.special.erf(o.X, out=y), np.empty_like(o.X))},
    "revlinalg.Square": elementwise(np.square, X),
    "revlinalg.Recip": elementwise(np.reciprocal, X),
    "revlinalg.Clip": {"numpy": lambda o: bind(lambda y: lambda: np.clip(o.X, o.Lo, o.Hi, out=y), np.empty_like(o.X))},
    "revlinalg.MaxElem": elementwise(np.maximum, X, "Y"),
    "revlinalg.MinElem": elementwise(np.minimum, X, "Y"),
    "revlinalg.Where": {"numpy": lambda o: bind(lambda c: lambda: np.where(c, o.X, o.Y), o.C > 0)},
    "revlinalg.CumSum": elementwise(np.cumsum, X),
    "revlinalg.MulElem": elementwise(np.multiply, X, "Y"),
    "revlinalg.DivElem": elementwise(np.divide, X, "Y"),
    "revlinalg.Atan2": elementwise(np.arctan2, X, "Y"),
    "revlinalg.Pow": elementwise(np.power, X, "Y"),
    "revlinalg.Cross": {"numpy": lambda o: lambda: np.cross(o.X, o.Y)},
    "revmath.Bessel": {"scipy": lambda o: lambda: scipy.special.jv(o.Nu, o.X)},
    "revlinalg.Cholesky": {"scipy": lambda o: lambda: scipy.linalg.cholesky(o.A, lower=True, check_finite=False)},
    "revlinalg.QR": {"scipy": lambda o: lambda: scipy.linalg.qr(o.A, mode="economic", check_finite=False)},
    "revlinalg.GramSchmidt": {"scipy": lambda o: lambda: positive(scipy.linalg.qr(o.A, mode="economic", check_finite=False))},
    "revlinalg.TriSolve": {
        "scipy": lambda o: lambda: scipy.linalg.solve_triangular(
            o.A, o.B, lower=not o.Upper, trans=int(o.TransA), unit_diagonal=bool(o.Unit), check_finite=False)
    },
    "revlinalg.Solve": {"scipy": lambda o: lambda: scipy.linalg.solve(o.A, o.B, transposed=bool(o.TransA), check_finite=False)},
    "revlinalg.LeastSquares": {
        "numpy": lambda o: lambda: np.linalg.lstsq(o.A, o.B, rcond=None)[0],
        "scipy": lambda o: lambda: scipy.linalg.lstsq(o.A, o.B, lapack_driver="gelsy", check_finite=False)[0],
    },
    "revlinalg.Pinv": {"numpy": lambda o: lambda: np.linalg.pinv(o.A), "scipy": lambda o: lambda: scipy.linalg.pinv(o.A, check_finite=False)},
    "revlinalg.Inv": {"numpy": lambda o: lambda: np.linalg.inv(o.A)},
    "revlinalg.Expm": {"scipy": lambda o: lambda: scipy.linalg.expm(o.A)},
    "revlinalg.Det": {"numpy": lambda o: lambda: np.linalg.det(o.A)},
    "revlinalg.LogDet": {"numpy": lambda o: lambda: np.linalg.slogdet(o.A)[::-1]},
    "revlinalg.SymEig": {"scipy": lambda o: lambda: scipy.linalg.eigh(o.A, check_finite=False)},
    "revlinalg.SVD": {"scipy": lambda o: lambda: scipy.linalg.svd(o.A, full_matrices=False, check_finite=False)},
    "revnn.AffineBatch": {"numpy": lambda o: lambda: o.X @ o.W + o.B},
    "revnn.Gather": {"numpy": lambda o: lambda: o.X[o.Index]},
    "revnn.LogSumExp": {"scipy": lambda o: lambda: scipy.special.logsumexp(o.X)},
    "revnn.LogSumExpRows": {"scipy": lambda o: lambda: scipy.special.logsumexp(o.X, axis=1)},
    "revsparse.Mul": {"scipy": lambda o: bind(lambda a: lambda: o.Alpha * (a @ o.B), transposed(sparse(o, "A"), o.Trans))},
    "revsparse.SpGEMM": {"scipy": lambda o: bind(lambda a, b: lambda: [(a @ b), None][1], sparse(o, "A"), sparse(o, "B"))},
    "revsparse.Dot": {"scipy": lambda o: bind(lambda a, b: lambda: a.multiply(b).sum(), sparse(o, "A").conj(), sparse(o, "B"))},
    "revsparse.SymmetricMul": {"scipy": lambda o: bind(lambda a: lambda: o.Alpha * (a @ o.B), symmetric(o))},
    "revsparse.Solve": {"scipy": lambda o: bind(lambda a: lambda: scipy.sparse.linalg.splu(a).solve(o.B, "T" if o.Trans else "N"), sparse(o, "A").tocsc())},
    "revsparse.TriSolve": {"scipy": lambda o: bind(lambda a: lambda: scipy.sparse.linalg.spsolve_triangular(a, o.B, lower=not o.Upper, unit_diagonal=bool(o.Unit)), transposed(sparse(o, "A"), o.Trans))},
    "revsparse.CG": {"scipy": lambda o: bind(lambda a: lambda: scipy.sparse.linalg.cg(a, o.B, rtol=o.Tol or 1e-10)[0], symmetric(o))},
}


def positive(qr):
    q, r = qr
    s = np.sign(np.diag(r))
    return q * s, r * s[:, None]


# TORCH has functions of PyTorch, of its tensors. Their gradients are with respect to all
# operands that are read.
F = torch.nn.functional if torch else None
TORCH = {
    "revlinalg.Affine": lambda o: lambda W, X, B: W @ X + B,
    "revlinalg.MatMul": lambda o: lambda A, B: transposed(A, o.TransA) @ transposed(B, o.TransB),
    "revlinalg.FFT": lambda o: lambda X: torch.fft.fft(X, norm="ortho"),
    "revlinalg.RealFFT": lambda o: lambda X: torch.fft.rfft(X, norm="ortho"),
    "revlinalg.Dot": lambda o: lambda X, Y: torch.vdot(X, Y) if X.is_complex() else torch.dot(X, Y),
    "revlinalg.Sum": lambda o: lambda X: X.sum(),
    "revlinalg.SumSquares": lambda o: lambda X: torch.dot(X, X),
    "revlinalg.Norm2": lambda o: lambda X: torch.linalg.vector_norm(X),
    "revlinalg.Frobenius": lambda o: lambda A: torch.linalg.norm(A),
    "revlinalg.Norm1": lambda o: lambda X: X.abs().sum(),
    "revlinalg.NormInf": lambda o: lambda X: X.abs().max(),
    "revlinalg.Outer": lambda o: lambda Alpha, X, Y: torch.outer(Alpha * X, Y),
    "revlinalg.Mean": lambda o: lambda X: X.mean(),
    "revlinalg.Variance": lambda o: lambda X: X.var(),
    "revlinalg.Covariance": lambda o: lambda X: torch.cov(X.T),
    "revlinalg.MulElem": lambda o: lambda X, Y: X * Y,
    "revlinalg.DivElem": lambda o: lambda X, Y: X / Y,
    "revlinalg.Atan2": lambda o: lambda X, Y: torch.atan2(X, Y),
    "revlinalg.Pow": lambda o: lambda X, Y: torch.pow(X, Y),
    "revlinalg.Cross": lambda o: lambda X, Y: torch.linalg.cross(X, Y),
    "revlinalg.Clip": lambda o: lambda X: torch.clamp(X, float(o.Lo), float(o.Hi)),
    "revlinalg.MaxElem": lambda o: lambda X, Y: torch.maximum(X, Y),
    "revlinalg.MinElem": lambda o: lambda X, Y: torch.minimum(X, Y),
    "revlinalg.Where": lambda o: bind(lambda c: lambda X, Y: torch.where(c, X, Y), torch.as_tensor(o.C > 0)),
    "revlinalg.CumSum": lambda o: lambda X: torch.cumsum(X, 0),
    "revlinalg.Recip": lambda o: lambda X: torch.reciprocal(X),
    "revlinalg.Cholesky": lambda o: lambda A: torch.linalg.cholesky(A),
    "revlinalg.QR": lambda o: lambda A: torch.linalg.qr(A),
    "revlinalg.TriSolve": lambda o: lambda A, B: torch.linalg.solve_triangular(
        transposed(A, o.TransA), B, upper=bool(o.Upper) != bool(o.TransA), unitriangular=bool(o.Unit)),
    "revlinalg.Solve": lambda o: lambda A, B: torch.linalg.solve(transposed(A, o.TransA), B),
    "revlinalg.LeastSquares": lambda o: lambda A, B: torch.linalg.lstsq(A, B).solution,
    "revlinalg.Pinv": lambda o: lambda A: torch.linalg.pinv(A),
    "revlinalg.Inv": lambda o: lambda A: torch.linalg.inv(A),
    "revlinalg.Expm": lambda o: lambda A: torch.linalg.matrix_exp(A),
    "revlinalg.Det": lambda o: lambda A: torch.linalg.det(A),
    "revlinalg.LogDet": lambda o: lambda A: torch.linalg.slogdet(A)[::-1],
    "revlinalg.SymEig": lambda o: lambda A: torch.linalg.eigh(A),
    "revlinalg.SVD": lambda o: lambda A: torch.linalg.svd(A, full_matrices=False),
    "revnn.AffineBatch": lambda o: lambda X, W, B: torch.addmm(B, X, W),
    "revnn.Conv2D": lambda o: lambda X, W, B: F.conv2d(
        image(o, X), W.reshape(len(W), -1, int(o.KernelHeight), int(o.KernelWidth)), B, groups=max(1, int(o.Groups)),
        stride=(int(o.StrideHeight), int(o.StrideWidth)), padding=(int(o.PadHeight), int(o.PadWidth))).flatten(1),
    "revnn.ConvTranspose2D": lambda o: lambda X, W, B: F.conv_transpose2d(
        X.reshape(len(X), len(W), places(o, "Height")[0], -1), W.reshape(len(W), -1, int(o.KernelHeight), int(o.KernelWidth)), B,
        stride=(int(o.StrideHeight), int(o.StrideWidth)), padding=(int(o.PadHeight), int(o.PadWidth)), groups=max(1, int(o.Groups)),
        output_padding=(places(o, "Height")[1], places(o, "Width")[1])).flatten(1),
    "revnn.MaxPool": lambda o: lambda X: F.max_pool2d(image(o, X), *window(o)).flatten(1),
    "revnn.MeanPool": lambda o: lambda X: F.avg_pool2d(image(o, X), *window(o)).flatten(1),
    "revnn.Gather": lambda o: lambda X, Index: X[Index],
    "revnn.LeakyReLU": lambda o: lambda X: F.leaky_relu(X, float(o.Slope)),
    "revnn.Attention": lambda o: lambda Q, K, V: merged(o, F.scaled_dot_product_attention(
        headed(o, Q), headed(o, K), headed(o, V), is_causal=bool(o.Causal), scale=float(o.Scale) or None)),
    "revnn.LSTM": lambda o: lambda X, H0, C0, WX, WH, BX, BH: bind(
        lambda y, h, c: (c[0], y.flatten(0, 1)),
        *torch.lstm(stepped(o, X), (H0[None], C0[None]), (WX, WH, BX, BH), True, 1, 0.0, False, False, False)),
    "revnn.GRU": lambda o: lambda X, H0, WX, WH, BX, BH: torch.gru(
        stepped(o, X), H0[None], (WX, WH, BX, BH), True, 1, 0.0, False, False, False)[0].flatten(0, 1),
    "revnn.RMSNorm": lambda o: lambda X, Gain: F.rms_norm(X, Gain.shape, Gain, float(o.Epsilon) or 1e-5),
    "revnn.LayerNorm": lambda o: lambda X, Gain, Bias: F.layer_norm(X, Gain.shape, Gain, Bias, float(o.Epsilon) or 1e-5),
    "revnn.BatchNorm": lambda o: lambda X, Gain, Bias: batch_norm(X.reshape(len(X), int(o.Channels), -1), Gain, Bias, o),
    "revnn.GroupNorm": lambda o: lambda X, Gain, Bias: F.group_norm(
        X.reshape(len(X), int(o.Channels), -1), int(o.Groups), Gain, Bias, float(o.Epsilon) or 1e-5).flatten(1),
    "revnn.SquaredError": lambda o: lambda X, Y: F.mse_loss(X, Y, reduction=reduction(o)),
    "revnn.Huber": lambda o: lambda X, Y: F.huber_loss(X, Y, reduction=reduction(o), delta=float(o.Delta) or 1.0),
    "revnn.BinaryCrossEntropy": lambda o: lambda X, P: F.binary_cross_entropy_with_logits(X, P, reduction=reduction(o)),
    "revnn.Softmax": lambda o: lambda X: torch.softmax(X, 0),
    "revnn.SoftmaxRows": lambda o: lambda X: torch.softmax(X, 1),
    "revnn.LogSumExp": lambda o: lambda X: torch.logsumexp(X, 0),
    "revnn.LogSumExpRows": lambda o: lambda X: torch.logsumexp(X, 1),
    **{"revlinalg." + name: (lambda f: lambda o: lambda X: getattr(torch, f)(X))(name.lower())
       for name in ["Exp", "Log", "Sqrt", "Sin", "Cos", "Abs", "Tan", "Expm1", "Log1p", "Erf", "Square"]},
    **{"revnn." + name: (lambda f: lambda o: lambda X: getattr(F, f)(X))(f) for name, f in
       [("ReLU", "relu"), ("Sigmoid", "sigmoid"), ("Tanh", "tanh"), ("Softplus", "softplus"), ("GELU", "gelu"), ("SiLU", "silu")]},
}


def headed(o, x):
    return x.reshape(max(1, int(o.Sequences)), -1, max(1, int(o.Heads)), x.shape[1] // max(1, int(o.Heads))).transpose(1, 2)


def stepped(o, x):
    return x.reshape(-1, max(1, int(o.Sequences)), x.shape[1])


def merged(o, y):
    return y.transpose(1, 2).reshape(len(o.Q), -1)


def batch_norm(x, gain, bias, o):
    epsilon = float(o.Epsilon) or 1e-5
    y, mean, scale = torch.native_batch_norm(x, gain, bias, None, None, True, 0.1, epsilon)
    return mean, scale**-2 - epsilon, y.flatten(1)


def reduction(o):
    return "mean" if o.Mean else "sum"


def places(o, side):
    """how many places a filter has along a side of the images, and what is left of the side after the last one"""
    n, after = divmod(sum(int(getattr(o, k + side)) * m for k, m in (("", 1), ("Pad", 2), ("Kernel", -1))), int(getattr(o, "Stride" + side)))
    return n + 1, after


def image(o, x):
    return x.reshape(len(x), int(o.Channels), int(o.Height), int(o.Width))


def window(o):
    return (int(o.WindowHeight), int(o.WindowWidth)), (int(o.StrideHeight), int(o.StrideWidth)), (int(o.PadHeight), int(o.PadWidth))


# LOOPS has loops of loops.c: what they are called, and their arguments.
LOOPS = {
    "revtropical.MatMul": ("tropical", lambda o: [np.empty((len(o.A), o.B.shape[1]), o.A.dtype), o.A, o.B, *o.A.shape, o.B.shape[1]]),
    **{k: (f, lambda o: [np.empty_like(o.X), o.X, o.X.size]) for k, f in
       [("revlinalg.Exp", "exp"), ("revlinalg.Log", "log"), ("revlinalg.Sin", "sin"), ("revlinalg.Cos", "cos"),
        ("revlinalg.Sqrt", "sqrt"), ("revnn.Tanh", "tanh")]},
    **{k: (f, lambda o: [np.empty_like(o.X), o.X, o.Y, o.X.size]) for k, f in
       [("revlinalg.Pow", "pow"), ("revlinalg.Atan2", "atan2"), ("revlinalg.DivElem", "div"), ("revlinalg.MulElem", "mul")]},
}


def loop(name, o):
    """Returns a function that runs a loop so many times, and the output."""
    f, arguments = LOOPS[name]
    arguments = arguments(o)
    out = arguments[0] = np.full(arguments[0].shape, -np.inf, arguments[0].dtype)
    f = getattr(C, f"{f}_{'float' if out.dtype == np.float32 else 'double'}")
    pass_on = [a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else ctypes.c_long(a) for a in arguments]
    return (lambda n: f(*pass_on, ctypes.c_long(n))), out


class Case:
    def __init__(self, kernel, file):
        self.kernel = kernel
        z = np.load(file)
        arrays = {}
        for name in z.files:
            head, _, tail = name.partition("/")
            if head in ("operands", "parameters"):
                arrays[tail.replace(".", "_")] = z[name] if z[name].ndim else z[name][()]
        self.o = o = Operands(arrays)
        self.want = [z[name] for name in z.files if name.startswith("expected/value/") and not name.endswith((".ptr", ".ind", ".shape"))]
        self.passes = {"value": {}, "gradient": {}}
        self.wrong = {}

    def prepare(self, kernel):
        """Finds the peers, and compares what they compute."""
        value = self.passes["value"]
        for name, make in FUNCTIONS.get(kernel, {}).items():
            if name == "scipy" and not scipy:
                continue
            f = make(self.o)
            value[name] = once(f)
            self.compare(name, f())
        if torch and kernel in TORCH:
            self.prepare_torch(TORCH[kernel](self.o))
        if C and kernel in LOOPS and self.want[0].dtype in (np.float64, np.float32):
            run, out = loop(kernel, self.o)
            run(1)
            self.compare("C", out)
            value["C"] = run

    def prepare_torch(self, f):
        names = f.__code__.co_varnames[: f.__code__.co_argcount]
        plain = [torch.as_tensor(np.array(getattr(self.o, name))) for name in names]

        def value():
            with torch.inference_mode():
                return f(*plain)

        self.compare("torch", value())
        # The mode is entered once for all calls.
        self.passes["value"]["torch"] = torch.inference_mode()(once(lambda: f(*plain)))

        tensors = [t.clone().requires_grad_() if t.is_floating_point() or t.is_complex() else t for t in plain]
        leaves = [t for t in tensors if t.requires_grad]

        def outputs():
            ys = f(*tensors)
            return [y for y in (ys if isinstance(ys, (tuple, list)) else [ys]) if y.requires_grad]

        cotangents = [torch.ones_like(y) for y in outputs()]
        self.passes["gradient"]["torch"] = once(lambda: torch.autograd.grad(outputs(), leaves, cotangents))

    def compare(self, name, got):
        if got is None:
            return
        got = got if isinstance(got, (tuple, list)) else [got]
        got = [np.asarray(g) for g in got]
        if self.kernel in ("revlinalg.SymEig", "revlinalg.SVD", "revlinalg.QR"):
            return  # whose vectors may have other signs
        if [g.shape for g in got] != [w.shape for w in self.want]:
            self.wrong[name] = 1e300
            return
        for g, w in zip(got, self.want):
            with np.errstate(invalid="ignore"):
                d = np.where(g == w, 0, np.abs(g - w) / (1 + np.abs(w)))
            d = float(np.max(d, initial=0))
            if not d < (1e-3 if w.dtype == np.float32 else 1e-6):
                self.wrong[name] = d if np.isfinite(d) else 1e300


def once(f):
    def run(n):
        for _ in range(n):
            f()

    return run


def fastest(run, seconds):
    """Returns the seconds of the fastest call: the least mean of batches of at least 100 µs."""
    n, best, end = 1, float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        run(n)
        now = time.perf_counter()
        if now - start < 1e-4 and n < 1 << 20:
            n *= 2
            continue
        best = min(best, (now - start) / n)
        if now > end:
            return best


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts both programs, and the other ends this one
    case = None
    for line in sys.stdin:
        m = json.loads(line)
        if "case" in m:
            case = Case(m["kernel"], m["case"])
            case.prepare(m["kernel"])
            answer = {"peers": {p: list(fs) for p, fs in case.passes.items()}, "wrong": case.wrong}
        else:
            answer = {name: fastest(f, m["seconds"]) for name, f in case.passes[m["pass"]].items()}
        print(json.dumps(answer), flush=True)


main()
