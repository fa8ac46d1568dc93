#!/usr/bin/env python3
"""TorchScript archives that PyTorch writes, run by Argand: outputs and gradients are those of PyTorch.  Programs and layers are then trained
by a step, saved and frozen by Argand, and run by PyTorch.

    torchscript.py [--only NAME] [--time]

Programs of every feature of the language, scripted and traced, and networks of torchvision where it is installed.  Prints a line for
each, and last `N passed, N failed`.  --time measures a step of the interpreter beside torch.jit, on one thread.  Without PyTorch nothing
is done, with exit status 77.
"""
import argparse
import io
import math
import os
import sys
import time
import traceback
import warnings
from typing import Dict, List, NamedTuple, Optional, Tuple

import any_processor  # noqa: F401  before torch

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as error:
    other = os.environ.pop("ARGAND_TORCH_PYTHON", None)  # popped: tried once
    if other:
        os.execv(other, [other, *sys.argv])
    print(f"torchscript: skipped, because this Python has no torch ({error}; ARGAND_TORCH_PYTHON may name one that has)")
    sys.exit(77)
import argand

warnings.filterwarnings("ignore")
TOLERANCE = 1e-4  # relative to the largest element
CASES = {}


def normal(*sizes):
    return lambda: torch.randn(*sizes)


def scripted(cls):
    """A case whose module is the class, scripted."""
    return lambda: torch.jit.script(cls())


# ---- the language

class Control(nn.Module):
    def forward(self, x, n: int):
        total = torch.zeros_like(x)
        for i in range(n):
            if i % 2 == 0:
                total = total + x * i
            elif i == 3:
                continue
            else:
                total = total - x
        k = 0
        while k < n and float(total.sum()) < 1e9:
            total = total * 1.5
            k += 1
            if k > 3:
                break
        for i in range(n, 0, -2):
            total = total + i
        return total, k


class Containers(nn.Module):
    def forward(self, x, names: List[str], sizes: Dict[str, int]):
        parts: List[torch.Tensor] = []
        for name in names:
            if name in sizes:
                parts.append(x * sizes[name])
        out: Dict[str, torch.Tensor] = {}
        for i, part in enumerate(parts):
            out["part" + str(i)] = part
        for name, value in zip(names, parts):
            out[name] = value.sum()
        numbers = [i * i for i in range(5)]
        numbers.sort(reverse=True)
        numbers.insert(1, 77)
        last = numbers.pop()
        nested = [[1, 2], [3]]
        nested[0].append(4)
        text = "{} {}: {}".format(names[0].upper(), last, numbers)
        flags = [True, False]
        return out, numbers, nested, text, flags, (len(parts), names[::-1], list(sizes.keys()), sum(numbers), max(numbers))


class Point(NamedTuple):
    x: torch.Tensor
    n: int


class Optionals(nn.Module):
    def forward(self, x, y: Optional[torch.Tensor] = None, scale: Optional[float] = None) -> Point:
        if y is None:
            y = torch.ones_like(x)
        s = scale if scale is not None else 2.0
        p = Point(x * y * s, int(x.numel()))
        assert p.n > 0, "empty"
        if torch.jit.is_scripting():
            return Point(p.x + 1, p.n + 1)
        return p


@torch.jit.script
class Accumulator:
    def __init__(self, start: float):
        self.total = start
        self.seen: List[float] = []

    def add(self, v: float) -> float:
        self.total += v
        self.seen.append(v)
        return self.total


class Classes(nn.Module):
    def forward(self, x):
        a = Accumulator(1.0)
        for i in range(3):
            a.add(float(x[i]))
        return a.total, a.seen


