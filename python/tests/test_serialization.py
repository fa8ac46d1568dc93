"""torch.save and torch.load: round trips, what is refused, and the real PyTorch's files where it is installed."""
import collections
import io
import json
import os
import pickle
import shutil
import struct
import subprocess
import zipfile

import argand as torch
import pytest
from argand._surface import naming
from argand.serialization import load_objects

TORCH = os.environ.get("ARGAND_TORCH_PYTHON") or shutil.which("python-with-torch")


def round_trip(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer, **options)


def test_values():
    x = torch.arange(6.0).reshape(2, 3)
    state = collections.OrderedDict(a=x, b={"n": [1, 2.5, None, True, "text"], "t": (torch.tensor(3), torch.float16)},
                                    p=torch.nn.parameter.Parameter(torch.ones(2)), s=torch.Size([1]), e=torch.empty(0, 3))
    out = round_trip(state)
    assert isinstance(out, collections.OrderedDict) and torch.equal(out["a"], x) and out["b"]["n"] == [1, 2.5, None, True, "text"]
    assert out["b"]["t"][1] is torch.float16 and isinstance(out["p"], torch.nn.parameter.Parameter) and out["p"].requires_grad
    assert out["e"].shape == (0, 3) and out["s"] == (1,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16,
                                   torch.int32, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.complex128])
def test_dtypes(dtype):
    x = torch.tensor([0, 1, 1]).to(dtype)
    out = round_trip(x)
    assert out.dtype is dtype and torch.equal(out, x)


def test_views_share_their_storage_again():
    x = torch.arange(10.0)
    out = round_trip([x, x[2:4], x.view(2, 5).t()])
    out[0][2] = 100
    assert out[1][0].item() == 100 and out[2].stride() == (1, 5)


def test_path_is_whole_or_untouched(tmp_path):
    path = tmp_path / "model.pt"
    torch.save({"a": torch.ones(2)}, path)

    class Unpicklable:
        def __reduce__(self):
            raise RuntimeError("no")
    with pytest.raises(RuntimeError, match="no"):
        torch.save([torch.zeros(1000), Unpicklable()], path)
    assert torch.load(path)["a"].tolist() == [1, 1] and os.listdir(tmp_path) == ["model.pt"]


def test_no_code_is_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, ("touch " + str(tmp_path / "evil"),)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Evil(), protocol=2))
        archive.writestr("archive/version", "3")
    for named in ([], [Evil], [torch.nn.Linear]):
        buffer.seek(0)
        with torch.serialization.safe_globals(named), pytest.raises(pickle.UnpicklingError, match="system is refused"):
            torch.load(buffer)
    assert not (tmp_path / "evil").exists()
    buffer.seek(0)
    torch.load(buffer, weights_only=False)  # who says so trusts the file
    assert (tmp_path / "evil").exists()


def test_other_files():
    with pytest.raises(pickle.UnpicklingError, match="no file of torch.save"):
        torch.load(io.BytesIO(b"nothing"))
    with pytest.raises(FileNotFoundError):
        torch.load("/nowhere/at/all.pt")


def test_map_location():
    x = torch.ones(2)
    for location in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage):
        assert round_trip(x, map_location=location).device.type == "cpu"


@pytest.mark.skipif(not TORCH, reason="no Python with PyTorch (ARGAND_TORCH_PYTHON names one)")
def test_with_pytorch(tmp_path):
    x = {"w": torch.arange(6.0).reshape(2, 3).t(), "half": torch.ones(2).half(), "n": 3}
    torch.save(x, tmp_path / "ours.pt")
    code = ("import torch, sys; a = torch.load(sys.argv[1]); assert a['w'].stride() == (1, 3) and a['n'] == 3;"
            "assert a['w'].tolist() == [[0, 3], [1, 4], [2, 5]] and a['half'].dtype is torch.float16;"
            "torch.save({'m': torch.nn.Linear(2, 1).state_dict(), 'x': a['w']}, sys.argv[2])")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([TORCH, "-c", code, tmp_path / "ours.pt", tmp_path / "theirs.pt"], check=True, env=environment)
    out = torch.load(tmp_path / "theirs.pt")
    assert out["x"].tolist() == [[0, 3], [1, 4], [2, 5]] and out["m"]["weight"].shape == (1, 2)


