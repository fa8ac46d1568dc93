"""torch.jit.load: archives of TorchScript as modules.  The archives are made here, without PyTorch; tests/parity/torchscript.py has those
that PyTorch makes."""
import copy
import io
import struct
import zipfile

import pytest

import argand as torch

INNER = '''class Inner(Module):
  __parameters__ = ["weight", ]
  __buffers__ = []
  weight : Tensor
  training : bool
  def forward(self: __torch__.net.Inner,
    x: Tensor) -> Tensor:
    if self.training:
      y = torch.mul(x, self.weight)
    else:
      y = torch.add(x, self.weight, alpha=10)
    return y
'''
OUTER = '''class Point(NamedTuple):
  x : Tensor
  n : int
class Outer(Module):
  __parameters__ = []
  __buffers__ = ["count", ]
  count : Tensor
  training : bool
  names : List[str]
  scale : Final[float] = 0.5
  __annotations__ = []
  __annotations__["0"] = __torch__.net.Inner
  def forward(self: __torch__.Outer,
    x: Tensor,
    times: int=1) -> Tensor:
    _0 = getattr(self, "0")
    for i in range(times):
      x = (_0).forward(x, )
    self.count = torch.add(self.count, 1)
    return x
  def pair(self: __torch__.Outer,
    values: Dict[str, List[float]],
    key: Optional[str]=None) -> Tuple[__torch__.Point, List[float], Device]:
    if torch.__is__(key, None):
      ops.prim.RaiseException("no key", "builtins.KeyError")
      k = uninitialized(str)
    else:
      k = unchecked_cast(str, key)
    l = values[k]
    return (__torch__.Point(torch.tensor(l), torch.len(l)), l, torch.device("cpu"))
'''


def text(t):
    return b"X" + struct.pack("<I", len(t)) + t.encode()


def number(n):
    return b"K" + bytes([n])


def tensor(key):
    """A tensor [1.0] over a storage of one element."""
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu") + number(1) + b"tQ"
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(0) + number(1) + b"\x85" + number(1) + b"\x85\x89"
            b"ccollections\nOrderedDict\n)RtR")


def instance(module, name, attributes):
    return f"c{module}\n{name}\n".encode() + b")\x81}(" + b"".join(text(k) + v for k, v in attributes.items()) + b"ub"


def archive(data=None, code=None, **extra):
    """The bytes of an archive."""
    inner = instance("__torch__.net", "Inner", {"weight": tensor("0"), "training": b"\x88"})
    data = data or instance("__torch__", "Outer", {"count": tensor("1"), "training": b"\x88", "names": b"](" + text("a") + text("b") + b"e",
                                                   "0": inner})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("net/data.pkl", b"\x80\x02" + data + b".")
        for name, content in (code or {"__torch__.py": OUTER, "__torch__/net.py": INNER}).items():
            file.writestr(zipfile.ZipInfo(f"net/code/{name}"), content, zipfile.ZIP_DEFLATED)
        for key in "01":
            file.writestr(f"net/data/{key}", struct.pack("<f", 1.0))
        file.writestr("net/constants.pkl", b"\x80\x02).")
        file.writestr("net/version", "3\n")
        for name, content in extra.items():
            file.writestr(f"net/extra/{name}", content)
    return out.getvalue()


@pytest.fixture(name="module")
def _module():
    return torch.jit.load(io.BytesIO(archive()))


def test_a_module_is_called(module):
    assert module(torch.full((1,), 3.0)).item() == 3 and module.count.item() == 2
    assert module(torch.full((1,), 3.0), times=2).item() == 3
    assert not module.eval().training and not getattr(module, "0").training
    assert module(torch.full((1,), 3.0), 2).item() == 23
    assert module.scale == 0.5 and module.names == ["a", "b"] and module.original_name == "Outer"


def test_it_is_an_nn_module(module):
    assert isinstance(module, torch.jit.ScriptModule) and isinstance(module, torch.nn.Module) and type(module) is torch.jit.RecursiveScriptModule
    assert list(module.state_dict()) == ["count", "0.weight"]
    assert [n for n, _ in module.named_parameters()] == ["0.weight"] and [n for n, _ in module.named_buffers()] == ["count"]
    assert [n for n, _ in module.named_modules()] == ["", "0"]
    assert getattr(module, "0").weight is next(module.parameters()) and module.count is next(module.buffers())
    assert "original_name=Outer" in repr(module) and "original_name=Inner" in repr(module)
    assert "class Outer(Module):" in module.code and "pair" in dir(module)
    module.load_state_dict({"count": torch.tensor([5.0]), "0.weight": torch.tensor([4.0])})
    assert module(torch.ones(1)).item() == 4 and module.count.item() == 6


def test_training(module):
    weight = next(module.parameters()).requires_grad_()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    module(torch.full((1,), 3.0)).backward()
    assert weight.grad.item() == 3
    optimizer.step()
    assert getattr(module, "0").weight.item() == -0.5 and module(torch.ones(1)).item() == -0.5


def test_conversion_reaches_the_program(module):
    assert module.double() is module and module.count.dtype == torch.float64
    assert module(torch.ones(1, dtype=torch.float64)).dtype == torch.float64 and module.count.dtype == torch.float64
    assert torch.jit.load(io.BytesIO(archive()), map_location="meta").count.is_meta


