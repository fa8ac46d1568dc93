"""Who holds the memory of a tensor, and what cannot be had."""
import gc

import numpy as np
import pytest

import argand as torch
from pretended_gpu import run

N = 1000


def _victims_changed_after(give_other_memory, view=lambda t: t.numpy()):
    """Writes through an array after its tensor got other memory; how many new tensors that changed."""
    tensor = torch.ones(N)
    array = view(tensor)
    give_other_memory(tensor)
    gc.collect()
    victims = [torch.zeros(N) for _ in range(64)]
    assert array.reshape(-1)[:2].tolist() == [1, 1]
    array[...] = 5
    return sum(v.sum().item() != 0 for v in victims)


def _assign_data(tensor):
    tensor.data = torch.ones(2)


@pytest.mark.parametrize("give_other_memory", [
    lambda t: t.set_(torch.ones(2)), _assign_data, lambda t: t.share_memory_(), lambda t: t.requires_grad_()])
def test_an_array_keeps_its_memory(give_other_memory):
    assert _victims_changed_after(give_other_memory) == 0


def test_an_array_keeps_the_memory_of_a_module_that_is_converted():
    module = torch.nn.Linear(N, 1, bias=False)
    array = module.weight.detach().numpy()
    array[...] = 1
    module.to(torch.float64)
    gc.collect()
    victims = [torch.zeros(N) for _ in range(64)]
    array[...] = 5
    assert all(v.sum().item() == 0 for v in victims)


@pytest.mark.parametrize("resize", [
    lambda t: t.resize_(10 * N), lambda t: t.resize_as_(torch.ones(10 * N)), lambda t: torch.add(torch.ones(10 * N), 1, out=t)])
@pytest.mark.parametrize("show", [lambda t: t.numpy(), lambda t: t.__dlpack__()])
def test_memory_that_is_shown_is_not_resized(show, resize):
    tensor = torch.ones(N)
    shown = show(tensor)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        resize(tensor)
    assert tensor.shape == (N,) and tensor.sum().item() == N
    assert tensor.resize_(10).shape == (10,)  # what it has is enough
    del shown


def test_a_capsule_keeps_its_memory():
    tensor = torch.ones(N)
    again = torch.from_dlpack(tensor)
    tensor.set_(torch.zeros(2))
    gc.collect()
    victims = [torch.zeros(N) for _ in range(64)]
    assert again.sum().item() == N and all(v.sum().item() == 0 for v in victims)


def test_resize_keeps_what_was_there():
    tensor = torch.arange(4.0)
    assert tensor.resize_(8)[:4].tolist() == [0, 1, 2, 3]
    assert tensor.resize_(2, 2).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("make", [
    lambda: torch.empty(2**45), lambda: torch.zeros(2**42, dtype=torch.uint8), lambda: torch.ones(3).resize_(2**45),
    lambda: torch.empty_strided((2**20, 2), (2**25, 1))])
def test_what_no_memory_holds_fails_at_once(make):
    with pytest.raises(RuntimeError, match="out of memory"):
        make()


@pytest.mark.parametrize("nbytes", [2**42, 2**59, 2**60, 2**62])
def test_the_error_has_pytorchs_words_whatever_the_size(nbytes):
    with pytest.raises(RuntimeError, match=f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {nbytes} bytes. Error code 12 "
                                           r"\(Cannot allocate memory\)"):
        torch.empty(nbytes, dtype=torch.int8)


@pytest.mark.parametrize("nbytes, text", [(2**60 - 2**30, "1073741823.00 GiB"), (2**60, "more than 1EB memory"),
                                          (2**62, "more than 1EB memory")])
def test_a_gpu_counts_up_to_an_exabyte(tmp_path, nbytes, text):
    out = run(tmp_path, f"torch.empty({nbytes}, dtype=torch.int8, device='cuda')")
    assert f"CUDA out of memory. Tried to allocate {text}. GPU 0 has a total capacity of" in out.stderr


def test_sizes_that_need_no_memory_can_be_had():
    assert torch.empty_strided((2**45,), (0,)).shape == (2**45,)
    assert torch.empty(2**45, device="meta").shape == (2**45,)
    assert torch.ones(1).expand(2**45).shape == (2**45,)


@pytest.mark.parametrize("make", [
    lambda: torch.ones(3, 1).expand(3, -5), lambda: torch.ones(1).broadcast_to(-2), lambda: torch.ones(1).expand(-2, 1),
    lambda: torch.ones(1).expand(2**62, 2**62), lambda: torch.empty(-1), lambda: torch.ones(2, 2).as_strided((2, -3), (1, 1)),
    lambda: torch.ones(4).reshape(-2, -2), lambda: torch.ones(4).unflatten(0, (-2, 2)), lambda: torch.ones(3).repeat(-1),
    lambda: torch.ones(3).resize_(2**61), lambda: torch.empty(2**62, 2**62)])
def test_sizes_that_no_tensor_has(make):
    with pytest.raises(RuntimeError):
        make()


def test_arrays_of_no_elements():
    assert np.asarray(torch.ones(0, 3)).shape == (0, 3)
