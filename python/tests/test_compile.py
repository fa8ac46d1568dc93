"""torch.compile: names of modules, and graphs for backends of the program's own."""
import copy
import math
import pickle
import random
import sys
import warnings

import argand as torch
import pytest
from argand._torch import _dynamo as dynamo
from argand import fx
from argand._compiling.guards import Surroundings


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(2, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.tag = "mine"

    def forward(self, x, scale=2):
        return self.norm(self.l(x)).relu() * scale

    def other(self):
        return 5


class Recorder:
    """A backend that runs the graph, and remembers what it was given."""

    def __init__(self, run=lambda graph_module: graph_module.forward):
        self.calls, self.keywords, self.run = [], [], run

    def __call__(self, graph_module, example_inputs, **keywords):
        assert isinstance(graph_module, fx.GraphModule) and all(isinstance(x, torch.Tensor) for x in example_inputs)
        self.calls.append((graph_module, [tuple(x.shape) for x in example_inputs]))
        self.keywords.append(keywords)
        return self.run(graph_module)


X = torch.arange(8.0).view(4, 2)


def test_a_compiled_module_has_pytorchs_names():
    net = Net()
    for options in ({}, {"mode": "reduce-overhead", "dynamic": True}, {"options": {"trace.enabled": True}}, {"backend": "eager"}):
        compiled = torch.compile(net, **options)
        assert type(compiled).__name__ == "OptimizedModule" and isinstance(compiled, dynamo.OptimizedModule)
        assert not isinstance(compiled, Net) and compiled._orig_mod is net
        assert list(compiled.state_dict()) == ["_orig_mod." + name for name in net.state_dict()]
        assert [n for n, _ in compiled.named_modules()] == ["", "_orig_mod", "_orig_mod.l", "_orig_mod.norm"]
        assert compiled(X).tolist() == net(X).tolist()
    assert compiled.tag == "mine" and compiled.other() == 5 and "other" in dir(compiled)
    compiled.tag = "other"
    assert net.tag == "other" and compiled.eval() is compiled and not net.training and not compiled.training
    with pytest.raises(RuntimeError, match="Missing key.*_orig_mod.l.weight"):
        compiled.load_state_dict(net.state_dict())
    compiled.load_state_dict(compiled.state_dict())
    for again in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert again._orig_mod is not net and again(X).tolist() == net(X).tolist()
    assert torch.compile(compiled)._orig_mod is net and repr(compiled).startswith("OptimizedModule(\n  (_orig_mod): Net(")
    assert torch.compile(net, disable=True) is net
    compiled(X).sum().backward()
    assert net.l.weight.grad is not None


def test_a_backend_gets_the_graph_once_for_each_kind_of_arguments():
    net, backend = Net(), Recorder()
    compiled = torch.compile(net, backend=backend, mode="max-autotune")
    for x in (X, X + 1):
        assert compiled(x).tolist() == Net.forward(net, x).tolist()
    (graph_module, shapes), = backend.calls
    assert shapes == [(4, 2)] and backend.keywords == [{"mode": "max-autotune"}]
    assert [n.target for n in graph_module.graph.nodes if n.op == "call_module"] == ["_orig_mod.l", "_orig_mod.norm"]
    compiled(X[:3])
    compiled(X, scale=3)
    compiled(X, 3)
    compiled.eval()(X)
    with torch.no_grad():
        compiled(X)
    assert [shapes for _, shapes in backend.calls] == [[(4, 2)], [(3, 2)], [(4, 2)], [(4, 2)], [(4, 2)], [(4, 2)]]
    dynamic = torch.compile(net, backend=(backend := Recorder()), dynamic=True)
    assert dynamic(X).shape == (4, 3) and dynamic(X[:2]).shape == (2, 3) and len(backend.calls) == 1


def test_what_a_backend_returns_runs():
    backend = Recorder(lambda graph_module: lambda *args: [y * 10 for y in graph_module(*args)])
    weight = torch.nn.Parameter(torch.tensor(2.0))
    layer = torch.nn.Linear(2, 2)

    @torch.compile(backend=backend, options={"a": 1})
    def function(x, rest, *, power=1):
        return {"a": x * weight, "b": (layer(rest[0]), power, "text")}
    out = function(torch.ones(2), [torch.ones(2)], power=3)
    assert out["a"].tolist() == [20, 20] and torch.equal(out["b"][0], 10 * layer(torch.ones(2))) and out["b"][1:] == (3, "text")
    assert backend.keywords == [{"options": {"a": 1}}] and function.__name__ == "function"
    out["a"].sum().backward()
    assert weight.grad.item() == 20
    assert {n.op for n in backend.calls[0][0].graph.nodes} >= {"placeholder", "call_module", "get_attr", "output"}
    net, backend = Net(), Recorder(lambda graph_module: lambda *args: [graph_module(*args)[0] + 100])
    assert net.compile(backend=backend) is None and list(net.state_dict()) == list(Net().state_dict())
    assert net(X).min() >= 100 and len(backend.calls) == 1


def test_registered_backends():
    @dynamo.register_backend
    def backend_of_a_test(graph_module, example_inputs):
        return lambda *args: [y + 1 for y in graph_module(*args)]
    assert "backend_of_a_test" in torch.compiler.list_backends() and "inductor" in dynamo.list_backends()
    assert torch.compile(lambda x: x * 3, backend="backend_of_a_test")(torch.ones(1)).item() == 4
    assert dynamo.optimize("backend_of_a_test")(lambda x: x * 3)(torch.ones(1)).item() == 4
    torch.compiler.set_default_backend("backend_of_a_test")
    try:
        assert torch.compiler.get_default_backend() == "backend_of_a_test" and torch.compile(lambda x: x)(torch.ones(1)).item() == 2
    finally:
        torch.compiler.set_default_backend("inductor")
    for call in (lambda: torch.compile(torch.sin, backend="nope"), lambda: torch.compiler.set_default_backend("nope")):
        with pytest.raises(dynamo.exc.InvalidBackend, match="Invalid backend: 'nope'"):
            call()


def test_what_has_no_graph_is_said():
    def branches(x):
        return x + 1 if x.sum() > 0 else x
    backend = Recorder()
    compiled = torch.compile(branches, backend=backend)
    with pytest.warns(UserWarning, match="is not called, the program runs as it is: torch.fx cannot make one graph of it"):
        assert compiled(torch.ones(1)).item() == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(torch.ones(1)).item() == 2  # said once
    assert backend.calls == []
    with pytest.raises(dynamo.exc.Unsupported, match="control flow"):
        torch.compile(branches, backend=backend, fullgraph=True)(torch.ones(1))

    @torch.compiler.disable(reason="it prints")
    def marked(x):
        assert not torch.compiler.is_compiling()
        return x + 1
    with pytest.raises(dynamo.exc.Unsupported, match="marked is marked by torch.compiler.disable: it prints"):
        torch.compile(lambda x: marked(x), backend=backend, fullgraph=True)(torch.ones(1))
    assert torch._disable_dynamo(lambda x: x)(1) == 1 and marked(1) == 2

    def fails(graph_module, example_inputs):
        raise KeyError("mine")
    with pytest.raises(dynamo.exc.BackendCompilerFailed, match="backend='fails' raised:\nKeyError: 'mine'"):
        torch.compile(lambda x: x * 2, backend=fails)(torch.ones(1))
    with pytest.warns(UserWarning, match="as often as recompile_limit allows"):
        few = torch.compile(lambda x: x * 2, backend=Recorder(), recompile_limit=1)
        few(torch.ones(1)), few(torch.ones(2))


def test_while_a_graph_is_made():
    backend = Recorder()

    @torch.compiler.allow_in_graph
    def opaque(x):
        return x + 1 if x.sum() > 0 else x
    compiled = torch.compile(lambda x: opaque(x) * (2 if torch.compiler.is_compiling() else 3), backend=backend, fullgraph=True)
    assert compiled(torch.ones(1)).item() == 4 and not torch.compiler.is_compiling()
    assert any(getattr(n.target, "__name__", "") == "opaque" for n in backend.calls[0][0].graph.nodes)
    with torch.compiler.set_stance("force_eager"):
        assert torch.compile(lambda x: x, backend=(unused := Recorder()))(torch.ones(1)).item() == 1 and unused.calls == []
    with torch.compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError, match="fail_on_recompile"):
        compiled(torch.ones(5))


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.ones_(self.inner.weight)
        self.alpha, self.mask, self.table = 1.0, torch.ones(1), [2.0]
        self.register_buffer("shift", torch.zeros(1))

    def forward(self, x):
        return (self.inner(x) * self.alpha * self.table[0] + self.shift * 2) * self.mask