# Run by both libraries under the name torch: every kind of value, and what must be true of it when it comes back.
SAVED = """
import collections, torch
base = torch.arange(12.).reshape(3, 4)
model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.BatchNorm1d(2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.25, amsgrad=True)
model(base).sum().backward()
optimizer.step()
shared = (1, [2])
value = {
    "dtypes": {str(t): torch.tensor([0, 1, 1]).to(t) for t in (torch.uint8, torch.int8, torch.int16, torch.int32,
        torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
        torch.bool)},
    "transposed": base.t(), "row": base[1], "expanded": base[:1].expand(5, 4), "empty": torch.empty(0, 3),
    "scalar": torch.tensor(2.5), "parameter": torch.nn.Parameter(base.clone()), "frozen": torch.nn.Parameter(base[0].clone(), False),
    "model": model.state_dict(), "optimizer": optimizer.state_dict(), "list": [shared, shared, []],
    "plain": (None, True, False, 0, 255, 256, 65536, -1, 2**31, -2**63, 2**63, -2**200, 1.5, float("inf"), 1 - 2j, "", "\\u00e9",
              b"", b"\\x00\\xff", bytearray(b"ab"), {1, 2}, frozenset({3}), slice(1, None, 2), range(0, 9, 2)),
    "keys": {1: "int", 2.5: "float", None: "none", (1, "a"): "tuple", b"k": "bytes", torch.float16: "dtype"},
    "ordered": collections.OrderedDict(b=1, a=2), "counter": collections.Counter("aab"),
    "default": collections.defaultdict(list, {1: [2]}), "size": torch.Size([2, 3]), "dtype": torch.bfloat16,
    "device": torch.device("cuda:1"), "meta": torch.empty(2, 3, device="meta"), "nested": {"a": [{"b": ({"c": base},)}]},
}
"""
CHECKED = """
def same(a, b, path):
    assert type(a).__name__ == type(b).__name__, (path, type(a), type(b))
    if isinstance(a, torch.Tensor):
        assert (a.dtype, a.shape, a.stride(), a.storage_offset(), a.requires_grad, a.device) == (
            b.dtype, b.shape, b.stride(), b.storage_offset(), b.requires_grad, b.device), (path, a, b)
        assert a.device.type == "meta" or torch.equal(a, b), path
    elif isinstance(a, dict):
        assert list(a) == list(b), (path, list(a), list(b))
        for k in a:
            same(a[k], b[k], f"{path}.{k}")
        same(getattr(a, "_metadata", None), getattr(b, "_metadata", None), path + "._metadata")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b)):
            same(x, y, f"{path}[{i}]")
    else:
        assert a == b, (path, a, b)
def check(out):
    same(value, out, "")
    assert out["list"][0] is out["list"][1] and out["default"].default_factory is list
    assert out["row"].data_ptr() == out["transposed"].data_ptr() + 16 and out["nested"]["a"][0]["b"][0]["c"].data_ptr() == out["transposed"].data_ptr()
    optimizer.load_state_dict(out["optimizer"])
    model.load_state_dict(out["model"])
"""


def run_in_pytorch(code, *arguments):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([TORCH, "-W", "ignore", "-c", SAVED + CHECKED + "import sys\n" + code, *arguments], check=True, env=environment)


def test_every_kind_of_value_comes_back(tmp_path):
    names = {"torch": torch}
    exec(SAVED.replace("import collections, torch", "import collections") + CHECKED, names)
    names["check"](round_trip(names["value"]))
    torch.save(names["value"], tmp_path / "f.pt")
    names["check"](torch.load(tmp_path / "f.pt", mmap=True))
    names["check"](torch.load(str(tmp_path / "f.pt")))


@pytest.mark.skipif(not TORCH, reason="no Python with PyTorch (ARGAND_TORCH_PYTHON names one)")
@pytest.mark.parametrize("options", ["", ", _use_new_zipfile_serialization=False"])
def test_files_of_pytorch_load_here(tmp_path, options):
    path = str(tmp_path / "theirs.pt")
    run_in_pytorch(f"torch.save(value, sys.argv[1]{options})", path)
    names = {"torch": torch}
    torch.manual_seed(0)
    exec(SAVED.replace("import collections, torch", "import collections") + CHECKED, names)
    out = torch.load(path)
    # Their random parameters are not ours.
    for key in ("model", "optimizer"):
        del out[key], names["value"][key]
    names["same"](names["value"], out, "")
    assert out["row"].data_ptr() == out["transposed"].data_ptr() + 16 and out["list"][0] is out["list"][1]


