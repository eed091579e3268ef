"""GradBench's tool over JAX, but that calls wait for their answers.

GradBench's own tool times how long a call takes to be queued. Run it by

    go run ./benchmarks peers evals GRADBENCH --tool jax-waits=benchmarks/gradbench/jax_peer.py
"""

import runpy
import sys
from pathlib import Path

import gradbench
import jax

jax.config.update("jax_cpu_enable_async_dispatch", False)
tool = Path(gradbench.__path__[0]) / "tools" / "jax"
sys.path.insert(0, str(tool))  # where the tool's modules are
runpy.run_path(str(tool / "run.py"), run_name="__main__")
