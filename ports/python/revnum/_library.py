"""The shared library of revnum.h, and what it says of the kernels."""

import ctypes
import functools
import json
import os
import pathlib
import re
import struct

ABI_VERSION = 2

FORWARD, INVERSE, ADJOINT, TANGENT, ADJOINT_TANGENT, GRADIENT = range(6)
OPERAND, COTANGENT, TANGENT_PART, COTANGENT_TANGENT, PARAMETER = range(5)
TYPES = {"float64": 1, "float32": 2, "Q43": 3, "complex128": 4, "int": 5}
CALL, ZERO, COPY, CONJUGATE, WIDEN = range(5)  # the steps of rev_run
SIZES = {"float64": 8, "float32": 4, "Q43": 8, "complex128": 16, "int": 8}


class RevnumError(Exception):
    """Any error of the library."""


class ArgumentError(RevnumError, ValueError):
    """A wrong operand or parameter."""


class NoResultError(RevnumError, ArithmeticError):
    """The data has no result, such as a singular matrix."""


class UnsupportedError(RevnumError, NotImplementedError):
    """The kernel does not have the pass."""


class InternalError(RevnumError, RuntimeError):
    """The kernel failed in another way."""


_errors = {1: ArgumentError, 2: NoResultError, 3: UnsupportedError}


class _Library:
    """The loaded library. All calls go through it, so that it can be closed."""

    def __init__(self, path):
        try:
            lib = ctypes.CDLL(str(path))
        except OSError as err:
            raise ImportError(f"revnum: cannot load the library: {err}") from err
        version = getattr(lib, "rev_abi_version", None)
        if version is None or version() != ABI_VERSION:
            found = "none" if version is None else version()
            raise ImportError(f"revnum: {path} has version {found} of the interface, this package needs {ABI_VERSION}")
        lib.rev_last_error.restype = ctypes.c_char_p
        lib.rev_rules_json.restype = ctypes.c_int64
        lib.rev_rules_json.argtypes = [ctypes.c_char_p, ctypes.c_int64]
        lib.rev_rules_hash.restype = ctypes.c_int64
        lib.rev_run.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64]
        lib.rev_kernel.argtypes = [ctypes.c_char_p]
        lib.rev_call.argtypes = [ctypes.c_int32, ctypes.c_int32, ctypes.c_char_p, ctypes.c_int64]
        lib.rev_model.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
        self.lib = lib
        self.call = lib.rev_call
        self.forked = False

    def set_forked(self):
        self.forked = True

    def close(self):
        """Ends the use of the library. (It stays in memory, as Go cannot be unloaded.)"""

        def closed(*_):
            raise InternalError("revnum: the library is closed")

        self.call = closed
        self.lib = None

    def fail(self, status):
        raise _errors.get(status, InternalError)(self.lib.rev_last_error().decode(errors="replace"))

    def rules_json(self):
        n = self.lib.rev_rules_json(None, 0)
        buf = ctypes.create_string_buffer(n + 1)
        self.lib.rev_rules_json(buf, n + 1)
        return buf.value

    def model(self, task, options, args, room):
        if self.lib is None:
            self.call()
        report = ctypes.create_string_buffer(room)
        status = self.lib.rev_model(task.encode(), json.dumps(options).encode(), b"".join(args), len(args), report, room)
        if status:
            self.fail(status)
        return json.loads(report.value)


def _path():
    given = os.environ.get("REVNUM_LIBRARY")
    return pathlib.Path(given) if given else pathlib.Path(__file__).parent / "librevnum.so"


library = _Library(_path())
os.register_at_fork(after_in_child=library.set_forked)

hash = library.lib.rev_rules_hash()


def run_steps(steps, arrays):
    """Makes the steps of rev_run on arrays without gaps."""
    if library.lib is None:
        library.call()
    at = (ctypes.c_void_p * len(arrays))(*(a.__array_interface__["data"][0] for a in arrays))
    status = library.lib.rev_run(steps.ctypes.data, steps.size, at, len(arrays))
    if status:
        library.fail(status)


