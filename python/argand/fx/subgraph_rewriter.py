"""replace_pattern(): replaces every subgraph that matches a pattern."""
import copy
import dataclasses
import itertools
import re
import typing

from ..nn import Module
from . import _paths
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node

__all__ = ["Match", "replace_pattern", "replace_pattern_with_filters", "ReplacedPatterns"]


class Match(typing.NamedTuple):
    """A place that was replaced: the pattern's last node, and all nodes of the pattern -> those of the graph."""
    anchor: Node
    nodes_map: dict


@dataclasses.dataclass
class ReplacedPatterns:
    """A Match, with the nodes that stand there now."""
    anchor: Node
    nodes_map: dict
    replacements: list


class InternalMatch(typing.NamedTuple):
    """A place that matches, for filters."""
    anchors: list
    nodes_map: dict
    placeholder_nodes: list
    returning_nodes: list


class _Matcher:
    """Finds the places of a graph that compute what `pattern` does."""

    def __init__(self, pattern, ignore_literals, match_output=False, match_placeholder=False, apart=True):
        self.pattern, self.ignore_literals = pattern, ignore_literals
        self.match_output, self.match_placeholder, self.apart = match_output, match_placeholder, apart
        self.placeholders = [n for n in pattern.nodes if n.op == "placeholder"]
        output = pattern.output_node()
        self.returned = output.all_input_nodes
        self.anchors = [n for n in self.returned if len(n.users) == 1]

    def matches(self, graph):
        """Places that have no node in common, in the order of the graph."""
        places, taken = [], set()
        candidates = [[n for n in graph.nodes if self._same_kind(anchor, n)] for anchor in self.anchors]
        for nodes in itertools.product(*candidates):
            found = {}
            if all(self._match(p, n, found) for p, n in zip(self.anchors, nodes)) and self._is_contained(found) and self._ends(graph, found):
                own = {n for p, n in found.items() if p.op not in ("placeholder", "output") and isinstance(n, Node)}
                if not (self.apart and own & taken):
                    taken |= own
                    places.append(InternalMatch(self.anchors, found, [found.get(p) for p in self.placeholders],
                                                [found[p] for p in self.returned]))
        return places

    def _same_kind(self, pattern, node):
        if pattern.op == "placeholder" and not self.match_placeholder:
            return True
        if pattern.op != node.op:
            return False
        if pattern.op == "placeholder":
            return True
        if pattern.op == "get_attr":
            return type(_value_of(pattern)) is type(_value_of(node))
        return pattern.target == node.target

    def _match(self, pattern, node, found):
        if isinstance(pattern, Node) and isinstance(node, Node):
            if pattern in found:
                return found[pattern] is node
            if node in found.values() or not self._same_kind(pattern, node):
                return False
            found[pattern] = node
            if pattern.op == "placeholder":
                return True
            ours, theirs = _arguments(pattern), _arguments(node)
            return self._match(ours[0], theirs[0], found) and self._match(ours[1], theirs[1], found)
        if isinstance(pattern, (list, tuple)) and isinstance(node, (list, tuple)):
            return len(pattern) == len(node) and all(self._match(p, n, found) for p, n in zip(pattern, node))
        if isinstance(pattern, dict) and isinstance(node, dict):
            return pattern.keys() == node.keys() and all(self._match(v, node[k], found) for k, v in pattern.items())
        if isinstance(pattern, Node):
            if pattern.op != "placeholder" or self.match_placeholder:
                return False
            return found.setdefault(pattern, node) == node
        return not isinstance(node, Node) and (self.ignore_literals or type(pattern) is type(node) and pattern == node)

    def _ends(self, graph, found):
        return not self.match_output or graph.output_node().all_input_nodes == [found[p] for p in self.returned]

    def _is_contained(self, found):
        # Values in between must not be read elsewhere, as the replacement removes them.
        nodes = [n for n in found.values() if isinstance(n, Node)]
        returned = [found[p] for p in self.returned]
        return all(user in nodes for p, n in found.items() if p.op != "placeholder" and n not in returned for user in n.users)


def _arguments(node):
    # Calls of an op are compared by all arguments of its schema, whether given by position, by name or by default.
    schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
    if schema is None:
        return node.args, dict(node.kwargs)
    names = [a.name for a in schema.arguments if not a.kwarg_only]
    given = {**dict(zip(names, node.args)), **node.kwargs}
    return (), {a.name: given.get(a.name, _default(a)) for a in schema.arguments}


