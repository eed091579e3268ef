"""GradBench's tool over JAX, but that each run waits for its answer.

GradBench's own tool times how long a call takes to be queued. Run it by

    go run ./benchmarks peers evals GRADBENCH --tool jax-waits=benchmarks/gradbench/jax_peer.py
"""

import runpy
import sys
from pathlib import Path

import gradbench
import jax
from gradbench import wrap


def waiting(make):
    """Returns a wrapper like that of make, of functions that wait."""
    return lambda **options: lambda f: make(**options)(lambda x: jax.block_until_ready(f(x)))


wrap.function, wrap.multiple_runs = waiting(wrap.function), waiting(wrap.multiple_runs)
tool = Path(gradbench.__path__[0]) / "tools" / "jax"
sys.path.insert(0, str(tool))  # where the tool's modules are
runpy.run_path(str(tool / "run.py"), run_name="__main__")
