"""A normalizing flow of 32 coupling layers, trained without a tape.

The flow takes points to rows z that are to be normal. Its density at a point is that of z times
|det J|, and training maximises it. revnum.torch.nn.Chain keeps z alone, and inverts the layers.

    python realnvp.py           # trains on two moons
    python realnvp.py memory    # peak memory and time of a gradient, beside PyTorch's tape
"""

import math
import subprocess
import sys
import time

import torch

from revnum.torch import nn
from unitary_rnn import growth


def mlp(inputs, outputs, hidden):
    last = torch.nn.Linear(hidden, outputs)
    torch.nn.init.zeros_(last.weight)  # the layer begins as the identity
    torch.nn.init.zeros_(last.bias)
    return torch.nn.Sequential(torch.nn.Linear(inputs, hidden), torch.nn.SiLU(), torch.nn.Linear(hidden, hidden), torch.nn.SiLU(), last)


def flow(layers, hidden):
    return nn.Chain(*[nn.Coupling(2, mlp(1, 2, hidden), swap=i % 2) for i in range(layers)])


def moons(n, generator):
    """Points on two half circles, with noise."""
    t, second = math.pi * torch.rand(n, generator=generator), torch.randint(2, (n,), generator=generator).bool()
    x = torch.where(second, 1 - torch.cos(t), torch.cos(t))
    y = torch.where(second, 0.5 - torch.sin(t), torch.sin(t))
    return torch.stack([x - 0.5, y - 0.25], 1) + 0.1 * torch.randn(n, 2, generator=generator)


def loss(f, x):
    """The mean of -log density."""
    z, logdet = f(x)
    return (0.5 * (z**2).sum(1) - logdet).mean() + math.log(2 * math.pi)


def train(layers=32, hidden=32, batch=256, iterations=300):
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    f = flow(layers, hidden)
    optimizer = torch.optim.Adam(f.parameters(), lr=2e-3)
    start = time.time()
    for i in range(iterations):
        optimizer.zero_grad()
        l = loss(f, moons(batch, generator))
        l.backward()
        optimizer.step()
        if i == 0:
            first = l.item()
    with torch.no_grad():
        last = loss(f, moons(4096, generator)).item()
    print(f"-log density {first:.3f} -> {last:.3f} in {iterations} iterations, {(time.time() - start) / iterations * 1e3:.0f} ms each")
    return first, last


def peak(kind, layers):
    """Prints the memory and the time of one gradient."""
    torch.manual_seed(1)
    chain = flow(layers, 128)
    f = chain if kind == "revnum" else lambda x: nn._chain(chain.blocks, x)
    x = moons(4096, torch.Generator().manual_seed(1))
    loss(f, x[:10]).backward()
    start = time.time()
    print(growth(lambda: loss(f, x).backward()), time.time() - start)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["peak"]:
        peak(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["memory"]:
        for kind in ("revnum", "tape"):
            rows = [list(map(float, subprocess.run([sys.executable, __file__, "peak", kind, str(n)], capture_output=True, text=True, check=True).stdout.split())) for n in (8, 32, 128)]
            print(kind, *(f"{n} layers: {m:.0f} MiB, {s:.2f} s;" for n, (m, s) in zip((8, 32, 128), rows)))
    else:
        train()