class Numbers(nn.Module):
    def forward(self, a: int, b: int, f: float, s: str) -> Tuple[List[int], List[float], List[bool], List[str]]:
        ints = [a // b, a % b, -a // b, -a % b, a & b, a | b, a ^ b, a << 2, a >> 1, abs(-a), min(a, b), max(a, b), int(f), len(s),
                math.floor(f), math.ceil(f), math.gcd(a, b), int("12"), ord("x"), s.find("l"), s.count("l")]
        floats = [a / b, f // 2, f % 2.5, -f % 2.5, f ** 2, float(a), math.sqrt(f), math.exp(f), math.log(f), abs(-f), min(f, 2.0), math.pi, round(a), round(f),
                  float("1e3"), math.fmod(f, 2.0)]
        bools = [a < b, a == b, f >= 2.0, not a, s == "hello", "ell" in s, s.startswith("he"), s.isdigit(), a != 0 and b != 0, bool(a)]
        texts = [s.upper(), s.replace("l", "L"), s[1:3], s[-1], s + "!", "-".join(s.split("l")), s.strip("h"), str(a), "%d %s" % (a, s), hex(a), chr(65)]
        return ints, floats, bools, texts


class Slices(nn.Module):
    def forward(self, x):
        y = x[1:, ::2]
        y = y + x[0, 0]
        z = x[..., -1]
        m = x[x > 0]
        x2 = x.clone()
        x2[0] = 5.0
        x2[:, 1] += 1
        w = x2[None, :, [0, 2]]
        return y, z, m, x2, w, x.shape, x.size(0), x.dim(), x.dtype == torch.float32, x.device


class Ops(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        values, indices = torch.max(x, dim=1)
        u, v = torch.topk(x, 2)[0].unbind(1)
        c = torch.cat([a, b], 1).view(-1).contiguous().reshape(x.size(0), -1)
        d = torch.stack([a.mean(), b.std(), x.norm(), x.var(0).sum()])
        e = torch.where(x > 0, x, torch.zeros([], dtype=x.dtype))
        f = torch.einsum("ij,kj->ik", [x, x])
        g = F.softmax(x, dim=-1) + F.log_softmax(x, dim=1) + F.gelu(x) + F.hardswish(x) + F.leaky_relu(x, 0.1)
        h = torch.arange(3, dtype=torch.float32) + torch.linspace(0, 1, 3) + torch.full([3], 2.0)
        i = torch.tensor([[1, 2], [3, 4]], dtype=torch.int64).float().masked_fill(torch.tensor([True, False]), 9.0)
        j = x.t() @ x + x.transpose(0, 1).matmul(x) + torch.clamp(x.t() @ x, min=0.0, max=1.0)
        k = x.to(torch.float64).to(x.dtype).type_as(x)
        n = F.interpolate(x[None, None], scale_factor=2.0, mode="bilinear", align_corners=False)
        o = F.pad(x, [1, 1], value=0.5)
        p = x.expand(2, x.size(0), x.size(1)).permute(1, 2, 0).flatten(1)
        q = torch.div(x, 0.3, rounding_mode="floor") + x.floor() + torch.remainder(x, 0.7) + (x // 0.5)
        return values, indices, u, v, c, d, e, f, g, h, i, j, k, n, o, p, q, x.tolist() if False else 0, (x > 0).any(), x.argmax(), x.sum().item()


class ToLists(nn.Module):
    def forward(self, x):
        a: List[List[float]] = x.tolist()
        b: List[int] = x.long()[0].tolist()
        c = float(x.sum())
        return a, b, c, int(x[0, 0]), bool(x[0, 0] > 0)


class NoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            y = self.fc(x)
        return self.fc(x) + y


class Exports(nn.Module):
    scale: float
    last: Optional[torch.Tensor]
    sizes: List[int]

    def __init__(self):
        super().__init__()
        self.scale = 3.0
        self.names = ["a", "b"]
        self.table = {"a": 1}
        self.sizes = []
        self.last = None
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))

    @torch.jit.export
    def remember(self, x):
        self.last = x
        self.count += 1
        self.sizes.append(x.size(0))
        return x * self.scale

    def forward(self, x):
        y = self.remember(x)
        last = self.last
        assert last is not None
        return y + last, self.count, self.sizes, self.names, self.table["a"]


def times_number(t: torch.Tensor, by: int):
    return t * by


