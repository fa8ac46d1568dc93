"""Passes over graphs, and the tracer that rewrites functions first."""
import collections
import enum

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


def test_ops_that_write_stay_in_graphs_though_nobody_reads_what_they_give():
    def write(a):
        torch.ops.aten.add_.Tensor(a, 1)
        torch.ops.aten.mul(a, 3)
        return a * 2
    module = fx.symbolic_trace(write)
    targets = [n.target for n in module.graph.nodes if n.op == "call_function"]
    assert targets[:2] == [torch.ops.aten.add_.Tensor, torch.ops.aten.mul]
    module.graph.eliminate_dead_code()
    module.recompile()
    assert len(module.graph.nodes) == 4 and module(torch.ones(1)).tolist() == [4]
    made = make_fx(lambda a, b: a.copy_(b) * 0 + b)(torch.zeros(1), torch.ones(1))
    made.graph.eliminate_dead_code()
    assert any("copy_" in str(n.target) for n in made.graph.nodes)


class _Kind(enum.Enum):
    A = 1


def test_enums_and_named_tuples_as_arguments_and_attributes_of_placeholders():
    graph = fx.symbolic_trace(lambda x: [x, _Kind.A]).graph
    assert graph.output_node().args[0][1] is _Kind.A
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(print, (_Pair(x, 1.5),)))
    assert "Pair(x=%x, y=1.5)" in str(graph)
    module = fx.symbolic_trace(lambda a: a + 1, concrete_args={"a": fx._symbolic_trace.PHWithMeta(ph_key="first")})
    assert next(iter(module.graph.nodes)).ph_key == "first"


_Pair = collections.namedtuple("_Pair", ["x", "y"])


def test_packets_of_ops_are_called_by_their_names_in_generated_code():
    module = fx.symbolic_trace(lambda a: torch.ops.aten.add(a, a))
    assert "torch.ops.aten.add(" in module.code and module(torch.ones(1)).tolist() == [2]


class _Constants(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Parameter(torch.tensor([1.0, 2.0])), torch.nn.Parameter(torch.tensor([3.0, 4.0]))
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x, *, scale=2):
        total = self.a + self.b
        return self.layer(total) + x * scale, total * x + self.b


def test_what_reads_attributes_alone_is_computed_once():
    from argand.fx.experimental import const_fold
    module, x = _Constants(), torch.tensor([0.5, -1.0])
    folded = const_fold.split_const_subgraphs(module)
    assert [n.op for n in folded.const_subgraph_module.graph.nodes].count("call_module") == 1
    assert not folded.graph.find_nodes(op="call_module") and not folded.has_folding_been_run
    for _ in range(2):
        for ours, theirs in zip(folded(x, scale=3), module(x, scale=3)):
            torch.testing.assert_close(ours, theirs)
    constants = getattr(folded, folded.fx_const_folded_attrs_name)
    assert isinstance(constants, torch.nn.ParameterList) and len(constants) == 2 and not hasattr(module, folded.fx_const_folded_attrs_name)
    with pytest.raises(AssertionError, match="has run"):
        folded.run_folding()
    # Nothing to fold; a node that is to stay; a number among the constants.
    assert const_fold.split_const_subgraphs(fx.symbolic_trace(lambda x: x + 1)).const_subgraph_module is None
    assert const_fold.split_const_subgraphs(module, lambda node: True).const_subgraph_module is None

    class Sized(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(3, 2))

        def forward(self, x):
            return x * self.w.size(0) + self.w.sum()
    sized = const_fold.split_const_subgraphs(Sized())
    assert sized(torch.ones(2)).tolist() == [9, 9] and sized(torch.zeros(2)).tolist() == [6, 6]
    module._FX_CONST_FOLDED_ATTRS = 1
    assert const_fold.get_unique_attr_name_in_module(module, "_FX_CONST_FOLDED_ATTRS") == "_FX_CONST_FOLDED_ATTRS_1"
    assert const_fold.get_unique_attr_name_in_module(module, "2 a.b") == "_2_a_b"


def test_a_matcher_finds_the_places_of_a_pattern():
    from argand.fx.passes.utils.matcher_utils import SubgraphMatcher
    graph = fx.symbolic_trace(lambda x, y: torch.relu(torch.relu(torch.relu(x + y) * 2) * 2) * 3).graph

    def places(pattern, **options):
        return len(SubgraphMatcher(fx.symbolic_trace(pattern).graph, **options).match(graph))
    assert places(lambda x: torch.relu(x)) == 3 and places(lambda x: torch.relu(x) * 2) == 2
    assert places(lambda x: torch.relu(x) * 2, ignore_literals=True) == 3
    assert places(lambda x: torch.relu(torch.relu(x) * 2)) == 1 and places(lambda x: torch.relu(torch.relu(x) * 2), remove_overlapping_matches=False) == 2
    assert places(lambda x: torch.relu(x) * 3, match_output=True) == 1 and places(lambda x: torch.relu(x) * 2, match_output=True) == 0
    assert places(lambda x, y: x + y, match_placeholder=True) == 1 and places(lambda x: torch.relu(x), match_placeholder=True) == 0
    with pytest.raises(ValueError, match="no nodes"):
        SubgraphMatcher(fx.Graph())