def test_a_trace_holds_while_what_it_read_is_as_it_was():
    m, x, backend = Scaled(), torch.ones(1, 1), Recorder()
    compiled = torch.compile(m, backend=backend)
    plain = m.forward

    def agree(count):
        assert compiled(x).item() == compiled(x).item() == plain(x).item() and len(backend.calls) == count
    agree(1)
    m.alpha = 3.0
    agree(2)
    m.alpha = 1.0
    agree(2)  # the first trace holds again
    m.table[0] = 5.0
    agree(3)
    m.shift.fill_(4)  # the graph has twice of it as a constant
    agree(4)
    m.shift = torch.full((1,), 7.0)
    agree(5)
    m.mask = torch.zeros(1)
    agree(6)
    m.inner.weight.data.fill_(9)  # read by each call
    agree(6)

    factor = 2.0

    def f(x):
        return x * factor * GLOBAL[0]
    traced = torch.compile(f, backend=backend)
    assert traced(x).item() == 2
    factor = 3.0
    assert traced(x).item() == 3
    GLOBAL[0] = 5
    assert traced(x).item() == 15
    signed = torch.compile(lambda x, s: x * math.copysign(1, s), backend=backend)
    assert (signed(x, 0.0).item(), signed(x, -0.0).item()) == (1, -1)
    with torch.autocast("cpu", torch.bfloat16):
        linear = torch.compile(torch.nn.Linear(1, 1), backend=backend)
        assert linear(x).dtype is torch.bfloat16
    assert linear(x).dtype is torch.float32