class Forks(nn.Module):
    def forward(self, x):
        futures = [torch.jit.fork(times_number, x, i) for i in range(3)]
        total = torch.zeros_like(x)
        for f in futures:
            total = total + torch.jit.wait(f)
        return total


class Recursive(nn.Module):
    """A list of modules, a dict of modules, a shared module, and a constant tensor."""
    def __init__(self):
        super().__init__()
        shared = nn.Linear(4, 4)
        self.layers = nn.ModuleList([shared, nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Dropout(0.0)), shared])
        self.named = nn.ModuleDict({"one": nn.LayerNorm(4), "two": nn.Tanh()})

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        for name, layer in self.named.items():
            if name == "two":
                x = layer(x) * 2
            else:
                x = layer(x)
        return x + torch.tensor([1.0, 2.0, 3.0, 4.0])


class Early(nn.Module):
    def forward(self, x, stop: bool):
        if stop:
            return x
        y = x * 2
        for i in range(3):
            if float(y.sum()) > 100:
                return y
            y = y * 10
        return y + 1


class Raises(nn.Module):
    def forward(self, x):
        if x.dim() != 2:
            raise ValueError("expected 2 dimensions")
        return x


class LSTMLoop(nn.Module):
    """An LSTM written as a loop over its steps."""
    def __init__(self, inputs=8, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.ih = nn.Linear(inputs, 4 * hidden)
        self.hh = nn.Linear(hidden, 4 * hidden)

    def forward(self, x, state: Optional[Tuple[torch.Tensor, torch.Tensor]] = None):
        steps, batch = x.size(0), x.size(1)
        if state is None:
            h = torch.zeros(batch, self.hidden, dtype=x.dtype, device=x.device)
            c = h
        else:
            h, c = state
        outputs: List[torch.Tensor] = []
        for t in range(steps):
            gates = self.ih(x[t]) + self.hh(h)
            i, f, g, o = gates.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        return torch.stack(outputs), (h, c)


class Detection(nn.Module):
    """What a detector does with its boxes: lists of dicts of tensors, sorting, thresholds."""
    def forward(self, boxes: List[torch.Tensor], scores: List[torch.Tensor], sizes: List[Tuple[int, int]]) -> List[Dict[str, torch.Tensor]]:
        result: List[Dict[str, torch.Tensor]] = []
        for i in range(len(boxes)):
            b, s, (height, width) = boxes[i], scores[i], sizes[i]
            x, y = b[..., 0::2].clamp(min=0, max=width), b[..., 1::2].clamp(min=0, max=height)
            b = torch.stack((x, y), dim=2).reshape(b.shape)
            keep = torch.where(s > 0.3)[0]
            b, s = b[keep], s[keep]
            order = torch.argsort(s, descending=True)
            result.append({"boxes": b[order], "scores": s[order], "area": (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])})
        return result


for cls, inputs in [(Control, (normal(2, 3), lambda: 7)), (Containers, (normal(3), lambda: ["a", "b", "c"], lambda: {"a": 2, "c": 5})),
                    (Optionals, (normal(3),)), (Classes, (normal(3),)), (Numbers, (lambda: 17, lambda: 5, lambda: 7.25, lambda: "hello")),
                    (Slices, (normal(3, 4),)), (Ops, (normal(3, 4),)), (ToLists, (normal(2, 3),)), (NoGrad, (normal(2, 3),)),
                    (Exports, (normal(2, 3),)), (Forks, (normal(3),)), (Recursive, (normal(2, 4),)), (Early, (normal(2, 2), lambda: False)),
                    (Raises, (normal(2, 2),)), (LSTMLoop, (normal(5, 2, 8),)),
                    (Detection, (lambda: [torch.rand(6, 4) * 50, torch.rand(3, 4) * 50], lambda: [torch.rand(6), torch.rand(3)],
                                 lambda: [(30, 40), (20, 25)]))]:
    CASES[cls.__name__] = (scripted(cls), inputs, "forward", True, False)


