"""Constant folding: values that a graph computes from a module's attributes alone are computed once."""
import operator
import re

from ... import _C
from ..._ignored import harmless
from ...nn import Module, Parameter, ParameterList
from .._symbolic_trace import symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A GraphModule with a graph beside it, const_subgraph_module, that reads attributes alone.  The first call runs that one and keeps
    its results as parameters, without history, under the name fx_const_folded_attrs_name.
    """

    @harmless(device_for_folded_attrs="tensors stay on their device, and a number that is folded stays a number")
    def __init__(self, root, graph, const_subgraph=None, fx_const_folded_attrs_name=None, device_for_folded_attrs="cuda"):
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name

    def __call__(self, *args, **kwargs):
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args, **kwargs)

    def run_folding(self):
        """Computes the constants, once."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        assert not self.has_folding_been_run, "run_folding() has run"
        self.has_folding_been_run = True
        results = self.const_subgraph_module()
        several = isinstance(self.const_subgraph_module.graph.output_node().args[0], tuple)
        kept = [_constant(r) for r in results] if several else _constant(results)
        if several and all(isinstance(k, Parameter) for k in kept):
            kept = ParameterList(kept)
        if not isinstance(kept, (Parameter, Module)):
            delattr(self, self.fx_const_folded_attrs_name)  # what stood there until now
        setattr(self, self.fx_const_folded_attrs_name, kept)


def _constant(result):
    if not isinstance(result, _C.Tensor):
        return result
    return Parameter(result.detach().clone(), requires_grad=result.requires_grad)


def get_unique_attr_name_in_module(mod_traced, name):
    """A name like `name` that is an identifier and that the module does not have: with the next number, if need be."""
    name = re.sub(r"\W+", "_", name, flags=re.ASCII)
    if name[0].isdigit():
        name = "_" + name
    while hasattr(mod_traced, name):
        stem, number = re.fullmatch(r"(.*?)(?:_(\d+))?", name).groups()
        name = f"{stem}_{int(number or 0) + 1}"
    return name


def _constant_nodes(graph, skip):
    """The nodes that read attributes alone, in the order of the graph."""
    found = {}
    for node in graph.nodes:
        reads_constants = node.op == "get_attr" or all(n in found for n in node.all_input_nodes)
        if node.op not in ("placeholder", "output") and reads_constants and not (skip and skip(node)) and not node.is_impure():
            found[node] = True
    return found


def split_const_subgraphs(module, skip_folding_node_fn=None, device_for_folded_attrs="cpu"):
    """A FoldedGraphModule of a module: nodes that read attributes alone are computed at its first call, and never again.

    Those for which skip_folding_node_fn(node) is true, and those with effects, stay where they are.
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constant = _constant_nodes(traced.graph, skip_folding_node_fn)
    if all(node.op == "get_attr" for node in constant):
        return FoldedGraphModule(traced, traced.graph, device_for_folded_attrs=device_for_folded_attrs)
    results = [node for node in constant if node.op != "get_attr" and any(user not in constant for user in node.users)]

    folded, copies = Graph(traced), {}
    for node in constant:
        copies[node] = folded.node_copy(node, copies.__getitem__)
    folded.output(copies[results[0]] if len(results) == 1 else tuple(copies[node] for node in results))
    folded.eliminate_dead_code()

    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    setattr(traced, name, Parameter(_C.empty(0)) if len(results) == 1 else ParameterList())  # what the module made has until it folds
    try:
        rest = _without(traced, constant, results, name)
        return FoldedGraphModule(traced, rest, folded, name, device_for_folded_attrs)
    finally:
        delattr(traced, name)


def _without(traced, constant, results, name):
    """The graph with the attribute `name` in the place of results."""
    rest, copies, all_results = Graph(), {}, None
    rest.set_codegen(traced.graph._codegen)
    rest.owning_module = traced
    for node in traced.graph.nodes:
        if node in constant and node.op != "get_attr":
            if node not in results:
                continue
            all_results = all_results or rest.get_attr(name)
            copies[node] = all_results if len(results) == 1 else rest.call_function(operator.getitem, (all_results, results.index(node)))
            copies[node].meta = dict(node.meta)
        else:
            copies[node] = rest.node_copy(node, copies.__getitem__)
    rest.eliminate_dead_code()
    return rest