@pytest.mark.skipif(not TORCH, reason="no Python with PyTorch (ARGAND_TORCH_PYTHON names one)")
def test_states_of_pytorch_load_here_and_ours_there(tmp_path):
    theirs, ours = str(tmp_path / "theirs.pt"), str(tmp_path / "ours.pt")
    run_in_pytorch("torch.save(value, sys.argv[1])", theirs)
    names = {"torch": torch}
    exec(SAVED.replace("import collections, torch", "import collections") + CHECKED, names)
    out = torch.load(theirs)
    names["model"].load_state_dict(out["model"])
    names["optimizer"].load_state_dict(out["optimizer"])
    assert names["optimizer"].param_groups[0]["lr"] == 0.25
    torch.save(out, ours)
    for key in ("plain", "default"):  # what PyTorch itself does not take for safe
        del out[key]
    torch.save(out, str(tmp_path / "safe.pt"))
    # All that PyTorch wrote, read and written here, is the same there.
    run_in_pytorch("""
value = torch.load(sys.argv[1], weights_only=False)
check(torch.load(sys.argv[2], weights_only=False))
check(torch.load(sys.argv[2], weights_only=False, mmap=True))
safe = torch.load(sys.argv[3])
same({k: v for k, v in value.items() if k in safe}, safe, "")
import zipfile
assert zipfile.ZipFile(sys.argv[2]).testzip() is None
""", theirs, ours, str(tmp_path / "safe.pt"))


def test_what_python_cannot_pickle_is_not_saved(tmp_path):
    class Config:
        pass
    torch.save(1, tmp_path / "f.pt")
    for value, name in ((Config(), "Config"), (collections.defaultdict(lambda: 0), "lambda"), (type("Text", (str,), {})("x"), "Text")):
        with pytest.raises((pickle.PicklingError, AttributeError), match=name):
            torch.save(value, tmp_path / "f.pt")
    x = torch.arange(4, dtype=torch.int32)
    with pytest.raises(ValueError, match="share memory"):
        torch.save([x, x.view(torch.float32), len], tmp_path / "f.pt")
    assert os.listdir(tmp_path) == ["f.pt"] and torch.load(tmp_path / "f.pt") == 1


def test_attributes_and_shared_objects_are_kept():
    p = torch.nn.Parameter(torch.ones(2))
    p.note = {"a": 1}
    out = round_trip([p, p, p.data])
    assert out[0] is out[1] and out[0].note == {"a": 1} and out[2].data_ptr() == out[0].data_ptr()
    assert type(out[2]) is torch.Tensor and out[0].is_leaf and out[0].requires_grad


def test_map_location_is_asked_for_each_storage():
    asked = []

    def place(storage, location):
        asked.append(location)
        return storage
    round_trip([torch.ones(2), torch.zeros(3)], map_location=place)
    assert asked == ["cpu", "cpu"]
    assert round_trip(torch.ones(2), map_location="meta").device.type == "meta"

    def fails(storage, location):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        round_trip(torch.ones(2), map_location=fails)