class State(nn.Module):
    """Attributes of many types, views of one storage, and state that a method changes."""
    names: List[str]
    table: Dict[str, List[int]]
    none: Optional[List[int]]
    pairs: List[Tuple[int, float]]

    def __init__(self):
        super().__init__()
        self.names, self.table, self.none, self.pairs = ["a"], {"k": [1]}, None, [(1, 2.0)]
        self.number, self.place, self.both = 1j, torch.device("cpu"), (1, "x", 0.5)
        self.point = Point(torch.ones(2), 3)
        self.weight = nn.Parameter(torch.randn(3, 4))
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("view", self.weight.data[1:, ::2])
        self.register_buffer("again", self.view)
        self.register_buffer("cache", torch.zeros(4))
        self.register_buffer("seen", torch.zeros(1))
        self.count = 0
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        self.count += 1
        self.cache[0] = float(self.count)
        self.seen.add_(1)
        self.names.append("b")
        y = self.drop(x * self.weight) * self.scale + self.cache
        return (y, self.view * 1, self.again * 1, self.seen * 1, self.names, self.table, self.none, self.pairs, self.number, self.place, self.both,
                self.point[1], self.count)


CASES["State"] = (scripted(State), (normal(3, 4),), "forward", True, False)


# ---- layers, traced and scripted

class Recurrent(nn.Module):
    """A recurrent layer, which has two forward methods and cannot be called by itself once it is scripted."""
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


LAYERS = {
    "conv": lambda: (nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU6(), nn.MaxPool2d(2), nn.ConvTranspose2d(8, 4, 2, 2),
                                   nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 5)), (2, 3, 16, 16)),
    "conv1d": lambda: (nn.Sequential(nn.Conv1d(3, 6, 3, padding="same"), nn.GroupNorm(2, 6), nn.SiLU(), nn.AvgPool1d(2)), (2, 3, 8)),
    "lstm": lambda: (Recurrent(nn.LSTM(5, 7, 2, batch_first=True, bidirectional=True)), (2, 4, 5)),
    "gru": lambda: (Recurrent(nn.GRU(5, 7)), (4, 2, 5)),
    "attention": lambda: (nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (2, 5, 8)),
    "norms": lambda: (nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 6), nn.ELU(), nn.Softplus(), nn.PReLU()), (3, 6)),
}


def layer(name, how, train):
    def make():
        module, sizes = LAYERS[name]()
        module.train(train)
        return torch.jit.script(module) if how == "scripted" else torch.jit.trace(module, torch.randn(*sizes), check_trace=False)
    return make


for name, of in LAYERS.items():
    for how in ("scripted", "traced"):
        for train in (False, True):
            CASES[f"{name}_{how}{'_train' if train else ''}"] = (layer(name, how, train), (normal(*of()[1]),), "forward", True, train)


def network(name, how):
    def make():
        import torchvision
        module = getattr(torchvision.models, name)()
        module.eval()
        return torch.jit.script(module) if how == "scripted" else torch.jit.trace(module, torch.randn(1, 3, 64, 64), check_trace=False)
    return make


NETWORKS = ("swin", "vit", "densenet", "googlenet", "shufflenet", "efficientnet", "squeezenet")  # too slow to run four times
try:
    import torchvision  # noqa: F401
    for name, size in [("resnet18", 64), ("mobilenet_v3_small", 64), ("swin_t", 64), ("vit_b_16", 224), ("densenet121", 64), ("googlenet", 64),
                       ("shufflenet_v2_x0_5", 64), ("efficientnet_b0", 64), ("squeezenet1_0", 64)]:
        CASES[f"{name}_scripted"] = (network(name, "scripted"), (normal(1, 3, size, size),), "forward", name in ("resnet18", "mobilenet_v3_small"),
                                     False)
    CASES["resnet18_traced"] = (network("resnet18", "traced"), (normal(1, 3, 64, 64),), "forward", True, False)
except ImportError:
    print("torchscript: no torchvision, so its networks are left out")


# ---- the comparison

