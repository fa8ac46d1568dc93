"""Writes random_streams.txt: what PyTorch's CPU generator gives, for argand/kernels/cpu/random_test.cpp.

    python tests/data/make_random_streams.py > tests/data/random_streams.txt      (needs PyTorch, one CPU)

A line `seed N` starts a stream; each further line is one call that goes on with it:

    OP DTYPE N ARGUMENTS = VALUES [sha256 DIGEST]

VALUES are the elements' bytes as one hexadecimal number each; where there are more than 32 elements, and the values do
not depend on the C library's functions, the first 8 and the SHA-256 of all bytes.  `state` gives the SHA-256 of
torch.get_rng_state().
"""
import hashlib
import math
import platform

import torch

NAMES = {"f32": torch.float, "f64": torch.double, "f16": torch.half, "bf16": torch.bfloat16, "i8": torch.int8,
         "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool}
FLOATS = ("f32", "f64", "f16", "bf16")
WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def depends_on_libm(op, dtype, n):
    return op in ("exponential", "geometric", "log_normal", "cauchy", "normal_serial") or (
        op == "normal" and (dtype == "f64" or n < 16))


def row(op, dtype, n, arguments, tensor):
    size = tensor.element_size()
    words = [w & (256 ** size - 1) for w in tensor.contiguous().view(WORDS[size]).tolist()]
    arguments = [a.hex() if isinstance(a, float) else str(a) for a in arguments]
    exact = not depends_on_libm(op, dtype, n)
    shown = words[:8] if exact and len(words) > 32 else words
    line = " ".join([op, dtype, str(n), *arguments, "=", *(f"{w:x}" for w in shown)])
    if len(shown) < len(words):
        data = b"".join(w.to_bytes(size, "little") for w in words)
        line += " sha256 " + hashlib.sha256(data).hexdigest()
    print(line)


def seed(n):
    print("seed", n)
    torch.manual_seed(n)


def state():
    print("state", hashlib.sha256(bytes(torch.get_rng_state().tolist())).hexdigest())


def new(dtype, n):
    return torch.empty(n, dtype=NAMES[dtype])


def uniform(dtype, n, low=0.0, high=1.0):
    row("uniform", dtype, n, [low, high], new(dtype, n).uniform_(low, high))


def normal(dtype, n, mean=0.0, std=1.0):
    row("normal", dtype, n, [mean, std], new(dtype, n).normal_(mean, std))


def normal_serial(dtype, n, mean=0.0, std=1.0):
    row("normal_serial", dtype, n, [mean, std], torch.empty(n, 2, dtype=NAMES[dtype])[:, 0].normal_(mean, std))


def random_from_to(dtype, n, low, high):
    """`high` is exclusive; None: up to the largest value."""
    values = new(dtype, n).random_(low, high)
    end = torch.iinfo(NAMES[dtype]).max + 1 if high is None else high
    row("random_from_to", dtype, n, [low, (end - low) % 2 ** 64], values)


def random_full(dtype, n):
    row("random_full", dtype, n, [], new(dtype, n).random_())


def bernoulli(dtype, n, p):
    row("bernoulli", dtype, n, [p], new(dtype, n).bernoulli_(p))


def bernoulli_each(dtype, p_dtype, n):
    """The probabilities are i / n."""
    p = (torch.arange(n, dtype=torch.double) / n).to(NAMES[p_dtype])
    row("bernoulli_each_" + p_dtype, dtype, n, [], new(dtype, n).bernoulli_(p))


def randperm(dtype, n):
    row("randperm", dtype, n, [], torch.randperm(n, dtype=NAMES[dtype]))


def distribution(op, dtype, n, *arguments):
    row(op, dtype, n, arguments, getattr(new(dtype, n), op + "_")(*arguments))


def multinomial(dtype, rows, categories, k, replacement):
    """Weight i of all is (i % 7) / 4."""
    w = (torch.arange(rows * categories) % 7 / 4).to(NAMES[dtype]).reshape(rows, categories)
    samples = torch.multinomial(w, k, replacement)
    row("multinomial_" + dtype, "i64", rows * k, [rows, categories, k, int(replacement)], samples.flatten())


def sizes_and_seeds():
    for s in (0, 1, 42, 2 ** 40):
        for dtype in ("f32", "f64"):
            for n in (1, 5, 15, 16, 17, 100, 1000):
                for draw in (torch.rand, torch.randn):
                    if draw is torch.randn and dtype == "f64" and n > 100 and s != 42:
                        continue
                    seed(s)
                    op = "uniform" if draw is torch.rand else "normal"
                    row(op, dtype, n, [0.0, 1.0], draw(n, dtype=NAMES[dtype]))


def every_dtype():
    seed(3)
    for dtype in FLOATS:
        uniform(dtype, 3000, -0.37, 1.21)
        uniform(dtype, 200000, 1000.0, 1001.0)  # rounds to the upper bound now and then
        if dtype != "f64":
            normal(dtype, 3001, 0.3, 1.7)
        random_full(dtype, 40)
        random_from_to(dtype, 40, -7, 93)
    state()
    for dtype in ("i8", "i16", "i32", "i64", "u8", "bool"):
        random_full(dtype, 100)
        random_from_to(dtype, 100, 0, 2 if dtype == "bool" else 100)
    for low, high in ((0, 1), (5, 2 ** 28 + 4), (5, 2 ** 28 + 5), (0, 2 ** 32), (-3, 2 ** 33), (-2 ** 63, 2 ** 63 - 1),
                      (-2 ** 63, None), (-5, None)):
        random_from_to("i64", 100, low, high)
    random_from_to("i32", 100, -2 ** 31, None)
    state()
    for dtype in NAMES:
        bernoulli(dtype, 100, 0.3)
        for p_dtype in FLOATS:
            bernoulli_each(dtype, p_dtype, 100)
    for p in (0.0, 1.0, 0.5, 1e-3):
        bernoulli("f32", 5000, p)
    state()
    for dtype in NAMES:
        if dtype != "bool":
            randperm(dtype, 100)
    for n in (0, 1, 10, 1000, 30000):
        randperm("i64", n)
    state()


def other_distributions():
    seed(6)
    for dtype in FLOATS:
        distribution("exponential", dtype, 100, 1.0)
        distribution("exponential", dtype, 20, 0.3)
        distribution("cauchy", dtype, 50, 0.0, 1.0)
        distribution("cauchy", dtype, 20, -0.3, 2.0)
        distribution("log_normal", dtype, 51, 1.0, 2.0)
        distribution("log_normal", dtype, 20, -0.3, 0.5)
        distribution("geometric", dtype, 50, 0.1)
        for k in (1, 2, 17):
            multinomial(dtype, 3, 30, k, True)
            multinomial(dtype, 3, 24, k, False)
        multinomial(dtype, 1, 2000, 20, False)
        multinomial(dtype, 2, 500, 400, True)
    for dtype in ("i8", "i16", "i32", "i64", "u8"):
        distribution("geometric", dtype, 50, 0.3)


def calls_in_turn():
    """The engine's position and the kept second sample carry over from call to call."""
    seed(11)
    normal("f32", 3)
    normal("f32", 20)
    uniform("f32", 2)
    normal("f32", 1)
    random_from_to("i64", 5, 0, 10)
    normal("f64", 1)
    randperm("i64", 7)
    normal("bf16", 5, 1.0, 2.0)
    normal_serial("f32", 21, 0.5, 2.0)
    bernoulli("f32", 9, 0.6)
    normal("f64", 17, -2.0, 0.5)
    normal("f16", 33)
    uniform("f64", 700)
    normal("f32", 2)
    state()


def layers():
    """What nn.Linear(10, 4) and nn.Conv2d(3, 16, 3) hold after their constructors."""
    for layer, weights in ((lambda: torch.nn.Linear(10, 4), 40), (lambda: torch.nn.Conv2d(3, 16, 3), 16 * 27)):
        seed(42)
        module = layer()
        fan_in = module.weight[0].numel()
        outputs = module.bias.numel()
        bound = math.sqrt(3.0) * (math.sqrt(2.0 / (1.0 + 5.0)) / math.sqrt(fan_in))
        row("uniform", "f32", weights, [-bound, bound], module.weight.detach().flatten())
        bound = 1.0 / math.sqrt(fan_in)
        row("uniform", "f32", outputs, [-bound, bound], module.bias.detach())
        state()
    seed(42)
    mask = torch.nn.functional.dropout(torch.ones(1000), 0.25) != 0
    row("bernoulli", "f32", 1000, [0.75], mask.float())


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(f"# Made by make_random_streams.py with PyTorch {torch.__version__} on {platform.machine()}, "
          f"{torch.backends.cpu.get_cpu_capability()}, {' '.join(platform.libc_ver())}")
    sizes_and_seeds()
    every_dtype()
    other_distributions()
    calls_in_turn()
    layers()
