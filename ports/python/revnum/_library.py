"""The shared library of revnum.h, and what it says of the kernels."""

import ctypes
import functools
import json
import math
import os
import queue
import re
import signal
import struct
import sys
import threading

ABI_VERSION = 7

FORWARD, INVERSE, ADJOINT, TANGENT, ADJOINT_TANGENT, GRADIENT = range(6)
OPERAND, COTANGENT, TANGENT_PART, COTANGENT_TANGENT, PARAMETER = range(5)
TYPES = {"float64": 1, "float32": 2, "Q43": 3, "complex128": 4, "int": 5}
CALL, ZERO, COPY, CONJUGATE, WIDEN, BATCH = range(6)  # the steps of rev_run
NUMBERS = (int, float, bool)  # of parameters, which the library compares with those of calls that it keeps
SHORT = 1 << 25  # the work of a task that takes some tens of milliseconds at most
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


_errors = {1: ArgumentError, 2: NoResultError, 3: UnsupportedError, 6: KeyboardInterrupt}


class _Library:
    """The library. It is loaded by its first use, because that takes time and starts threads,
    which do not survive a fork. All calls go through it, so that it can be closed."""

    def __init__(self, path, rules_json):
        self._path, self._rules_json = path, rules_json
        self._loading = threading.Lock()
        self.forked = False
        self._closed = ctypes.c_int32()
        self._begin()

    def _begin(self):
        """Begins without threads. They stay for later tasks: a new thread takes as long as a small fit."""
        self._tasks, self._waiting = queue.SimpleQueue(), set()  # and which threads wait for a task

    def __getattr__(self, name):
        if name not in ("lib", "call", "run", "hash"):
            raise AttributeError(name)
        with self._loading:
            if "lib" not in self.__dict__:
                self._load()
        return self.__dict__[name]

    def _load(self):
        try:
            lib = ctypes.CDLL(self._path)
        except OSError as err:
            raise ImportError(f"revnum: cannot load the library: {err}") from err
        version = getattr(lib, "rev_abi_version", None)
        if version is None or version() != ABI_VERSION:
            found = "none" if version is None else version()
            raise ImportError(f"revnum: {self._path} has version {found} of the interface, this package needs {ABI_VERSION}")
        lib.rev_last_error.restype = ctypes.c_char_p
        lib.rev_rules_json.restype = ctypes.c_int64
        lib.rev_rules_json.argtypes = [ctypes.c_char_p, ctypes.c_int64]
        lib.rev_rules_hash.restype = ctypes.c_int64
        lib.rev_run.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
        lib.rev_kernel.argtypes = [ctypes.c_char_p]
        lib.rev_call.argtypes = [ctypes.c_int32, ctypes.c_int32, ctypes.c_char_p, ctypes.c_int64]
        lib.rev_model.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
        n = lib.rev_rules_json(None, 0)
        buf = ctypes.create_string_buffer(n + 1)
        lib.rev_rules_json(buf, n + 1)
        if buf.value != self._rules_json:
            raise ImportError(f"revnum: {self._path} has other kernels than this package")
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            lib.rev_watch_interrupts()
        self.call, self.run, self.hash, self.lib = lib.rev_call, lib.rev_run, lib.rev_rules_hash(), lib

    def set_forked(self):
        self.forked = "lib" in self.__dict__
        self._begin()

    def close(self):
        """Ends the use of the library. (It stays in memory, as Go cannot be unloaded.)"""

        def closed(*_):
            raise InternalError("revnum: the library is closed")

        self._closed.value = 1
        self.call = self.run = closed
        self.lib, self.hash = None, 0

    def python_type(self, base, numpy):
        """The subclass of base that rev_python makes, or None if this is no Python that it knows. numpy is a
        capsule of NumPy's functions."""
        import sysconfig

        if self.lib is None or sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED") or os.environ.get("REVNUM_PYTHON") == "plain":
            return None
        self.lib.rev_python_names.restype = ctypes.c_char_p
        names = self.lib.rev_python_names()
        if names is None:  # this module was imported before, and its functions are in use
            return None
        functions = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in names.decode().split()]
        functions = (ctypes.c_void_p * len(functions))(*functions)
        object, address = ctypes.py_object, ctypes.c_void_p
        make = self._locked("rev_python", address, address, object, object, address)
        return make(ctypes.addressof(functions), pointer(numpy), base, self.fail, ctypes.addressof(self._closed))

    def python_torch_type(self, base, dlpack, objects):
        """The same for tensors, after python_type has returned a type. dlpack is a capsule of PyTorch's functions."""
        api = pointer(dlpack, b"dlpack_exchange_api")
        version, view = ctypes.c_uint32.from_address(api).value, ctypes.c_void_p.from_address(api + 5 * ctypes.sizeof(ctypes.c_void_p)).value
        if version != 1 or not view:
            return None
        object = ctypes.py_object
        return self._locked("rev_python_torch", ctypes.c_void_p, object, object)(api, objects, base)

    def _locked(self, name, *types):
        """A function of the library that is called with Python's lock and returns an object."""
        function = getattr(ctypes.PyDLL(self._path, handle=self.lib._handle), name)
        function.restype, function.argtypes = ctypes.py_object, types
        return function

    def fail(self, status, message=None):
        raise _errors.get(status, InternalError)((message or self.lib.rev_last_error()).decode(errors="replace"))

    def _interrupt(self, done):
        """Ends tasks until one is done. More interrupts, and what other signals raise, do not matter."""
        while True:
            try:
                while not done.wait(0.01):  # a task that has not begun is not ended
                    self.lib.rev_interrupt()
                return
            except BaseException:
                pass

    def _start(self, do, done):
        """Starts do in another thread, which sets done after it. Wherever an interrupt ends this, all threads still
        wait for tasks, and one that is left over goes to the next thread."""
        self._tasks.put((do, done))
        if not self._waiting:
            threading.Thread(target=self._serve, name="revnum", daemon=True).start()

    def _serve(self):
        me = threading.get_ident()
        self._waiting.add(me)
        while True:
            do, done = self._tasks.get()
            self._waiting.discard(me)
            try:
                do()
                self._waiting.add(me)  # unless it raises, which ends this thread
            finally:
                done.set()
                del do, done  # with the arrays of the caller

    def model(self, task, options, args, room, work=math.inf):
        """Does a task of rev_model. KeyboardInterrupt ends it before its next iteration. args are those of
        task_argument: the task holds their arrays, as a second interrupt may end this before the task has ended.
        work is about how many numbers it goes through: another thread takes longer to begin than a short task to end."""
        if self.lib is None:
            self.call()
        report, text = ctypes.create_string_buffer(room), json.dumps(options).encode()
        failed, done = [], threading.Event()
        ticket = [None]  # who takes it decides whether the task begins

        def do():
            try:
                ticket.pop()
            except IndexError:
                return
            try:
                status = self.lib.rev_model(task.encode(), text, b"".join(packed for packed, _ in args), len(args), report, room)
                if status:
                    self.fail(status)  # with the error of this thread
            except BaseException as err:
                failed.append(err)

        if work > SHORT and threading.current_thread() is threading.main_thread():
            # Only the main thread is interrupted, and not within a call.
            try:
                self._start(do, done)
                done.wait()
            except BaseException:
                try:
                    ticket.pop()  # there is no thread, or it has not begun
                except IndexError:
                    self._interrupt(done)
                raise
        else:
            do()
        if failed:
            raise failed.pop()
        return json.loads(report.value)


