"""torch.compile: names of modules, and graphs for backends of the program's own."""
import copy
import pickle
import warnings

import argand as torch
import pytest
from argand import _dynamo as dynamo
from argand import fx


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
    seen, backend = [], Recorder()

    @torch.compiler.allow_in_graph
    def opaque(x):
        return x + 1 if x.sum() > 0 else x
    compiled = torch.compile(lambda x: (seen.append(torch.compiler.is_compiling()), opaque(x) * 2)[1], backend=backend, fullgraph=True)
    assert compiled(torch.ones(1)).item() == 4 and seen == [True] and not torch.compiler.is_compiling()
    assert any(getattr(n.target, "__name__", "") == "opaque" for n in backend.calls[0][0].graph.nodes)
    with torch.compiler.set_stance("force_eager"):
        assert torch.compile(lambda x: x, backend=(unused := Recorder()))(torch.ones(1)).item() == 1 and unused.calls == []
    with torch.compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError, match="fail_on_recompile"):
        compiled(torch.ones(5))


def test_options_that_are_refused():
    with pytest.raises(RuntimeError, match="Unrecognized mode=foo, should be one of: default"):
        torch.compile(torch.sin, mode="foo")
    with pytest.raises(RuntimeError, match="Either mode or options can be specified"):
        torch.compile(torch.sin, mode="default", options={"a": 1})
    with pytest.raises(AssertionError, match="A callable function is expected, but <class 'int'> is provided"):
        torch.compile(3)
    with pytest.raises(NotImplementedError, match="dynamic_shapes is not supported"):
        torch.compile(torch.sin, dynamic_shapes={})
