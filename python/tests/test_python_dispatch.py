"""Dispatch modes and tensors around tensors: what PyTorch's modes saw (recorded/dispatch.json, by dispatch_cases.py), and what holds
for every mode and class."""
import copy
import gc
import json
import pickle
import subprocess
import sys
import threading
import weakref

import argand as torch
import pytest
from argand.utils._python_dispatch import (TorchDispatchMode, _disable_current_modes, _get_current_dispatch_mode,
                                           _get_current_dispatch_mode_stack, _pop_mode_temporarily, is_traceable_wrapper_subclass,
                                           return_and_correct_aliasing, transform_subclass)
from argand.utils._pytree import tree_map

import dispatch_cases

with open(dispatch_cases.RECORDED) as file:
    EXPECTED = json.load(file)
del EXPECTED["versions"]


@pytest.fixture(scope="module")
def calls():
    return dispatch_cases.calls(torch)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_mode_sees_what_pytorchs_sees(calls, name):
    assert calls[name] == EXPECTED[name]


def test_all_programs_are_recorded(calls):
    assert list(calls) == list(EXPECTED)


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls.append((func, types, args, kwargs))
        return func(*args, **(kwargs or {}))

    @property
    def names(self):
        return [str(func) for func, *_ in self.calls]


class Two(torch.Tensor):
    """A pair of tensors on which each op works alone."""

    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, strides=a.stride(), dtype=a.dtype, device=a.device,
                                                   requires_grad=a.requires_grad)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Two(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        def half(name):
            return tree_map(lambda x: getattr(x, name) if isinstance(x, Two) else x, (args, kwargs or {}))
        (args_a, kwargs_a), (args_b, kwargs_b) = half("a"), half("b")
        a, b = func(*args_a, **kwargs_a), func(*args_b, **kwargs_b)
        if isinstance(a, (tuple, list)):
            out = type(a)(Two(x, y) for x, y in zip(a, b))
        else:
            out = Two(a, b) if isinstance(a, torch.Tensor) else a
        return return_and_correct_aliasing(func, args, kwargs, out)


class Slots(torch.Tensor):
    __slots__ = ["elem"]

    @staticmethod
    def __new__(cls, elem):
        made = torch.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype, requires_grad=elem.requires_grad)
        made.elem = elem.detach()
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        inner = tree_map(lambda x: x.elem if isinstance(x, Slots) else x, (args, kwargs or {}))
        return tree_map(lambda x: Slots(x) if isinstance(x, torch.Tensor) else x, func(*inner[0], **inner[1]))


# ---- modes


def test_ops_are_objects():
    add = torch.ops.aten.add.Tensor
    assert str(add) == "aten.add.Tensor" and add.__name__ == "add.Tensor" and add.namespace == "aten" and add.name() == "aten::add.Tensor"
    assert add.overloadpacket is torch.ops.aten.add and add is torch.ops.aten.add.Tensor and {add: 1}[add] == 1
    assert str(add._schema) == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    alpha = add._schema.arguments[2]
    assert (alpha.name, alpha.default_value, alpha.kwarg_only, alpha.type) == ("alpha", 1, True, "Scalar")
    assert torch.ops.aten.view.default.is_view and not add.is_view and torch.ops.aten.add_.Tensor._schema.is_mutable
    assert pickle.loads(pickle.dumps(add)) is add and copy.deepcopy(add) is add
    assert "out" in torch.ops.aten.add.overloads()
    with pytest.raises(AttributeError, match="has no overload name 'Foo'"):
        torch.ops.aten.add.Foo
    out = torch.empty(2)
    assert torch.ops.aten.add.out(torch.ones(2), torch.ones(2), out=out) is out and out.tolist() == [2, 2]
    assert torch.ops.aten.add.Tensor(self=torch.ones(1), other=torch.ones(1), alpha=3).item() == 4


