"""GraphModule: a module whose forward() is the code of a graph."""
import copy
import itertools
import linecache

from .._ignored import ignored
from ..nn import Module
from . import _paths
from ._names import custom_builtins
from .graph import Graph, _importable, _PyTreeCodeGen

__all__ = ["reduce_graph_module", "GraphModule"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_numbers = itertools.count()


def _exec_with_source(src, globals_, traced=None):
    # Under a name of its own, in which tracebacks and inspect find the lines.
    name = f"<eval_with_key>.{next(_numbers)}"
    if traced is not None:
        name += f" from {traced.co_filename}:{traced.co_firstlineno} in {traced.co_name}"
    linecache.cache[name] = (len(src), None, src.splitlines(True), name)
    exec(compile(src, name, "exec"), globals_)


def _forward_from_src(src, globals_, traced=None):
    return _method_from_src("forward", src, globals_, traced)


def _method_from_src(method_name, src, globals_, traced=None):
    globals_ = dict(globals_)
    _exec_with_source(src, globals_, traced)
    return globals_.pop(method_name)


def _copy_attr(from_module, to_module, target):
    """Puts what from_module has under a full name there in to_module."""
    path, _, name = target.rpartition(".")
    source = _paths.get(from_module, path)
    persistent = name not in getattr(source, "_non_persistent_buffers_set", ())
    _paths.put(to_module, target, getattr(source, name), persistent)


def _assign_attr(from_obj, to_module, target):
    """Puts an object under a full name."""
    _paths.put(to_module, target, from_obj)


_get_attr, _has_attr = _paths.get, _paths.has


def _del_attr(model, attr_name):
    """Takes out what stands under a full name."""
    path, _, name = attr_name.rpartition(".")
    delattr(model.get_submodule(path), name)

_PLAIN = "code has no comments, colours or line breaks of that kind"


class _CodeOnlyModule(Module):
    """A module with the attributes of another."""

    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body, import_block):
    """The GraphModule of a pickle: one of ours has its graph; of one by PyTorch the code is traced."""
    body = dict(body)
    graph, code = body.pop("_graph", None), body.pop("_code", None)
    name, tracer_cls = body.pop("_graphmodule_cls_name", "GraphModule"), body.get("_tracer_cls")
    if graph is None:
        from ._symbolic_trace import Tracer  # upward: a GraphModule that PyTorch pickled has code alone, which is traced again

        class KeepModules(tracer_cls or Tracer):
            def is_leaf_module(self, m, module_qualified_name):
                return True
        module = _CodeOnlyModule(body)
        traced = type("CodeOnly", (_CodeOnlyModule,), {"forward": _forward_from_src(import_block + code, {})})(body)
        graph = KeepModules().trace(traced)
        graph._tracer_cls = tracer_cls
    else:
        module = _CodeOnlyModule(body)
    result = GraphModule(module, graph, class_name=name)
    for key, value in body.items():
        if not hasattr(result, key):
            setattr(result, key, value)
    return result


def _import_block(globals_):
    statements = {name: statement for name, (_, statement) in custom_builtins().items()}
    for name, obj in globals_.items():
        if name not in statements:
            statements[name] = f"from {obj.__module__} import {obj.__name__} as {name}" if hasattr(obj, "__name__") else ""
    return "\n".join(s for s in statements.values() if s) + "\n"


class GraphModule(Module):
    """A module that computes a graph.

    root is where the modules and tensors are that the graph names: a module, or a dict from full names. After changes of
    the graph, recompile() makes them the module's.
    """

    def __new__(cls, *args, **kwargs):
        # forward() is a method of the class, and each object's own.
        while "_is_impl" in vars(cls):
            cls = cls.__base__

        class GraphModuleImpl(cls):
            _is_impl = True
        return object.__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            targets = {}
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    if node.target not in root:
                        raise RuntimeError(f"Node {node} referenced target {node.target} but that target was not provided in ``root``!")
                    targets[node.target] = None
            for target in sorted(targets, key=lambda t: t.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        self._tracer_cls = _importable(graph._tracer_cls)
        self._tracer_extras = dict(graph._tracer_extras) if graph._tracer_extras else {}
        self.meta = getattr(root, "meta", {}) if isinstance(root, GraphModule) else {}

    @property
    def graph(self):
        """The graph; an assigned one is compiled."""
        return self._graph

    @graph.setter
    def graph(self, g):
        assert isinstance(g, Graph), f"Expected a Graph instance, but got {type(g)}"
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The Python code of forward()."""
        if "_code" not in self.__dict__:
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self):
        """Makes forward() what the graph is now; returns its code."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            info = self._graph._codegen.pytree_info
            self._in_spec, self._out_spec = info.in_spec, info.out_spec
        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        self._lineno_map, self._prologue_start = python_code._lineno_map, python_code._prologue_start
        type(self).forward = _forward_from_src(self._code, python_code.globals, self._graph._traced_code)
        return python_code

    # ---- modules

    def add_submodule(self, target, m):
        """Puts a module under a full name; False if something that is no module is in the way."""
        try:
            module, name = _paths.owner(self, target)
        except AttributeError:
            return False
        if not isinstance(module, Module):
            return False
        module.add_module(name, m)
        return True

    def delete_submodule(self, target):
        """Takes out the module of a full name; False if there is none."""
        *path, name = target.split(".")
        module = self
        for part in path:
            module = getattr(module, part, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, name, None), Module):
            return False
        delattr(module, name)
        return True

    def delete_all_unused_submodules(self):
        """Takes out the modules that no node names, nor any module in one that does."""
        used = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[:i + 1]) for i in range(len(parts)))
                if node.op == "call_module":
                    try:
                        called = self.get_submodule(node.target)
                    except AttributeError:
                        continue  # lint() tells of it
                    used.update(f"{node.target}.{name}" for name, _ in called.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ---- copies

    def __reduce__(self):
        body = {k: v for k, v in self.__dict__.items() if k != "_code"}
        return reduce_graph_module, (body, _import_block(self._graph.python_code(root_module="self").globals))

    def _deepcopy_init(self):
        return GraphModule.__init__

    def __deepcopy__(self, memo):
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        body = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(result, body, body.__dict__["_graph"])
        for name in ("_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"):
            result.__dict__[name] = body.__dict__[name]
        result.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in result.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(result, name, value)
        return result

    def __copy__(self):
        result = GraphModule(self, self.graph)
        result.meta = getattr(self, "meta", {})
        return result

    def _replicate_for_data_parallel(self):
        result = self.__copy__()
        result._is_replica = True
        return result

    # ---- text

    @ignored(include_stride=_PLAIN, include_device=_PLAIN, colored=_PLAIN, fast_sympy_print=_PLAIN, expanded_def=_PLAIN,
             additional_meta=_PLAIN)
    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False, *,
                       fast_sympy_print=False, expanded_def=False, additional_meta=None):
        """Prints (unless print_output is False) and returns the module as the source of a class.  The rest asks PyTorch for comments,
        colours and line breaks; there are none."""
        code = self._graph.python_code(root_module="self", verbose=True).src.strip("\n").rstrip(" \n")
        head = f"class {self._get_name()}(torch.nn.Module):\n"
        text = head + "\n".join("    " + line if line.strip() else line for line in code.split("\n")) + "\n"
        for name, module in self.named_children():
            if isinstance(module, GraphModule):
                inner = module.print_readable(print_output=False)
                text += "\n" + "\n".join("    " + line if line else line for line in inner.split("\n"))
        if print_output:
            print(text)
        return text

    def __str__(self):
        return "\n".join([super().__str__(), self._code, "# To see more debug info, please use `graph_module.print_readable()`"])
