"""Capsules of both versions, to and from NumPy, PyTorch and consumers that know only the old ones."""
import ctypes
import gc
import os
import shutil
import subprocess
import sys
import weakref

import argand as torch
import numpy as np
import pretended_gpu
import pytest
from argand.utils import dlpack

TORCH = os.environ.get("ARGAND_TORCH_PYTHON") or shutil.which("python-with-torch")

_is_valid, _pointer = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
_is_valid.argtypes = _pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer.restype = ctypes.c_void_p


def flags_of(capsule):
    """(major version, flags) of a capsule of version 1."""
    address = _pointer(capsule, b"dltensor_versioned")
    major, = ctypes.c_uint32.from_address(address),
    return major.value, ctypes.c_uint64.from_address(address + 24).value


@pytest.mark.parametrize("asked, name", [({}, "dltensor"), ({"max_version": None}, "dltensor"), ({"max_version": (0, 8)}, "dltensor"),
                                         ({"max_version": (1, 0)}, "dltensor_versioned"), ({"max_version": (2, 1)}, "dltensor_versioned")])
def test_names_of_capsules(asked, name):
    t = torch.arange(6.0).reshape(2, 3).t()
    capsule = t.__dlpack__(**asked)
    assert _is_valid(capsule, name.encode())
    u = torch.from_dlpack(capsule)
    assert u.data_ptr() == t.data_ptr() and u.stride() == t.stride() and _is_valid(capsule, b"used_" + name.encode())
    with pytest.raises(RuntimeError, match="received an invalid capsule. Note that DLTensor capsules can be consumed only once"):
        torch.from_dlpack(capsule)


def test_flags():
    t = torch.ones(2)
    new = {"max_version": (1, 0)}
    assert flags_of(t.__dlpack__(**new)) == (1, 0)
    assert flags_of(t.__dlpack__(**new, copy=True)) == (1, 2)
    assert flags_of(t.__dlpack__(**new, copy=False)) == (1, 0)
    assert flags_of(t.__dlpack__(**new, read_only=True)) == (1, 1)
    with pytest.raises(BufferError, match="read_only export requires the versioned DLPack protocol"):
        t.__dlpack__(read_only=True)


def test_arrays_of_numpy_are_written():
    t = torch.zeros(3)
    a = np.from_dlpack(t)
    assert a.flags.writeable
    a[1] = 5
    assert t.tolist() == [0, 5, 0]
    assert np.from_dlpack(t, copy=True).ctypes.data != t.data_ptr() == np.from_dlpack(t, copy=False).ctypes.data
    read_only = np.from_dlpack(dlpack.ReadOnlyTensorWrapper(t))
    assert not read_only.flags.writeable and read_only.ctypes.data == t.data_ptr()
    with pytest.raises(RuntimeError, match="ReadOnlyTensorWrapper only supports DLPack export; 'add' is not allowed"):
        dlpack.ReadOnlyTensorWrapper(t).add(1)


def test_arrays_that_may_not_be_written():
    a = np.arange(4.0)
    a.flags.writeable = False
    assert torch.from_dlpack(a).data_ptr() == a.ctypes.data  # as in PyTorch


def test_copies_and_devices():
    a = np.ones(2)
    same = lambda **options: torch.from_dlpack(a, **options).data_ptr() == a.ctypes.data  # noqa: E731
    assert same() and same(copy=False) and same(device="cpu") and same(device=torch.device("cpu"), copy=False)
    assert not same(copy=True) and not same(copy=True, device="cpu")
    with pytest.raises(ValueError, match=r"cannot move DLPack tensor from device \(1, 0\) to \(2, 0\) without copying."):
        torch.from_dlpack(a, device="cuda", copy=False)
    with pytest.raises(AssertionError, match="unsupported device type: <class 'int'>"):
        torch.from_dlpack(a, device=3)
    with pytest.raises(BufferError, match="Cannot pack tensors on meta"):
        torch.from_dlpack(a, device="meta")
    with pytest.raises(AssertionError, match="not supported when ext_tensor is already a DLPack capsule"):
        torch.from_dlpack(torch.ones(1).__dlpack__(), copy=True)