GLOBAL = [1]


def test_traces_stay_and_attempts_count():
    backend, x = Recorder(), torch.ones(2)
    compiled = torch.compile(lambda x, scale: x * scale, backend=backend, recompile_limit=3)
    assert compiled(x, 2).tolist() == [2, 2]
    with torch.compiler.set_stance("eager_on_recompile"):
        assert compiled(x, 3).tolist() == [3, 3] and len(backend.calls) == 1
    assert compiled(x, 3).tolist() == [3, 3] and len(backend.calls) == 2  # what ran eagerly then is compiled now
    assert compiled(x, 4).tolist() == [4, 4] and len(backend.calls) == 3
    with pytest.warns(UserWarning, match="recompile_limit"):
        assert compiled(x, 5).tolist() == [5, 5]
    assert compiled(x, 2).tolist() == [2, 2] and len(backend.calls) == 3

    class Unhashable:
        __hash__ = None

    tries, one = [], torch.compile(lambda x, _: x + 1, backend=lambda graph, _: tries.append(1) or graph.forward, recompile_limit=2)
    with pytest.warns(UserWarning, match="recompile_limit"):
        assert [one(x, Unhashable()).tolist() for _ in range(4)] == [[2, 2]] * 4 and len(tries) == 2


def test_what_writes_or_draws_runs_as_it_is():
    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.steps, self.seen = 0, []
            self.register_buffer("n", torch.zeros(1))
            self.register_buffer("total", torch.zeros(1))

        def forward(self, x):
            self.steps += 1
            self.seen.append(self.steps)
            self.n = self.n + 1
            self.total.add_(2)
            self.late = self.steps
            return x + self.n + self.total

    m = Counts()
    compiled = torch.compile(m, backend=(backend := Recorder()))
    with pytest.warns(UserWarning, match="it writes steps, seen, n, total, late, which a graph would do once"):
        results = [compiled(torch.zeros(1)).item() for _ in range(3)]
    assert results == [3, 6, 9] and m.seen == [1, 2, 3] and m.steps == 3 and not backend.calls
    for draw, says in ((lambda x: x + torch.rand(2), "depend on none of its tensors"), (lambda x: x * random.random(), "Python's random")):
        torch.manual_seed(0)
        random.seed(0)
        expected = [draw(torch.ones(2)).tolist() for _ in range(3)]
        torch.manual_seed(0)
        random.seed(0)
        compiled = torch.compile(draw, backend=backend)
        with pytest.warns(UserWarning, match=says):
            assert [compiled(torch.ones(2)).tolist() for _ in range(3)] == expected and not backend.calls
        with pytest.raises(RuntimeError, match=says):
            torch.compile(draw, backend=backend, fullgraph=True)(torch.ones(2))
    like = torch.compile(lambda x: torch.rand_like(x), backend=backend)
    assert not like(torch.ones(8)).equal(like(torch.ones(8))) and len(backend.calls) == 1


