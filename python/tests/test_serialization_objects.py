"""torch.save and torch.load of objects of any class: what a program trusts, what it names, and the modules of the real PyTorch."""
import copy
import io
import os
import pickle
import shutil
import subprocess
import types
import warnings
import zipfile

import argand as torch
import pytest
from argand.serialization import load_objects

TORCH = os.environ.get("ARGAND_TORCH_PYTHON") or shutil.which("python-with-torch")


class Marked(torch.Tensor):
    pass


def test_objects_are_loaded_by_those_who_trust_them(tmp_path):
    path, base = tmp_path / "objects.pt", torch.arange(6.0).view(2, 3)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU()).eval()
    net.tied, net.note = net[0].weight, torch.nn.Parameter(torch.ones(1))
    net.note.mark = "kept"
    ring = []
    ring.append(ring)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.save({"net": net, "row": base[1], "turned": base.t(), "size": torch.Size([1]), "dtype": torch.int8,
                    "device": torch.device("cpu"), "meta": torch.empty(2, 3, device="meta"), "marked": base[0].as_subclass(Marked), "call": len, "ring": ring,
                    "storage": torch.zeros(2).untyped_storage()}, path)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed.*container.Sequential is refused.*add_safe_globals"):
        torch.load(path)
    out = torch.load(path, weights_only=False)
    loaded = out["net"]
    assert loaded(base).equal(net(base)) and loaded.tied is loaded[0].weight and loaded.note.mark == "kept" and not loaded.training
    assert out["turned"].stride() == (1, 3) and out["row"].untyped_storage() == out["turned"].untyped_storage()
    assert (out["size"], out["dtype"], out["device"], out["call"]) == (torch.Size([1]), torch.int8, torch.device("cpu"), len)
    assert out["meta"].is_meta and type(out["marked"]) is Marked and out["marked"].tolist() == [0, 1, 2] and out["ring"][0] is out["ring"]
    assert out["storage"].nbytes() == 8
    with open(path, "rb") as file:
        assert load_objects(file, map_location="meta")["row"].is_meta


def test_a_module_that_pytorch_saved():
    """torch.save(nn.Sequential(nn.Linear(2, 1), nn.ReLU()), ...) with weight [[1, 2]] and bias [3], by PyTorch 2.15."""
    net = load_objects(os.path.join(os.path.dirname(__file__), "recorded", "module.pt"))
    assert net(torch.tensor([[1.0, 1.0], [-9.0, 1.0]])).tolist() == [[6], [0]] and type(net[0].bias) is torch.nn.Parameter


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
        self.scale = torch.nn.Parameter(torch.ones(1))
        self.scale.note = "kept"

    def forward(self, x):
        return self.inner(x) * self.scale


class Config:
    def __init__(self, rate):
        self.rate = rate


class Slotted:
    __slots__ = ("a", "b")


class Strange(dict):
    pass


NAMED = [Net, Config, Slotted, Strange, torch.nn.Sequential, torch.nn.Linear, torch.nn.ReLU]


