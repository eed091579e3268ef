"""The gradients of reversible modules are those of a tape, and nothing is kept for them but the last state."""

import pytest

torch = pytest.importorskip("torch")

import revnum
import revnum.torch as rt
from revnum.torch import nn


def mlp(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 8), torch.nn.Tanh(), torch.nn.Linear(8, outputs)).double()


def blocks(n=1):
    torch.manual_seed(1)
    once = lambda: [
        nn.Coupling(5, mlp(3, 4)), nn.Coupling(5, mlp(2, 6), swap=True), nn.Coupling(5, mlp(2, 3), swap=True, scale=False),
        nn.Unitary(5, dtype=torch.float64), nn.Coupling(5, mlp(3, 2), scale=False),
    ]
    return [b for _ in range(n) for b in once()]


def contraction(features, **kwargs):
    net = torch.nn.Sequential(torch.nn.Linear(features, 8), torch.nn.Tanh(), torch.nn.Linear(8, features)).double()
    for m in net[::2]:
        m.weight.data *= 5  # so that the constraint holds it
    return nn.InvertibleResidual(net, **kwargs)


CHAINS = {
    "contractions": lambda: (nn.Chain(contraction(3, lipschitz=0.4), nn.Unitary(3, dtype=torch.float64), contraction(3, lipschitz=0.2)), 3),
    "flow": lambda: (nn.Chain(*blocks()), 5),
    "residual": lambda: (nn.Chain(nn.Residual(mlp(3, 3), mlp(3, 3)), nn.Unitary(6, dtype=torch.float64), nn.Residual(mlp(3, 3), mlp(3, 3))), 6),
    "shared": lambda: (lambda b: (nn.Chain(*b, *b), 5))(blocks()),
    "none": lambda: (nn.Chain(), 5),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chain(name):
    chain, features = CHAINS[name]()
    x = torch.randn(4, features, dtype=torch.float64, requires_grad=True)
    loss = lambda y, logdet: (y**3).sum() + (logdet**2).sum()
    y, logdet = chain(x)
    for row, at in enumerate(x.detach()):
        jacobian = torch.autograd.functional.jacobian(lambda v: chain(v[None])[0][0], at)
        torch.testing.assert_close(logdet[row], torch.linalg.slogdet(jacobian)[1])
    torch.testing.assert_close(chain.inverse(y), x)
    with torch.no_grad():
        torch.testing.assert_close(chain(x), (y, logdet))
    inputs = [x, *chain.parameters()]
    tape = nn._chain(chain.blocks, x)
    torch.testing.assert_close((y, logdet), tape)
    torch.testing.assert_close(torch.autograd.grad(loss(y, logdet), inputs), torch.autograd.grad(loss(*tape), inputs, materialize_grads=True))


def test_invertible_residual():
    """Layers have the norm that they may have, the inverse has its bound, and its gradient is that of the inverse function."""
    torch.manual_seed(1)
    conv = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3, padding=1), torch.nn.ELU(), torch.nn.Conv2d(3, 2, 3, padding=1)).double()
    for m in conv[::2]:
        m.weight.data *= 5
    for block, x in ((contraction(3, lipschitz=0.5), torch.randn(4, 3, dtype=torch.float64)), (nn.InvertibleResidual(conv, lipschitz=0.9), torch.randn(2, 2, 4, 4, dtype=torch.float64))):
        jacobian = torch.autograd.functional.jacobian(lambda v: block.net(v[None])[0], x[0]).reshape(x[0].numel(), -1)
        assert 0.01 < torch.linalg.matrix_norm(jacobian, 2) <= block.lipschitz
        for m in (m for m in block.net if hasattr(m, "weight")):
            features = 3 * m.weight[0].numel() if m.weight.dim() > 2 else m.weight.shape[1]
            row = torch.zeros(features if m.weight.dim() == 2 else (m.weight.shape[1], 6, 6), dtype=torch.float64)
            linear = torch.autograd.functional.jacobian(lambda v: m(v[None])[0], row).flatten(0, m.weight.dim() - 2 if m.weight.dim() == 2 else 2)
            assert torch.linalg.matrix_norm(linear.reshape(len(linear), -1), 2) <= block.lipschitz**0.5 * (1 + 1e-12)
        y, logdet = block(x)
        whole = torch.autograd.functional.jacobian(lambda v: block(v[None])[0][0], x[0]).reshape(x[0].numel(), -1)
        torch.testing.assert_close(logdet[0], torch.linalg.slogdet(whole)[1])
        norm = lambda a: a.flatten(1).norm(dim=1)
        assert (norm(block.inverse(y) - x) <= 16 / (1 - block.lipschitz) * 2.2e-16 * norm(y)).all()
        if x.dim() == 2:
            assert torch.autograd.gradcheck(lambda y, *p: block.inverse(y), [y.detach().requires_grad_(), *block.parameters()])
    with torch.no_grad():
        assert nn.InvertibleResidual(torch.nn.Linear(3, 3), logdet=False)(torch.ones(2, 3))[1].isnan().all()
    for net, lipschitz in ((torch.nn.SiLU(), 0.9), (torch.nn.Sequential(torch.nn.Dropout()), 0.9), (torch.nn.ELU(alpha=2.0), 0.9), (torch.nn.Linear(2, 2), 1.0), (torch.nn.Tanh(), 0.9)):
        with pytest.raises(revnum.ArgumentError, match="Lipschitz|lipschitz"):
            nn.InvertibleResidual(net, lipschitz=lipschitz)
    block = contraction(3)
    x = block.inverse(torch.randn(4, 3, dtype=torch.float64))
    torch.optim.SGD(block.parameters(), 0.1).step()  # changes nothing, as there is no gradient yet
    x.sum().backward(retain_graph=True)
    torch.optim.SGD(block.parameters(), 0.1).step()
    with pytest.raises(RuntimeError, match="were changed"):
        x.sum().backward()


