"""Interpreter: runs a graph node by node; Transformer: makes a new graph of one."""
import copy

from .._ignored import harmless
from ._codegen import _last_uses
from ._patching import _Patcher
from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate, map_arg
from .proxy import Proxy
from ._symbolic_trace import Tracer

__all__ = ["Interpreter", "Transformer"]


_MEANING = "it is for subclasses that change what a node means"


class Interpreter:
    """Runs a module's graph; a subclass overrides what nodes of a kind do: call_function(target, args, kwargs)...

    env has the values of the nodes that are still read, unless garbage_collect_values is False: then all.
    """

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = graph if graph is not None else module.graph
        self.env = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses = _last_uses(self.graph.nodes) if garbage_collect_values else {}

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """The output for these arguments; nodes that initial_env has are not run."""
        self.env = {} if initial_env is None else initial_env
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                self._tell_where(error, node)
                raise
            for used in self.user_to_last_uses.get(node, ()):
                del self.env[used]
            if node.op == "output":
                output = self.env[node]
                return self.graph.process_outputs(output) if enable_io_processing else output
        return None

    def _tell_where(self, error, node):
        where = f"While executing {node.format_node()}"
        where = f"{error.args[0]}\n\n{where}" if error.args else where
        if self.extra_traceback and not (error.args and "While executing" in str(error.args[0])):
            error.args = (f"{where}\nOriginal traceback:\n{node.stack_trace}", *error.args[1:])
            if isinstance(error, KeyError):
                raise RuntimeError(*error.args) from error

    def boxed_run(self, args_list):
        """run() of a list of arguments, which is emptied."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n):
        """The value of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    @harmless(kwargs=_MEANING)
    def placeholder(self, target, args, kwargs):
        """The next argument; all that are left for "*args"."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    @harmless(args=_MEANING, kwargs=_MEANING)
    def get_attr(self, target, args, kwargs):
        """The attribute with a full name."""
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        """A function's result."""
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """A method's result."""
        self_obj, *rest = args
        return getattr(self_obj, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        """A module's result."""
        return self.fetch_attr(target)(*args, **kwargs)

    @harmless(target=_MEANING, kwargs=_MEANING)
    def output(self, target, args, kwargs):
        """The output's value."""
        return args[0]

    def fetch_attr(self, target):
        """The module's attribute with a full name."""
        found, passed = self.module, []
        for part in target.split("."):
            if not hasattr(found, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join([*passed, part])}")
            passed.append(part)
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n):
        """A node's arguments, with values in the place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        """Values in the place of nodes."""
        def value(node):
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues")
            return self.env[node]
        return map_arg(args, value)


# The keys of a node's meta that are copied to the nodes that a Transformer makes from it.
_KEPT = ("stack_trace", "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id", "from_node",
         "quantization_tag", "partitioner_tag", "custom")


class _TransformerTracer(Tracer):
    def __init__(self, graph, root):
        super().__init__()
        self.graph, self.root, self.tensor_attrs = graph, root, {}
        self.of = None  # the node that is run

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if self.of is not None:
            node.meta.update({key: copy.copy(self.of.meta[key]) for key in _KEPT if key in self.of.meta})
        return node

    def is_leaf_module(self, m, module_qualified_name):
        return True


class Transformer(Interpreter):
    """An interpreter whose values are proxies: transform() is the module of what it does."""

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph, module)

    def run_node(self, n):
        """What a node gives in the new graph."""
        self.tracer.of = n
        return super().run_node(n)

    def placeholder(self, target, args, kwargs):
        """A placeholder of the new graph."""
        return Proxy(self.new_graph.placeholder(target, default_value=args[0] if args else ...), self.tracer)

    def get_attr(self, target, args, kwargs):
        """An attribute in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        """A call of a module in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target, args, kwargs):
        """A call of a function in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        """The module of the new graph."""
        result = self.run(enable_io_processing=False)
        if result is not None:
            output = self.new_graph.output(map_aggregate(result, lambda v: v.node if isinstance(v, Proxy) else v))
            for old in self.graph.nodes:
                if old.op == "output":
                    output.meta.update(old.meta)
        return GraphModule(self.module, self.new_graph)
