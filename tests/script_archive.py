#!/usr/bin/env python3
"""Writes a small TorchScript archive, for tests that have no PyTorch: `script_archive.py FILE`.

Its module has a method for each kind of value that a program takes and gives, and methods whose calls fail.
"""
import struct
import sys
import zipfile

CODE = '''\
class Layer(Module):
  __parameters__ = ["bias", ]
  __buffers__ = []
  bias : Tensor
  training : bool
  def forward(self: __torch__.Layer,
    x: Tensor) -> Tensor:
    if self.training:
      y = x
    else:
      y = torch.add(x, self.bias)
    return y
class Net(Module):
  __parameters__ = ["weight", ]
  __buffers__ = ["count", ]
  weight : Tensor
  count : Tensor
  training : bool
  sizes : List[int]
  note : Optional[str]
  layer : __torch__.Layer
  scale : Final[float] = 0.5
  def forward(self: __torch__.Net,
    x: Tensor,
    times: int=1) -> Tensor:
    y = x
    for i in range(times):
      y = torch.mul(y, self.weight)
    return (self.layer).forward(y, )
  def lists(self: __torch__.Net,
    flags: List[bool],
    ints: List[int],
    floats: List[float],
    tensors: List[Tensor],
    texts: List[str]) -> Tuple[List[bool], List[int], List[float], List[Tensor], List[str]]:
    return (flags, ints, floats, tensors, texts)
  def dicts(self: __torch__.Net,
    by_name: Dict[str, Tensor],
    by_number: Dict[int, float]) -> Tuple[Dict[str, Tensor], Dict[int, float]]:
    return (by_name, by_number)
  def single(self: __torch__.Net,
    flag: bool,
    number: int,
    real: float,
    text: str,
    pair: Tuple[int, str],
    maybe: Optional[Tensor]=None) -> Tuple[bool, int, float, str, Tuple[int, str], Optional[Tensor]]:
    return (flag, number, real, text, pair, maybe)
  def place(self: __torch__.Net,
    device: Device,
    z: complex) -> Tuple[Device, complex]:
    return (device, z)
  def nested(self: __torch__.Net,
    n: int) -> List[Dict[str, Tuple[int, List[float]]]]:
    out = annotate(List[Dict[str, Tuple[int, List[float]]]], [])
    for i in range(n):
      _0 = torch.append(out, {"entry": (i, [0.5, 1.5])})
    return out
  def empty(self: __torch__.Net) -> Tuple[List[bool], Dict[int, float]]:
    flags = annotate(List[bool], [])
    numbers = annotate(Dict[int, float], {})
    return (flags, numbers)
  def same(self: __torch__.Net,
    value: Any) -> Any:
    return value
  def part(self: __torch__.Net) -> __torch__.Layer:
    return self.layer
  def count_up(self: __torch__.Net) -> NoneType:
    self.count = torch.add(self.count, 1)
    return None
  def divide(self: __torch__.Net,
    a: int,
    b: int) -> int:
    return torch.floordiv(a, b)
'''


def name(module, what):
    return f"c{module}\n{what}\n".encode()


def text(t):
    return b"X" + struct.pack("<I", len(t)) + t.encode()


def integer(n):
    return b"J" + struct.pack("<i", n)


def numbers(*values):
    return b"(" + b"".join(integer(v) for v in values) + b"t"


def tensor(key, kind, size):
    """A tensor of one dimension over the storage `key`."""
    storage = b"(" + text("storage") + name("torch", kind) + text(key) + text("cpu") + integer(size) + b"tQ"
    return (name("torch._utils", "_rebuild_tensor_v2") + b"(" + storage + integer(0) + numbers(size) + numbers(1) +
            b"\x89" + name("collections", "OrderedDict") + b")RtR")


def instance(what, attributes):
    return name("__torch__", what) + b")\x81}(" + b"".join(text(k) + v for k, v in attributes.items()) + b"ub"


def pickle(value):
    return b"\x80\x02" + value + b"."


def main(path):
    layer = instance("Layer", {"bias": tensor("1", "FloatStorage", 1), "training": b"\x88"})
    sizes = name("torch.jit._pickle", "build_intlist") + b"](" + integer(2) + integer(3) + b"e\x85R"
    net = instance("Net", {"weight": tensor("0", "FloatStorage", 3), "count": tensor("2", "LongStorage", 1),
                           "training": b"\x88", "sizes": sizes, "note": b"N", "layer": layer})
    files = {"data.pkl": pickle(net), "code/__torch__.py": CODE.encode(), "data/0": struct.pack("<3f", 1, 2, 3),
             "data/1": struct.pack("<f", 0.5), "data/2": struct.pack("<q", 0), "constants.pkl": pickle(b")"),
             "byteorder": b"little", "extra/labels.txt": "cat\nd\u00f6g\n".encode(), "version": b"3\n"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file, content in files.items():
            archive.writestr(zipfile.ZipInfo("net/" + file), content)


if __name__ == "__main__":
    main(*sys.argv[1:])