# An argument of rev_call, as revnum.h lays it out.
_arg = struct.Struct("=qqqqqqqqqqdiiii")
pack = _arg.pack


def parameter(index, value):
    """The argument for a parameter."""
    return pack(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, value, PARAMETER, index, 0, 0)


class Operand:
    """An operand of a rule."""

    def __init__(self, index, o):
        self.index = index
        self.name, self.role, self.kind, self.type = o["name"], o["role"], o["kind"], o["type"]
        self.optional = o.get("optional", False)
        self.code = TYPES.get(self.type, 0)
        self.size = SIZES.get(self.type, 0)
        self.axes = {"scalar": 0, "slice": 1, "vector": 1}.get(self.kind, 2)
        self.sparse = self.kind == "sparse matrix"
        self.shape = o.get("shape", "")
        condition, sep, rest = self.shape.partition("?")
        self.condition = condition.strip() if sep else None
        branches = rest.split(":") if sep else [self.shape]
        self.dims = [_split(b) for b in branches]

    def __repr__(self):
        return f"{self.name}: {self.role} {self.kind} of {self.type} ({self.shape})"

    def dims_for(self, params):
        return self.dims[0] if self.condition is None or params.get(self.condition) else self.dims[1]


def _split(shape):
    """The dimensions of a shape tag: each the name of a symbol, or code."""
    dims, depth, word = [], 0, ""
    for c in shape + ",":
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            word = word.strip()
            if word:
                dims.append(word if re.fullmatch("[A-Za-z][A-Za-z0-9]*", word) else compile(word.replace("/", "//"), "<shape>", "eval"))
            word = ""
        else:
            word += c
    return dims


class Rule:
    """A kernel over one type of numbers."""

    def __init__(self, number, r):
        self.number = number
        self.name, self.kernel, self.type, self.equation = r["name"], r["kernel"], r["type"], r["equation"]
        self.exact, self.fallible, self.in_place, self.logs = r["exact"], r["fallible"], r["inplace"], r["logs"]
        self.passes = r["passes"]
        self.missing = r.get("missing")
        self.operands = [Operand(i, o) for i, o in enumerate(r["operands"])]
        self.parameters = {p["name"]: i for i, p in enumerate(r["parameters"])}
        self.inputs = [o for o in self.operands if o.role != "acc"]
        self.outputs = [o for o in self.operands if o.role in ("acc", "inout")]

    def __repr__(self):
        args = [f"{o.name}" for o in self.inputs] + list(self.parameters)
        return f"<{self.name}: {self.equation}; ({', '.join(args)})>"

    def settings(self, params):
        """The arguments for parameters by name."""
        args = []
        for name, value in params.items():
            if name not in self.parameters:
                raise TypeError(f"{self.kernel} has no parameter {name!r}; it has {', '.join(self.parameters) or 'none'}")
            args.append(parameter(self.parameters[name], float(value)))
        return args

    def run(self, which, args):
        """Makes a pass. args are packed arguments."""
        status = library.call(self.number, which, b"".join(args), len(args))
        if status:
            library.fail(status)

    def output_shapes(self, shapes, params):
        """The shapes of the outputs, for the shapes of all inputs by name (None where one
        is left out). An output whose shape the inputs do not tell raises ArgumentError."""
        known = {name: int(value) for name, value in params.items() if name in self.parameters}
        for o in self.inputs:
            shape = shapes.get(o.name)
            if shape is None:
                continue
            dims = o.dims_for(params)
            if len(shape) != len(dims):
                raise ArgumentError(f"{self.name}: {o.name} has {len(shape)} axes, want {len(dims)} of a {o.kind}")
            for d, n in zip(dims, shape):
                if isinstance(d, str) and known.setdefault(d, n) != n:
                    raise ArgumentError(f"{self.name}: {o.name} is of shape {tuple(shape)}, want {o.shape} where {d} = {known[d]}")
        known = dict.fromkeys(self.parameters, 0) | known | {"min": min, "max": max}
        return [tuple(shapes[o.name]) if o.role == "inout" else self._output_shape(o, known, params) for o in self.outputs]

    def _output_shape(self, o, known, params):
        dims = o.dims_for(params)
        try:
            shape = tuple(known[d] if isinstance(d, str) else eval(d, {"__builtins__": {}}, known) for d in dims)
            if all(n >= 0 for n in shape):
                return shape
            why = f"would be {shape}"
        except (KeyError, NameError) as err:
            unknown = err.args[0] if isinstance(err, KeyError) else err.name
            raise ArgumentError(f"{self.name}: the inputs do not tell {unknown}: give {o.name}=array of shape ({o.shape})") from None
        except ZeroDivisionError:
            why = "divides by 0"
        used = [p for p in self.parameters if any(p == d or p in getattr(d, "co_names", ()) for d in dims)]
        raise ArgumentError(f"{self.name}: the shape of {o.name}, {o.shape}, {why} where {', '.join(f'{p} = {known[p]}' for p in used)}")


