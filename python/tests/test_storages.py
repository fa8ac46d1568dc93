"""Storages as bytes and as elements, buffers and arrays as tensors."""
import array
import copy
import warnings

import argand as torch
import numpy as np
import pytest
from argand import storage as storage_module


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TypedStorage is deprecated")
        yield


def test_typed_storages_convert_and_name_their_class():
    ints = torch.IntStorage([-1, 0, 3])
    assert type(ints) is torch.TypedStorage and ints.type() == "torch.IntStorage" and isinstance(ints, torch.IntStorage)
    assert ints.byte().tolist() == [255, 0, 3] and ints.bool().type() == "torch.BoolStorage"
    assert ints.type("torch.FloatStorage").dtype is torch.float32 and torch.rand(2).storage_type() is torch.FloatStorage
    assert torch.Storage is torch.FloatStorage and copy.copy(ints).tolist() == ints.tolist()


@pytest.mark.parametrize("arguments, named, error, text", [
    ((), {"device": "cpu"}, RuntimeError, "'device' cannot be specified"),
    ((0, 0), {}, RuntimeError, "Too many positional"),
    (("text",), {}, TypeError, "invalid data type 'str'"),
    ((), {"wrap_storage": 3}, TypeError, "must be UntypedStorage"),
    ((), {"other": 3}, TypeError, "unexpected keyword argument 'other'")])
def test_wrong_arguments(arguments, named, error, text):
    with pytest.raises(error, match=text):
        torch.FloatStorage(*arguments, **named)


def test_elements_are_read_and_written_by_number():
    s = torch.FloatStorage([1, 2, 3])
    s[-1] = 9
    s[::2] = 0
    assert s.tolist() == [0, 2, 0]
    for index, error in ((5, IndexError), ("a", RuntimeError), (slice(1, 2), RuntimeError)):
        with pytest.raises(error):
            s[index]
    with pytest.raises(RuntimeError, match="cannot set item with value type"):
        s.fill_(s)


def test_a_storage_grows_and_tensors_see_it():
    t = torch.tensor([1., 2.])
    t.untyped_storage().resize_(16)
    assert t.untyped_storage().nbytes() == 16 and t.as_strided((4,), (1,))[:2].tolist() == [1, 2] and t.storage().resizable()
    with pytest.raises(ValueError, match="does not become smaller"):
        t.untyped_storage().resize_(4)
    t.numpy()
    assert not t.untyped_storage().resizable()


def test_meta_storages_have_no_elements():
    s = torch.TypedStorage([1, 2, 3], device="meta", dtype=torch.float32)
    assert s.nbytes() == 12 and s.data_ptr() == 0
    for call, text in ((lambda: s[0], "Not available"), (s.tolist, "Not available"), (s.cpu, "Cannot copy out"),
                       (lambda: torch.FloatStorage(3).copy_(s), "Cannot copy out")):
        with pytest.raises(NotImplementedError, match=text):
            call()
    s.resize_(5)
    assert s.size() == 5


def test_bytes_change_their_order():
    s = torch.UntypedStorage([0, 1, 2, 3, 4, 5, 6, 7])
    s.byteswap(torch.int32)
    assert s.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    s.byteswap(torch.complex64)
    assert s.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert torch.ShortStorage.from_buffer(bytes([1, 2]), "big").tolist() == [258]
    assert torch.BoolStorage.from_buffer(bytes([0, 5])).tolist() == [False, True]


def test_tensors_over_storages():
    t = torch.arange(4.)
    assert torch.FloatTensor(t.storage()).data_ptr() == t.new(t.storage()).data_ptr() == t.data_ptr()
    assert torch.tensor(t.untyped_storage(), dtype=torch.float32).tolist() == [0, 1, 2, 3]
    for call in (lambda: torch.tensor(t.storage(), dtype=torch.int64), lambda: torch.tensor([1]).set_(t.storage())):
        with pytest.raises(RuntimeError, match="Expected a Storage of type Long"):
            call()


def test_the_class_is_deprecated_once():
    storage_module._reset_warn_typed_storage_removal()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.rand(2).storage().fill_(1)
        torch.rand(2)._typed_storage()._size()
    assert [str(w.message).split(".")[0] for w in caught] == ["TypedStorage is deprecated"] and caught[0].filename == __file__


def test_no_memory_no_address():
    assert torch.empty(0).data_ptr() == torch.rand(3)[3:].data_ptr() == torch.empty(3, device="meta").data_ptr() == 0


def test_buffers():
    data = bytearray(range(8))
    t = torch.frombuffer(data, dtype=torch.uint8, offset=3, count=2)
    t[0] = 100
    assert data[3] == 100 and t.tolist() == [100, 4]
    for arguments, text in (({"offset": 8}, r"offset \(8 bytes\) must be"), ({"count": 0}, r"count \(0\)"),
                            ({"count": 9}, r"requested buffer length \(9 \* 1 bytes\)")):
        with pytest.raises(ValueError, match=text):
            torch.frombuffer(data, dtype=torch.uint8, **arguments)
    with pytest.raises(ValueError, match="does not implement Python buffer protocol"):
        torch.frombuffer([1], dtype=torch.uint8)
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="not writable"):
            assert torch.frombuffer(b"ab", dtype=torch.uint8).tolist() == [97, 98]
    finally:
        torch.set_warn_always(False)


def test_asarray():
    t = torch.rand(3)
    from argand.utils.dlpack import to_dlpack
    for same in (t, t.numpy(), to_dlpack(t), t.untyped_storage()):
        assert torch.asarray(same, dtype=torch.float32, copy=False).data_ptr() == t.data_ptr()
    assert torch.asarray(t, copy=True).data_ptr() != t.data_ptr()
    assert torch.asarray(array.array("f", [1, 2]), dtype=torch.float32).tolist() == [1, 2]
    for data, options in ((t, {"dtype": torch.float64}), ([1.], {})):
        with pytest.raises(ValueError, match="can't alias"):
            torch.asarray(data, copy=False, **options)
    with pytest.raises(RuntimeError, match="can't alias NumPy scalars"):
        torch.asarray(np.float64(1), copy=False)
    leaf = torch.rand(2, requires_grad=True)
    assert not torch.asarray(leaf).requires_grad and torch.asarray(leaf, requires_grad=True).requires_grad


def test_copies_share_what_was_shared():
    x = torch.arange(6.).view(2, 3)
    whole, row, data = copy.deepcopy([x, x[1], x.untyped_storage()])
    whole.fill_(9)
    assert row.tolist() == [9, 9, 9] and data.data_ptr() == whole.data_ptr() and x[0].tolist() == [0, 1, 2] and not row._is_view()
    parameter = torch.nn.Parameter(x)
    parameter.name_of_mine = 3
    shallow = copy.copy(parameter)
    assert type(shallow) is torch.nn.Parameter and shallow.name_of_mine == 3 and shallow.data_ptr() == x.data_ptr()


def test_files_are_named(tmp_path):
    path = str(tmp_path / "elements")
    t = torch.from_file(path, shared=True, size=4, dtype=torch.float32)
    assert t.untyped_storage().filename == path and torch.rand(1).untyped_storage().filename is None
