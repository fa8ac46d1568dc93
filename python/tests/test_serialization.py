"""torch.save and torch.load: round trips, what is refused, and the real PyTorch's files where it is installed."""
import collections
import io
import os
import pickle
import shutil
import subprocess
import zipfile

import argand as torch
import pytest

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
    for weights_only in (True, False):
        buffer.seek(0)
        with pytest.raises(pickle.UnpicklingError, match="system"):
            torch.load(buffer, weights_only=weights_only)
    assert not (tmp_path / "evil").exists()


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
