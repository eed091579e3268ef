"""What a call costs, and gradients in each host with and without the rules.

    python speed.py             # all
    python speed.py overhead
    python speed.py calls       # large calls beside NumPy, PyTorch and JAX
    python speed.py vmap        # 1000 problems under vmap

Times are the least of several runs. Memory is by how much a process of
its own grows during its first call, with what JAX compiles then.
"""

import os
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np


def least(f, budget=0.3):
    """The least time of f, in seconds."""
    start = time.perf_counter()
    f()
    if time.perf_counter() - start > 1:
        budget = 0
    best, until = float("inf"), time.perf_counter() + budget
    while time.perf_counter() < until or best == float("inf"):
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
    return best


def jax64():
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax, jax.numpy


def overhead():
    """A call of the norm of 8 numbers and of other short functions, and of the hosts' own."""
    import torch

    import revnum.jax as rj
    import revnum.numpy as rn
    import revnum.torch as rt

    jax, jnp = jax64()
    x = np.ones(8)
    out = np.zeros(())
    prepared = rn.prepare("revlinalg.Norm2", "Forward", {"Out": out, "X": x})
    tx, jx = torch.ones(8, dtype=torch.float64), jnp.ones(8)
    leaf = tx.clone().requires_grad_()
    jit = lambda f: (lambda g: lambda: g(jx).block_until_ready())(jax.jit(f))
    loss = lambda f: lambda: torch.autograd.grad(f(leaf), leaf)
    rows = {
        "NumPy, value": (lambda: rn.revlinalg.Norm2(x), lambda: np.linalg.norm(x)),
        "NumPy, in place": (lambda: rn.run("revlinalg.Norm2", "Forward", {"Out": out, "X": x}),),
        "NumPy, prepared and in place": (prepared,),
        "NumPy, value and gradient, two calls": (lambda: rn.vjp("revlinalg.Norm2", x)[1](1.0),),
        "PyTorch, value": (lambda: rt.revlinalg.Norm2(tx), lambda: torch.linalg.vector_norm(tx)),
        "PyTorch, value and gradient": (loss(rt.revlinalg.Norm2), loss(torch.linalg.vector_norm)),
        "JAX, value under jit": (jit(rj.revlinalg.Norm2), jit(jnp.linalg.norm)),
        "JAX, gradient under jit": (jit(jax.grad(rj.revlinalg.Norm2)), jit(jax.grad(jnp.linalg.norm))),
    }
    a = np.ones((2, 2))
    others = {
        "inner product": ("Dot", np.dot, torch.dot, (x, x.copy())), "exponentials": ("Exp", np.exp, torch.exp, (x,)),
        "product of 2×2": ("MatMul", np.matmul, torch.matmul, (a, a.copy())),
    }
    for name, (kernel, of_numpy, of_torch, arrays) in others.items():
        ours, theirs = getattr(rn.revlinalg, kernel), getattr(rt.revlinalg, kernel)
        tensors = [torch.from_numpy(v) for v in arrays]
        leaves = [v.clone().requires_grad_() for v in tensors]
        both = lambda f, leaves=leaves: lambda: torch.autograd.grad(f(*leaves).sum(), leaves)
        call = lambda f, args: lambda: f(*args)
        rows[f"NumPy, {name}"] = call(ours, arrays), call(of_numpy, arrays)
        rows[f"PyTorch, {name}"] = call(theirs, tensors), call(of_torch, tensors)
        rows[f"PyTorch, {name} and gradient"] = both(theirs), both(of_torch)
    rows["PyTorch, product of 2×2 with a transpose"] = [lambda f=f: f(tensors[0], tensors[1].T) for f in (rt.revlinalg.MatMul, torch.matmul)]
    best = {name: [float("inf")] * len(fs) for name, fs in rows.items()}
    for _ in range(10):  # in turns
        for name, fs in rows.items():
            best[name] = [min(t, least(f, 0.03)) for t, f in zip(best[name], fs)]
    print("| a call of the norm of 8 numbers, or of another function | revnum | its host's own |\n|---|---|---|")
    for name, times in best.items():
        print(f"| {name} | {' | '.join([f'{t * 1e6:.1f} µs' for t in times] + [''] * (2 - len(times)))} |")