def ours(value):
    """The same value with Argand's tensors."""
    if isinstance(value, torch.Tensor):
        return argand.from_numpy(value.detach().numpy().copy())
    if isinstance(value, list):
        return [ours(v) for v in value]
    if isinstance(value, tuple):
        return tuple(ours(v) for v in value)
    if isinstance(value, dict):
        return {k: ours(v) for k, v in value.items()}
    return value


def differences(got, wanted, path="result"):
    """What differs, as texts."""
    if isinstance(wanted, torch.Tensor):
        if isinstance(got, torch.Tensor):
            got = ours(got)
        if not isinstance(got, argand.Tensor):
            return [f"{path}: {type(got).__name__} instead of a tensor"]
        if str(got.dtype).split(".")[-1] != str(wanted.dtype).split(".")[-1] or tuple(got.shape) != tuple(wanted.shape):
            return [f"{path}: {got.dtype} {tuple(got.shape)} instead of {wanted.dtype} {tuple(wanted.shape)}"]
        if wanted.numel() == 0:
            return []
        a, b = torch.from_numpy(got.detach().numpy()).double(), wanted.detach().double()
        off = ((a - b).abs().nan_to_num(0).max() / b.abs().max().clamp_min(1e-3)).item()
        same_nan = bool((a.isnan() == b.isnan()).all())
        return [] if off <= TOLERANCE and same_nan else [f"{path}: differs by {off:.1e}"]
    if isinstance(wanted, (list, tuple)):
        if isinstance(got, (list, tuple)) != isinstance(wanted, (list, tuple)) or len(got) != len(wanted):
            return [f"{path}: {got!r} instead of {wanted!r}"]
        if hasattr(wanted, "_fields") and getattr(got, "_fields", None) != wanted._fields:
            return [f"{path}: no named tuple"]
        return [d for i, (g, w) in enumerate(zip(got, wanted)) for d in differences(g, w, f"{path}[{i}]")]
    if isinstance(wanted, dict):
        if list(got) != list(wanted):
            return [f"{path}: keys {list(got)} instead of {list(wanted)}"]
        return [d for k in wanted for d in differences(got[k], wanted[k], f"{path}[{k!r}]")]
    if isinstance(wanted, float):
        near = got == wanted or math.isclose(got, wanted, rel_tol=1e-5, abs_tol=1e-6)
        return [] if type(got) is float and near else [f"{path}: {got!r} instead of {wanted!r}"]
    if isinstance(wanted, torch.device):
        return [] if str(got) == str(wanted) else [f"{path}: {got} instead of {wanted}"]
    return [] if type(got) is type(wanted) and got == wanted else [f"{path}: {got!r} instead of {wanted!r}"]


