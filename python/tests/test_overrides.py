"""__torch_function__: subclasses, other classes and modes; what PyTorch 2.15 does with the same programs."""
import subprocess
import sys

import argand as torch
import pytest
from argand import overrides


class Sub(torch.Tensor):
    pass


def sub(*values, requires_grad=False):
    return torch.tensor(values).as_subclass(Sub).requires_grad_(requires_grad)


@pytest.mark.parametrize("result", [
    lambda x: x + 1, lambda x: 1 + x, lambda x: 1 - x, lambda x: 2 / x, lambda x: 2 ** x, lambda x: -x, lambda x: x > 1,
    lambda x: x[0], lambda x: x[1:], lambda x: x.exp(), lambda x: torch.exp(x), lambda x: torch.cat([x, torch.ones(2)]),
    lambda x: torch.ones(2).add(x), lambda x: torch.ones(2) * x, lambda x: torch.stack((x, x)), lambda x: x.clone(),
    lambda x: x.to(torch.float64), lambda x: x.detach(), lambda x: torch.nn.functional.relu(x), lambda x: x.max(0)[0],
    lambda x: x.chunk(2)[0], lambda x: torch.where(x > 1, x, 0.0)])
def test_results_are_of_the_subclass(result):
    assert type(result(sub(1.0, 2.0))) is Sub


def test_other_results_are_what_they_are():
    x = sub(1.0, 2.0)
    assert type(x.tolist()) is list and type(x.shape) is torch.Size and x.sum().item() == 3.0 and x.dim() == 1
    assert type(x.max(0)) is type(torch.ones(2).max(0))
    assert type(torch.ones(2)) is torch.Tensor and type(torch.nn.Parameter(torch.ones(1)) * 2) is torch.Tensor
    x += 1
    assert type(x) is Sub and x.tolist() == [2.0, 3.0]


def test_gradients_of_a_subclass():
    x = sub(1.0, 2.0, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    y = torch.ones(2, requires_grad=True)
    z = (y * 3).as_subclass(Sub)
    assert type(z) is Sub and z.grad_fn is not None
    z.sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]


