#!/usr/bin/env python3
"""Asks a tool GradBench's questions with other numbers, sizes and seeds.

    python benchmarks/gradbench/varied.py GRADBENCH TOOL...

GRADBENCH is a checkout of GradBench whose tool manual can be built, TOOL... the command of a tool. For
each eval it builds manual, whose answers GradBench compares with, and starts GradBench's program of the
eval with sizes of its own. That program also draws from another seed, and changes each number that is
neither 0 nor 1 by up to 5%. It ends with an error unless GradBench judges all answers valid. particle and
saddle know their answers by heart, so they are asked as they are.
"""

import json
import os
import pathlib
import subprocess
import sys

SIZES = {
    "hello": "",
    "gmm": "-d 3 7 -k 2 9 -n 73 -m 2 --gamma 0.75 --seed 5",
    "ba": "--min 1 --max 2",
    "kmeans": "-k 3 17 -n 150 -d 5 9",
    "lse": "-n 1 37 3001",
    "llsq": "-n 5 77 -m 3 19",
    "det": "-l 2 4 7",
    "lstm": "-l 1 3 -c 20 131",
    "ht": "--min 2 --max 3 --model small",
    "ode": "-n 1 37 1003 -s 3 17 300",
    "particle": "",
    "saddle": "",
}
VARIED = """
import importlib, math, sys
import numpy
from gradbench.eval import SingleModuleValidatedEval as Eval

seed, evaluate = numpy.random.seed, Eval.evaluate
numpy.random.seed = lambda s: seed(s + 1)

def varied(v):
    match v:
        case dict(): return {k: x if k.startswith("min_") else varied(x) for k, x in v.items()}
        case list(): return [varied(x) for x in v]
        case float() if v not in (0, 1): return v * (1 + 0.05 * math.sin(1000 * v))
    return v

Eval.evaluate = lambda self, *, input, **other: evaluate(self, input=varied(input), **other)
name = sys.argv[1]
sys.argv = sys.argv[1:]
importlib.import_module(f"gradbench.evals.{name}.run").main()
"""

gradbench, tool = pathlib.Path(sys.argv[1]), sys.argv[2:]
environment = os.environ | {
    "PYTHONPATH": str(gradbench.resolve() / "python" / "gradbench"),
    "CPLUS_INCLUDE_PATH": os.pathsep.join(filter(None, [os.environ.get("CPLUS_INCLUDE_PATH"), "/usr/include/nlohmann"])),
}


def start(command, **other):
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **other)


for name, sizes in SIZES.items():
    options = [] if name == "hello" else ["--min-seconds", "0"]
    asker, answerer = start([sys.executable, "-c", VARIED, name, *options, *sizes.split()], cwd=gradbench), start(tool)
    valid = 0
    for line in asker.stdout:
        message = json.loads(line)
        if message["kind"] == "define" and name not in ("hello", "particle", "saddle"):
            subprocess.run(["make", "-C", "tools/manual", f"bin/{name}"], cwd=gradbench, env=environment, check=True, stdout=subprocess.DEVNULL)
        if message["kind"] == "analysis":
            if not message["valid"]:
                sys.exit(f"{name}: {message['error']}")
            valid += 1
        answerer.stdin.write(line)
        answer = answerer.stdout.readline()
        response = json.loads(answer)
        if message["kind"] == "evaluate" and not response["success"]:
            sys.exit(f"{name}: {response['error']}")
        asker.stdin.write(answer)
    answerer.stdin.close()
    if asker.wait() or answerer.wait():
        sys.exit(f"{name}: ended with an error")
    print(f"{name}: {valid} answers valid" if valid else f"{name}: not of this tool")