@pytest.mark.parametrize("zipped", [True, False])
def test_what_a_program_has_named_is_read(tmp_path, zipped):
    path, net = tmp_path / "f.pt", Net()
    slotted = Slotted()
    slotted.a, slotted.b = 1, torch.ones(2)
    strange = Strange(x=1)
    strange.net = net
    net.itself = [net]  # a cycle
    torch.save({"net": net, "config": Config(0.5), "slotted": slotted, "strange": strange}, path, _use_new_zipfile_serialization=zipped)
    assert torch.serialization.get_safe_globals() == []
    with torch.serialization.safe_globals(NAMED[1:]), pytest.raises(pickle.UnpicklingError, match="Net is refused"):
        torch.load(path)
    x = torch.ones(1, 2)
    try:
        torch.serialization.add_safe_globals(NAMED)
        named = torch.load(path)
        assert torch.serialization.get_safe_globals() == NAMED
    finally:
        torch.serialization.clear_safe_globals()
    for out in (named, torch.load(path, weights_only=False)):
        assert torch.equal(out["net"](x), net(x)) and out["net"].scale.note == "kept" and out["net"].itself[0] is out["net"]
        assert out["config"].rate == 0.5 and out["slotted"].a == 1 and out["slotted"].b.tolist() == [1, 1]
        assert type(out["strange"]) is Strange and out["strange"] == {"x": 1} and out["strange"].net is out["net"]
        out["net"](x).sum().backward()
        assert out["net"].inner[0].weight.grad is not None
    with pytest.raises(pickle.UnpicklingError, match="is refused"):
        torch.load(path)
    if zipped:
        assert set(torch.serialization.get_unsafe_globals_in_checkpoint(path)) == {
            *(f"{c.__module__}.{c.__qualname__}" for c in NAMED[:4]), "torch.nn.modules.container.Sequential",
            "torch.nn.modules.linear.Linear", "torch.nn.modules.activation.ReLU"}


def test_names_may_be_given_as_they_stand_in_files():
    buffer = io.BytesIO()
    torch.save(Config(1), buffer)
    moved = buffer.getvalue()
    with torch.serialization.safe_globals([(Config, f"{Config.__module__}.Config")]):
        assert torch.load(io.BytesIO(moved)).rate == 1
    with torch.serialization.safe_globals([(Config, "elsewhere.Config")]), pytest.raises(pickle.UnpicklingError):
        torch.load(io.BytesIO(moved))


def zip_of(pickled):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/data.pkl", b"\x80\x02" + pickled + b".")
        archive.writestr("a/version", "3")
    return io.BytesIO(buffer.getvalue())


def test_what_is_named_opens_no_door():
    """Files that name an allowed class, so that the unpickler of Python's text reads them, and something else."""
    here = Config.__module__.encode()
    config = b"c" + here + b"\nConfig\n"
    evil = {
        b"c" + b"os\nsystem\nX\x02\0\0\0id\x85R": "os.system is refused", b"cbuiltins\ngetattr\n": "getattr is refused",
        b"ctorch.hub\nload\n": "torch.hub.load is refused", config + b"X\x05\0\0\0rates\x85R" + b"N\x85R": "a call of",
        b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R": "call of bytearray", b"cbuiltins\nlist\n]\x85R": "a call of <class 'list'>",
        b"ctorch._tensor\n_rebuild_from_type_v2\n(cbuiltins\nbytearray\nctorch\nTensor\nJ\xff\xff\xff\x7f\x85}tR": "call of bytearray",
        b"ctorch\nTensor\n)\x81": "an object of", config + b"}X\x01\0\0\0xNsb": "a state is given to a type",
        b"]}b": "a state is given to a list", b"NK\x01a": "appended to a", b"NNNs": "a key is set in a",
        b"X\x01\0\0\0xQ": "persistent id", b"0": "no valid checkpoint", b"h\x07": "Memo value not found", b"ttt": "no valid checkpoint",
        b"X\xff\xff\xff\xffx": "no valid checkpoint", b"\x8c\x01x": "no valid checkpoint", b"(i" + here + b"\nConfig\n": "no valid checkpoint",
        b"}(" + b"".join(b"\x8a\x09" + ((2**61 - 1) * k).to_bytes(9, "little") + b"N" for k in range(1, 200)) + b"u": "of one dict have the hash",
    }
    with torch.serialization.safe_globals([Config]):
        assert torch.load(zip_of(config + b")\x81}X\x04\0\0\0rateK\x05sb")).rate == 5
        for pickled, why in evil.items():
            with pytest.raises(pickle.UnpicklingError, match=why):
                torch.load(zip_of(b"(" + config + b")\x81" + pickled + b"t"))