def test_damage_is_named(tmp_path):
    path = tmp_path / "f.pt"
    torch.save({"w": torch.arange(1000.0)}, path)
    content = bytearray(path.read_bytes())
    at = content.index(torch.arange(1000.0).numpy().tobytes())
    content[at + 17] ^= 1
    path.write_bytes(content)
    for mmap in (False, True):
        with pytest.raises(pickle.UnpicklingError, match="data/0.*checksum"):
            torch.load(path, mmap=mmap, verify=True)
    with pytest.raises(pickle.UnpicklingError, match="data/0.*checksum"):
        torch.load(path)
    assert torch.load(path, verify=False)["w"].shape == torch.load(path, mmap=True)["w"].shape == (1000,)
    with pytest.raises(OSError, match="data/0.*checksum"):  # where it is read
        torch.load(path, mmap=True)["w"].sum().item()
    torch.load(path, mmap=True, verify=False)["w"].sum().item()
    structure = content.index(b"_rebuild_tensor_v2")
    content[structure] ^= 1
    path.write_bytes(content)
    with pytest.raises(pickle.UnpicklingError, match="data.pkl.*checksum"):
        torch.load(path, mmap=True)
    with pytest.raises(pickle.UnpicklingError, match="end record"):
        torch.load(io.BytesIO(bytes(content[:-1])))
    with pytest.raises(IsADirectoryError):
        open(tmp_path)


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_mapped_file_that_is_cut_is_an_error_at_every_look(tmp_path, weights_only):
    path = tmp_path / "f.pt"
    torch.save({"w": torch.ones(1 << 20), "b": torch.ones(4)}, path)
    model = torch.nn.Linear(1 << 20, 1)
    before = model.weight.detach().clone()
    x = torch.load(path, mmap=True, weights_only=weights_only)
    assert x["b"].sum() == 4
    os.truncate(path, 8192)
    assert x["b"].sum() == 4  # it was read
    looks = (lambda: x["w"][0].item(), lambda: x["w"] + 1 == 1, lambda: model.weight.data[0].copy_(x["w"]), x["w"].numpy, x["w"].tolist,
             lambda: torch.save(x, tmp_path / "g.pt"), lambda: str(x["w"]), lambda: x["w"].add_(1).sum().item())
    for look in looks * 2:
        with pytest.raises(OSError, match="ends at byte 8192"):
            look()
    assert torch.equal(model.weight, before) and os.listdir(tmp_path) == ["f.pt"]


def test_a_mapped_file_may_be_replaced(tmp_path):
    path = tmp_path / "f.pt"
    torch.save(torch.ones(1000), path)
    x = torch.load(path, mmap=True)
    torch.save(torch.zeros(1000), path)
    assert x.sum() == 1000 and torch.load(path, mmap=True).sum() == 0
    x.add_(1)  # memory alone
    assert torch.load(path).sum() == 0


def test_bytes_begin_at_multiples_of_64(tmp_path):
    torch.save([torch.ones(3), torch.ones(5)], tmp_path / "f.pt")
    with zipfile.ZipFile(tmp_path / "f.pt") as archive:
        assert archive.testzip() is None
        data = (tmp_path / "f.pt").read_bytes()
        for info in archive.infolist():
            name, extra = (int.from_bytes(data[info.header_offset + k:info.header_offset + k + 2], "little") for k in (26, 28))
            assert (info.header_offset + 30 + name + extra) % 64 == 0, info.filename


def test_memory_and_time_of_a_hostile_file():
    # A tree of small lists is refused before it takes much.
    pickled = b"\x80\x02(" + b"]" * 4_000_000 + b"t."
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/data.pkl", pickled)
        archive.writestr("a/version", "3")
    code = ("import resource, sys, pickle, argand; before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "try: argand.load(sys.argv[1])\nexcept pickle.UnpicklingError as e: assert 'more than' in str(e), e\nelse: raise SystemExit('loaded')\n"
            "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; assert (after - before) * 1024 < 2 * 4_000_000 + (64 << 20), after - before")
    import sys
    import tempfile
    with tempfile.NamedTemporaryFile(suffix=".pt") as file:
        file.write(buffer.getvalue())
        file.flush()
        subprocess.run([sys.executable, "-c", code, file.name], check=True)


def test_a_state_that_does_not_fit_changes_nothing():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
    before = {k: v.clone() for k, v in model.state_dict().items()}
    state = {k: torch.full_like(v, 9) for k, v in before.items()}
    del state["0.bias"]
    state["2.weight"] = torch.ones(4, 4)
    state["surplus"] = torch.ones(1)
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict(state)
    assert all(text in str(caught.value) for text in ('"0.bias"', '"surplus"', "size mismatch for 2.weight"))
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    with pytest.raises(RuntimeError, match="size mismatch"):
        model.load_state_dict(state, strict=False)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    state["2.weight"] = torch.ones(1, 3)
    assert model.load_state_dict(state, strict=False).missing_keys == ["0.bias"]
    assert model[0].weight.tolist() == [[9, 9]] * 3 and torch.equal(model[0].bias, before["0.bias"])