def calls():
    """Values of large problems, in NumPy's arrays, beside what the hosts have. One thread each."""
    if os.environ.get("GOMAXPROCS") != "1":  # Go sees the environment that a process began with
        os.execve(sys.executable, [sys.executable, __file__, "calls"], os.environ | {"GOMAXPROCS": "1"})
    import torch
    from scipy.special import logsumexp

    import revnum.numpy as rn

    torch.set_num_threads(1)
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(processors)})  # XLA makes a thread for each that it may use, whatever its flags say
    jax, jnp = jax64()
    jax.block_until_ready(jnp.zeros(1) + 1)
    os.sched_setaffinity(0, processors)
    rng = np.random.default_rng(1)
    random = lambda *shape: rng.normal(size=shape)
    t, j = torch.from_numpy, jnp.asarray

    def row(f, hosts, *arrays):
        """f of the arrays, and hosts by name: functions of the arrays of each."""
        host = {"NumPy": lambda g: lambda: g(*arrays)}
        tensors, values = [t(a) for a in arrays], [j(a) for a in arrays]
        host["PyTorch"] = lambda g: lambda: g(*tensors)
        host["JAX"] = lambda g: (lambda h: lambda: jax.block_until_ready(h(*values)))(jax.jit(g))
        return {"revnum": lambda: f(*arrays)} | {name: host[name](g) for name, g in hosts.items()}

    x, y, a, b = random(10**6), random(10**6), random(400, 400), random(400, 400)
    image, filters = random(8, 16, 64, 64), random(32, 16, 3, 3)
    z = random(1 << 16) + 1j * random(1 << 16)
    sym = random(300, 300)
    sym += sym.T
    points, weights, means, factors = random(20_000, 10), random(10), random(10, 10), 0.1 * random(10, 55)

    def mixture(weights, means, factors, points, np=np, logsumexp=logsumexp):
        """The log likelihood of a mixture by loops over its 10 components."""
        total = []
        rows, columns = np.tril_indices(10, -1) if np is not torch else torch.tril_indices(10, 10, -1)
        for k in range(10):
            lower = np.zeros((10, 10), dtype=points.dtype)
            q = factors[k]
            if np is jnp:
                lower = lower.at[rows, columns].set(q[10:])
            else:
                lower[rows, columns] = q[10:]
            u = (points - means[k]) @ (lower + np.diag(np.exp(q[:10]))).T
            total.append(weights[k] + q[:10].sum() - 0.5 * (u * u).sum(1))
        return logsumexp(np.stack(total), 0).sum() - len(points) * logsumexp(weights, 0)

    columns = image.reshape(8, 16 * 64 * 64), filters.reshape(32, 16 * 9)
    conv = lambda x, w: rn.revnn.Conv2D(X=x, W=w, Channels=16, Height=64, Width=64, KernelHeight=3, KernelWidth=3, StrideHeight=1, StrideWidth=1, PadHeight=1, PadWidth=1)
    fixed = [np.rint(m * 2.0**43).astype(np.int64) for m in (a, b)]
    out = np.zeros((400, 400), np.int64)
    rows = {
        "dot of 10⁶": row(rn.revlinalg.Dot, {"NumPy": np.dot, "PyTorch": torch.dot, "JAX": jnp.dot}, x, y),
        "norm of 10⁶": row(rn.revlinalg.Norm2, {"NumPy": np.linalg.norm, "PyTorch": torch.linalg.vector_norm, "JAX": jnp.linalg.norm}, x),
        "product of 400²": row(rn.revlinalg.MatMul, {"NumPy": np.matmul, "PyTorch": torch.matmul, "JAX": jnp.matmul}, a, b),
        "product of 400² over Q43, in NumPy of int64": {"revnum": rn.prepare("revlinalg.MatMul[Q43]", "Forward", {"C": out, "A": fixed[0], "B": fixed[1]}), "NumPy": lambda: np.matmul(*fixed)},
        "convolution, 8 images of 16×64×64, 32 filters of 3×3": {
            "revnum": lambda: conv(*columns), "PyTorch": (lambda p, q: lambda: torch.nn.functional.conv2d(p, q, padding=1))(t(image), t(filters)),
            "JAX": (lambda f, p, q: lambda: f(p, q).block_until_ready())(jax.jit(lambda p, q: jax.lax.conv(p, q, (1, 1), "SAME")), j(image), j(filters)),
        },
        "Fourier transform of 2¹⁶": row(rn.revlinalg.FFT, {"NumPy": np.fft.fft, "PyTorch": torch.fft.fft, "JAX": jnp.fft.fft}, z),
        "eigenvalues and vectors of 300²": row(rn.revlinalg.SymEig, {"NumPy": np.linalg.eigh, "PyTorch": torch.linalg.eigh, "JAX": jnp.linalg.eigh}, sym),
        "mixture, 20,000 points, D = 10, K = 10": row(rn.gmm.LogPosterior, {
            "NumPy": mixture, "PyTorch": lambda *p: mixture(*p, np=torch, logsumexp=torch.logsumexp), "JAX": lambda *p: mixture(*p, np=jnp, logsumexp=jax.nn.logsumexp)}, weights, means, factors, points),
    }
    hosts = ["revnum", "NumPy", "PyTorch", "JAX"]
    print(f"| | {' | '.join(hosts)} |\n|---|---|---|---|---|")
    for name, by in rows.items():
        best = dict.fromkeys(by, float("inf"))
        for _ in range(10):  # in turns
            for host, f in by.items():
                best[host] = min(best[host], least(f, 0.05))
        print(f"| {name} | {' | '.join(f'{best[h] * 1e3:.3g} ms' if h in best else '' for h in hosts)} |", flush=True)


