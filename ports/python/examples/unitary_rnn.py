"""A unitary recurrent network over 10,000 steps, trained in constant memory.

The state h of the network, a column for each sequence, goes through

    h <- U(θ)·h + w·x_tᵀ

where U(θ) is orthogonal, so that h neither vanishes nor explodes. A step can be undone,
so the gradient needs no tape: it walks back from the last state. The task is to tell the
mean of the first inputs after all the others, which are zero.

    python unitary_rnn.py                # trains
    python unitary_rnn.py memory plot.png   # peak memory beside that of PyTorch's tape
"""

import subprocess
import sys
import time

import torch

import revnum.torch as rt
from revnum.torch.nn import unitary_steps


def network(theta, w, x):
    """The last state, for angles θ, input weights w and inputs x of T×batch."""
    h = torch.zeros(len(w), x.shape[1], dtype=x.dtype)
    return unitary_steps(h, theta, w[:, None], x[:, :, None])


def on_tape(theta, w, x):
    """The same by PyTorch alone."""
    n = len(w)
    u = rt.revlinalg.Unitary(torch.eye(n, dtype=x.dtype), theta)
    h = torch.zeros(n, x.shape[1], dtype=x.dtype)
    for xt in x:
        h = torch.addr(u @ h, w, xt)
    return h


def problem(n, batch, steps, seed=1):
    g = torch.Generator().manual_seed(seed)
    theta = (0.1 * torch.randn(n * (n - 1) // 2, generator=g, dtype=torch.float64)).requires_grad_()
    w = torch.randn(n, generator=g, dtype=torch.float64).requires_grad_()
    v = torch.zeros(n, dtype=torch.float64).requires_grad_()
    x = torch.zeros(steps, batch, dtype=torch.float64)
    x[:5] = torch.randn(5, batch, generator=g, dtype=torch.float64)
    return theta, w, v, x, x[:5].mean(0)


def train(steps=10_000, iterations=40):
    theta, w, v, x, target = problem(8, 32, steps)
    # Each angle is used in every step.
    optimizer = torch.optim.Adam([{"params": [theta], "lr": 0.1 / steps}, {"params": [w, v], "lr": 0.05}])
    start = time.time()
    for i in range(iterations):
        optimizer.zero_grad()
        loss = ((v @ network(theta, w, x) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        if i == 0:
            first = loss.item()
    print(f"loss {first:.4f} -> {loss.item():.4f} in {iterations} iterations of {steps} steps, {(time.time() - start) / iterations:.2f} s each")
    return first, loss.item()


def growth(f):
    """By how much memory the process grows while f runs, at most, in MiB (Linux)."""

    def status(field):
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith(field))

    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")  # the peak begins anew
    before = status("VmRSS")
    f()
    return (status("VmHWM") - before) / 1024


def peak(kind, steps):
    """Prints the memory and the time of one gradient."""
    theta, w, v, x, target = problem(32, 64, steps)
    f = network if kind == "revnum" else on_tape
    f(theta, w, x[:10]).sum().backward()
    start = time.time()
    print(growth(lambda: f(theta, w, x).sum().backward()), time.time() - start)


def memory(path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    counts = [1000, 2000, 4000, 7000, 10_000]
    for kind in ("revnum", "tape"):
        rows = [list(map(float, subprocess.run([sys.executable, __file__, "peak", kind, str(n)], capture_output=True, text=True, check=True).stdout.split())) for n in counts]
        print(kind, *(f"{n} steps: {m:.0f} MiB, {s:.2f} s;" for n, (m, s) in zip(counts, rows)))
        pyplot.plot(counts, [m for m, _ in rows], "o-", label={"revnum": "revnum, walked back", "tape": "PyTorch's tape"}[kind])
    pyplot.xlabel("steps")
    pyplot.ylabel("memory of a gradient [MiB]")
    pyplot.legend()
    pyplot.savefig(path)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["peak"]:
        peak(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["memory"]:
        memory(sys.argv[2])
    else:
        train()