def test_options_that_change_nothing():
    """Those that tune code are taken silently, what was to be seen or belongs to another backend says that it is in vain."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.compile(torch.sin, options={"max-autotune": True, "triton.cudagraphs": True, "epilogue_fusion": False, "trace.enabled": False})
        torch.compile(torch.sin, mode="reduce-overhead", dynamic=True)
    for options in (dict(options={"trace.enabled": True}), dict(options={"guard_filter_fn": lambda guards: guards}),
                    dict(backend="eager", mode="zzz"), dict(backend="aot_eager", options={"zzz": 1})):
        torch.set_warn_always(True)
        try:
            with pytest.warns(torch.IgnoredArgument, match="torch.compile: .* is ignored"):
                torch.compile(torch.sin, **options)
        finally:
            torch.set_warn_always(False)


def test_options_that_are_refused():
    with pytest.raises(RuntimeError, match="Unexpected optimization option zzz, known options are"):
        torch.compile(torch.sin, options={"zzz": 1})
    with pytest.raises(RuntimeError, match="Unexpected optimization option triton_cudagraphs"):
        torch.compile(options={"triton_cudagraphs": True})(torch.sin)
    with pytest.raises(RuntimeError, match="Unexpected type of attr max_autotune, got int should be bool"):
        torch.compile(torch.sin, options={"max_autotune": 1})
    with pytest.raises(AssertionError, match="to be a bool, got <class 'str'>"):
        torch.compile(torch.sin, dynamic="yes")
    with pytest.raises(RuntimeError, match="Invalid backend: 'zzz'"):
        torch.compile(torch.sin, backend="zzz")
    with pytest.raises(RuntimeError, match="Unrecognized mode=foo, should be one of: default"):
        torch.compile(torch.sin, mode="foo")
    with pytest.raises(RuntimeError, match="Either mode or options can be specified"):
        torch.compile(torch.sin, mode="default", options={"a": 1})
    with pytest.raises(AssertionError, match="A callable function is expected, but <class 'int'> is provided"):
        torch.compile(3)
    with pytest.raises(NotImplementedError, match="dynamic_shapes is not supported"):
        torch.compile(torch.sin, dynamic_shapes={})


def _guarded():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(*(torch.nn.BatchNorm1d(3) for _ in range(20)))
            self.scale, self.parts, self.names, self.chosen = 1000.5, [1, [2]], {"a": 1}, {3}

        def forward(self, x):
            return self.inner(x) * self.scale
    net = Net().eval()
    return net, Surroundings(net, net)


def _swap_names(net):
    a, b = net.inner[0]._buffers.pop("running_mean"), net.inner[0]._buffers.pop("running_var")
    net.inner[0]._buffers.update(running_var=a, running_mean=b)


@pytest.mark.parametrize("change", [
    lambda net: setattr(net, "scale", 1000.25), lambda net: net.parts.append(3), lambda net: net.names.update(a=2), lambda net: net.chosen.add(4),
    lambda net: net.chosen.clear(), lambda net: net.__dict__.update(scale=2.0), lambda net: net.__dict__.update(_buffers={}),
    lambda net: net.inner[3].__dict__.update(_parameters=dict(net.inner[3]._parameters, bias=None)), lambda net: setattr(net.inner[5], "new", None),
    lambda net: net.inner[7]._modules.update(more=torch.nn.ReLU()), lambda net: net.inner[2].train(), _swap_names,
    lambda net: setattr(net.inner[1], "running_mean", torch.zeros(3))])
def test_what_a_graph_read_is_missed_when_it_changes(change):
    net, around = _guarded()
    assert around.hold(False) and around.hold(True)
    change(net)
    assert not around.hold(False) and not around.hold(True)


def test_what_a_graph_read_may_be_the_same_in_other_objects():
    net, around = _guarded()
    net.scale, net.parts[:] = float("1000.5"), list(net.parts)
    net.names["b"] = 1
    del net.names["b"]
    assert around.hold(False) and around.hold(True)
    assert around._objects.are_there()
    net.inner[0].running_mean.add_(1)
    assert around.hold(False) and not around.hold(True)


def test_what_a_graph_read_is_looked_at_without_pythons_own_work():
    """Each call of a compiled module looks at all of it, so no Python function may run for each attribute."""
    net, around = _guarded()
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    try:
        around.hold(False)
    finally:
        sys.setprofile(None)
    assert len(around._places) > 400 and calls.count("call") < 20