def test_tensors_beside_what_is_named_stay_in_their_storages():
    def tensor(sizes, strides, offset=0, numel=4):
        numbers = [b"(" + b"".join(b"\x8a\x08" + v.to_bytes(8, "little", signed=True) for v in values) + b"t" for values in (sizes, strides)]
        return (b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpu"
                + b"\x8a\x08" + numel.to_bytes(8, "little", signed=True) + b"tQ\x8a\x08" + offset.to_bytes(8, "little", signed=True)
                + b"".join(numbers) + b"\x89ccollections\nOrderedDict\n)RtR")

    def file_of(pickled):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("a/data.pkl", b"\x80\x02(c" + Config.__module__.encode() + b"\nConfig\n)\x81" + pickled + b"t.")
            archive.writestr("a/data/0", bytes(16))
            archive.writestr("a/version", "3")
        return io.BytesIO(buffer.getvalue())
    with torch.serialization.safe_globals([Config]):
        assert torch.load(file_of(tensor([2, 2], [2, 1])))[1].tolist() == [[0, 0], [0, 0]]
        for wrong in (tensor([5], [1]), tensor([2, 2], [3, 1]), tensor([-1], [1]), tensor([2], [-1]), tensor([2], [1], 3), tensor([2], [1], -1),
                      tensor([2**62, 4], [1, 1]), tensor([2, 2], [1]), tensor([2], [2**62]), tensor([1], [1], 2**62), tensor([1], [1], 0, 5),
                      tensor([1], [1], 0, -1), tensor([1], [1], 0, 2**62)):
            with pytest.raises(pickle.UnpicklingError):
                torch.load(file_of(wrong))


def test_weights_only_and_pickle_module():
    seen = []

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            seen.append(name)
            return super().find_class(module, name)

    class Pickler(pickle.Pickler):
        def reducer_override(self, obj):
            return (Config, ("by the module",)) if isinstance(obj, Config) else NotImplemented
    module = types.SimpleNamespace(Unpickler=Unpickler, Pickler=Pickler, load=pickle.load, dump=pickle.dump, __name__="own")
    base = torch.arange(4.0)
    value = {"a": [base, base[1:]], "config": Config(1), "dtype": torch.int8, "net": torch.nn.Linear(2, 1)}
    for protocol in (2, 4):
        buffer = io.BytesIO()
        torch.save(value, buffer, pickle_module=module, pickle_protocol=protocol)
        with pytest.raises(RuntimeError, match="explicit pickle_module"):
            torch.load(io.BytesIO(buffer.getvalue()), pickle_module=module, weights_only=True)
        seen.clear()
        out = torch.load(io.BytesIO(buffer.getvalue()), pickle_module=module)
        assert out["config"].rate == "by the module" and {"Config", "Linear"} <= set(seen)
        assert out["a"][1].tolist() == [1, 2, 3] and out["a"][0].untyped_storage() == out["a"][1].untyped_storage()
        assert out["dtype"] is torch.int8 and out["a"][0]._base is None
        assert b"argand" not in buffer.getvalue() or protocol > 2
    with pytest.raises(ValueError, match="protocol"):
        torch.save(base, buffer, pickle_protocol=0)
    for protocol in (1, 3, 5):
        buffer = io.BytesIO()
        torch.save({"w": base}, buffer, pickle_protocol=protocol)
        assert torch.load(io.BytesIO(buffer.getvalue()), weights_only=False)["w"].equal(base)


def test_a_file_without_its_byte_order():
    buffer = io.BytesIO()
    torch.save({"w": torch.ones(2)}, buffer, _disable_byteorder_record=True)
    assert not [name for name in zipfile.ZipFile(buffer).namelist() if name.endswith("byteorder")]
    buffer.seek(0)
    assert torch.load(buffer)["w"].tolist() == [1, 1]


def test_the_environment_can_only_ask_for_more_care(monkeypatch):
    buffer = io.BytesIO()
    torch.save(Config(1), buffer)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(pickle.UnpicklingError, match="is refused"):
        torch.load(io.BytesIO(buffer.getvalue()))
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(pickle.UnpicklingError, match="is refused"):
        torch.load(io.BytesIO(buffer.getvalue()), weights_only=False)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("weights_only", [True, False])
