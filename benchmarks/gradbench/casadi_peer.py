"""A tool of GradBench over CasADi, which GradBench itself does not have.

It has the evals whose functions are expressions: not those with loops that end by their values (particle,
saddle), nor n! products (det), nor ht. An expression and its derivatives are made before the clock starts, as
one makes them once; calls go through CasADi's buffers, so that no time goes to Python. Run it by

    go run ./benchmarks peers evals GRADBENCH --tool casadi=benchmarks/gradbench/casadi_peer.py
"""

import json
import math
import sys
import traceback

import casadi as ca
import numpy as np
from gradbench import wrap


def prepared(inputs, output, values):
    """Returns what calls the function inputs -> output on values, and where it stores the answer."""
    f = ca.Function("f", inputs, [ca.densify(output)])
    buffer, trigger = f.buffer()
    values = [np.array(v, dtype=np.float64).reshape(-1, order="F") for v in values]
    for i, v in enumerate(values):
        buffer.set_arg(i, memoryview(v))
    out = np.zeros(f.nnz_out(0))
    buffer.set_res(0, memoryview(out))
    return buffer, trigger, out, values  # the buffer does not keep the arrays


def run(state):
    _, trigger, out, _ = state
    trigger()
    return out


def timed(make, post=lambda out: out.tolist(), wrapper=wrap.multiple_runs):
    """Returns a function of the protocol; make turns an input into the arguments of prepared."""
    return wrapper(pre=lambda raw: prepared(*make(raw)), post=post)(run)


def scalar(out):
    return float(out[0])


# hello, which calls its functions once


def square(raw):
    x = ca.SX.sym("x")
    return [x], x * x, [[raw]]


def gradient_of(make):
    """Returns make for the gradient by the first input."""

    def make_gradient(raw):
        inputs, y, values = make(raw)
        return inputs, ca.gradient(y, inputs[0]), values

    return make_gradient


# lse, llsq, ode

def lse(raw):
    x = ca.MX.sym("x", len(raw["x"]))
    return [x], ca.logsumexp(x), [raw["x"]]


def llsq(raw):
    n, m = raw["n"], len(raw["x"])
    x = ca.MX.sym("x", m)
    t = ca.DM(-1 + np.arange(n) * 2 / (n - 1))
    p = ca.MX.zeros(n)
    for j in reversed(range(m)):  # Horner's rule
        p = p * t + x[j]
    return [x], ca.sumsqr(ca.sign(t) - p) / 2, [raw["x"]]


def ode_end(raw):
    n, s = len(raw["x"]), raw["s"]
    h = 2 / s
    x, y = ca.MX.sym("x", n), ca.MX.sym("y", n)

    def slope(y):
        return x * ca.vertcat(1, y[:-1])

    k1 = slope(y)
    k2 = slope(y + h / 2 * k1)
    k3 = slope(y + h / 2 * k2)
    k4 = slope(y + h * k3)
    step = ca.Function("step", [y, x], [y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)])
    chain = step.fold(s) if s > 1 else step
    return [x], chain(ca.MX.zeros(n), ca.repmat(x, 1, s)), [raw["x"]]


def ode_last(raw):
    inputs, y, values = ode_end(raw)
    return inputs, y[-1], values


# kmeans


def cost(raw):
    points, start = np.array(raw["points"]), np.array(raw["centroids"])
    k, d = start.shape
    c = ca.MX.sym("c", k, d)
    closest = None
    for j in range(k):
        dist = 0
        for i in range(d):
            diff = ca.DM(points[:, i]) - c[j, i]
            dist = dist + diff * diff
        closest = dist if closest is None else ca.fmin(closest, dist)
    return [c], ca.sum1(closest), [start]


def direction(raw):
    inputs, y, values = cost(raw)
    c = inputs[0]
    g = ca.gradient(y, c)
    return inputs, g / ca.jtimes(g, c, ca.DM.ones(c.shape)), values


def direction_rows():
    shape = []

    def make(raw):
        shape[:] = np.array(raw["centroids"]).shape
        return direction(raw)

    return timed(make, lambda out: out.reshape(shape, order="F").tolist())


# gmm