class Old:
    """A producer of before 2023: it knows neither versions nor copies."""

    def __init__(self):
        self.array = np.ones(2)

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return 1, 0


def test_old_producers():
    old = Old()
    assert torch.from_dlpack(old).data_ptr() == old.array.ctypes.data == torch.from_dlpack(old, device="cpu").data_ptr()
    assert torch.from_dlpack(old, copy=True).data_ptr() != old.array.ctypes.data

    class Wrong(Old):
        def __dlpack__(self, **options):
            raise TypeError("of its own")
    with pytest.raises(TypeError, match="of its own"):
        torch.from_dlpack(Wrong())


def test_producers_are_data():
    old = Old()
    address = old.array.ctypes.data
    assert torch.as_tensor(old).data_ptr() == torch.asarray(old).data_ptr() == address != torch.tensor(old).data_ptr()
    assert torch.tensor(old, dtype=torch.int32).tolist() == [1, 1] and torch.asarray(old, dtype=torch.int64).tolist() == [1, 1]


def test_old_consumers():
    """NumPy 1 passes no arguments, and takes no capsule of version 1."""
    t = torch.ones(2)
    old = type("Old", (), {"__dlpack__": lambda self, stream=None: t.__dlpack__(stream=stream), "__dlpack_device__": lambda self: (1, 0)})()
    assert np.from_dlpack(old).ctypes.data == t.data_ptr()


def test_refusals():
    grad = torch.ones(1, requires_grad=True)
    for use in (lambda: grad.__dlpack__(), lambda: torch.from_dlpack(grad), lambda: np.from_dlpack(torch.nn.Parameter(torch.ones(1)))):
        with pytest.raises(BufferError, match="Can't export tensors that require gradient, use tensor.detach"):
            use()
    assert dlpack.from_dlpack(dlpack.to_dlpack(grad)).data_ptr() == grad.data_ptr()
    t, meta = torch.ones(1), torch.ones(1, device="meta")
    for error, message, use in (
            (TypeError, "stream must be ``int`` or ``none``", lambda: t.__dlpack__(stream="0")),
            (AssertionError, "stream should be None on cpu", lambda: t.__dlpack__(stream=1)),
            (TypeError, "'dl_device' must be tuple of ints, not int", lambda: t.__dlpack__(dl_device=1)),
            (BufferError, "Cannot pack tensors on meta", lambda: meta.__dlpack__()),
            (ValueError, "Unknown device type meta for Dlpack", lambda: meta.__dlpack_device__()),
            (RuntimeError, "received an invalid capsule", lambda: torch.from_dlpack(3))):
        with pytest.raises(error, match=message):
            use()
    assert t.__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0) == (1, 0)


def test_capsules_of_other_versions_and_types_stay_their_owners():
    for offset, value, message in ((0, 2, "expected a capsule of DLPack version 1, got version 2.0"), (52, 9, "there is no dtype for code 9"),
                                   (40, 13, "expected a device of type CPU or CUDA, got type 13")):
        t = torch.ones(2)
        gone = weakref.ref(t)
        capsule = t.__dlpack__(max_version=(1, 0))
        ctypes.c_uint8.from_address(_pointer(capsule, b"dltensor_versioned") + offset).value = value
        with pytest.raises(BufferError, match=message):
            torch.from_dlpack(capsule)
        assert _is_valid(capsule, b"dltensor_versioned")
        del t, capsule
        gc.collect()
        assert gone() is None


@pytest.mark.parametrize("asked", [{}, {"max_version": (1, 0)}])
def test_holders_keep_the_memory(asked):
    t = torch.arange(1000.0)
    capsule = t.__dlpack__(**asked)
    with pytest.raises(RuntimeError, match="not resizable"):
        t.resize_(100000)
    t.set_(torch.zeros(5))
    u = torch.from_dlpack(capsule)
    del capsule
    gc.collect()
    assert u[999] == 999