def test_every_kind_of_map_location(weights_only, zipped):
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(2), "b": torch.ones(3)}, buffer, _use_new_zipfile_serialization=zipped)
    restore = torch.serialization.default_restore_location
    for location in (None, "cpu", torch.device("cpu"), {"cpu": "cpu"}, {"cpu": torch.device("cpu")}, {}, lambda s, _: s, lambda s, _: None,
                     lambda s, _: s.cpu(), lambda s, _: restore(s, "cpu")):
        out = torch.load(io.BytesIO(buffer.getvalue()), map_location=location, weights_only=weights_only)
        assert out["b"].device.type == "cpu" and out["b"].tolist() == [1, 1, 1]
    for location in ("meta", torch.device("meta"), {"cpu": "meta"}, lambda s, l: restore(s, "meta")):
        assert torch.load(io.BytesIO(buffer.getvalue()), map_location=location, weights_only=weights_only)["a"].is_meta


def test_keys_of_one_hash_are_refused():
    def keys(*texts):
        return zip_of(b"}(" + b"".join(t + b"N" for t in texts) + b"u")

    def number(k):
        return b"\x8a\x0a" + k.to_bytes(10, "little", signed=True)
    prime = 2**61 - 1
    assert len(torch.load(keys(*(number(prime * k) for k in range(1, 100))))) == 99
    for texts in ([number(prime * k) for k in range(1, 2000)], [number(prime * k) + b"K\x01\x86" for k in range(1, 2000)]):
        with pytest.raises(pickle.UnpicklingError, match="keys of one dict or set have the hash"):
            torch.load(keys(*texts))
    assert len(torch.load(keys(*(number(k << 55) for k in range(64))))) == 64


@pytest.mark.skipif(not TORCH, reason="no Python with PyTorch (ARGAND_TORCH_PYTHON names one)")
@pytest.mark.parametrize("options", ["", ", _use_new_zipfile_serialization=False"])
def test_whole_modules_go_both_ways(tmp_path, options):
    build = """
import torch
from torch import nn
torch.manual_seed(1)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.5), nn.Flatten(), nn.Linear(36, 8), nn.LayerNorm(8)).eval()
parts = {"net": net, "lstm": nn.LSTM(8, 5, 2, batch_first=True), "attention": nn.MultiheadAttention(8, 2).eval(),
         "encoder": nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False).eval(),
         "embedding": nn.Embedding(10, 8), "prelu": nn.PReLU(), "group": nn.GroupNorm(2, 8), "gelu": nn.GELU(), "loss": nn.CrossEntropyLoss(),
         "list": nn.ModuleList([nn.Linear(8, 2)]), "dict": nn.ModuleDict({"a": nn.Tanh()}), "up": nn.Upsample(scale_factor=2)}
def results(parts):
    x, y = torch.arange(192.).reshape(1, 3, 8, 8) / 100, torch.arange(24.).reshape(3, 1, 8) / 10
    out = [parts["net"](x), parts["lstm"](y)[0], parts["attention"](y, y, y)[0], parts["encoder"](y), parts["embedding"](torch.tensor([1, 3])),
           parts["prelu"](y - 1), parts["group"](y[0]), parts["gelu"](y), parts["loss"](y[:, 0], torch.tensor([1, 0, 2])), parts["list"][0](y),
           parts["dict"]["a"](y), parts["up"](x)]
    return [r.detach() for r in out]
"""
    theirs, ours = str(tmp_path / "theirs.pt"), str(tmp_path / "ours.pt")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([TORCH, "-W", "ignore", "-c", build + f"import sys; torch.save((parts, results(parts)), sys.argv[1]{options})", theirs],
                   check=True, env=environment)
    names = {"torch": torch}
    exec(build.replace("import torch\nfrom torch import nn", "nn = torch.nn"), names)
    loaded, expected = torch.load(theirs, weights_only=False)
    for a, b in zip(names["results"](loaded), expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    exec(f"torch.save((parts, results(parts)), path{options})", {**names, "path": ours})
    subprocess.run([TORCH, "-W", "ignore", "-c", build + """
import sys
loaded, expected = torch.load(sys.argv[1], weights_only=False)
for a, b in zip(results(loaded), expected, strict=True):
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
""", ours], check=True, env=environment)


def test_several_values_in_one_file(tmp_path):
    """The format before 1.6 is read up to the end of a value alone."""
    import pickle
    with open(tmp_path / "file", "w+b") as file:
        for value in (torch.arange(3.), torch.ones(2)):
            pickle.dump(7, file)
            torch.save(value, file, _use_new_zipfile_serialization=False)
        file.seek(0)
        assert [pickle.load(file), torch.load(file).tolist(), pickle.load(file), torch.load(file).tolist()] == [7, [0, 1, 2], 7, [1, 1]]


def test_files_whose_bytes_are_in_the_other_order():
    import io
    file = io.BytesIO()
    torch.save(torch.tensor([1, 256], dtype=torch.int16), file, _disable_byteorder_record=True)
    names = torch.serialization
    for order, values in ((names.LoadEndianness.BIG, [256, 1]), (names.LoadEndianness.LITTLE, [1, 256]), (None, [1, 256])):
        names.set_default_load_endianness(order)
        file.seek(0)
        assert torch.load(file).tolist() == values


def test_what_is_no_file():
    with pytest.raises(AttributeError, match="'write' attribute"):
        torch.save([1], torch.rand(2))


@pytest.mark.parametrize("weights_only", [True, False])
def test_texts_of_python_2(weights_only):
    """A list of one text that is no ASCII, in the format before 1.6; `encoding` says what becomes of it."""
    import io
    content = (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.\x80\x02]U\x02\xc5\xbca.\x80\x02].")
    for encoding, text in (("utf-8", "\u017c"), ("bytes", b"\xc5\xbc")):
        assert torch.load(io.BytesIO(content), weights_only=weights_only, encoding=encoding) == [text]