def test_a_subclass_that_knows_what_is_called():
    calls = []

    class Logging(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append((func.__name__, types == (cls,), sorted(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.tensor([[1.0, 2.0]]).as_subclass(Logging)
    assert type(torch.sum(x, dim=1)) is Logging
    assert type(x.mul(2)) is Logging and type(x @ torch.ones(2, 1)) is Logging
    assert [c[0] for c in calls] == ["sum", "mul", "matmul"]
    assert calls[0] == ("sum", True, ["dim"])


def test_a_class_that_is_no_tensor():
    class Diagonal:
        table = {}

        def __init__(self, n, value):
            self.n, self.value = n, value

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func not in cls.table or not all(issubclass(t, (torch.Tensor, cls)) for t in types):
                return NotImplemented
            return cls.table[func](*args, **(kwargs or {}))

    d = Diagonal(5, 2)
    Diagonal.table[torch.mean] = lambda x: x.value / x.n
    Diagonal.table[torch.Tensor.add] = lambda a, b: "added"
    assert torch.mean(d) == 0.4
    assert torch.ones(1) + d == "added" and torch.ones(1).add(d) == "added"
    with pytest.raises(TypeError, match="(?s)Multiple dispatch failed for 'torch.exp'; all __torch_function__ handlers returned NotImplemented:.*Diagonal"):
        torch.exp(d)


def test_a_subclass_goes_before_its_base():
    order = []

    def logs(name):
        def method(cls, func, types, args=(), kwargs=None):
            order.append((name, [t.__name__ for t in types]))
            return NotImplemented
        return classmethod(method)

    class Base(torch.Tensor):
        __torch_function__ = logs("base")

    class Derived(Base):
        __torch_function__ = logs("derived")

    a, b = torch.ones(1).as_subclass(Base), torch.ones(1).as_subclass(Derived)
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.add'"):
        torch.add(a, b)
    assert order == [("derived", ["Derived", "Base"]), ("base", ["Derived", "Base"])]


def test_modes():
    class Count(overrides.TorchFunctionMode):
        def __init__(self):
            self.names = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Count() as outer, Count() as inner:
        x = torch.ones(2) + 1
        x[0] = 5
        torch.nn.init.zeros_(x)
    torch.ones(1)
    # Inner modes come first, and what they call goes to the outer ones.
    assert inner.names == outer.names == ["ones", "add", "__setitem__", "zeros_"]
    assert x.tolist() == [0.0, 0.0]


def test_a_mode_may_answer_itself():
    class Empty(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if getattr(func, "__module__", None) == "torch.nn.init":
                return kwargs["tensor"]
            return func(*args, **(kwargs or {}))
    torch.manual_seed(0)
    with Empty():
        torch.nn.Linear(2, 2)
    after = torch.rand(1)
    torch.manual_seed(0)
    assert torch.rand(1).equal(after)  # nothing was drawn


def test_switches():
    x = sub(1.0)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor and not overrides.has_torch_function((x,))
    assert type(x + 1) is Sub and overrides.has_torch_function((x,)) and not overrides.has_torch_function((torch.ones(1), 3))
    assert overrides.has_torch_function_unary(x) and overrides.has_torch_function_variadic(1, x)


def test_functions_of_ones_own():
    @overrides.wrap_torch_function(lambda a, b=None: (a, b))
    def both(a, b=None):
        return "plain"

    class Answers:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func is both, kwargs
    assert both(1) == "plain" and both(Answers(), b=2) == (True, {"b": 2})
    assert overrides.handle_torch_function(both, (Answers(),), Answers()) == (True, {})
    assert overrides.is_tensor_like(Answers()) and not overrides.is_tensor_like(3)
    assert overrides.resolve_name(torch.add) == "torch.add" and overrides.resolve_name(torch.Tensor.add) == "torch.Tensor.add"
    assert overrides.resolve_name(len) is None and torch.add in overrides.get_overridable_functions()[torch]


def test_subclasses_are_copied_and_pickled():
    import copy
    import pickle
    x = sub(1.0, 2.0)
    x.note = "kept"
    for other in (copy.deepcopy(x), copy.copy(x)):
        assert type(other) is Sub and other.tolist() == [1.0, 2.0] and other.note == "kept"
    globals()["Sub"] = Sub
    other = pickle.loads(pickle.dumps(x))
    assert type(other) is Sub and other.note == "kept"


def test_only_subclasses_of_tensor_hold_tensors():
    class Other:
        pass
    for cls in (Other, str, dict, int):
        for make in (torch.ones(1).as_subclass, lambda c: torch.Tensor._make_subclass(c, torch.ones(1))):
            with pytest.raises(TypeError, match="a class that does not inherit from Tensor"):
                make(cls)
    with pytest.raises(TypeError, match=r"cls must be a type \(got int\)"):
        torch.ones(1).as_subclass(3)


def test_functions_take_attributes():
    torch.nn.functional.relu.note = torch.add.note = "mine"
    assert torch.nn.functional.relu.note == torch.add.note == "mine"
    del torch.add.note
    with pytest.raises(AttributeError):
        torch.add.note


def test_lists_of_data_are_not_asked_but_indices_are():
    asked = []

    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)
    index, x = torch.tensor([0, 1]).as_subclass(Asked), torch.zeros(2, 3)
    for key in (index, (0, index), (..., index), (0, ..., index)):
        x[key]
    x[0, index] = 1
    assert asked == ["__getitem__"] * 4 + ["__setitem__"]
    torch.stack([index, index])
    torch.tensor([1, index[0]])
    assert asked[5:] == ["stack", "__getitem__"]


def test_attributes_and_plain_methods_are_asked():
    asked = []

    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(overrides.resolve_name(func) or func.__name__)
            return super().__torch_function__(func, types, args, kwargs)
    x = torch.ones(2, 3).as_subclass(Asked)
    for name in ("T", "mT", "real", "data"):
        assert type(getattr(x, name)) is Asked
    assert (x.shape, x.dtype, x.requires_grad, x.dim(), len(x), x.numel()) == ((2, 3), torch.float32, False, 2, 2, 6)
    x.data = torch.zeros(2, 3)
    assert asked == [f"torch.Tensor.{name}.__get__" for name in ("T", "mT", "real", "data", "shape", "dtype", "requires_grad")] + [
        "dim", "torch.Tensor.__len__", "numel", "torch.Tensor.data.__set__"]
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x.T) is torch.Tensor

    class Hidden(Asked):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 7 if func == torch.Tensor.shape.__get__ else super().__torch_function__(func, types, args, kwargs)
    assert torch.ones(2).as_subclass(Hidden).shape == 7 and type(torch.ones(2).as_subclass(Hidden).grad) is type(None)


class Logging(torch.Tensor):
    """Notes the names of what is called, by the outermost call alone."""
    log = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append((torch.overrides.resolve_name(func), len(args), kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})


def test_functions_written_in_python_are_asked_as_a_whole():
    x = torch.randn(2, 3).as_subclass(Logging)
    F = torch.nn.functional

    def calls(run):
        Logging.log.clear()
        result = run()
        return result, list(Logging.log)
    result, log = calls(lambda: F.dropout(x, 0.3))
    assert type(result) is Logging
    assert log == [("torch.nn.functional.dropout", 1, {"p": 0.3, "training": True, "inplace": False})]  # as PyTorch's, by name
    assert [c[0] for c in calls(lambda: F.cross_entropy(x, torch.tensor([0, 1])))[1]] == ["torch.nn.functional.cross_entropy"]
    assert calls(lambda: torch.where(x > 0, x, 0.0))[1][-1][:2] == ("torch.where", 3)
    assert [c[0] for c in calls(lambda: x.norm())[1]] == ["torch.Tensor.norm"]
    assert [c[0] for c in calls(lambda: torch.norm(x))[1]] == ["torch.norm"]
    one = torch.tensor(1.5).as_subclass(Logging)
    assert [c[0] for c in calls(lambda: (float(one), int(one), bool(one)))[1]] == [f"torch.Tensor.__{n}__" for n in ("float", "int", "bool")]


def test_a_mode_sees_functions_written_in_python():
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))
    seen = []
    with Mode():
        torch.nn.functional.softmax(torch.ones(3), -1)
    assert seen[-1] is torch.nn.functional.softmax and len(seen) == 2  # ones, too


def test_functions_written_in_python_are_found_by_their_names():
    import copy
    import inspect
    import pickle
    F = torch.nn.functional
    for function in (F.relu, F.cross_entropy, torch.norm, torch.pca_lowrank, torch.Tensor.norm, torch.Tensor.nonzero, torch.Tensor.unique):
        assert copy.deepcopy(function) is function and pickle.loads(pickle.dumps(function)) is function
        assert inspect.signature(function) and function.__doc__
    assert list(inspect.signature(F.relu).parameters) == ["input", "inplace"]


def test_each_function_has_a_stand_in_with_its_parameters():
    import inspect
    overrides = torch.overrides.get_testing_overrides()
    assert inspect.getfullargspec(overrides[torch.add]).args[:2] == ["input", "other"]
    assert inspect.getfullargspec(overrides[torch.nn.functional.dropout]).args == ["input", "p", "training", "inplace"]
    assert all(f in overrides for functions in torch.overrides.get_overridable_functions().values() for f in functions)
    assert all(eval(torch.overrides.resolve_name(f), {"torch": torch}) is f for f in overrides if getattr(f, "__name__", "") != "__get__")


def test_operators_ask_the_other_operand_where_the_first_declines():
    class Declines(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Raises(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "raised" if func is torch.Tensor.__rpow__ else NotImplemented
    a, b = torch.ones(1).as_subclass(Declines), torch.ones(1).as_subclass(Raises)
    assert a ** b == "raised"
    with pytest.raises(TypeError, match="unsupported operand"):
        a - b
    with pytest.raises(TypeError):
        a += b
    with pytest.raises(TypeError):
        a < b
    with pytest.raises(TypeError, match="all __torch_function__ handlers returned NotImplemented"):
        a[b]


def test_plain_methods_and_class_methods():
    class Plain:
        def __torch_function__(self, *args, **kwargs):
            return 5

    class Mode(torch.overrides.TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 5
    with pytest.warns(DeprecationWarning, match="as a plain method is deprecated"):
        assert torch.nn.functional.dropout(Plain()) == 5
    with pytest.warns(UserWarning, match="as a plain method is deprecated"):
        assert torch.abs(Plain()) == 5
    with pytest.raises(RuntimeError, match="classmethod is not supported"), Mode():
        torch.ones(1) + 1


def test_inverting_deleting_and_gradients_are_asked_about():
    class Seen(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func.__name__)
            return 7
    calls, x = [], torch.ones(2).as_subclass(Seen)
    assert ~x == 7  # of floating point: whether an op takes it is for the class to say
    del x[0]
    assert calls == ["__invert__", "__delitem__"] or calls == ["bitwise_not", "__delitem__"]

    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func, args, kwargs["create_graph"]
    like = Like()
    assert torch.autograd.grad(like, [like], create_graph=True) == (torch.autograd.grad, ((like,), (like,)), True)
    with pytest.raises(TypeError, match="only implemented on integer and Boolean-type tensors"):
        ~torch.ones(2)
    with pytest.raises(TypeError, match="does not support deleting items"):
        del torch.ones(2)[0]
    assert torch.Tensor.__del__ not in torch.overrides.get_testing_overrides() if hasattr(torch.Tensor, "__del__") else True


def test_names_of_functions_lead_to_them(tmp_path):
    """Under `python -m argand`, where torch does not show what is Argand's own."""
    script = tmp_path / "names.py"
    script.write_text("""
import torch
from torch.overrides import get_overridable_functions, resolve_name
functions = get_overridable_functions()
assert torch.add in functions[torch] and torch.special.sinc in functions[torch.special] and torch.Tensor.add in functions[torch.Tensor]
wrong = [resolve_name(f) for group in functions.values() for f in group if resolve_name(f) and eval(resolve_name(f)) is not f]
print(wrong, resolve_name(torch.special.sinc), sum(map(len, functions.values())) > 1000)
""")
    out = subprocess.run([sys.executable, "-m", "argand", str(script)], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert out.stdout.split("\n")[0] == "[] torch.special.sinc True"
