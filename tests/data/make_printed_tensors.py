"""Writes printed_tensors.txt: tensors as PyTorch prints them, for argand/ops/print/print_test.cpp.

    python tests/data/make_printed_tensors.py > tests/data/printed_tensors.txt     (needs PyTorch, a C++ compiler, ninja)

A case is a line that describes a tensor, and its texts:

    tensor DTYPE SIZES STEP ELEMENT... [WORD=VALUE | WORD]...
    p ...                        lines of repr(tensor)
    c ...                        lines of `std::ostream << tensor`, if the tensor is not large

ELEMENT is the bytes of one element in hexadecimal.  Element i of the tensor is number i * STEP modulo their count.  The
words with values are options of torch.set_printoptions (linewidth is given to LibTorch's print() too); the others are
`requires_grad`, `mul` (the result of a multiplication by 1, with a gradient), `meta` (moved to that device) and
`default64` (printed while float64 is the default dtype).
"""
import itertools
import math
import random
import struct

import torch
from torch.utils.cpp_extension import load_inline

FORMATS = {"float32": "f", "float64": "d", "float16": "e", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
           "uint8": "B", "bool": "?"}
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
FLOATS = ("float32", "float64", "float16", "bfloat16")
NAN, INF = math.nan, math.inf
SPECIAL = (NAN, -NAN, INF, -INF, 0.0, -0.0)
LARGE = 300  # elements: above, LibTorch's text would fill pages
NARROW = 20  # characters: LibTorch's print() never ends where not one number fits into a line

libtorch = load_inline("printed_tensors", functions=["text"], cpp_sources="""
std::string text(const at::Tensor& t, int64_t linesize) {
  std::ostringstream out;
  at::print(out, t, linesize);
  return out.str();
}""")


def packed(dtype, value):
    if dtype == "complex64":
        return struct.pack("<ff", value.real, value.imag)
    if dtype == "complex128":
        return struct.pack("<dd", value.real, value.imag)
    if dtype == "bfloat16":
        return struct.pack("<f", value)[2:]
    return struct.pack("<" + FORMATS[dtype], value)


def tensor_of(dtype, sizes, step, table):
    count = math.prod(sizes)
    data = b"".join(table[i * step % len(table)] for i in range(count))
    return torch.frombuffer(bytearray(data), dtype=getattr(torch, dtype)).reshape(sizes) if count else \
        torch.empty(sizes, dtype=getattr(torch, dtype))


def show(dtype, sizes, values, step=1, words=(), **options):
    table = [packed(dtype, v) for v in values]
    tensor = tensor_of(dtype, sizes, step, table)
    if "requires_grad" in words or "mul" in words:
        tensor.requires_grad_()
    printed = tensor * 1 if "mul" in words else tensor.to("meta") if "meta" in words else tensor
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**options)
    torch.set_default_dtype(torch.float64 if "default64" in words else torch.float32)
    python = repr(printed)
    torch.set_default_dtype(torch.float32)
    print("tensor", dtype, ",".join(map(str, sizes)) or "-", step, *(e.hex() for e in table),
          *(f"{k}={v:d}" for k, v in options.items()), *words)
    for line in python.split("\n"):
        print("p " + line)
    linesize = options.get("linewidth", 80)
    if tensor.numel() <= LARGE and linesize >= NARROW and "meta" not in words:
        for line in libtorch.text(tensor, linesize).split("\n"):
            print("c " + line)


# ---- values

def limit(dtype):
    return {"float16": 4.5, "bfloat16": 10, "float32": 10, "float64": 10}[dtype]


def spread(rng, dtype, n):
    """`n` values with magnitudes between two random powers of ten."""
    top = limit(dtype)
    low, high = sorted(rng.uniform(-top, top) for _ in range(2))
    if rng.random() < 0.7:
        high = min(high, low + rng.choice((0.1, 1, 3, 5)))
    return [rng.choice((1, 1, -1)) * 10 ** rng.uniform(low, high) for _ in range(n)]


def near_one(rng, dtype, n):
    return [rng.gauss(0, rng.choice((1, 1, 30))) for _ in range(n)]


def whole(rng, dtype, n):
    top = 10 ** rng.uniform(0, limit(dtype))
    return [float(math.floor(rng.uniform(-top if rng.random() < 0.5 else 0, top))) for _ in range(n)]


def with_special(rng, values, share):
    return [rng.choice(SPECIAL) if rng.random() < share else v for v in values]


def floats(rng, dtype, n):
    values = rng.choice((spread, near_one, whole))(rng, dtype, n)
    return with_special(rng, values, rng.choice((0, 0, 0.1, 0.5, 1)))