class SlottedTensor(torch.Tensor):
    __slots__ = ["beside", "unset"]


class StatefulTensor(torch.Tensor):
    def __getstate__(self):
        return "mine", dict(self.__dict__)

    def __setstate__(self, state):
        marker, self.__dict__ = state
        assert marker == "mine"
        self.came_back = True


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_a_subclass_keeps_beside_its_elements_goes_with_it(device):
    """In __slots__, or as its __getstate__() says: by save(), by pickles and by copies."""
    slotted = torch.ones(2, device=device).as_subclass(SlottedTensor)
    slotted.beside, slotted.name = torch.zeros(3), "n"
    stateful = torch.ones(2, device=device).as_subclass(StatefulTensor)
    stateful.name = "m"
    saved = io.BytesIO()
    torch.save([slotted, stateful], saved)
    saved.seek(0)
    with torch.serialization.safe_globals([SlottedTensor, StatefulTensor]):
        loaded = torch.load(saved)
    for a, b in (loaded, pickle.loads(pickle.dumps([slotted, stateful]))):
        assert type(a) is SlottedTensor and a.beside.tolist() == [0, 0, 0] and a.name == "n" and not hasattr(a, "unset")
        assert type(b) is StatefulTensor and b.name == "m" and b.came_back and b.device.type == device
    for made in (copy.copy, copy.deepcopy):
        again = made(slotted)
        assert type(again) is SlottedTensor and again.name == "n" and again.beside.tolist() == [0, 0, 0]
        assert (again.beside is slotted.beside) == (made is copy.copy)


def test_modules_whose_names_are_never_allowed():
    with torch.serialization.safe_globals([os.system]), pytest.raises(pickle.UnpicklingError, match="posix.system whose module posix is blocked"):
        saved = io.BytesIO()
        torch.save(os.system, saved)
        saved.seek(0)
        torch.load(saved)