def gradients(f, module, x):
    """The gradients of the parameters of a module that has f."""
    module.zero_grad()
    y, logdet = f(x)
    ((y.double() ** 3).sum() + logdet.double().sum()).backward()
    return [p.grad.clone() for p in module.parameters()]


def test_hooks():
    """Hooks of parameters see the sum of the gradients once, as with a tape."""
    chain, seen = nn.Chain(*(b := blocks()), *b), []
    for p in chain.parameters():
        p.register_hook(lambda g: seen.append(1) or 2 * g)
    x = torch.randn(4, 5, dtype=torch.float64)
    ours = gradients(chain, chain, x)
    assert len(seen) == len(ours)
    torch.testing.assert_close(ours, gradients(lambda x: nn._chain(chain.blocks, x), chain, x))


def test_autocast():
    """The gradient computes in the type of the forward pass."""
    torch.manual_seed(1)
    chain, x = nn.Chain(*[nn.Coupling(4, mlp(2, 4).float(), swap=i % 2) for i in range(6)]), torch.randn(8, 4)

    def cast(f):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return f(x)

    ours = gradients(lambda x: cast(chain), chain, x)
    torch.testing.assert_close(ours, gradients(lambda x: cast(lambda x: nn._chain(chain.blocks, x)), chain, x))


def test_more_axes():
    """The determinant is that of all elements of a row."""
    chain, x = nn.Chain(*[b for b in blocks() if isinstance(b, nn.Coupling)]), torch.randn(4, 4, 5, dtype=torch.float64)
    torch.testing.assert_close(chain(x)[1], chain(x.flatten(0, 1))[1].reshape(4, 4).sum(1))


class Noise(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x, training=self.training)