def pointer(capsule, name=None):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


_here = os.path.dirname(os.path.abspath(__file__))
_names = {"win32": "revnum.dll", "darwin": "librevnum.dylib"}


def _read_rules():
    """docs/rules.json, which the package carries where it is not in the repository."""
    try:
        file = open(os.path.join(_here, "rules.json"), "rb")
    except FileNotFoundError:
        file = open(os.path.join(_here, "..", "..", "..", "docs", "rules.json"), "rb")
    with file:
        return file.read()


_rules_json = _read_rules()
library = _Library(os.environ.get("REVNUM_LIBRARY") or os.path.join(_here, _names.get(sys.platform, "librevnum.so")), _rules_json)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=library.set_forked)


def run_steps(steps, addresses):
    """Makes the steps of rev_run on arrays at these addresses."""
    status = library.run(steps.ctypes.data, steps.size, struct.pack(f"={len(addresses)}q", *addresses), len(addresses))
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

    def __repr__(self):
        return f"{self.name}: {self.role} {self.kind} of {self.type} ({self.shape})"

    @functools.cached_property
    def _dims(self):
        """The name of the flag that chooses, or None, and the dimensions."""
        condition, sep, rest = self.shape.partition("?")
        if not sep:
            return None, _split(self.shape), None
        return condition.strip(), *map(_split, rest.split(":"))

    def dims_for(self, params):
        flag, dims, otherwise = self._dims
        return dims if flag is None or params.get(flag) else otherwise

    def shape_for(self, params):
        """The text of the shape, without that for another flag."""
        flag, _, rest = self.shape.rpartition("?")
        return rest.split(":")[0 if not flag or params.get(flag.strip()) else 1].strip()


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
        self.elementwise = r["elementwise"]  # problems, one behind the other, are a longer problem
        self.passes = r["passes"]
        self.missing = r.get("missing")
        self.operands = [Operand(i, o) for i, o in enumerate(r["operands"])]
        self.parameters = {p["name"]: i for i, p in enumerate(r["parameters"])}
        self.parameter_kinds = {p["name"]: p["kind"] for p in r["parameters"]}
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

    def takes_long(self, params):
        """Whether a call of few numbers may take long: with a parameter of kind int, as one of steps."""
        return any(self.parameter_kinds[name] == "int" for name in params)

    def run(self, which, args):
        """Makes a pass. args are packed arguments."""
        status = library.call(self.number, which, b"".join(args), len(args))
        if status:
            library.fail(status)

    def output_shapes(self, shapes, params):
        """The shapes of the outputs, for the shapes of all inputs by name (None where one
        is left out). An output whose shape the inputs do not tell raises ArgumentError."""
        known = {name: int(value) for name, value in params.items() if self.parameter_kinds.get(name, "float") != "float"}
        for o in self.inputs:
            shape = shapes.get(o.name)
            if shape is None:
                continue
            dims = o.dims_for(params)
            if len(shape) != len(dims):
                raise ArgumentError(f"{self.name}: {o.name} has {len(shape)} axes, want {len(dims)} of a {o.kind}")
            for d, n in zip(dims, shape):
                if isinstance(d, str) and known.setdefault(d, n) != n:
                    raise ArgumentError(f"{self.name}: {o.name} is of shape {tuple(shape)}, want {o.shape_for(params)} where {d} = {known[d]}")
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