def mixture(raw):
    d, k, n, m, gamma = (raw[name] for name in ("d", "k", "n", "m", "gamma"))
    values = [np.array(raw["alpha"])] + [np.array(raw[name]).reshape(k, -1).T for name in ("mu", "q", "l")]
    x = ca.DM(np.array(raw["x"]).T)
    theta = ca.MX.sym("theta", sum(v.size for v in values))
    alpha, mu, q, low = ca.vertsplit(theta, [0] + np.cumsum([v.size for v in values]).tolist())
    mu, q = ca.reshape(mu, d, k), ca.reshape(q, d, k)
    low = ca.reshape(low, d * (d - 1) // 2, k)
    starts = np.cumsum([0] + list(range(d - 1, -1, -1)))  # of the columns in l
    terms, squares = [], 0
    for j in range(k):
        diagonal = ca.exp(q[:, j])
        entries = ca.vertcat(*[ca.vertcat(diagonal[i], low[starts[i] : starts[i + 1], j]) for i in range(d)])
        squares += ca.sumsqr(entries)
        far = ca.mtimes(ca.MX(ca.Sparsity.lower(d), entries), x - ca.repmat(mu[:, j], 1, n))
        terms.append(alpha[j] + ca.sum1(q[:, j]) - 0.5 * ca.sum1(far * far))
    highest = terms[0]
    for term in terms[1:]:
        highest = ca.fmax(highest, term)
    total = 0
    for term in terms:
        total += ca.exp(term - highest)
    nu = d + m + 1
    log_gamma = d * (d - 1) / 4 * np.log(np.pi) + sum(math.lgamma(0.5 * nu + 0.5 * (1 - j)) for j in range(1, d + 1))
    c = nu * d * (np.log(gamma) - 0.5 * np.log(2)) - log_gamma
    y = ca.sum2(ca.log(total) + highest) - n * ca.logsumexp(alpha) - n * d * 0.5 * np.log(2 * np.pi)
    y += k * c - 0.5 * gamma**2 * squares + m * ca.sum1(ca.sum2(q))
    return [theta], y, [np.concatenate([v.reshape(-1, order="F") for v in values])]


def gmm_objective():
    return timed(mixture, scalar)


def gmm_jacobian():
    size = {}

    def make(raw):
        size.update(d=raw["d"], k=raw["k"])
        return gradient_of(mixture)(raw)

    def post(out):
        d, k = size["d"], size["k"]
        alpha, mu, q, low = np.split(out, np.cumsum([k, k * d, k * d]))
        return {
            "alpha": alpha.tolist(),
            "mu": mu.reshape(k, d).tolist(),
            "q": q.reshape(k, d).tolist(),
            "l": low.reshape(k, d * (d - 1) // 2).tolist(),
        }

    return timed(make, post)


# lstm


def lstm(raw):
    main, extra = np.array(raw["main_params"]), np.array(raw["extra_params"])
    state0, seq = np.array(raw["state"]), np.array(raw["sequence"])
    layers, b, chars = len(main) // 2, extra.shape[1], len(seq)

    def sigmoid(v):
        return 1 / (1 + ca.exp(-v))

    p = ca.SX.sym("p", main.size + extra.size)
    state, now, then = ca.SX.sym("s", 2 * layers * b), ca.SX.sym("now", b), ca.SX.sym("then", b)
    rows = ca.vertsplit(p, b)  # of b numbers: 4 of weights and 4 of biases a layer
    weights_in, weights_out, bias_out = rows[8 * layers :]
    v, next_state, states = now * weights_in, [], ca.vertsplit(state, b)
    for i in range(layers):
        wf, wi, wo, wc, bf, bi, bo, bc = rows[8 * i : 8 * i + 8]
        hidden, cell = states[2 * i], states[2 * i + 1]
        cell = cell * sigmoid(v * wf + bf) + sigmoid(hidden * wi + bi) * ca.tanh(hidden * wc + bc)
        v = sigmoid(v * wo + bo) * ca.tanh(cell)
        next_state += [v, cell]
    out = v * weights_out + bias_out
    loss = ca.sum1(then * (out - ca.log(ca.sum1(ca.exp(out)) + 2)))
    step = ca.Function("step", [state, p, now, then], [ca.vertcat(*next_state), loss])
    theta = ca.MX.sym("theta", p.numel())
    _, losses = step.mapaccum(chars - 1)(
        ca.DM(state0.reshape(-1)), ca.repmat(theta, 1, chars - 1), ca.DM(seq[:-1].T), ca.DM(seq[1:].T)
    )
    return [theta], -ca.sum2(losses) / ((chars - 1) * b), [np.concatenate([main.reshape(-1), extra.reshape(-1)])]


# ba


def reprojection():
    cam, point, w, feat = ca.SX.sym("cam", 11), ca.SX.sym("point", 3), ca.SX.sym("w"), ca.SX.sym("feat", 2)
    r, y = cam[:3], point - cam[3:6]
    square = ca.sumsqr(r)
    theta = ca.sqrt(square)
    cos, sin, axis = ca.cos(theta), ca.sin(theta), r / theta
    turned = y * cos + ca.cross(axis, y) * sin + axis * (ca.dot(axis, y) * (1 - cos))
    y = ca.if_else(square == 0, y + ca.cross(r, y), turned)
    plane = y[:2] / y[2]
    rsq = ca.sumsqr(plane)
    plane = plane * (1 + cam[9] * rsq + cam[10] * rsq * rsq) * cam[6] + cam[7:9]
    args = [cam, point, w, feat]
    return args, ca.vertcat(w * (plane - feat), 1 - w * w)


def ba(jacobian):
    size = {}

    def make(raw):
        n, m, p = (raw[name] for name in ("n", "m", "p"))
        size.update(n=n, m=m, p=p)
        args, y = reprojection()
        if jacobian:
            by = ca.vertcat(*args[:3])
            j = ca.densify(ca.jacobian(y[:2], by))
            y = ca.vertcat(ca.vec(j.T), ca.jacobian(y[2], args[2]))
        f = ca.Function("f", args, [y]).map(p)
        mats = [ca.MX.sym("a", a.numel(), p) for a in args]
        # The operands of each observation, as the input repeats them.
        values = [np.tile(np.array(raw[name], dtype=np.float64).reshape(-1, 1), (1, p)) for name in ("cam", "x", "w", "feat")]
        return mats, f(*mats), values

    def post(out):
        n, m, p = size["n"], size["m"], size["p"]
        if not jacobian:
            return {
                "reproj_error": {"elements": out[:2].tolist(), "repeated": p},
                "w_err": {"element": out[2], "repeated": p},
            }
        cols = list(range(11)) + [11 * n + i for i in range(3)] + [11 * n + 3 * m]
        return {
            "rows": [15 * i for i in range(30)] + [31 * p],
            "cols": cols + cols + [11 * n + 3 * m + p - 1],
            "vals": out[:31].tolist(),
        }

    return timed(make, post)


FUNCTIONS = {
    "hello": {
        "square": lambda: timed(square, scalar, wrap.function),
        "double": lambda: timed(gradient_of(square), scalar, wrap.function),
    },
    "lse": {"primal": lambda: timed(lse, scalar), "gradient": lambda: timed(gradient_of(lse))},
    "llsq": {"primal": lambda: timed(llsq, scalar), "gradient": lambda: timed(gradient_of(llsq))},
    "ode": {"primal": lambda: timed(ode_end), "gradient": lambda: timed(gradient_of(ode_last))},
    "kmeans": {"cost": lambda: timed(cost, scalar), "dir": direction_rows},
    "gmm": {"objective": gmm_objective, "jacobian": gmm_jacobian},
    "lstm": {"objective": lambda: timed(lstm, scalar), "jacobian": lambda: timed(gradient_of(lstm))},
    "ba": {"objective": lambda: ba(False), "jacobian": lambda: ba(True)},
}


def answer(message):
    match message["kind"]:
        case "start":
            return {"tool": "casadi"}
        case "define":
            return {"success": message["module"] in FUNCTIONS}
        case "evaluate":
            try:
                return FUNCTIONS[message["module"]][message["function"]]().wrapped(message["input"])
            except Exception:
                return {"success": False, "error": traceback.format_exc()}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        print(json.dumps({"id": message["id"]} | answer(message)), flush=True)
