"""In a process that was forked after the import, every call raises an error. Ctrl-C ends a call. None waits
for ever."""

import subprocess
import sys

import pytest

CALLS = {
    "numpy": ("import numpy as np, revnum.numpy as rn", "rn.revlinalg.Sum(np.ones(2))"),
    "run": ("import numpy as np, revnum.numpy as rn", "rn.run('revlinalg.Sum', 'Forward', {'Out': np.zeros(()), 'X': np.ones(2)})"),
    "model": ("import numpy as np\nfrom revnum.estimators import KMeans", "KMeans(1).fit(np.ones((2, 1)))"),
    "torch": ("import torch, revnum.torch as rt", "rt.revlinalg.Sum(torch.ones(2))"),
    "backward": ("import torch, revnum.torch as rt\ny = rt.revlinalg.Sum(torch.ones(2, requires_grad=True))", "y.backward(retain_graph=True)"),
    "torch.func": ("import torch, revnum.torch as rt", "torch.func.jvp(rt.revlinalg.Sum, (torch.ones(2),), (torch.ones(2),))"),
    "jax": ("import jax.numpy as jnp, revnum.jax as rj", "rj.revlinalg.Sum(jnp.ones(2))"),
    "compiled": ("import jax, revnum.jax as rj\nf, x = jax.jit(rj.revlinalg.Sum), jax.numpy.ones(2)", "f(x).block_until_ready()"),
    "compile": ("import jax, revnum.jax as rj\nx = jax.numpy.ones(2)", "jax.jit(lambda x: rj.revlinalg.Sum(x))(x)"),
}


@pytest.mark.parametrize("name", CALLS)
def test_fork(name):
    setup, call = CALLS[name]
    for package in ("torch", "jax", "sklearn"):
        if package in setup or (package == "sklearn" and name == "model"):
            pytest.importorskip(package)
    code = f"""
import multiprocessing
{setup}

def child(q):
    try:
        {call}
    except Exception as err:
        q.send(f"{{type(err).__name__}}: {{err}}")

{call}
q, end = multiprocessing.Pipe(False)
p = multiprocessing.get_context("fork").Process(target=child, args=(end,))
p.start()
p.join(120)
if p.exitcode is None:
    p.kill()
    raise SystemExit("the child hangs")
print(q.recv() if q.poll() else "no error")
"""
    r = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    assert "forked" in r.stdout and ("InternalError" in r.stdout or name == "compiled"), r.stdout


def test_fork_before_the_first_call():
    """The library is loaded by the first call, so that processes may fork before it."""
    code = """
import multiprocessing, numpy as np, revnum.numpy as rn

def child(q):
    q.send(float(rn.revlinalg.Sum(np.ones(2))))

q, end = multiprocessing.Pipe(False)
p = multiprocessing.get_context("fork").Process(target=child, args=(end,))
p.start()
p.join(120)
print(q.recv())
"""
    r = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout == "2.0\n", r.stderr


INTERRUPTED = {
    "numpy": ("import revnum.numpy as rn\nsteps = rn.nbody.Steps", "steps(q, v, mu, N=10**9, Dt=1e-3)"),
    "torch": ("import torch, revnum.torch as rt\nq, v, mu = map(torch.from_numpy, (q, v, mu))\nsteps = rt.nbody.Steps", "steps(q, v, mu, N=10**9, Dt=1e-3)"),
    "jax": ("import jax, revnum.jax as rj\njax.config.update('jax_enable_x64', True)\nq, v, mu = map(jax.numpy.asarray, (q, v, mu))\nsteps = rj.nbody.Steps", "jax.block_until_ready(jax.jit(lambda q: steps(q, v, mu, N=10**9, Dt=1e-3))(q))"),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_interrupt(name):
    """Ctrl-C ends a kernel that would run for hours, also where the handler was set anew since."""
    setup, call = INTERRUPTED[name]
    pytest.importorskip(name)
    code = f"""
import os, signal, threading
import numpy as np
rng = np.random.default_rng(1)
q, v, mu = rng.normal(size=(9, 3)), rng.normal(size=(9, 3)), rng.random(9)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
{setup}
want = steps(q, v, mu, N=3, Dt=1e-3)
for _ in range(2):
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted")
    signal.signal(signal.SIGINT, signal.default_int_handler)
for a, b in zip(want, steps(q, v, mu, N=3, Dt=1e-3)):  # other calls go on
    np.testing.assert_array_equal(a, b)
"""
    r = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=300)
    assert r.returncode == 0 and r.stdout == "interrupted\ninterrupted\n", r.stderr