rules = {r["name"]: Rule(i, r) for i, r in enumerate(json.loads(_rules_json)["rules"])}

_kernels, _none = {}, {}
for _rule in rules.values():
    _kernels.setdefault(_rule.kernel, {})[_rule.type] = _rule


def lookup(kernel, type):
    """The rule of a kernel, such as "revlinalg.Dot" or the function of it, for a type of numbers."""
    if isinstance(kernel, Rule):
        kernel = kernel.name
    elif callable(kernel):
        kernel = getattr(kernel, "kernel", kernel)
    found = _kernels.get(kernel, _none).get(type) or rules.get(kernel)
    if found:
        return found
    if kernel not in _kernels:
        meant = [k for k in _kernels if k.partition(".")[2] == kernel]
        raise ArgumentError(f"revnum: no kernel {kernel!r}" + (f": give {' or '.join(map(repr, meant))}" if meant else ""))
    raise ArgumentError(f"{kernel} is not offered over {type}, but over {', '.join(_kernels[kernel])}")


def kernels(package):
    """The names of the kernels of a package, without it."""
    return sorted(k.partition(".")[2] for k in _kernels if k.startswith(package + "."))


def packages():
    return sorted({k.partition(".")[0] for k in _kernels})


def _nested(rule):
    """The parameters of a rule as keywords: a number, or a dict for one such as Options.Dt."""
    defaults = {"bool": False, "int": 0, "float": 0.0}
    tree = {}
    for name, kind in rule.parameter_kinds.items():
        *path, last = name.split(".")
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        at[last] = defaults[kind]
    return tree


