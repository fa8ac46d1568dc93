"""Graph: the nodes of a computation in their order."""
import contextlib
import copy
import warnings

from .._ignored import harmless, ignored
from . import _paths
from ._codegen import CodeGen, PythonCode, _PyTreeCodeGen, _PyTreeInfo  # noqa: F401
from ._names import Namespace, is_magic, snake_case
from ._operators import inplace_methods, magic_methods, reflectable_magic_methods  # noqa: F401
from .node import Node, _get_qualified_name, _type_repr, map_aggregate, map_arg  # noqa: F401

__all__ = ["PythonCode", "CodeGen", "Graph"]
_Namespace, _snake_case, _is_magic = Namespace, snake_case, is_magic


_PLAIN = "code has no comments, colours or line breaks of that kind"


class _node_list:
    """The nodes of a graph, as a view: a walk sees what is added behind it."""

    def __init__(self, graph, direction="_next"):
        self.graph, self.direction = graph, direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self):
        return iter(_node_list(self.graph, "_prev" if self.direction == "_next" else "_next"))


class _InsertPoint:
    """Sets where create_node() puts nodes.  Used in a `with` statement, it restores the former place at the end."""

    def __init__(self, graph, new_insert):
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.graph._insert = self.orig_insert


class Graph:
    """A list of nodes, each of which reads results of those before it: placeholders, calls, one output."""

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend
        self._len = 0
        self._graph_namespace = Namespace()
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._traced_code = None  # of the function that was traced

    @property
    def owning_module(self):
        """The GraphModule whose forward() this is."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module):
        self._owning_module = module

    @property
    def nodes(self):
        """The nodes in order."""
        return _node_list(self)

    def output_node(self):
        """The output."""
        node = next(iter(reversed(self.nodes)))
        assert node.op == "output", "Expected the last node to be an output node"
        return node

    @harmless(sort="nodes are always in the order of the graph")
    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of a kind (and target), in order."""
        if op == "call_function" and target is None:
            raise AssertionError("target must be provided for op='call_function'")
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # ---- making nodes

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """Adds a node at the insertion point, which is the end unless inserting_before() or _after() set another."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        assert isinstance(args, tuple), f"args must be a tuple, got {type(args)}"
        assert isinstance(kwargs, dict), f"kwargs must be a dict, got {type(kwargs)}"
        name = self._graph_namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target):
        if callable(target):
            name = getattr(target, "__name__", type(target).__name__)
        else:
            name = target[2:-2] if is_magic(target) else target
        return snake_case(name)

    def placeholder(self, name, type_expr=None, default_value=...):
        """An argument of the graph; one with a default_value may be left out."""
        return self.create_node("placeholder", name, () if default_value is ... else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """A parameter, buffer or module of the module, by its full name."""
        if self.owning_module is not None and not _paths.has(self.owning_module, qualified_name):
            warnings.warn("Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                          "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the necessary "
                          "Parameter, or nn.Module.register_buffer to add the necessary buffer", stacklevel=2)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """A call of a submodule by its full name."""
        if self.owning_module is not None and self.owning_module.get_submodule(module_name) is None:
            warnings.warn("Attempted to insert a call_module Node with no underlying reference in the owning GraphModule! Call "
                          "GraphModule.add_submodule to add the necessary submodule", stacklevel=2)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """A call of a method of args[0]."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result, type_expr=None):
        """What the graph returns."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def inserting_before(self, n=None):
        """Nodes come before n from now on (None: at the beginning); as a context, within it."""
        if n is None:
            return self.inserting_after(self._root)
        assert n.graph is self, "Node to insert before is not in graph."
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        """Nodes come after n from now on (None: at the end); as a context, within it."""
        if n is None:
            return self.inserting_before(self._root)
        assert n.graph is self, "Node to insert after is not in graph."
        return _InsertPoint(self, n.append)

    # ---- changing nodes

    def erase_node(self, to_erase):
        """Takes out a node that nobody reads."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                               f"{to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        to_erase._unlink()
        to_erase._erased = True  # a walk that stands on it goes on
        self._len -= 1
        to_erase._set_arguments((), {})

    def node_copy(self, node, arg_transform=lambda node: node):
        """Adds a copy of another graph's node that reads arg_transform(node) for each node which that one reads."""
        assert isinstance(node.args, tuple), f"Expected args to be tuple, got {type(node.args)}"
        assert isinstance(node.kwargs, dict), f"Expected kwargs to be dict, got {type(node.kwargs)}"
        result = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform),
                                  node.name, node.type)
        result.meta = copy.copy(node.meta)
        return result

    def graph_copy(self, g, val_map, return_output_node=False):
        """Adds copies of g's nodes but the output, of which it returns what the copy would return.  val_map has, and gets, the
        copies of nodes."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo=None):
        result = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        memo = {} if memo is None else memo
        memo[id(self)] = result
        result._codegen = copy.deepcopy(self._codegen, memo)
        result._traced_code = self._traced_code
        nodes = {}
        copied = result.graph_copy(self, nodes, return_output_node=True)
        if copied is not None:
            value, old = copied
            output = nodes[old] = result.output(value, type_expr=getattr(old, "type", None))
            output.meta = copy.copy(old.meta)
        memo.update((id(old), new) for old, new in nodes.items())
        return result

    def __reduce__(self):
        numbers = {node: i for i, node in enumerate(self.nodes)}

        def numbered(node):
            return _Number(numbers[node])
        nodes = [(n.op, n.target, map_arg(n.args, numbered), map_arg(n.kwargs, numbered), n.name, n.type, bool(n.meta.get("is_wrapped")))
                 for n in numbers]
        return _unpickled, (type(self), nodes, self._codegen, _importable(self._tracer_cls))

    def eliminate_dead_code(self, is_impure_node=None):
        """Takes out what nobody reads and what has no effect; whether there was any."""
        self.lint()
        before = self._len
        for node in reversed(self.nodes):
            impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not impure and not node.users:
                self.erase_node(node)
        return self._len < before

    # ---- code and text

    def process_inputs(self, *args):
        """The arguments as the placeholders take them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """The output as the caller gets it."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen):
        """Writes code by another CodeGen."""
        self._codegen = codegen

    @contextlib.contextmanager
    def _restored_codegen(self, before):
        try:
            yield
        finally:
            self._codegen._body_transformer = before

    def on_generate_code(self, make_transformer):
        """Passes the lines of code through make_transformer(the transformer before); as a context, within it."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)
        return self._restored_codegen(before)

    @ignored(include_stride=_PLAIN, include_device=_PLAIN, colored=_PLAIN, expanded_def=_PLAIN, additional_meta=_PLAIN)
    def python_code(self, root_module, *, verbose=False, include_stride=False, include_device=False, colored=False, expanded_def=False,
                    record_func=False, additional_meta=None):
        """The graph as the Python code of a function, in which the module is called root_module.  The rest asks PyTorch for comments,
        colours and line breaks; there are none.
        """
        if record_func:
            raise NotImplementedError("python_code: record_func=True is not supported: a profile names the ops")
        # Globals must not have the names of nodes, which are those of this graph's name space.
        namespace = Namespace()
        for node in self.nodes:
            node._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            return self._codegen._gen_python_code(self.nodes, root_module, namespace, verbose=verbose)
        finally:
            for node in self.nodes:
                node._repr_fn = None

    def __str__(self):
        return "\n    ".join(["graph():", *(node.format_node() for node in self.nodes)])

    def print_tabular(self):
        """Prints the nodes as a table."""
        head = ("opcode", "name", "target", "args", "kwargs")
        rows = [head, *(tuple(str(v) for v in (n.op, n.name, n.target, n.args, n.kwargs)) for n in self.nodes)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        rows.insert(1, tuple("-" * w for w in widths))
        for row in rows:
            print("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip())

    def lint(self):
        """RuntimeError unless every node reads nodes before it, all names differ, and the module has what is called."""
        seen, names = set(), set()
        for node in self.nodes:
            for read in node.all_input_nodes:
                if read.graph is not self:
                    raise RuntimeError(f"Argument '{read}' of Node '{node}' does not belong to this Graph, but was used as an argument! If "
                                       "you are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to "
                                       f"remap values\n{self}")
                if read not in seen:
                    raise RuntimeError(f"Argument '{read}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
                                       f"the graph are topologically ordered\n{self}")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                _check_reference(self.owning_module, node)


class _Number(int):
    """The place of a node, where the node itself stood."""


def _unpickled(cls, nodes, codegen, tracer_cls):
    graph, made = cls(tracer_cls=tracer_cls), []
    graph._codegen = codegen

    def node_of(arg):
        return made[arg] if isinstance(arg, _Number) else arg
    for op, target, args, kwargs, name, type_expr, is_wrapped in nodes:
        made.append(graph.create_node(op, target, map_aggregate(args, node_of), map_aggregate(kwargs, node_of), name, type_expr))
        if is_wrapped:
            made[-1].meta["is_wrapped"] = True
    return graph


def _importable(cls):
    return None if cls is None or "<locals>" in cls.__qualname__ else cls


def _check_reference(module, node):
    from ..nn import Module, Parameter
    passed = []
    for part in node.target.split("."):
        if not hasattr(module, part):
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {'.'.join(passed)}")
        passed.append(part)
        found = getattr(module, part)
        is_tensor = isinstance(found, Parameter) or part in getattr(module, "_buffers", ())
        if node.op == "call_module" and not isinstance(found, Module):
            raise RuntimeError(f"Node {node} target {node.target} {part} of {'.'.join(passed)} does not reference an nn.Module")
        if node.op == "get_attr" and not isinstance(found, Module) and not is_tensor and len(passed) == node.target.count(".") + 1:
            warnings.warn(f"Node {node} target {node.target} {part} of {'.'.join(passed[:-1])} does not reference an nn.Module, nn.Parameter, "
                          "or buffer, which is what 'get_attr' Nodes typically target", stacklevel=3)
        module = found