def test_a_mode_is_under_autograd():
    x = torch.ones(2, requires_grad=True)
    inside = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            inside.append((torch.is_grad_enabled(), args[0] is x, result.requires_grad, result.is_leaf))
            return result
    with Mode():
        y = x.exp()
    assert inside == [(True, True, False, True)] and y.requires_grad and type(y.grad_fn).__name__ == "ExpBackward0"
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_results_of_a_mode_are_the_calls():
    class Twice(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is torch.ops.aten.exp.default else result
    x = torch.zeros(2, requires_grad=True)
    with Twice():
        y = x.exp()
    assert y.tolist() == [2, 2]
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]  # of the result that the graph keeps, as in PyTorch
    given = torch.ones(2)

    class Given(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return given
    with Given():
        assert x.detach().exp() is given


def test_modes_nest_and_are_off_within_themselves():
    with Seen() as outer, Seen() as inner:
        assert _get_current_dispatch_mode() is inner and _get_current_dispatch_mode_stack() == [outer, inner]
        torch.ones(2)
        with _disable_current_modes() as off:
            torch.zeros(2)
            assert off == [outer, inner] and _get_current_dispatch_mode() is None
        with _pop_mode_temporarily() as popped:
            assert popped is inner
            torch.zeros(2)
    assert inner.names == ["aten.ones.default"] and outer.names == ["aten.ones.default", "aten.zeros.default"]
    torch.ones(2)
    assert len(outer.calls) == 2 and _get_current_dispatch_mode_stack() == []


def test_an_exception_in_a_mode_is_the_callers():
    class Refuses(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("mine")
    x = torch.ones(2, requires_grad=True)
    for call in (lambda: torch.ones(2), lambda: x.detach().add_(1), lambda: torch.add(x.detach(), 1, out=torch.empty(0))):
        with pytest.raises(KeyError, match="mine"), Refuses():
            call()
    y = x.exp().sum()
    with pytest.raises(KeyError, match="mine"), Refuses():
        y.backward(retain_graph=True)
    assert _get_current_dispatch_mode() is None
    y.backward()
    assert torch.equal(x.grad, x.detach().exp())


def test_a_result_that_is_no_tensor():
    class Text(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return "arf"
    with pytest.raises(RuntimeError, match="Unable to cast Python instance of type str"), Text():
        torch.ones(2).neg()

    class Polite(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.ops.aten.neg.default'"):
        x = torch.ones(2)
        with Polite():
            x.neg()

    class OfClass(TorchDispatchMode):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **kwargs)
    with pytest.raises(RuntimeError, match="classmethod is not supported"), OfClass():
        torch.ones(2)


def test_a_mode_is_its_threads():
    with Seen() as mode:
        thread = threading.Thread(target=lambda: torch.ones(2).exp())
        thread.start()
        thread.join()
        assert mode.calls == []
        torch.ones(2)
    assert mode.names == ["aten.ones.default"]


def test_function_modes_come_first():
    order = []

    class Function(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            order.append("function")
            return func(*args, **(kwargs or {}))

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            order.append(str(func))
            return func(*args, **(kwargs or {}))
    x = torch.ones(2)
    with Dispatch(), Function():
        torch.exp(x)
    assert order == ["function", "aten.exp.default"]


def test_writes_are_counted_once():
    x, y = torch.ones(2), torch.ones(2, requires_grad=True)
    with Seen():
        before = x._version
        x.add_(1)
        assert x._version == before + 1
        z = y * 1
        z.mul_(z)
        z.sum().backward()
    assert y.grad.tolist() == [2, 2]
    with Seen():
        w = y * 1
        v = w.view(2, 1)
        assert v._base is w
        v.mul_(3)
        w.sum().backward()
    assert y.grad.tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="leaf"), Seen():
        y.add_(1)
    with pytest.raises(RuntimeError, match="out=..."), Seen():
        torch.exp(y, out=torch.empty(2))


def test_custom_ops_are_offered():
    @torch.library.custom_op("dispatch_test::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2
    with Seen() as mode:
        assert twice(torch.ones(1)).item() == 2
    assert "dispatch_test.twice.default" in mode.names
    assert type(twice(Two(torch.ones(1), torch.ones(1)))) is Two


# ---- classes


def test_a_layer_of_pairs_and_backward():
    torch.manual_seed(0)
    layer, parts = torch.nn.Linear(4, 2), [torch.randn(3, 4), torch.randn(3, 4)]
    out = layer(Two(*parts))
    assert type(out) is Two and out.requires_grad and out.shape == (3, 2)
    out.relu().sum().backward()
    for name, part in zip("ab", parts):
        same = copy.deepcopy(layer)
        same.zero_grad()
        same(part).relu().sum().backward()
        for p, q in zip(layer.parameters(), same.parameters()):
            assert type(p.grad) is Two and torch.allclose(getattr(p.grad, name), q.grad)


@pytest.mark.parametrize("cls", [lambda x: Two(x, 2 * x), Slots])
def test_what_backward_reads_is_what_forward_saw(cls):
    x = cls(torch.full((3,), 2.0)).requires_grad_()
    y = (x * x).exp() * x
    expected = torch.full((3,), 2.0, requires_grad=True)
    ((expected * expected).exp() * expected).sum().backward()
    total = y.sum()
    del y
    gc.collect()
    total.backward()
    assert type(x.grad) is type(x) and torch.allclose(x.grad.a if isinstance(x, Two) else x.grad.elem, expected.grad)


def test_views_and_writes_of_pairs():
    x = Two(torch.zeros(2, 3), torch.ones(2, 3))
    row = x[0]
    assert type(row) is Two and row._is_view() and row.untyped_storage() == x.untyped_storage()
    assert row.add_(5) is row and x.a[0].tolist() == [5, 5, 5] and x.b[1].tolist() == [1, 1, 1]
    assert [type(t) for t in x.unbind()] == [Two, Two] and type(torch.cat([x, x])) is Two
    assert type(torch.ones(2, 3) + x) is Two and (x + 1).b[1].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="doesn't have storage"):
        x.data_ptr()
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        x.tolist()
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        x.numpy()


def test_flattening():
    x = Two(torch.ones(2), torch.zeros(2))
    assert is_traceable_wrapper_subclass(x) and not is_traceable_wrapper_subclass(torch.ones(1))
    y = transform_subclass(x, lambda name, inner: inner + (name == "b"))
    assert type(y) is Two and y.a.tolist() == y.b.tolist() == [1, 1]


def test_copies():
    x = Two(torch.ones(2), torch.zeros(2)).requires_grad_()
    y = copy.deepcopy(x)
    assert type(y) is Two and y.requires_grad and y.a is not x.a and torch.equal(y.a, x.a)
    p = torch.nn.Parameter(x.detach())
    assert type(p) is Two and isinstance(p, torch.nn.Parameter) and p.requires_grad
    z = pickle.loads(pickle.dumps(x))
    assert type(z) is Two and z.requires_grad and torch.equal(z.b, x.b) and type(z * z) is Two
    z = pickle.loads(pickle.dumps(Slots(torch.ones(2))))
    assert type(z) is Slots and z.elem.tolist() == [1, 1]


@pytest.mark.parametrize("make", [lambda: Two(torch.ones(2), torch.arange(2.0)), lambda: Slots(torch.arange(3))])
def test_files(make, tmp_path):
    x = make()
    torch.save({"x": x}, tmp_path / "x.pt")
    with pytest.raises(pickle.UnpicklingError):
        torch.load(tmp_path / "x.pt")
    with pytest.raises(ValueError, match="has no slot 'data'"):
        torch._copies._set_state(Slots(torch.ones(1)), ({}, {"data": torch.ones(1)}))
    with torch.serialization.safe_globals([Two, Slots]):
        for options in ({}, {"weights_only": False}):
            y = torch.load(tmp_path / "x.pt", **options)["x"]
            assert type(y) is type(x) and y.dtype is x.dtype and y.shape == x.shape
            assert torch.equal(y.b, x.b) if isinstance(x, Two) else torch.equal(y.elem, x.elem)


def test_a_class_with_memory():
    seen = []

    class Plain(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append((str(func), types))
            return super().__torch_dispatch__(func, types, args, kwargs)
    x = torch.Tensor._make_subclass(Plain, torch.ones(2))
    assert Plain.__torch_function__ is torch._C._disabled_torch_function_impl
    assert type(x + x) is torch.Tensor and seen == [("aten.add.Tensor", (Plain,))]

    class Sub(Plain):
        pass
    seen.clear()
    torch.add(x, torch.Tensor._make_subclass(Sub, torch.ones(2)))
    assert seen == [("aten.add.Tensor", (Sub, Plain))]


def test_looks_at_numbers_are_offered():
    class Five(torch.Tensor):
        @staticmethod
        def __new__(cls):
            return torch.Tensor._make_wrapper_subclass(cls, ())

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            assert func is torch.ops.aten._local_scalar_dense.default
            return 5.0
    assert Five().item() == 5 and float(Five()) == 5 and int(Five()) == 5 and bool(Five())


def test_refusals():
    with pytest.raises(TypeError, match="cls must be a type"):
        torch.Tensor._make_wrapper_subclass(3, (2,))
    with pytest.raises(TypeError, match="Tensor must define __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(torch.Tensor, (2,))
    with pytest.raises(RuntimeError, match="already associated to a python object of type Two"):
        Two(torch.ones(1), torch.ones(1)).as_subclass(Slots)
    with pytest.raises(RuntimeError, match="already associated to a python object of type Two"):
        torch.Tensor._make_subclass(Slots, Two(torch.ones(1), torch.ones(1)))

    class Refuses(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented
    with pytest.raises(TypeError, match="no implementation found|returned NotImplemented"):
        torch.Tensor._make_subclass(Refuses, torch.ones(2)).neg()


def test_nothing_stays():
    x = Two(torch.ones(2), torch.ones(2)).requires_grad_()
    inner = weakref.ref(x.a)
    y = (x * x).sum()
    del x
    gc.collect()
    assert inner() is not None  # the graph has it
    del y
    torch.ones(1)
    gc.collect()
    assert inner() is None
    x = Two(torch.ones(2), torch.ones(2))
    x.me, inner = x, weakref.ref(x.a)
    del x
    gc.collect()
    assert inner() is None


def test_backward_within_backward_has_the_modes():
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if ctx.depth > 0:
                with torch.enable_grad():
                    x = torch.ones(1, requires_grad=True)
                    Nested.apply(x, ctx.depth - 1).sinh().sum().backward()
            return g, None
    with Seen() as mode:
        x = torch.ones(1, requires_grad=True)
        Nested.apply(x, 150).sinh().sum().backward()  # deeper than one thread's stack
    assert mode.names.count("aten.sinh.default") == mode.names.count("aten.cosh.default") == 151


def test_storages_by_identity():
    from argand.multiprocessing.reductions import StorageWeakRef
    x, y = torch.ones(4), torch.ones(4)
    ref = StorageWeakRef(x.untyped_storage())
    assert ref == StorageWeakRef(x[1:].untyped_storage()) != StorageWeakRef(y.untyped_storage()) and len({ref, StorageWeakRef(x.storage())}) == 1
    pair = Two(x, y)
    assert StorageWeakRef(pair.untyped_storage()) == StorageWeakRef(pair.view(2, 2).untyped_storage())
    assert not ref.expired()
    del x, pair
    gc.collect()
    assert ref.expired()


def test_arguments_by_name_alone_of_a_custom_op():
    @torch.library.custom_op("dispatch_test::scaled", mutates_args=())
    def scaled(x: torch.Tensor, *, by: float) -> torch.Tensor:
        return x * by

    def setup(ctx, inputs, keyword_only_inputs, output):
        ctx.by = keyword_only_inputs["by"]
    scaled.register_autograd(lambda ctx, g: g * ctx.by, setup_context=setup)
    x = torch.ones(2, requires_grad=True)
    scaled(x, by=3.0).sum().backward()
    assert x.grad.tolist() == [3, 3]


PROGRAM_OF_THREADS = """
import sys, threading, torch
from torch.utils._python_dispatch import TorchDispatchMode
sys.setswitchinterval(1e-5)
class Plain(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
p, over = torch.nn.Parameter(torch.zeros(3)), False
def hooks():
    while not over:
        p.register_hook(lambda g: g).remove()
def plain():
    for _ in range(1000): (p * 2).sum().backward()
def seen():
    for _ in range(1000):
        with Plain(): (p * 2).sum().backward()
others = [threading.Thread(target=f) for f in (plain, seen, seen)]
hooking = threading.Thread(target=hooks); hooking.start()
for t in others: t.start()
for t in others: t.join()
over = True; hooking.join()
print(p.grad.tolist())
"""


def test_a_leaf_that_a_mode_sees_accumulate_can_be_used_by_other_threads(tmp_path):
    """No lock is held while a mode's code runs, which another thread may hold up that waits for that lock; nothing is lost."""
    script = tmp_path / "threads.py"
    script.write_text(PROGRAM_OF_THREADS)
    ran = subprocess.run([sys.executable, "-m", "argand", str(script)], capture_output=True, text=True, timeout=120)
    assert (ran.stdout, ran.stderr) == ("[6000.0, 6000.0, 6000.0]\n", "")


def test_a_mode_may_use_the_leaf_that_is_accumulated():
    p = torch.nn.Parameter(torch.zeros(3))
    other = (p * 10).sum()

    class Uses(TorchDispatchMode):
        inside = False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if str(func) == "aten.add_.Tensor" and not self.inside:
                self.inside = True
                p.register_hook(lambda g: g).remove()
                other.backward()
            return func(*args, **(kwargs or {}))
    for _ in range(2):
        with Uses():
            (p * 2).sum().backward()
    assert p.grad.tolist() == [14.0] * 3


def test_detach_is_offered_to_a_class_though_its_tensor_requires_grad():
    """So that Parameter() of such a tensor makes another one, and marks that one alone."""
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, inner, requires_grad=False):
            made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=requires_grad)
            made.inner = inner
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            made = func(*torch.utils._pytree.tree_map_only(Wrapper, lambda x: x.inner, args))
            return torch.utils._pytree.tree_map_only(torch.Tensor, Wrapper, made)
    seen, x = [], Wrapper(torch.ones(2), requires_grad=True)
    detached = x.detach()
    assert seen == ["aten.detach.default"] and not detached.requires_grad and detached.__dict__ is not x.__dict__
    param = torch.nn.Parameter(x, requires_grad=False)
    assert isinstance(param, torch.nn.Parameter) and not isinstance(x, torch.nn.Parameter)
    assert repr(param) == "Parameter(Wrapper(..., size=(2,)))" and repr(x) == "Wrapper(..., size=(2,), requires_grad=True)"


class Held(torch.Tensor):
    """Holds a tensor, of which ops are computed."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        made = func(*torch.utils._pytree.tree_map_only(Held, lambda x: x.inner, args), **kwargs or {})
        return torch.utils._pytree.tree_map_only(torch.Tensor, Held, made)


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck_takes_tensors_without_memory_of_their_own(fast_mode):
    real, complex_ = torch.tensor([0.3, -0.7], dtype=torch.float64), torch.tensor([0.5 + 1j, 2 - 0.25j], dtype=torch.complex128)
    for inner, function in ((real, lambda x: (x.sin() * x.sum(), x ** 2)), (complex_, lambda z: (z * z.conj()).real.sum() * z)):
        x = Held(inner.clone()).requires_grad_()
        assert torch.autograd.gradcheck(function, x, fast_mode=fast_mode) and torch.autograd.gradgradcheck(function, x, fast_mode=fast_mode)
        assert torch.equal(x.detach().inner, inner)
        with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
            torch.autograd.gradcheck(_Twice.apply, x, fast_mode=fast_mode)


def test_a_process_may_be_forked_while_a_gradient_is_accumulated(tmp_path):
    """By the code of a mode that sees the addition: parent and child both come through it, and go on to the next one."""
    script = tmp_path / "forks.py"
    script.write_text("""
import os, torch
from torch.utils._python_dispatch import TorchDispatchMode
p, pids = torch.nn.Parameter(torch.zeros(3)), []
class Forks(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if str(func) == "aten.add_.Tensor" and not pids:
            pids.append(os.fork())
        return func(*args, **(kwargs or {}))
for _ in range(3):
    with Forks(): (p * 2).sum().backward()
assert p.grad.tolist() == [6.0] * 3
if pids[0] == 0: os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]))
""")
    ran = subprocess.run([sys.executable, "-m", "argand", str(script)], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("7\n", "")
