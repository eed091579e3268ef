#!/usr/bin/env python3
"""Sets the adjoints that revgen writes beside other tools for derivatives.

    python -m venv VENV && VENV/bin/pip install jax==0.10.2
    git clone --branch v3.1.1 https://github.com/SciCompKL/CoDiPack CODIPACK
    pip download --no-deps --python-version 311 --only-binary :all: pennylane-catalyst==0.7.0
    unzip PennyLane_Catalyst-*.whl -d CATALYST
    VENV/bin/python cmd/revgen/internal/revgen/peers/compare.py [--codipack CODIPACK] [--catalyst CATALYST]

It prints the times of value and gradient by each tool, in nanoseconds for each element, and in
brackets in multiples of the time of revgen. All compute the gradients of the same problems,
which must agree with those of revgen to 1e-8, in one thread each, on one core. A time is the
least of those of several rounds in turn. A tool that is not named is left out.

Enzyme is the one in the wheel of PennyLane Catalyst, which needs Python 3.11. It transforms what
clang++-19 makes of enzyme.cpp, and clang compiles the result.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--codipack", type=pathlib.Path)
parser.add_argument("--catalyst", type=pathlib.Path)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--jax", type=pathlib.Path, help=argparse.SUPPRESS)  # the folder of the problems
args = parser.parse_args()

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"


def problem(folder, name):
    """Returns the lists of numbers of a problem, by name."""
    numbers, words = {}, iter((folder / f"{name}.txt").read_text().split())
    for key in words:
        numbers[key] = [float(next(words)) for _ in range(int(next(words)))]
    return numbers


def measure_jax(folder):
    """Prints a line for each function: its name, nanoseconds, the error."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import numpy as np

    import functions

    for name, results in functions.RESULTS.items():
        p = problem(folder, name)
        operands = {key[3:]: np.array(x) for key, x in p.items() if key.startswith("in.")}
        constants = {}
        for key in functions.CONSTANTS & operands.keys():
            x = operands.pop(key)
            constants[key] = x if key == "Features" else x[0] if key == "Eps" else x.astype(int) if key in ("Camera", "Point") else int(x[0])
        seeds = [jnp.array(p[f"seed.{key}"]) for key in results]
        function = getattr(functions, name)

        def value_and_gradient(operands, seeds):
            value, back = jax.vjp(lambda o: jax.tree.leaves(function(**o, **constants)), operands)
            shaped = [s.reshape(v.shape) for s, v in zip(seeds, value)]
            return value, back(shaped)[0]

        compiled = jax.jit(value_and_gradient)
        operands = jax.tree.map(jnp.array, operands)
        _, gradient = compiled(operands, seeds)
        error = max(
            float(np.max(np.abs(np.ravel(g) - (want := np.array(p[f"want.{key}"]))) / (1 + np.abs(want))))
            for key, g in gradient.items()
        )
        least = float("inf")
        for _ in range(60):
            calls, start = 0, time.perf_counter_ns()
            while (elapsed := time.perf_counter_ns() - start) < 5_000_000 or calls == 0:
                jax.block_until_ready(compiled(operands, seeds))
                calls += 1
            least = min(least, elapsed / calls)
        print(name, least, error)


def build_codipack(folder):
    out = folder / "codipack"
    subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", f"-I{args.codipack}/include", "-o", out, HERE / "codipack.cpp"], check=True)
    return [out, folder]


def build_enzyme(folder):
    """Compiles enzyme.cpp to LLVM's code, lets Enzyme transform it, and compiles that."""
    flags = ["-std=c++17", "-march=native", "-fno-math-errno"]
    first, second, out = folder / "enzyme.ll", folder / "gradients.ll", folder / "enzyme"
    # Of what -O2 and -O3 make of lstm, this Enzyme's gradient is wrong.
    subprocess.run(["clang++-19", *flags, "-O1", "-S", "-emit-llvm", "-o", first, HERE / "enzyme.cpp"], check=True)
    # Enzyme is older than this clang, and does not know two of its words.
    text = re.sub(r"\b(zext|uitofp) nneg\b", r"\1", first.read_text())
    first.write_text(text.replace("@llvm.tanh.f64", "@tanh"))
    driver = """
import sys
from mlir_quantum.compiler_driver import run_compiler_driver
first, second, work = sys.argv[1:]
result = run_compiler_driver(open(first).read(), work, "enzyme", pipelines=[], lower_to_llvm=True)
open(second, "w").write(result.get_output_ir())
"""
    subprocess.run([sys.executable, "-c", driver, first, second, folder], check=True, env=os.environ | {"PYTHONPATH": str(args.catalyst)})
    subprocess.run(["clang++-19", *flags, "-O3", "-Wno-override-module", "-o", out, HERE / "enzyme_main.cpp", second], check=True)
    return [out, folder]


def build_revgen(folder):
    out = folder / "examples.test"
    subprocess.run(["go", "test", "-c", "-o", out, "."], check=True, cwd=EXAMPLES)
    return [out, "-test.run=x", "-test.bench=ByHand/(norm2|rotate|bessel|snavely|lstm|leapfrog)/Adjoint$", "-test.benchtime=5ms", "-test.count=20"]


def run(command):
    """Returns the output of a command in one thread on one core."""
    env = os.environ | {"GOMAXPROCS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
    core = min(os.sched_getaffinity(0))
    return subprocess.run(["taskset", "-c", str(core), *command], check=True, text=True, stdout=subprocess.PIPE, env=env).stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        revgen = build_revgen(folder)
        subprocess.run([revgen[0], "-test.run=TestPeers"], check=True, env=os.environ | {"REVGEN_PEERS": name}, stdout=subprocess.DEVNULL)
        peers = {"JAX": [sys.executable, __file__, "--jax", name]}
        if args.codipack:
            peers["CoDiPack"] = build_codipack(folder)
        if args.catalyst:
            peers["Enzyme"] = build_enzyme(folder)
        # The numbers of elements are those of BenchmarkByHand.
        elements = {"norm2": 1000, "rotate": 1000, "bessel": 200, "snavely": 200, "lstm": 4 * 200 * 301, "leapfrog": 3 * 200 * 199 // 2}
        times = {}
        for _ in range(args.rounds):
            for line in re.findall(r"ByHand/(\w+)/Adjoint\s.*?\s([\d.e+-]+) ns/element", run(revgen)):
                key = "revgen", line[0]
                times[key] = min(times.get(key, float("inf")), float(line[1]))
            for tool, command in peers.items():
                for line in run(command).splitlines():
                    function, nanoseconds, error = line.split()
                    if not float(error) < 1e-8:
                        sys.exit(f"{tool}: the gradient of {function} is wrong by {error}")
                    key = tool, function
                    times[key] = min(times.get(key, float("inf")), float(nanoseconds) / elements[function])
        tools = ["revgen", *peers]
        print("| ns an element |", " | ".join(tools), "|")
        print("|---" * (len(tools) + 1) + "|")
        for function in elements:
            own = times["revgen", function]
            row = [f"{own:.3g}"] + [f"{times[t, function]:.3g} ({times[t, function] / own:.2g})" for t in peers]
            print(f"| {function} |", " | ".join(row), "|")


if args.jax:
    measure_jax(args.jax)
else:
    main()