def test_safetensors_in_one_file_and_in_several(tmp_path):
    def shard(name, **tensors):
        header, data = {}, b""
        for key, values in tensors.items():
            header[key] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), len(data) + 4 * len(values)]}
            data += struct.pack(f"<{len(values)}f", *values)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        (tmp_path / name).write_bytes(struct.pack("<Q", len(text)) + text + data)
    shard("1.safetensors", a=[1, 2], b=[3])
    shard("2.safetensors", c=[4, 5, 6])
    index = tmp_path / "model.safetensors.index.json"
    names = {"c": "2.safetensors", "a": "1.safetensors", "b": "1.safetensors"}
    index.write_text(json.dumps({"metadata": {"total_size": 24}, "weight_map": names}, indent=2))
    for mmap in (False, True):
        loaded = torch.load(index, mmap=mmap)
        assert {k: v.tolist() for k, v in loaded.items()} == {"a": [1, 2], "b": [3], "c": [4, 5, 6]}
        assert list(torch.load(tmp_path / "1.safetensors", mmap=mmap)) == ["a", "b"]
    index.write_text(json.dumps({"weight_map": {**names, "c": "../2.safetensors"}}))
    with pytest.raises(RuntimeError, match="plain name"):
        torch.load(index)


def test_numbers_of_numpy_are_saved_as_plain_ones():
    np = pytest.importorskip("numpy")
    values = {"best": np.float64(0.5), "single": np.float32(0.25), "step": np.int64(7), "on": np.bool_(True), "name": np.str_("x"),
              "both": [np.complex128(1 + 2j), np.uint8(3)]}
    loaded = round_trip(values)
    assert loaded == values and [type(v) for v in loaded.values()] == [float, float, int, bool, str, list]
    with pytest.raises(pickle.UnpicklingError):
        round_trip(np.longdouble(1))
    assert round_trip(np.longdouble(1), weights_only=False) == 1


def arrays(np):
    yield from (np.arange(6, dtype=kind).reshape(2, 3) for kind in ("i1", "<i2", ">i4", "u2", "u4", "u8", "f2", "<f4", ">f8"))
    yield from (np.array([True, False]), np.array(3.5), np.zeros((0, 4), np.int64), np.array([1 + 2j], np.complex64), np.array([b"ab", b"c"]),
                np.array(["\u00e9", "long"]), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(24.0).reshape(2, 3, 4)[:, ::2, 1:])


