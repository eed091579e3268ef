"""Writes revnum/_kernels.pyi, the types of the kernels for checkers and editors, from the registry."""

import json
import keyword

KINDS = {"bool": "bool", "int": "int", "float": "float"}


def signature(rule):
    arguments, optional = ["self"], False
    for o in rule["operands"]:
        if o["role"] != "acc":
            optional = optional or o.get("optional", False)
            arguments.append(f"{o['name']}: Input | None = None" if optional else f"{o['name']}: Input")
    outputs = [o for o in rule["operands"] if o["role"] in ("acc", "inout")]
    arguments.append("*")
    arguments += [f"{o['name']}: Input | None = None" for o in outputs if o["role"] == "acc"]
    seen = set()
    for p in rule["parameters"]:
        name, _, nested = p["name"].partition(".")
        if name not in seen:
            arguments.append(f"{name}: dict[str, Any] = ..." if nested else f"{name}: {KINDS[p['kind']]} = ...")
        seen.add(name)
    if arguments[-1] == "*":
        arguments.pop()
    result = "Array" if len(outputs) == 1 else f"tuple[{', '.join(['Array'] * len(outputs))}]"
    return f"({', '.join(arguments)}) -> {result}"


def write(rules_json, file):
    with open(rules_json, encoding="utf-8") as f:
        rules = json.load(f)["rules"]
    packages = {}
    for rule in rules:
        package, _, kernel = rule["kernel"].partition(".")
        packages.setdefault(package, {}).setdefault(kernel, rule)
    lines = ["from typing import Any, Generic, TypeVar", "", 'Array = TypeVar("Array")', "Input = Any", ""]
    for package, kernels in packages.items():
        lines += ["", f"class {package}(Generic[Array]):"]
        for kernel, rule in kernels.items():
            assert not keyword.iskeyword(kernel)
            lines += [f"    def {kernel}{signature(rule)}:", f'        """{rule["equation"]}"""', "        ..."]
    with open(file, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