def vmap():
    """1000 problems under jax.jit(jax.vmap(f)) and torch.func.vmap(f), and gradients of the squares of f."""
    import torch

    import revnum.jax as rj
    import revnum.torch as rt

    torch.set_num_threads(1)
    jax, jnp = jax64()
    rng = np.random.default_rng(1)

    def both(of, jax_f, torch_f, *shapes):
        """Functions by host and whose they are, for values and gradients."""
        arrays = [rng.normal(size=(1000, *shape)) for shape in shapes]
        values, tensors = [jnp.asarray(a) for a in arrays], [torch.from_numpy(a) for a in arrays]
        every = tuple(range(len(shapes)))
        square = lambda f: lambda *a: (lambda y: (y * y).sum())(f(*a))
        compiled = lambda f: (lambda g: lambda: jax.block_until_ready(g(*values)))(jax.jit(jax.vmap(f)))
        eager = lambda f: (lambda g: lambda: g(*tensors))(torch.func.vmap(f))
        by = {}
        for whose, f, g in [(0, of(rj), of(rt)), (1, jax_f, torch_f)]:
            by["JAX", whose], by["its gradient", whose] = compiled(f), compiled(jax.grad(square(f), every))
            by["PyTorch", whose], by["its gradient ", whose] = eager(g), eager(torch.func.grad(square(g), every))
        return by

    rows = {
        "norm of 8": both(lambda m: m.revlinalg.Norm2, jnp.linalg.norm, torch.linalg.vector_norm, (8,)),
        "norm of 64": both(lambda m: m.revlinalg.Norm2, jnp.linalg.norm, torch.linalg.vector_norm, (64,)),
        "norm of 1000": both(lambda m: m.revlinalg.Norm2, jnp.linalg.norm, torch.linalg.vector_norm, (1000,)),
        "dot of 8": both(lambda m: m.revlinalg.Dot, jnp.dot, torch.dot, (8,), (8,)),
        "dot of 64": both(lambda m: m.revlinalg.Dot, jnp.dot, torch.dot, (64,), (64,)),
        "sum of 8": both(lambda m: m.revlinalg.Sum, jnp.sum, torch.sum, (8,)),
        "softmax of 8": both(lambda m: m.revnn.Softmax, jax.nn.softmax, lambda x: torch.softmax(x, -1), (8,)),
        "exp of 8": both(lambda m: m.revlinalg.Exp, jnp.exp, torch.exp, (8,)),
        "product of 4×4": both(lambda m: m.revlinalg.MatMul, jnp.matmul, torch.matmul, (4, 4), (4, 4)),
        "product of 32×32": both(lambda m: m.revlinalg.MatMul, jnp.matmul, torch.matmul, (32, 32), (32, 32)),
        "solution of 4×4": both(lambda m: m.revlinalg.Solve, jnp.linalg.solve, torch.linalg.solve, (4, 4), (4, 4)),
    }
    columns = ["JAX", "its gradient", "PyTorch", "its gradient "]
    print(f"| 1000 of | {' | '.join(columns)} |\n|---|---|---|---|---|")
    for name, by in rows.items():
        best = dict.fromkeys(by, float("inf"))
        for _ in range(10):  # in turns
            for key, f in by.items():
                best[key] = min(best[key], least(f, 0.02))
        print(f"| {name} | {' | '.join(f'{best[c, 0] * 1e6:.0f} ({best[c, 1] * 1e6:.0f})' for c in columns)} |", flush=True)


