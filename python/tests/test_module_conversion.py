"""Module.to() and load_state_dict() where torch.__future__ says that parameters are replaced or change places."""
import contextlib
import weakref

import pytest

import argand as torch
from argand import nn


@contextlib.contextmanager
def on(name):
    switch = getattr(torch.__future__, f"set_{name}_module_params_on_conversion")
    switch(True)
    try:
        assert getattr(torch.__future__, f"get_{name}_module_params_on_conversion")()
        yield
    finally:
        switch(False)


def test_parameters_and_gradients_stay_the_same_objects():
    m = nn.Linear(2, 2)
    m.weight.grad = grad = torch.ones(2, 2)
    weight = m.weight
    m.double()
    assert m.weight is weight and m.weight.grad is grad and grad.dtype == weight.dtype == torch.float64


def test_between_meta_and_memory_parameters_are_new():
    m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    weight = m[0].weight
    weight.grad = torch.ones(2, 2)
    before = list(m.parameters())
    assert all(a is b for a, b in zip(before, m.to_empty(device="cpu").parameters()))
    m.to("meta")
    assert weight.device.type == weight.grad.device.type == "cpu" and m[0].weight.is_meta and m[0].weight.grad.is_meta
    with pytest.raises(NotImplementedError, match="use torch.nn.Module.to_empty.. instead of torch.nn.Module.to.. when moving"):
        m.to("cpu")
    meta = list(m.parameters())
    m.requires_grad_(False).to_empty(device="cpu")
    assert not any(a is b for a, b in zip(before, meta)) and not any(a is b for a, b in zip(meta, m.parameters()))
    assert all(type(p) is nn.Parameter and p.device.type == "cpu" and not p.requires_grad for p in m.parameters())
    lstm = nn.LSTM(2, 2, device="meta").to_empty(device="cpu")
    assert all(a is b for a, b in zip(lstm._flat_weights, lstm.parameters()))
    with on("swap"):
        m = nn.Linear(2, 2, device="meta")
        weight, number = m.weight, m.weight._cdata
        m.to_empty(device="cpu")
        assert m.weight is weight and weight._cdata != number and weight.device.type == "cpu"


def test_overwritten():
    with on("overwrite"):
        m = nn.Linear(2, 2)
        m.weight.grad = torch.ones(2, 2)
        weight = m.weight
        m.double()
        assert m.weight is not weight and weight.dtype == torch.float32 and m.weight.dtype == m.weight.grad.dtype == torch.float64


def test_swapped():
    with on("swap"):
        m = nn.Linear(2, 2)
        m.weight.grad = grad = torch.ones(2, 2)
        weight, number = m.weight, m.weight._cdata
        m.double()
        assert m.weight is weight and weight._cdata != number and weight.dtype == torch.float64 and type(weight) is nn.Parameter
        assert weight.grad is grad and grad.dtype == torch.float64
        other = nn.Linear(2, 2).double()
        m.load_state_dict(other.state_dict())
        assert m.weight is weight and torch.equal(weight, other.weight) and weight.data_ptr() != other.weight.data_ptr()
        m.load_state_dict(other.state_dict(), assign=True)
        assert m.weight is weight and weight.data_ptr() == other.weight.data_ptr()
        reference = weakref.ref(m.weight)
        with pytest.raises(RuntimeError, match="_apply.*: Couldn't swap Linear.weight"):
            m.float()
        assert reference() is weight


def test_backward_after_a_swap():
    with on("swap"):
        m = nn.Linear(2, 2)
        out = m(torch.ones(1, 2))
        m.half()
        with pytest.raises(RuntimeError, match="poisoned by swap_tensors"):
            out.sum().backward()
        m.float()(torch.ones(1, 2)).sum().backward()
        assert m.weight.grad is not None


class Mine(torch.Tensor):
    pass


class Slots(torch.Tensor):
    __slots__ = ("note",)


def test_classes_and_slots_change_places():
    a, b = torch.ones(2).as_subclass(Mine), torch.zeros(3)
    torch.utils.swap_tensors(a, b)
    assert type(a) is torch.Tensor and type(b) is Mine and a.tolist() == [0, 0, 0]
    p = nn.Parameter(torch.ones(2).as_subclass(Mine))
    assert type(p) is Mine and isinstance(p, nn.Parameter) and p.requires_grad
    a, b = torch.ones(1).as_subclass(Slots), torch.zeros(1).as_subclass(Slots)
    a.note = 1
    torch.utils.swap_tensors(a, b)
    assert b.note == 1 and not hasattr(a, "note")
    with pytest.raises(RuntimeError, match="different slots"):
        torch.utils.swap_tensors(a, torch.ones(1))


def test_arguments_of_to():
    m = nn.Linear(2, 2)
    with pytest.raises(TypeError, match="argument 'dtype'"):
        m.to("cpu", True)
    with pytest.warns(UserWarning, match="Complex modules are a new feature"):
        m.to(torch.complex64)


def test_registered_buffers_and_replicas():
    class Old(nn.Module):
        def register_buffer(self, name, tensor):
            super().register_buffer(name, tensor, True)
    m = Old()
    m.held = nn.Buffer(torch.ones(1))
    assert list(m.state_dict()) == ["held"]
    m.plain = 5
    with pytest.raises(KeyError, match="attribute 'plain' already exists"):
        m.plain = nn.Buffer(torch.ones(1))
    assert nn.Parameter().shape == (0,)
    replica = nn.Linear(1, 1)._replicate_for_data_parallel()
    replica.weight = torch.ones(1, 1)
    assert not replica._parameters and type(replica.weight) is torch.Tensor


def test_lazy_parameters_say_so():
    p = nn.UninitializedParameter()
    for use in (lambda: p + p, lambda: torch.empty_like(p), lambda: torch.optim.Adagrad([p])):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
            use()
    m = nn.LazyBatchNorm1d()
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized"):
        m.share_memory()
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized"):
        nn.BatchNorm1d(3).load_state_dict(m.state_dict())
    with pytest.raises(RuntimeError, match="forget to run a forward pass"):
        torch.jit.script(m)
    for norm in (nn.utils.weight_norm, nn.utils.spectral_norm):
        with pytest.raises(ValueError, match="can't have uninitialized parameters"):
            norm(nn.LazyLinear(2))
    assert type(m.half().running_mean) is nn.UninitializedBuffer and m.running_mean.dtype == torch.float16
    assert nn.LazyBatchNorm1d(affine=False, track_running_stats=False)(torch.randn(4, 3)).shape == (4, 3)
