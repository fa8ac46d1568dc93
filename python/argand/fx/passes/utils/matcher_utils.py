"""SubgraphMatcher: finds the subgraphs of a graph that match a pattern."""
from ...subgraph_rewriter import InternalMatch, _Matcher

__all__ = ["SubgraphMatcher", "InternalMatch"]


class SubgraphMatcher:
    """Finds the places of graphs that compute what the graph `pattern` does.

    match_output: the results of the pattern must be the results of the graph.  match_placeholder: arguments of the pattern match
    arguments of the graph alone, and not any value.  remove_overlapping_matches: places have no node in common.  ignore_literals:
    numbers and the like match any other.
    """

    def __init__(self, pattern, match_output=False, match_placeholder=False, remove_overlapping_matches=True, ignore_literals=False):
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher: the pattern has no nodes")
        self.pattern = pattern
        self._matcher = _Matcher(pattern, ignore_literals, match_output, match_placeholder, remove_overlapping_matches)
        self.pattern_placeholder_nodes, self.pattern_returning_nodes = self._matcher.placeholders, self._matcher.returned
        self.pattern_anchors = self._matcher.anchors

    def match(self, graph):
        """An InternalMatch for each place."""
        return self._matcher.matches(graph)
