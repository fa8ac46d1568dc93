"""torch.fx: modules and functions as graphs of calls, which programs read, change and run.

symbolic_trace() calls a module's forward() with proxies.  Operations on them become the nodes of a Graph; a GraphModule is
a module whose forward() is the Python code of a Graph.

Note [What a trace sees]
A Proxy is an argument with __torch_function__, so functions and methods of the library call it in place of themselves. In
graphs and in generated code the library is called torch, as in PyTorch, whichever name it was imported by.
"""
from . import immutable_collections  # noqa: F401
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap  # noqa: F401
from .graph import CodeGen, Graph  # noqa: F401
from .graph_module import GraphModule  # noqa: F401
from .interpreter import Interpreter, Transformer  # noqa: F401
from .node import Node, has_side_effect, map_arg  # noqa: F401
from .proxy import Proxy  # noqa: F401
from .subgraph_rewriter import replace_pattern  # noqa: F401

__all__ = ["symbolic_trace", "Tracer", "wrap", "Graph", "GraphModule", "Interpreter", "Transformer", "Node", "Proxy",
           "replace_pattern", "has_side_effect", "map_arg"]