def test_streams_of_gpus(tmp_path):
    out = pretended_gpu.run(tmp_path, """
from argand.utils import dlpack
t = torch.ones(3, device="cuda")
assert t.__dlpack_device__() == (2, 0)
for stream, error in ((2, BufferError), (0, AssertionError), ("1", TypeError)):
    try: t.__dlpack__(stream=stream)
    except error as e: print(e)
streams = [torch.cuda.Stream() for _ in range(4)]  # small numbers mean something else, and pretended streams begin with them
for stream in (None, -1, 1, streams[3].cuda_stream):
    assert torch.from_dlpack(t.__dlpack__(stream=stream, max_version=(1, 0))).data_ptr() == t.data_ptr()
with torch.cuda.stream(streams[3]):
    assert torch.from_dlpack(t).device == t.device
assert torch.from_dlpack(t, device="cuda").data_ptr() == t.data_ptr() == torch.from_dlpack(t, device="cuda:0", copy=False).data_ptr()
assert torch.from_dlpack(t, device="cpu").device.type == "cpu" and torch.from_dlpack(torch.ones(2), device="cuda").is_cuda
assert torch.from_dlpack(t.__dlpack__(dl_device=(1, 0))).device.type == "cpu"
print(dlpack.from_dlpack(torch.ones(2).pin_memory(), device="cpu").shape)
""")
    assert out.returncode == 0, out.stderr
    assert out.stdout == ("per-thread default stream is not supported.\nunsupported stream on CUDA: 0.\nstream must be ``int`` or ``none``\n"
                          "torch.Size([2])\n")


WITH_TORCH = """
import gc, threading
import argand, torch
for first, second in ((torch, argand), (argand, torch)):
    for asked in ({}, {"max_version": (1, 0)}):
        x = first.arange(12.0).reshape(3, 4).t()
        y = second.from_dlpack(x.__dlpack__(**asked))
        y[0, 0] = 42
        assert x[0, 0] == 42 and y.data_ptr() == x.data_ptr() and tuple(y.stride()) == tuple(x.stride())
        del x
        gc.collect()
        assert y[1, 1] == 5
    x = first.ones(3)
    assert second.from_dlpack(x, copy=True).data_ptr() != x.data_ptr() == second.from_dlpack(x, copy=False, device="cpu").data_ptr()
    for dtype in "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split():
        assert str(second.from_dlpack(first.ones(3).to(getattr(first, dtype))).dtype) == "torch." + dtype
    held = [second.from_dlpack(first.ones(1000)) for _ in range(100)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    try:
        first.from_dlpack(second.ones(1, requires_grad=True))
    except BufferError as e:
        print(e)
"""


@pytest.mark.skipif(not TORCH, reason="no Python with PyTorch (ARGAND_TORCH_PYTHON names one)")
def test_with_pytorch_in_one_process():
    package = os.path.dirname(os.path.dirname(torch.__file__))
    done = subprocess.run([TORCH, "-c", WITH_TORCH], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": package})
    if "cannot import name '_C'" in done.stderr or "No module named 'argand._C'" in done.stderr:
        pytest.skip("the Python with PyTorch is of another version than the package")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Can't export tensors that require gradient, use tensor.detach()\n" * 2


def test_interpreters_end_with_capsules_alive():
    program = "import argand as t, numpy as np\nx = t.ones(9)\na, c, y = np.from_dlpack(x), x.__dlpack__(), t.from_dlpack(np.ones(9))\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_streams_and_copies_that_a_capsule_of_the_cpu_does_not_have():
    for stream in (0, 1, 2, 12345):
        with pytest.raises(AssertionError, match="stream should be None on cpu"):
            torch.ones(2).__dlpack__(stream=stream)
    with pytest.raises(TypeError, match="must be bool"):
        torch.ones(2).__dlpack__(copy=1)
