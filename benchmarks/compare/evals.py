#!/usr/bin/env python3
"""Times GradBench's evals with revnum and with GradBench's own C++ tools, in turn.

    git clone https://github.com/gradbench/gradbench GRADBENCH
    git clone https://github.com/SciCompKL/CoDiPack
    python -m venv VENV && VENV/bin/pip install numpy scipy pydantic dataclasses-json
    CPLUS_INCLUDE_PATH=$PWD/CoDiPack/include VENV/bin/python benchmarks/compare/evals.py GRADBENCH --out docs/evals.csv
    go run ./benchmarks figures docs

For each eval it starts GradBench's program of the eval, and connects it in turn with revnum
and with the tools of --tools that have the eval: by default manual (C++ by hand) and codipack
(operator overloading). particle and saddle, which revnum does not have, are left out.
Each tool repeats each evaluation for --min-seconds. A row of the result is one
evaluation by one tool: the number of runs, and the nanoseconds of the first run, of the
fastest and of the mean. GradBench's makefiles build the C++ tools with -O3 -march=native;
they need nlohmann's json.hpp (Debian: nlohmann-json3-dev).
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# The arguments that select sizes. Without any, an eval has all its default sizes.
EVALS = {
    "hello": "",
    "gmm": "-d 2 64 -k 5 100",
    "ba": "--min 1 --max 8",
    "kmeans": "",
    "lse": "-n 2500 20000 160000",
    "llsq": "-n 16 128 1024 8196",
    "det": "",
    "lstm": "",
    "ht": "--max 11",
    "ode": "-n 1000 10000",
}
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("gradbench", type=pathlib.Path, help="the folder of GradBench")
parser.add_argument("--out", type=pathlib.Path, required=True, help="the CSV file to write")
parser.add_argument("--min-seconds", type=float, default=1)
parser.add_argument("--evals", default=",".join(EVALS))
parser.add_argument("--tools", default="manual,codipack", help="tools of GradBench in C++ to compare with")
args = parser.parse_args()

root = pathlib.Path(__file__).resolve().parents[2]
folder = tempfile.TemporaryDirectory()
binary = os.path.join(folder.name, "benchmarks")
subprocess.run(["go", "build", "-o", binary, "./benchmarks"], cwd=root, check=True)
environment = os.environ | {
    "PYTHONPATH": str(args.gradbench.resolve() / "python" / "gradbench"),
    "CPLUS_INCLUDE_PATH": os.pathsep.join(filter(None, [os.environ.get("CPLUS_INCLUDE_PATH"), "/usr/include/nlohmann"])),
}


def peers(name):
    """Returns the tools to compare with on an eval."""
    has = lambda tool: name in (args.gradbench / "tools" / tool / "evals.txt").read_text().split()
    return [tool for tool in args.tools.split(",") if has(tool)]


def start(command):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    return subprocess.Popen(command, cwd=args.gradbench, env=environment, **pipes)


def play(eval_command, tool_command):
    """Connects an eval with a tool, and yields each evaluation with its timings."""
    one, two = start(eval_command), start(tool_command)
    for line in one.stdout:
        message = json.loads(line)
        two.stdin.write(line)
        answer = two.stdout.readline()
        if not answer:
            sys.exit(f"{tool_command[0]} ended in the middle of {message['kind']}")
        one.stdin.write(answer)
        response = json.loads(answer)
        if response.get("success") is False:
            sys.exit(f"{' '.join(tool_command)}: {response.get('error', 'failed')}")
        if message["kind"] == "evaluate":
            nanoseconds = [t["nanoseconds"] for t in response["timings"] if t["name"] == "evaluate"]
            yield message["function"], message.get("description", ""), nanoseconds
    two.stdin.close()
    if one.wait() or two.wait():
        sys.exit(f"{' '.join(eval_command)}: ended with an error")


rows = []
for name in args.evals.split(","):
    eval_command = [sys.executable, "-m", f"gradbench.evals.{name}.run"]
    options = subprocess.run([*eval_command, "--help"], cwd=args.gradbench, env=environment, capture_output=True, text=True).stdout
    if "--min-seconds" in options:
        eval_command += ["--min-seconds", str(args.min_seconds)]
    if "--no-validation" in options:
        eval_command.append("--no-validation")  # which other tests do
    for tool in [*peers(name), "revnum"]:  # the evals compare answers with those of manual, which this builds
        command = [binary, "gradbench"] if tool == "revnum" else [sys.executable, "-m", "gradbench.cpp", tool]
        for function, size, times in play(eval_command + EVALS[name].split(), command):
            if times:
                rows.append([name, function, size, tool, len(times), times[0], min(times), round(sum(times) / len(times))])
    print(name, file=sys.stderr, flush=True)

temporary = args.out.with_suffix(".tmp")
with open(temporary, "w", newline="") as f:
    writer = csv.writer(f, lineterminator="\n")
    writer.writerow(["eval", "function", "size", "tool", "runs", "first_ns", "min_ns", "mean_ns"])
    writer.writerows(rows)
os.replace(temporary, args.out)
