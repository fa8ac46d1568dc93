"""Functions that a program registers for the ops of the library itself, and classes that are asked for sizes."""
import argand as torch
import pytest


def test_functions_for_the_ops_of_the_library():
    x = torch.tensor([1.0, 2.0])
    lib = torch.library.Library("aten", "IMPL")
    lib.impl("aten::sum", lambda t, *args, **kwargs: t.clone(), "CPU")
    lib.impl(torch.ops.aten.mul.Tensor, lambda a, b: torch.mul(a, b) + 1, "CPU")  # the op that it calls is the library's
    assert torch.equal(torch.sum(x), x) and (x * x).tolist() == [2, 5]
    lib._destroy()
    assert torch.sum(x).item() == 3 and (x * x).tolist() == [1, 4]
    with pytest.raises(TypeError, match="required to be a callable"):
        lib.impl("sum", 3, "CPU")
    with pytest.raises(NotImplementedError, match="expected a function for one of CPU, CUDA, Meta, got 'AutogradCPU'"):
        lib.impl("sum", torch.sum, "AutogradCPU")
    with pytest.raises(RuntimeError, match="inconsistent with the dispatch key"):
        torch.library.Library("aten", "IMPL", "CPU").impl("sum", torch.sum, "CUDA")
    with pytest.raises(ValueError, match="reserved namespace"):
        torch.library.Library("prim", "DEF")


def test_a_class_is_asked_for_the_sizes_of_its_tensors():
    class Odd(torch.Tensor):
        @staticmethod
        def __new__(cls, policy=None, **more):
            return torch.Tensor._make_wrapper_subclass(cls, (2, 3), dispatch_sizes_strides_policy=policy, **more)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            known = {"sym_size": (5, 7), "dim": 4, "sym_stride": (1, 2), "is_contiguous": False, "numel": None, "layout": torch.sparse_coo}
            return known.get(func.overloadpacket.__name__, NotImplemented)
    plain, strides, sizes = Odd(), Odd("strides"), Odd("sizes")
    assert (plain.shape, plain.stride(), plain.dim(), plain.is_contiguous()) == ((2, 3), (3, 1), 2, True)
    assert (strides.shape, strides.stride(1), strides.is_contiguous()) == ((2, 3), 2, False)
    assert (sizes.shape, sizes.size(0), sizes.ndim, sizes.numel(), sizes.stride()) == ((5, 7), 5, 4, 6, (1, 2))
    assert Odd(dispatch_layout=True).layout is torch.sparse_coo and plain.layout is torch.strided
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.ops.prim.device'"):
        _ = Odd(dispatch_device=True).device
    with pytest.raises(ValueError, match="expected 'strides' or 'sizes', got 'all'"):
        Odd("all")
