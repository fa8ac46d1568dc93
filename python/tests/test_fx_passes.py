"""Passes over graphs, and the tracer that rewrites functions first."""
import argand as torch
import pytest
from argand import fx
from argand.fx.experimental.proxy_tensor import make_fx
from argand.fx.experimental.rewriter import RewritingTracer
from argand.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops
from argand.fx.passes.infra.pass_base import PassBase, PassResult
from argand.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper, this_before_that_pass_constraint

class _MulForAdd(PassBase):
    def call(self, graph_module):
        found = graph_module.graph.find_nodes(op="call_function", target=torch.add)
        for node in found:
            node.target = torch.mul
        return PassResult(graph_module, bool(found))


def test_a_manager_runs_passes_in_the_order_of_its_constraints_until_nothing_changes():
    def back(gm):
        for node in gm.graph.find_nodes(op="call_function", target=torch.mul):
            node.target = torch.sub
    first, second = _MulForAdd(), pass_result_wrapper(back)
    manager = PassManager([second, first], [this_before_that_pass_constraint(first, second)])
    result = manager(fx.symbolic_trace(lambda x: torch.add(x, x)))
    assert result.modified and result.graph_module(torch.ones(1)).tolist() == [0] and manager.passes == [first, second]
    with pytest.raises(RuntimeError, match="pass schedule constraint violated"):
        PassManager([second, first], [this_before_that_pass_constraint(first, second)]).validate_constraints()
    with pytest.raises(RuntimeError, match="Circular dependency"):
        PassManager([second, first], [lambda a, b: False])(fx.symbolic_trace(torch.nn.ReLU()))
    with pytest.raises(Exception, match="when running the 'back' pass after the following passes: \\['_MulForAdd'\\]"):
        PassManager([first, back])(fx.symbolic_trace(lambda x: torch.add(x, x)))
    with pytest.raises(TypeError, match="only take in one variable"):
        PassManager().add_checks(lambda a, b: None)


def test_what_is_computed_twice_of_the_same_is_computed_once():
    module = make_fx(lambda x: (x * 2 + x * 2) + x * 2.5 + torch.rand_like(x) - torch.rand_like(x))(torch.ones(3))
    result = CSEPass(get_CSE_banned_ops())(module)
    assert result.modified and len(result.graph_module.graph.nodes) == len(module.graph.nodes) - 1
    assert not CSEPass(get_CSE_banned_ops())(result.graph_module).modified
    torch.manual_seed(0)
    expected = module(torch.ones(3))
    torch.manual_seed(0)
    assert torch.equal(result.graph_module(torch.ones(3)), expected)


def _asserts(x):
    assert x.sum() > 0, "positive"
    return x + 1


def test_rewriting_tracer_traces_assert_statements():
    module = fx.GraphModule(torch.nn.Module(), RewritingTracer().trace(_asserts))
    assert module(torch.ones(1)).tolist() == [2]
    with pytest.raises(AssertionError, match="positive"):
        module(-torch.ones(1))
