"""torch.from_file of files that somebody cuts: errors that name the file, and the process goes on."""
import os
import subprocess
import sys
import threading
import time

import argand as torch
import numpy as np
import pytest
from argand.utils import data

BYTES = 1 << 20
COUNT = BYTES // 4


@pytest.fixture(params=[False, True], ids=["private", "shared"])
def mapped(request, tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(BYTES))
    return path, torch.from_file(str(path), request.param, COUNT)


def _reads():
    ones = torch.ones(COUNT)
    return {"sum": lambda x: x.sum(), "item": lambda x: x[5].item(), "tolist": lambda x: x.tolist(), "numpy": lambda x: x.numpy(),
            "data_ptr": lambda x: x.data_ptr(), "repr": repr, "add": lambda x: ones + x, "copy_": lambda x: torch.empty(COUNT).copy_(x),
            "written": lambda x: x.zero_(), "dlpack": lambda x: x.__dlpack__(), "equal": lambda x: torch.equal(x, ones),
            "clone": lambda x: x.clone(), "bytes": lambda x: x.untyped_storage()[0], "view": lambda x: x.view(-1, 4)[1:].clone(),
            "pickle": lambda x: __import__("pickle").dumps(x), "compiled": lambda x: torch.compile(lambda t: t * 2)(x)}


@pytest.mark.parametrize("read", _reads())
def test_each_look_is_an_error(mapped, read):
    path, x = mapped
    assert x.sum() == 0
    os.truncate(path, 1000)
    for _ in range(2):
        with pytest.raises(OSError, match=f"from_file: {path} was cut while it was mapped: expected {BYTES} bytes, got 1000"):
            _reads()[read](x)


def test_backward_and_files_and_optimizers(mapped, tmp_path):
    path, x = mapped
    w = torch.ones(COUNT, requires_grad=True)
    loss = (w * x).sum()
    os.truncate(path, 0)
    for use in (loss.backward, lambda: torch.save(x, tmp_path / "saved.pt"), lambda: torch.save(x, __import__("io").BytesIO())):
        with pytest.raises(OSError, match="was cut while it was mapped"):
            use()
    assert w.grad is None and not (tmp_path / "saved.pt").exists()


def test_arrays_read_zeros_and_the_next_use_is_an_error(mapped, capfd):
    path, x = mapped
    a = x.numpy()
    a[:] = 1
    os.truncate(path, 4096)
    assert a.sum() == 1024  # NumPy cannot be told
    assert f"argand: {path} was cut" in capfd.readouterr().err
    with pytest.raises(OSError, match="got 4096"):
        x.sum()
    del x
    assert a[0] == 1  # the array keeps the memory


def test_a_file_that_is_cut_while_ops_read(tmp_path):
    """At random moments: the sum is right or there is an error, whatever thread of the kernel met the end of the file."""
    path = tmp_path / "numbers"
    errors = 0
    for attempt in range(40):
        np.full(4 * COUNT, 1, np.float32).tofile(path)
        x = torch.from_file(str(path), True, 4 * COUNT)
        start = threading.Barrier(2)

        def cut(delay=attempt * 1e-4):
            start.wait()
            time.sleep(delay)
            os.truncate(path, 1 << 16)

        thread = threading.Thread(target=cut)
        thread.start()
        start.wait()
        try:
            for _ in range(50):
                assert x.sum() == 4 * COUNT
        except OSError as e:
            errors += "was cut" in str(e)
        thread.join()
    assert errors > 0


def test_other_handlers_stay(tmp_path):
    """What is no fault of a mapped tensor goes to who handled the signal before."""
    program = f"""if True:
        import faulthandler, mmap, os
        faulthandler.enable()
        import argand as torch
        path = {str(tmp_path / 'f')!r}
        x = torch.from_file(path, True, 1024)
        with open(path, "r+b") as f:
            other = mmap.mmap(f.fileno(), 4096)
        os.truncate(path, 0)
        print(x.untyped_storage().filename == path)
        try:
            x.sum()
        except OSError:
            print("an error", flush=True)
        other[0]
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == -7 and done.stdout == "True\nan error\n" and "Fatal Python error: Bus error" in done.stderr


class _Rows(data.Dataset):
    def __init__(self, x, path):
        self.x, self.path = x, path

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 4:
            os.truncate(self.path, 100)
        return self.x[i * 8:i * 8 + 8]


def test_in_workers(mapped):
    path, x = mapped
    with pytest.raises(OSError, match="was cut while it was mapped"):
        list(data.DataLoader(_Rows(x, path), num_workers=1, batch_size=1))


def test_memory_that_processes_share_cannot_be_cut():
    t = torch.ones(1024).share_memory_()
    fd = torch._C._shared_descriptor(t)
    with pytest.raises(PermissionError):
        os.ftruncate(fd, 0)
    assert t.sum() == 1024


def test_a_checkpoint_that_is_shared_with_its_file(tmp_path):
    path = tmp_path / "shared.pt"
    state = {"w": torch.zeros(5, 3), "n": torch.arange(3000), "none": torch.empty(0), "p": torch.nn.Parameter(torch.ones(2))}
    state["row"] = state["w"][1]
    torch.save(state, path)
    serialization = torch.serialization
    with serialization.set_default_mmap_options(serialization.MAP_SHARED):
        assert serialization.get_default_mmap_options() == serialization.MAP_SHARED
        one, other = torch.load(path, mmap=True), torch.load(path, mmap=True, weights_only=False)
        one["row"][2], one["n"][2999] = 7, -1
        assert other["w"][1].tolist() == [0, 0, 7] and other["n"][2999] == -1 and isinstance(one["p"], torch.nn.Parameter)
        assert one["none"].numel() == 0 and one["n"].untyped_storage().nbytes() == 24000
    assert serialization.get_default_mmap_options() == serialization.MAP_PRIVATE
    torch.load(path, mmap=True, verify=False)["w"].fill_(3)  # no longer shared
    assert torch.load(path, verify=False)["w"].sum() == 7
    with open(path, "r+b") as file:
        file.truncate(8192)
    with pytest.raises(Exception, match="was cut while it was mapped"):
        other["n"].sum()
    torch.save(state, path, _use_new_zipfile_serialization=False)
    with serialization.set_default_mmap_options(serialization.MAP_SHARED), pytest.raises(RuntimeError, match="mmap can only be used with"):
        torch.load(path, mmap=True)