def integers(rng, dtype, n):
    if dtype == "uint8":
        return [rng.randrange(256) for _ in range(n)]
    bits = BITS[dtype]
    top = 2 ** rng.randrange(1, bits)
    values = [rng.randrange(-top if rng.random() < 0.5 else 0, top) for _ in range(n)]
    return [max(-2 ** (bits - 1), min(2 ** (bits - 1) - 1, v)) for v in values]


def values_of(rng, dtype, n):
    if dtype in FLOATS:
        return floats(rng, dtype, n)
    if dtype.startswith("complex"):
        return [complex(*c) for c in zip(floats(rng, "float32", n), floats(rng, "float32", n))]
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(n)]
    return integers(rng, dtype, n)


ALL = (*FLOATS, "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "bool")
SMALL_SHAPES = ((), (), (1,), (3,), (7,), (2, 3), (4, 1), (1, 5), (2, 2, 3), (2, 1, 2, 2))
WIDE_SHAPES = ((25,), (2, 24), (2, 2, 13), (3, 17))
EMPTY_SHAPES = ((0,), (0, 3), (2, 0), (2, 0, 3), (1, 1, 0, 1))
CUT_SHAPES = ((1001,), (40, 26), (7, 150), (6, 170), (1100, 1), (11, 10, 10), (2, 3, 200), (8, 2, 70), (3, 3, 3, 40))


def cases():
    rng = random.Random(0)
    for dtype in ALL:
        for shape in SMALL_SHAPES * (3 if dtype in FLOATS[:2] else 1):
            show(dtype, shape, values_of(rng, dtype, math.prod(shape)))
        for shape in WIDE_SHAPES:
            show(dtype, shape, values_of(rng, dtype, rng.choice((5, 11))), step=3)
        for shape in EMPTY_SHAPES:
            show(dtype, shape, [])
        show(dtype, rng.choice(CUT_SHAPES), values_of(rng, dtype, 13), step=rng.choice((1, 5, 9)))
    for shape, dtype in itertools.product(CUT_SHAPES, ("float32", "int64")):
        show(dtype, shape, values_of(rng, dtype, 11), step=rng.choice((1, 4, 7)))

    edges = (1e8, 99999999.0, 1e-4, 9.99e-5, 1000.0, 1000.5, 1.0, 0.5, 1e5, 99999.5, 9.99995, 99999.99996, 1e9, 1e10,
             123456789.0, 999999.0, 1000000.0, 1e15, 1e16, 1e-5, 5e-324, 1.7976931348623157e308, 1e-100, 0.1, 1 / 3)
    for v in (*edges, *SPECIAL):
        show("float64", (), [v])
        show("float64", (2,), [v, -v])
        show("float64", (1, 3), [v, 1.0, 0.0])
    for pair in itertools.combinations(edges, 2):
        if rng.random() < 0.25:
            show("float64", (2,), pair)
    for v in (0.1, 1e-5, 16777216.0, 3.4028234663852886e38, 1e-45):
        show("float32", (), [v])
        show("float32", (3,), [v, -v, 0.0])

    for options in ({"precision": 2}, {"precision": 0}, {"precision": 9}, {"linewidth": 30}, {"linewidth": 5},
                    {"threshold": 5}, {"threshold": 5, "edgeitems": 1}, {"threshold": 0, "edgeitems": 2},
                    {"sci_mode": True}, {"sci_mode": False}, {"precision": 3, "sci_mode": True, "linewidth": 40}):
        for dtype in ("float32", "float64", "complex64", "int32"):
            for shape in ((), (9,), (4, 6)):
                show(dtype, shape, values_of(rng, dtype, 7), step=2, **options)
    for words in (["requires_grad"], ["mul"], ["meta"], ["default64"], ["mul", "default64"]):
        for dtype in ("float32", "float64", "complex64", "bfloat16"):
            for shape in ((), (2,), (6,), (0,), (0, 2), (3, 4), (17,)):
                show(dtype, shape, near_or(rng, dtype), words=words)
    for dtype in ("int64", "int32", "bool"):
        for shape in ((2,), (0,), (2, 0)):
            show(dtype, shape, values_of(rng, dtype, 5), words=["meta"])
            show(dtype, shape, values_of(rng, dtype, 5), words=["default64"])


def near_or(rng, dtype):
    """Finite values, so that a product with 1 is the same bits."""
    values = near_one(rng, dtype, 10)
    return [complex(a, b) for a, b in zip(values[:5], values[5:])] if dtype.startswith("complex") else values[:5]


print(f"# Made by make_printed_tensors.py with PyTorch {torch.__version__}")
cases()