def _default(argument):
    # int[2] padding=0 is [0, 0].
    count = re.fullmatch(r"\w+\[(\d+)\]\??", str(argument.type))
    value = argument.default_value
    return [value] * int(count[1]) if count and isinstance(value, (int, float)) else value


def _value_of(node):
    module = node.graph.owning_module
    return _paths.get(module, node.target) if module is not None and _paths.has(module, node.target) else None


def replace_pattern(gm, pattern, replacement):
    """In gm, replacement(...) wherever pattern(...) is computed, both functions (or modules) of the same arguments.

    What they do is traced.  Arguments of the pattern match any value; the values between must not be read from outside.  Places have
    no node in common.  Returns a Match for each.
    """
    return [Match(r.anchor, r.nodes_map) for r in _replace(gm, pattern, replacement, (), False)]


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, replacement_callback=None,
                                 node_name_match=""):
    """replace_pattern() where every filter(match, the graph, the pattern's graph) is true; replacement_callback, of the same
    arguments, makes the graph of each replacement.
    """
    if node_name_match:
        raise NotImplementedError("replace_pattern_with_filters: node_name_match is not supported: nodes match by what they do")
    return _replace(gm, pattern, replacement, match_filters or (), ignore_literals, replacement_callback)


def _graph_of(obj):
    return obj if isinstance(obj, Graph) else obj.graph if isinstance(obj, GraphModule) else symbolic_trace(obj).graph


def _replace(gm, pattern, replacement, filters, ignore_literals, callback=None):
    pattern_graph = _graph_of(pattern)
    matches = [m for m in _Matcher(pattern_graph, ignore_literals).matches(gm.graph) if all(f(m, gm.graph, pattern_graph) for f in filters)]
    assert replacement is not None or callback is not None, "Must provide either a replacement GraphModule or a replacement callback"
    fixed = None if callback is not None else _graph_of(replacement)
    moved, replaced = {}, []
    for match in matches:
        graph = fixed if fixed is not None else _graph_of(callback(match, gm.graph, pattern_graph))
        replaced.append(_replace_one(gm.graph, match, graph, moved))
    gm.recompile()
    if isinstance(replacement, Module):
        _bring_attributes(gm, replacement)
    return replaced


def _replace_one(graph, match, replacement, moved):
    """One place.  `moved`: what stands for nodes of earlier places, which this one may read."""
    placeholders = [n for n in replacement.nodes if n.op == "placeholder"]
    match.nodes_map.update({p: moved.get(n, n) for p, n in match.nodes_map.items() if isinstance(n, Node)})
    values = [moved.get(n, n) if isinstance(n, Node) else n for n in match.placeholder_nodes]
    assert len(placeholders) == len(values), "the pattern and its replacement must have the same arguments"
    copies = dict(zip(placeholders, values))
    order = {node: i for i, node in enumerate(graph.nodes)}
    users = [user for node in match.returning_nodes for user in node.users]
    first = min(users, key=order.get) if users else max(match.returning_nodes, key=order.get).next
    with graph.inserting_before(first):
        result = graph.graph_copy(replacement, copies)
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    assert len(results) == len(match.returning_nodes), "the pattern and its replacement must have as many results"
    for old, new in zip(match.returning_nodes, results):
        old.replace_all_uses_with(new)
        moved[old] = new
    own = [n for p, n in match.nodes_map.items() if isinstance(n, Node) and p.op not in ("placeholder", "output")]
    for node in sorted(own, key=order.get, reverse=True):
        graph.erase_node(node)
    return ReplacedPatterns(match.anchors[0], match.nodes_map, [c for p, c in copies.items() if p not in placeholders])


def _bring_attributes(gm, replacement):
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr") and not _paths.has(gm, node.target):
            if not _paths.has(replacement, node.target):
                raise RuntimeError(f'Attempted to create a "{node.op}" node during subgraph rewriting with target {node.target}, but the '
                                   "referenced attribute does not exist in the replacement GraphModule")
            value = copy.deepcopy(_paths.get(replacement, node.target))
            if isinstance(value, Module):
                gm.add_submodule(node.target, value)
            else:
                setattr(*_paths.owner(gm, node.target), value)
    gm.graph.lint()
