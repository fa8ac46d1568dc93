"""CSEPass: eliminates common subexpressions of a graph."""
from .....library import ops
from .....utils._pytree import tree_flatten
from ....graph import Graph
from ....graph_module import GraphModule
from ....node import Node
from ...infra.pass_base import PassBase, PassResult

__all__ = ["CSEPass", "get_CSE_banned_ops"]

_RANDOM = ("dropout", "bernoulli", "multinomial", "native_dropout", "normal", "poisson", "binomial", "rrelu", "rand_like", "randn_like",
           "randint_like", "rand", "randint", "randn", "randperm")


def get_CSE_banned_ops():
    """Ops that draw random numbers: two calls with the same arguments give different results."""
    return {getattr(ops.aten, name) for name in _RANDOM if hasattr(ops.aten, name)}


class CSEPass(PassBase):
    """Makes a copy of the module without repeated calls.  banned_ops, and ops whose schema says that they write, are called as often as
    before."""

    def __init__(self, banned_ops=None):
        self.banned_ops = set() if banned_ops is None else banned_ops

    def call(self, graph_module):
        """The pass."""
        graph, copies, known, modified = Graph(), {}, {}, False
        for node in graph_module.graph.nodes:
            stays = node.op in ("placeholder", "output", "get_attr") or node.op == "call_function" and node.is_impure()
            if not stays and getattr(node.target, "overloadpacket", node.target) not in self.banned_ops:
                key, structures = self._call_of(node, copies)
                same = next((copy for found, copy in known.get(key, ()) if found == structures), None)
                if same is not None:
                    copies[node], modified = same, True
                    continue
                copies[node] = graph.node_copy(node, copies.__getitem__)
                known.setdefault(key, []).append((structures, copies[node]))
            else:
                copies[node] = graph.node_copy(node, copies.__getitem__)
        return PassResult(GraphModule(graph_module, graph), modified)

    @staticmethod
    def _call_of(node, copies):
        """What tells a call from others: its target and leaves, each with its type (1 is no 1.0), and their structures."""
        args, args_spec = tree_flatten(node.args)
        kwargs, kwargs_spec = tree_flatten(node.kwargs)
        leaves = tuple((type(x), copies[x] if isinstance(x, Node) else x) for x in (*args, *kwargs))
        return (node.op, node.target, leaves), (args_spec, kwargs_spec)
