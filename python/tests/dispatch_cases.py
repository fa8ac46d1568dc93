"""Programs under a TorchDispatchMode that logs; test_python_dispatch.py compares what Argand's mode and PyTorch's saw.

Run with PyTorch's Python, this file writes what PyTorch's saw to recorded/dispatch.json.
"""
import importlib
import json
import os

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded", "dispatch.json")


def part(torch, name):
    """A module of the library."""
    return importlib.import_module(f"{torch.__name__}.{name}")


def text(torch, value):
    """A value of a call: of tensors their sizes."""
    if isinstance(value, torch.Tensor):
        return f"T{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text(torch, v) for v in value) + "]"
    return str(value).replace("argand.", "torch.")


def logging_mode(torch, log, change=None):
    """A mode that writes each call into `log`; change(func, result) may replace the result."""
    class Logging(part(torch, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            given = [text(torch, a) for a in args] + [f"{k}={text(torch, v)}" for k, v in kwargs.items()]
            log.append(f"{func}({', '.join(given)})")
            result = func(*args, **kwargs)
            return result if change is None else change(func, result)
    return Logging()


# Each is called with the library and a seeded tensor of 2 by 3, within the mode.
def forward(torch, x):
    (x * 2 + 1 - x).relu().exp().sum()
    x.mul(x).sum(0, keepdim=True), x.sum((0, 1)), x.sum(dtype=torch.float64), x.mean(), x.max(), x.max(1), x.var(), x.any(), x.all(0)
    torch.bmm(x[None], x[None].transpose(1, 2)), torch.addcmul(x, x, x, value=2), torch.add(x, x, alpha=2), 2 - x, x / 2, x // 2, x % 2


def numbers(torch, x):
    x == 2, x != x, x < 0, x & 1 if not x.is_floating_point() else -x, x.pow(2), x ** 0.5, 2 ** x, x.pow(x), x.clamp(0, 1), x.clamp(min=0)
    x.masked_fill(x > 0, 1.0), torch.where(x > 0, x, x), x.lerp(x, 0.5), x.sort(), x.topk(1), x.cumsum(0), x.argmax(), x.logsumexp(0)


def in_place(torch, x):
    y = x.detach().clone()
    y.add_(1).mul_(2).div_(y).exp_()
    y -= x
    y.zero_(), y.fill_(2), y.copy_(x), y.normal_(), y.uniform_(0, 1)
    y.clamp_(0, 1)


def views(torch, x):
    y = x.detach()
    y[0], y[0, 1], y[1:], y.view(3, 2), y.t(), y.T, y.permute(1, 0), y.expand(4, 2, 3), y.unsqueeze(0), y.squeeze(), y.reshape(6), y.unbind()
    y.chunk(2), y.split(1), y.flatten(), y.select(0, 1), y.narrow(1, 0, 2), y.diagonal(), y[torch.tensor([0])], y[y > 0]


def out(torch, x):
    y = torch.empty(2, 3)
    torch.add(x, x, out=y), torch.mul(x, 2, out=y), torch.exp(x, out=y), torch.mm(x, x.t(), out=torch.empty(2, 2))


def factories(torch, x):
    torch.ones(2), torch.zeros(2, 2, dtype=torch.float64), torch.randn(2), torch.rand(2, 3), torch.empty(3), torch.full((2,), 1.0)
    torch.arange(3), torch.arange(0, 3, 2), torch.linspace(0, 1, 3), torch.eye(2), torch.randint(3, (2,)), torch.randperm(3)
    torch.ones_like(x), torch.zeros_like(x, dtype=torch.float64), torch.empty_like(x), torch.full_like(x, 2), torch.rand_like(x)
    x.new_zeros(2), x.new_full((2,), 1), x.new_empty(2), torch.tensor([1.0, 2]), torch.as_tensor([1]), torch.tensor(3)


def copies(torch, x):
    x.clone(), x.to(torch.float64), x.double(), x.float(), x.int(), x.contiguous(), x.bool(), torch.cat([x, x]), torch.stack([x, x]), x.repeat(2, 1)
    x.roll(1), torch.flip(x, [0]), x.tril(), torch.nonzero(x)


def looks(torch, x):
    x[0, 0].item(), bool(x[0, 0] > 0), float(x.sum()), torch.equal(x, x)


def functional(torch, x):
    F = torch.nn.functional
    F.linear(x, torch.ones(4, 3), torch.ones(4)), F.gelu(x), F.softmax(x, -1), F.log_softmax(x, -1), F.embedding(torch.tensor([0]), x)
    F.mse_loss(x, x), F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)), F.silu(x), F.binary_cross_entropy_with_logits(x, x)


PROGRAMS = [forward, numbers, in_place, views, out, factories, copies, looks, functional]


def backward(torch, x):
    """The ops of a backward pass, but for those by which results are kept: PyTorch's detach(), and clone() of a gradient
    that somebody else may hold."""
    x = x.detach().requires_grad_()
    (x.exp() * x.sin()).sum().backward()


def calls(torch):
    """{program: what the mode saw}"""
    found = {}
    for program in PROGRAMS:
        log = []
        torch.manual_seed(0)
        x = torch.randn(2, 3)
        with logging_mode(torch, log):
            program(torch, x)
        found[program.__name__] = log
    log = []
    x = torch.ones(2, 3)
    with logging_mode(torch, log):
        backward(torch, x)
    # Sums of gradients, and their places among the others, are the engine's.
    found["backward"] = sorted(c for c in log if not c.startswith(("aten.detach", "aten.clone", "aten.ones_like", "aten.full_like")))
    return found


if __name__ == "__main__":
    import torch
    with open(RECORDED, "w") as file:
        file.write("{" + f'"versions": "torch {torch.__version__.split("+")[0]}"')
        for name, log in calls(torch).items():
            file.write(",\n" + json.dumps(name) + ": [\n" + ",\n".join(json.dumps(call) for call in log) + "]")
        file.write("}\n")