def signature(rules):
    """The signature of a kernel: its inputs, then its outputs and parameters as keywords."""
    from inspect import Parameter, Signature

    first = rules[0]
    optional = False  # what follows an optional input is optional too, or given by its name
    parameters = []
    for o in first.inputs:
        optional = optional or o.optional
        parameters.append(Parameter(o.name, Parameter.POSITIONAL_OR_KEYWORD, default=None if optional else Parameter.empty))
    parameters += [Parameter(o.name, Parameter.KEYWORD_ONLY, default=None) for o in first.outputs if o.role == "acc"]
    parameters += [Parameter(name, Parameter.KEYWORD_ONLY, default=default) for name, default in _nested(first).items()]
    return Signature(parameters)


def document(rules):
    """The text of a kernel for help()."""
    first = rules[0]

    def line(o):
        kind = o.kind + (f" ({o.shape})" if o.shape else "")
        return f"    {o.name}: {kind}" + (f" of {o.type}" if o.type == "int" else "") + (", may be left out" if o.optional and o.role != "acc" else "")

    parts = [first.equation, "\n".join(["Operands:", *map(line, first.inputs)])]
    parts.append("\n".join(["Returns:", *map(line, first.outputs)]))
    if first.parameters:
        parts.append("\n".join(["Parameters, 0 unless you give them:", *[f"    {name}: {kind}" for name, kind in first.parameter_kinds.items()]]))
    parts.append("Numbers: " + ", ".join(r.type for r in rules) + (", as logs" if first.logs else ""))
    parts.append(f"An array {' or '.join(o.name for o in first.outputs if o.role == 'acc')} gives its shape where the inputs do not tell it." if any(o.role == "acc" for o in first.outputs) else "")
    return "\n\n".join(filter(None, parts))


class Package:
    """The kernels of a package as attributes, such as revlinalg.Dot. make makes the function
    of a kernel."""

    def __init__(self, name, make):
        self._name, self._make = name, make

    def __dir__(self):
        return kernels(self._name)

    def __repr__(self):
        return f"<kernels of {self._name}: {', '.join(kernels(self._name))}>"

    def __getattr__(self, kernel):
        name = f"{self._name}.{kernel}"
        if name not in _kernels:
            raise AttributeError(f"revnum has no kernel {name}")
        function = self._make(name)
        function.__name__ = function.__qualname__ = kernel
        function.kernel = name
        function.__module__ = f"revnum {self._name}"
        function.__doc__ = document(list(_kernels[name].values()))
        function.__signature__ = signature(list(_kernels[name].values()))
        setattr(self, kernel, function)
        return function


def through(call):
    """Functions of kernels that call call(kernel, ...)."""

    def make(kernel):
        return lambda *args, **kwargs: call(kernel, *args, **kwargs)

    return make


def _flat(rule, key, value, to):
    """Adds a parameter to a dict by its full name. It is given by this, by a dict such as
    Options={"Dt": 0.1}, by a list for an array, or by its last name if no other has it."""
    if isinstance(value, dict):
        for k, v in value.items():
            _flat(rule, f"{key}.{k}", v, to)
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            _flat(rule, f"{key}.{i}", v, to)
    else:
        if key not in rule.parameters:
            full = [p for p in rule.parameters if p.rpartition(".")[2] == key]
            key = full[0] if len(full) == 1 else key
        if key in to:
            raise TypeError(f"{rule.kernel}: {key} is given twice")
        to[key] = value


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
            _flat(rule, key, value, params)
    for o in rule.inputs:
        if operands.get(o.name) is None and not o.optional:
            raise ArgumentError(f"{rule.name}: {o.name} is missing, want {'' if o.kind == 'edges' else 'a '}{o.kind} of {o.type}" + (f" of shape ({o.shape})" if o.shape else ""))
    return operands, params