def problems():
    """Name: (host alone, host with the rule), each a function that makes a gradient."""

    def norm_torch(ours):
        import torch

        import revnum.torch as rt

        x = torch.ones(1000, dtype=torch.float64, requires_grad=True)
        f = rt.revlinalg.Norm2 if ours else torch.compile(lambda x: torch.sqrt((x * x).sum()))
        return lambda: torch.autograd.grad(f(x), x)

    def norm_jax(ours):
        import revnum.jax as rj

        jax, jnp = jax64()
        x = jnp.ones(1000)
        g = jax.jit(jax.grad(rj.revlinalg.Norm2 if ours else lambda x: jnp.sqrt((x * x).sum())))
        return lambda: g(x).block_until_ready()

    def mixture_jax(ours):
        import revnum.jax as rj

        jax, jnp = jax64()
        n, d, k = 20000, 10, 10
        rng = np.random.default_rng(1)
        x, alpha, mu, q = (jnp.asarray(rng.normal(size=s)) for s in [(n, d), (k,), (k, d), (k, d * (d + 1) // 2)])

        def host(alpha, mu, q):
            lower = jnp.zeros((k, d, d)).at[:, np.tril_indices(d, -1)[0], np.tril_indices(d, -1)[1]].set(q[:, d:])
            factor = lower + jax.vmap(jnp.diag)(jnp.exp(q[:, :d]))
            z = jnp.einsum("kij,nkj->nki", factor, x[:, None, :] - mu)
            beta = alpha + q[:, :d].sum(1) - 0.5 * (z * z).sum(-1)
            return jax.nn.logsumexp(beta, axis=1).sum() - n * jax.nn.logsumexp(alpha)

        f = (lambda *p: rj.gmm.LogPosterior(*p, x)) if ours else host
        g = jax.jit(jax.value_and_grad(f, argnums=(0, 1, 2)))
        return lambda: jax.block_until_ready(g(alpha, mu, q))

    def product_torch(ours):
        import torch

        import revnum.torch as rt

        n, per = 100_000, 10
        rng = np.random.default_rng(1)
        ptr = torch.arange(0, n * per + 1, per)
        ind = torch.as_tensor(np.sort(rng.integers(n, size=(n, per)), axis=1).ravel())
        data = torch.as_tensor(rng.normal(size=n * per)).requires_grad_()
        b = torch.as_tensor(rng.normal(size=(n, 1))).requires_grad_()
        row = torch.arange(n).repeat_interleave(per)
        if ours:
            f = lambda: rt.revsparse.Mul(A=rt.CSR((n, n), ptr, ind, data), B=b)
        else:
            product = torch.compile(lambda data, b: torch.zeros(n, 1, dtype=b.dtype).index_add(0, row, data[:, None] * b[ind]))
            f = lambda: product(data, b)
        ones = torch.ones(n, 1, dtype=b.dtype)
        return lambda: torch.autograd.grad(f(), [data, b], ones)

    def unitary_torch(ours):
        import torch

        import revnum.torch as rt

        import unitary_rnn

        theta, w, _, x, _ = unitary_rnn.problem(32, 64, 10_000)
        step = torch.compile(lambda u, h, w, xt: torch.addr(u @ h, w, xt))

        def compiled_steps(theta, w, x):
            u, h = rt.revlinalg.Unitary(torch.eye(32, dtype=x.dtype), theta), torch.zeros(32, 64, dtype=x.dtype)
            for xt in x:
                h = step(u, h, w, xt)
            return h

        f = unitary_rnn.network if ours else compiled_steps
        return lambda: torch.autograd.grad(f(theta, w, x).sum(), [theta, w])

    def unitary_jax(ours):
        import revnum.jax as rj
        import unitary_rnn

        jax, jnp = jax64()
        theta, w, _, x, _ = (jnp.asarray(a.detach().numpy()) for a in unitary_rnn.problem(32, 64, 10_000))
        zeros = jnp.zeros((32, 64))
        def on_tape(theta, w):
            u = rj.revlinalg.Unitary(jnp.eye(32), theta)
            return jax.lax.scan(lambda h, xt: (u @ h + jnp.outer(w, xt), None), zeros, x)[0]

        network = lambda theta, w: rj.unitary_steps(zeros, theta, w[:, None], x[:, :, None])
        f = network if ours else on_tape
        g = jax.jit(jax.grad(lambda *p: f(*p).sum(), argnums=(0, 1)))
        return lambda: jax.block_until_ready(g(theta, w))

    def bundle_jax(ours):
        import revnum.numpy as rn

        jax, jnp = jax64()
        import bundle_scipy

        start, seen, camera, point, cameras, points = bundle_scipy.scene(cameras=20, points=500)
        c, p = start[: 9 * cameras].reshape(cameras, 9), start[9 * cameras :].reshape(points, 3)
        if ours:
            return lambda: rn.bundle_jacobian(c, p, seen, camera, point)

        def residual(c, x, f):
            r, t = c[:3], c[3:6]
            a = jnp.sqrt(r @ r)
            u = r / a
            y = x * jnp.cos(a) + jnp.cross(u, x) * jnp.sin(a) + u * (u @ x) * (1 - jnp.cos(a)) + t
            q = -y[:2] / y[2]
            s = q @ q
            return c[6] * (1 + s * (c[7] + s * c[8])) * q - f

        j = jax.jit(jax.vmap(jax.jacfwd(residual, argnums=(0, 1))))
        args = [jnp.asarray(a) for a in (c[camera], p[point], seen)]
        return lambda: jax.block_until_ready(j(*args))

    return {
        "norm of 1000, torch.compile": norm_torch, "norm of 1000, jax.jit": norm_jax, "mixture 20000×10, K=10, jax.jit": mixture_jax,
        "bundle Jacobian, 10000 obs., jax.jit": bundle_jax, "sparse product 10⁵×10⁵, 10⁶ entries, torch.compile": product_torch,
        "unitary, 10000 steps of 32×64, torch.compile of a step": unitary_torch, "unitary, 10000 steps of 32×64, jax.jit": unitary_jax,
    }


def one(name, ours):
    f = problems()[name](ours)
    from unitary_rnn import growth

    mib = growth(f)
    print(least(f, 1.0), mib)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if sys.argv[1:2] == ["one"]:
        one(sys.argv[2], sys.argv[3] == "rule")
        sys.exit()
    if sys.argv[1:2] in (["calls"], ["vmap"]):
        {"calls": calls, "vmap": vmap}[sys.argv[1]]()
        sys.exit()
    overhead()
    if sys.argv[1:2] == ["overhead"]:
        sys.exit()
    subprocess.run([sys.executable, __file__, "calls"], check=True)  # with one thread
    subprocess.run([sys.executable, __file__, "vmap"], check=True)
    print("| gradient | host alone | with the rule |\n|---|---|---|")
    for name in problems():
        cells = []
        for kind in ("host", "rule"):
            r = subprocess.run([sys.executable, __file__, "one", name, kind], capture_output=True, text=True)
            if r.returncode:
                sys.exit(r.stderr)
            seconds, mib = map(float, r.stdout.split())
            cells.append(f"{seconds * 1e3:.3g} ms, {mib:.0f} MiB")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