class Mean(torch.nn.Module):
    """Has a state that changes with each call."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3, dtype=torch.float64))

    def forward(self, x):
        self.mean.lerp_(x.mean(0), 0.5)
        return x - self.mean


def test_changed():
    """What computes something else in the gradient than before gives an error, and no wrong number."""
    x = torch.randn(4, 6, dtype=torch.float64)
    changes = [
        lambda chain: torch.nn.init.zeros_(chain.blocks[0].f[0].weight),
        lambda chain: torch.optim.SGD(chain.parameters(), 0.1).step(),
        lambda chain: setattr(chain.blocks[0].f[0], "weight", torch.nn.Parameter(torch.zeros(8, 3, dtype=torch.float64))),
    ]
    for change in changes:
        chain = nn.Chain(nn.Residual(mlp(3, 3), mlp(3, 3)))
        chain(x)[0].sum().backward()
        y = chain(x)[0]
        change(chain)
        with pytest.raises(RuntimeError, match="were changed"):
            y.sum().backward()
    chain = nn.Chain(nn.Residual(mlp(3, 3), mlp(3, 3))).requires_grad_(False)
    others = {name: p.clone().requires_grad_() for name, p in chain.named_parameters()}
    with pytest.raises(RuntimeError, match="were changed"):
        torch.func.functional_call(chain, others, (x,))[0].sum().backward()
    for net, error in ((Noise(), "differ by"), (Mean(), "were changed")):
        chain = nn.Chain(nn.Residual(torch.nn.Sequential(mlp(3, 3), net), mlp(3, 3)))
        with pytest.raises((revnum.ArgumentError, RuntimeError), match=error):
            chain(x)[0].sum().backward()
    chain = nn.Chain(nn.Residual(torch.nn.Sequential(mlp(3, 3), torch.nn.Dropout()), mlp(3, 3))).eval()
    y = chain(x)[0]
    chain.train()
    with pytest.raises(revnum.ArgumentError, match="Dropout"):
        y.sum().backward()


def kept(f):
    """The bytes that autograd keeps for the gradient of f."""
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(lambda a: sizes.append(a.nbytes) or a, lambda a: a):
        f()
    return sum(sizes)


def test_memory():
    x = torch.randn(100, 5, dtype=torch.float64)
    one, ten = nn.Chain(*blocks()), nn.Chain(*blocks(10))
    assert kept(lambda: one(x)) == kept(lambda: ten(x)) == x.nbytes
    assert kept(lambda: nn._chain(ten.blocks, x)) > 50 * x.nbytes
    rnn = nn.UnitaryRNN(3, 4, dtype=torch.float64)
    short, long = torch.randn(2, 5, 3, dtype=torch.float64), torch.randn(20, 5, 3, dtype=torch.float64)
    assert kept(lambda: rnn(long)) - long.nbytes == kept(lambda: rnn(short)) - short.nbytes


def test_frozen():
    """Parameters without gradients have none, and an input may need none."""
    chain = nn.Chain(*blocks())
    x = torch.randn(4, 5, dtype=torch.float64)
    chain.blocks[1].requires_grad_(False)
    chain(x)[0].sum().backward()
    assert all((p.grad is None) == (not p.requires_grad) for p in chain.parameters())
    chain.requires_grad_(False)
    assert not chain(x)[0].requires_grad


def test_rnn():
    torch.manual_seed(2)
    rnn = nn.UnitaryRNN(3, 4, dtype=torch.float64)
    x, h = torch.randn(7, 5, 3, dtype=torch.float64, requires_grad=True), torch.randn(5, 4, dtype=torch.float64, requires_grad=True)

    def on_tape(x, h):
        u = rt.revlinalg.Unitary(torch.eye(4, dtype=x.dtype), rnn.theta)
        for xt in x:
            h = h @ u.T + xt @ rnn.weight.T
        return h

    inputs = [x, h, rnn.theta, rnn.weight]
    for f in (rnn, on_tape):
        g = torch.autograd.grad((f(x, h) ** 3).sum(), inputs)
        if f is on_tape:
            torch.testing.assert_close(g, ours)
        ours = g
    torch.testing.assert_close(rnn(x), on_tape(x, torch.zeros_like(h)))
    rnn(x.detach()).sum().backward()
    assert rnn.theta.grad is not None and x.grad is None


def test_refused():
    x = torch.randn(4, 5, dtype=torch.float64)
    for noise in (torch.nn.Dropout(), torch.nn.BatchNorm1d(4)):
        chain = nn.Chain(nn.Coupling(5, torch.nn.Sequential(mlp(3, 4), noise.double())))
        with pytest.raises(revnum.ArgumentError, match=type(noise).__name__):
            chain(x)
        assert chain.eval()(x)[0].shape == x.shape
    with pytest.raises(revnum.ArgumentError, match="rows of 3, want 4"):
        nn.Coupling(5, mlp(3, 3))(x)
    with pytest.raises(revnum.ArgumentError, match="even number"):
        nn.Residual(mlp(2, 2), mlp(2, 2))(x)
    with pytest.raises(revnum.ArgumentError, match="steps×batch×3"):
        nn.UnitaryRNN(3, 4)(torch.zeros(5, 2))
    z = x.clone().requires_grad_()
    g = torch.autograd.grad((nn.Chain(*blocks())(z)[0] ** 2).sum(), z, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()