def test_values_of_all_kinds(module):
    point, values, device = module.pair({"k": [1.0, 2.0]}, "k")
    assert type(point).__name__ == "Point" and point.x.tolist() == [1.0, 2.0] and point.n == 2
    assert values == [1.0, 2.0] and device == torch.device("cpu")
    assert module.pair({"k": [1, 2]}, key="k").__len__() == 3  # ints where floats must be
    with pytest.raises(torch.jit.Error, match="builtins.KeyError: no key\n  in code/__torch__.py:2[0-9], pair"):
        module.pair({})
    with pytest.raises(RuntimeError, match=r"expected a value of type Tensor for argument 'x', got one of type Int: forward\(self, Tensor x"):
        module(1)
    with pytest.raises(RuntimeError, match="no program takes an object of the type object"):
        module(object())
    with pytest.raises(RuntimeError, match="in code/__torch__/net.py:9, forward\n  in code/__torch__.py:18, forward"):
        module(torch.ones(1, device="meta"))


def test_attributes_are_set(module):
    module.names = ["c"]
    assert module.names == ["c"]
    module.training = False
    assert not module.training
    module.note = 5
    assert module.note == 5
    with pytest.raises(RuntimeError, match="'names' of __torch__.Outer is of type List"):
        module.names = 3
    with pytest.raises(RuntimeError, match="gets no submodule 'other'"):
        module.other = torch.nn.Linear(1, 1)
    with pytest.raises(AttributeError, match="'Outer' of a TorchScript archive has no attribute or method 'missing'"):
        _ = module.missing


def test_sources(tmp_path):
    path = tmp_path / "net.pt"
    path.write_bytes(archive(labels="cat"))
    extra = {"labels": "", "absent": ""}
    for source in (path, str(path), io.BytesIO(path.read_bytes())):
        assert torch.jit.load(source, _extra_files=extra)(torch.ones(1)).item() == 1
    assert extra == {"labels": "cat", "absent": ""}
    with pytest.raises(ValueError, match="does not exist"):
        torch.jit.load(tmp_path / "none.pt")
    with pytest.raises(Exception, match="is no archive of TorchScript"):
        torch.jit.load(io.BytesIO(b"text"))
    with pytest.raises(Exception, match="the archive holds data, and no program"):
        file = io.BytesIO()
        torch.save({"a": torch.ones(1)}, file)
        file.seek(0)
        torch.jit.load(file)


def test_saving(module, tmp_path):
    module.load_state_dict({"count": torch.tensor([5.0]), "0.weight": torch.tensor([4.0])})
    module.names = ["c"]
    extra = {"labels": "cat", "bytes": b"\x00\xff"}
    torch.jit.save(module, tmp_path / "net.pt", _extra_files=extra)
    buffer = io.BytesIO()
    module.save(buffer)
    found = {"labels": "", "bytes": ""}
    for again in (torch.jit.load(tmp_path / "net.pt", _extra_files=found), torch.jit.load(io.BytesIO(module.save_to_buffer())),
                  torch.jit.load(io.BytesIO(buffer.getvalue()))):
        assert {k: v.item() for k, v in again.state_dict().items()} == {"count": 5.0, "0.weight": 4.0} and again.names == ["c"]
        assert again(torch.ones(1)).item() == 4 and again.code == module.code
    assert found["labels"] == "cat"
    with pytest.raises(RuntimeError, match="an extra file of the name '../x'"):
        module.save(buffer, {"../x": ""})
    with pytest.raises(OSError, match="No such file"):
        module.save("/no/such/folder/net.pt")
    with pytest.raises(NotImplementedError, match="expected a module of torch.jit.load, got Linear"):
        torch.jit.save(torch.nn.Linear(1, 1), buffer)


def test_freezing(module):
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        torch.jit.freeze(module)
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule"):
        torch.jit.freeze(torch.nn.Linear(1, 1))
    frozen = torch.jit.freeze(module.eval(), ["pair", "scale"])
    assert not list(frozen.parameters()) and not list(frozen.children()) and not frozen.training
    assert frozen(torch.full((1,), 3.0)).item() == module(torch.full((1,), 3.0)).item() == 13
    assert frozen.pair({"k": [1.0]}, "k")[1] == [1.0] and frozen.scale == 0.5 and not hasattr(frozen, "names")
    assert "CONSTANTS.c" in frozen.code and torch.jit.load(io.BytesIO(frozen.save_to_buffer()))(torch.ones(1)).item() == 11
    with pytest.raises(RuntimeError, match="Unknown name: missing"):
        torch.jit.freeze(module, ["missing"])
    with pytest.raises(TypeError, match="must be a list of names"):
        torch.jit.freeze(module, "pair")
    assert torch.jit.optimize_for_inference(module, ["pair"])(torch.ones(1)).item() == 11
    assert torch.jit.optimize_for_inference(frozen) is frozen


def test_copies_and_what_is_not_there(module):
    other = copy.deepcopy(module)
    module.load_state_dict({"count": torch.tensor([5.0]), "0.weight": torch.tensor([4.0])})
    assert other.count.item() == 1 and getattr(other, "0").weight.item() == 1
    with pytest.raises(NotImplementedError, match="come from archives"):
        torch.jit.ScriptModule()


def test_errors_of_the_code():
    with pytest.raises(RuntimeError, match=r"code/__torch__.py:5: the name os is not defined"):
        torch.jit.load(io.BytesIO(archive(instance("__torch__", "M", {"training": b"\x88"}), {
            "__torch__.py": "class M(Module):\n  training : bool\n  def forward(self: __torch__.M) -> int:\n    x = 1\n"
                            "    return os.getpid()\n"})))()


def test_a_program_that_does_not_ask_for_the_mode_keeps_it_all_the_same():
    code = INNER.replace("  training : bool\n", "").replace("if self.training", "if True")
    module = torch.jit.load(io.BytesIO(archive(instance("__torch__.net", "Inner", {"weight": tensor("0")}), {"__torch__/net.py": code})))
    assert module.training
    assert not module.eval().training
    assert module.train().training