def tensors_in(value):
    if isinstance(value, (torch.Tensor, argand.Tensor)):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from tensors_in(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from tensors_in(v)


def backward(outputs):
    """Backward from the sum of the sines of all outputs that have a gradient; squares of normalized outputs would sum to a constant."""
    terms = [t.sin().sum() for t in tensors_in(outputs) if t.is_floating_point() and t.requires_grad]
    if terms:
        sum(terms[1:], terms[0]).backward()
    return bool(terms)


def run_case(name):
    make, inputs, method, gradients, train = CASES[name]
    torch.manual_seed(1)
    theirs = make()
    arguments = [i() for i in inputs]
    file = io.BytesIO()
    torch.jit.save(theirs, file)
    file.seek(0)
    theirs = torch.jit.load(io.BytesIO(file.getvalue()))  # what is compared starts from the file
    mine = argand.jit.load(file)
    assert list(mine.state_dict()) == list(theirs.state_dict()), "the names of the state differ"
    theirs.train(train), mine.train(train)
    copies = [ours(a) for a in arguments]
    wanted = getattr(theirs, method)(*arguments)
    got = getattr(mine, method)(*copies)
    found = differences(got, wanted)
    if gradients and not found and backward(wanted):
        backward(got)
        for (parameter, w), (_, g) in zip(theirs.named_parameters(), mine.named_parameters()):
            if (w.grad is None) != (g.grad is None):
                found.append(f"gradient of {parameter}: only one library has it")
            elif w.grad is not None:
                found += differences(g.grad, w.grad, f"gradient of {parameter}")
    found += differences([b for _, b in mine.named_buffers()], [b for _, b in theirs.named_buffers()], "buffers")
    if not found and not name.startswith(NETWORKS):
        found += saved_again(mine, arguments, method)
    return found


def bytes_of(module):
    file = io.BytesIO()
    argand.jit.save(module, file)
    file.seek(0)
    return file


def saved_again(mine, arguments, method):
    """What differs when PyTorch runs what Argand saves: the module after a step of training, and what freeze() makes of it."""
    with argand.no_grad():
        for p in mine.parameters():
            if p.grad is not None:
                p.sub_(0.01 * p.grad)
    mine.eval()
    theirs = torch.jit.load(bytes_of(mine))
    found = differences(mine.state_dict(), theirs.state_dict(), "the saved state")
    copies = [ours(a) for a in arguments]
    frozen = argand.jit.freeze(mine, [] if method == "forward" else [method])  # both start from the state that was saved
    theirs_frozen = torch.jit.load(bytes_of(frozen))
    found += [f"a frozen module has the parameter {n}" for n, _ in frozen.named_parameters()]
    again = argand.jit.load(bytes_of(mine))
    for call in ("first", "second"):
        wanted = getattr(theirs, method)(*arguments)
        for who, module, given in (("the saved frozen module", theirs_frozen, arguments), ("the module that was saved", again, copies),
                                   ("the frozen module", frozen, copies)):
            found += differences(getattr(module, method)(*given), wanted, f"{call} call of {who}")
    return found


def times():
    """Milliseconds of a call beside torch.jit, and of a step without much work."""
    torch.set_num_threads(1)
    argand.set_num_threads(1)
    cases = [("LSTM loop, 50 steps of 1 x 8", lambda: torch.jit.script(LSTMLoop()), torch.randn(50, 1, 8))]
    if "resnet18_scripted" in CASES:
        cases.append(("ResNet-18, 1 x 3 x 64 x 64", network("resnet18", "scripted"), torch.randn(1, 3, 64, 64)))
    for name, make, x in cases:
        file = io.BytesIO()
        torch.jit.save(make().eval(), file)
        file.seek(0)
        mine, theirs = argand.jit.load(file), torch.jit.load(io.BytesIO(file.getvalue()))
        y = argand.from_numpy(x.numpy())

        def best(module, value, guard):
            with guard():
                for _ in range(10):
                    module(value)
                took = []
                for _ in range(7):
                    start = time.perf_counter()
                    for _ in range(5):
                        module(value)
                    took.append((time.perf_counter() - start) / 5)
            return 1e3 * min(took)
        print(f"{name}: argand {best(mine, y, argand.no_grad):.3f} ms, torch.jit {best(theirs, x, torch.no_grad):.3f} ms")

    class Count(nn.Module):
        def forward(self, n: int):
            total = 0
            for i in range(n):
                if i % 3 == 0:
                    total += i
                else:
                    total -= 1
            return total
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Count()), file)
    file.seek(0)
    mine, theirs = argand.jit.load(file), torch.jit.load(io.BytesIO(file.getvalue()))
    for who, module in (("argand", mine), ("torch.jit", theirs)):
        module(1000)
        start = time.perf_counter()
        module(100_000)
        print(f"a round of a loop over numbers: {who} {1e9 * (time.perf_counter() - start) / 100_000:.0f} ns")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", help="cases whose names have this text")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.time:
        return times()
    passed = failed = 0
    for name in CASES:
        if options.only and options.only not in name:
            continue
        try:
            found = run_case(name)
        except Exception as error:  # noqa: BLE001  any error is a finding
            found = [f"{type(error).__name__}: {str(error)[:600]}"]
            if options.only:
                traceback.print_exc()
        passed, failed = passed + (not found), failed + bool(found)
        print(f"{name}: {'ok' if not found else '; '.join(found[:3])}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