rules = {r["name"]: Rule(i, r) for i, r in enumerate(json.loads(library.rules_json())["rules"])}

_kernels, _none = {}, {}
for _rule in rules.values():
    _kernels.setdefault(_rule.kernel, {})[_rule.type] = _rule


def lookup(kernel, type):
    """The rule of a kernel such as "revlinalg.Dot", for a type of numbers."""
    found = _kernels.get(kernel, _none).get(type) or rules.get(kernel)
    if found:
        return found
    if kernel not in _kernels:
        raise ArgumentError(f"revnum: no kernel {kernel!r}")
    raise ArgumentError(f"{kernel} is not offered over {type}, but over {', '.join(_kernels[kernel])}")


def kernels(package):
    """The names of the kernels of a package, without it."""
    return sorted(k.partition(".")[2] for k in _kernels if k.startswith(package + "."))


def packages():
    return sorted({k.partition(".")[0] for k in _kernels})


class Package:
    """The kernels of a package as attributes, such as revlinalg.Dot."""

    def __init__(self, name, call):
        self._name, self._call = name, call

    def __dir__(self):
        return kernels(self._name)

    def __getattr__(self, kernel):
        name = f"{self._name}.{kernel}"
        if name not in _kernels:
            raise AttributeError(f"revnum has no kernel {name}")
        first = next(iter(_kernels[name].values()))

        @functools.wraps(self._call)
        def function(*args, **kwargs):
            return self._call(name, *args, **kwargs)

        function.__name__ = function.__qualname__ = kernel
        function.__doc__ = f"{first.equation}\n\nOperands: " + ", ".join(f"{o.name} ({o.role}; {o.shape or 'number'})" for o in first.inputs)
        setattr(self, kernel, function)
        return function


def bind(rule, args, kwargs):
    """Splits the arguments of a call into operands by name and parameters by name."""
    names = [o.name for o in rule.inputs]
    if len(args) > len(names):
        raise TypeError(f"{rule.kernel} takes {len(names)} operands, found {len(args)}")
    operands = dict(zip(names, args))
    params = {}
    for key, value in kwargs.items():
        if key in operands:
            raise TypeError(f"{rule.kernel}: {key} is given twice")
        if key in names or any(o.name == key for o in rule.outputs):
            operands[key] = value
        elif value is not None:
            params[key] = value
    for o in rule.inputs:
        if operands.get(o.name) is None and not o.optional:
            raise ArgumentError(f"{rule.name}: {o.name} is missing, want {'' if o.kind == 'edges' else 'a '}{o.kind} of {o.type}" + (f" of shape ({o.shape})" if o.shape else ""))
    return operands, params