def same_array(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() and a.flags.f_contiguous == b.flags.f_contiguous


def test_arrays_of_numpy():
    np = pytest.importorskip("numpy")
    for array in arrays(np):
        loaded = round_trip({"a": array})["a"]
        assert same_array(loaded, array if array.flags.forc else array.copy()) and loaded.flags.writeable and loaded.flags.owndata
    state = round_trip({"numpy_random_state": np.random.get_state()})["numpy_random_state"]
    np.random.set_state(state)
    assert all(np.array_equal(a, b) for a, b in zip(state, np.random.get_state()))
    shared = round_trip([array := np.ones(2), array])
    assert shared[0] is shared[1] and round_trip(np.dtype(">f4")) == np.dtype(">f4")
    for refused in (np.array([None]), np.array(["2020-01-01"], "M8[D]"), np.zeros(1, [("x", "f4")]), np.zeros(1, np.longdouble)):
        buffer = io.BytesIO()
        torch.save(refused, buffer)
        with pytest.raises(pickle.UnpicklingError):
            torch.load(io.BytesIO(buffer.getvalue()))
        assert np.array_equal(load_objects(io.BytesIO(buffer.getvalue())), refused)


def test_arrays_of_numpys_own_pickles(tmp_path):
    """As PyTorch writes them: by the pickle module, with protocol 2."""
    np = pytest.importorskip("numpy")
    values = [*arrays(np), np.float64(0.5), np.float32(0.25), np.int8(-3), np.bool_(True), np.str_("x\u00e9"), np.bytes_(b"ab"), np.complex128(1j),
              np.dtype("S7")]
    path = tmp_path / "numpy.pt"

    def file_of(pickled):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("numpy/data.pkl", pickled)
            archive.writestr("numpy/version", "3\n")
        return path
    pickled = pickle.dumps(values, 2)
    for text in (pickled, pickled.replace(b"numpy._core.", b"numpy.core.")):
        for got, value in zip(torch.load(file_of(text)), values, strict=True):
            assert type(got) is type(value)
            assert same_array(got, value if value.flags.forc else value.copy()) if isinstance(value, np.ndarray) else got == value
    good = pickle.dumps(np.arange(4, dtype="f4"), 2)
    for old, new, why in ((b"K\x04\x85", b"K\x05\x85", "expected 20 bytes, got 16"), (b"f4", b"O8", "no bool, number or text"),
                          (b"X\x01\0\0\0<", b"X\x01\0\0\0=", "order of bytes"), (b"J\xff\xff\xff\xff", b"J\x05\0\0\0", "elements of 5 bytes"),
                          (b"numpy\nndarray", b"numpy\nmatrix", "numpy.matrix is refused"), (b"K\x00\x85", b"K\x01\x85", "no numpy.ndarray")):
        assert good.count(old) >= 1
        with pytest.raises(pickle.UnpicklingError, match=why):
            torch.load(file_of(good.replace(old, new, 1)))


def test_plain_pickles_of_pytorch():
    """recorded/tensors.pickle is pickle.dumps() of a dict with PyTorch 2.15: a parameter, a column of bfloat16, a number."""
    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):  # as under python -m argand
            return super().find_class(naming.full(module.partition(".")[2]) if module.partition(".")[0] == "torch" else module, name)
    with open(os.path.join(os.path.dirname(__file__), "recorded", "tensors.pickle"), "rb") as file:
        found = Unpickler(file).load()
    assert isinstance(found["weight"], torch.nn.Parameter) and found["weight"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["column"].dtype is torch.bfloat16 and found["column"].tolist() == [1, 4] and found["column"].stride() == (3,)
    assert found["steps"].item() == 3 and found["again"].equal(found["weight"])
    with pytest.raises(ValueError, match="expected a storage"):
        torch.storage._load_from_bytes(b"")


def test_a_path_of_any_bytes(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.pt"
    torch.save(torch.ones(2), path)
    assert torch.load(path).tolist() == torch.load(os.fsdecode(path), weights_only=False).tolist() == [1, 1]
    with pytest.raises(FileNotFoundError):
        torch.load(path + b"\xfe")


def test_errors_of_python(tmp_path):
    empty = tmp_path / "empty.pt"
    empty.touch()
    for weights_only in (True, False):
        with pytest.raises(EOFError):
            torch.load(empty, weights_only=weights_only)
        with pytest.raises(EOFError):
            torch.load(io.BytesIO(), weights_only=weights_only)
        with pytest.raises(IsADirectoryError):
            torch.load(tmp_path, weights_only=weights_only)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(io.BytesIO(b"no file"))
    with pytest.raises(pickle.PicklingError, match="a value of type function cannot be saved"):
        torch.save(lambda: 1, tmp_path / "function.pt")
    assert not (tmp_path / "function.pt").exists()


def test_files_without_the_elements(tmp_path):
    from argand._torch._subclasses.fake_tensor import FakeTensorMode
    path = tmp_path / "zeros.pt"
    x = torch.randn(4, 5)
    state = {"x": x, "flat": x.view(-1), "row": x[2], "p": torch.nn.Parameter(x), "n": 3}
    with FakeTensorMode():
        y = torch.randn(4, 5)
        fakes = {"x": y, "flat": y.view(-1), "row": y[2], "p": torch.nn.Parameter(y), "n": 3}
    for fake, given in ((False, state), (True, fakes)):
        with torch.serialization.skip_data(materialize_fake_tensors=fake):
            torch.save(given, path)
            with pytest.raises(RuntimeError, match="Please call torch.load outside the skip_data context manager"):
                torch.load(path)
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
        loaded = torch.load(path)
        assert loaded["n"] == 3 and all(torch.equal(loaded[k], torch.zeros_like(state[k])) for k in ("x", "flat", "row", "p"))
        assert isinstance(loaded["p"], torch.nn.Parameter) and loaded["row"].storage_offset() == 10
        loaded["x"][2] = 1  # views share memory
        assert loaded["flat"].sum() == loaded["row"].sum() == 5
    torch.save(state, path)  # after the scope, elements are written
    assert torch.equal(torch.load(path)["x"], x)
    with torch.serialization.skip_data():
        with pytest.warns(UserWarning, match="meta device under skip_data context manager is a no-op"):
            torch.save(torch.ones(2, device="meta"), path)
        with pytest.raises(RuntimeError, match="_use_new_zipfile_serialization"):
            torch.save(x, path, _use_new_zipfile_serialization=False)
