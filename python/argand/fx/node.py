"""Node: one step of a graph."""
import copy
import operator
import types

import argand

from .._ignored import harmless, ignored
from ._names import qualified_name, type_repr
from .immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "map_arg", "map_aggregate", "has_side_effect"]

# The types of a node's arguments, besides nodes and nested containers of these.
base_types = (str, int, float, bool, complex, argand.dtype, argand.Tensor, argand.device, argand.memory_format, argand.layout)
BaseArgumentTypes = Argument = Target = object  # for annotations

_legal_ops = dict.fromkeys(("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"))
_profiler = argand.ops.profiler
_side_effectful_functions = {argand._assert, operator.setitem, _profiler._record_function_enter_new, _profiler._record_function_exit}

_get_qualified_name, _type_repr = qualified_name, type_repr


def has_side_effect(fn):
    """Calls of fn stay in graphs though nothing reads their result."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a, fn):
    """fn of the leaves of a nest of tuples, lists, dicts and slices, in such a nest that does not change."""
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict([(k, map_aggregate(v, fn)) for k, v in a.items()])
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a, fn):
    """map_aggregate() of the nodes; other leaves stay."""
    assert callable(fn), "torch.fx.map_arg(a, fn): fn must be a callable"
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _format_arg(arg, max_list_len=float("inf")):
    if isinstance(arg, tuple) and hasattr(arg, "_fields"):
        return f"{type(arg).__name__}({', '.join(f'{name}={_format_arg(a)}' for name, a in zip(arg._fields, arg))})"
    if isinstance(arg, (list, tuple)):
        items = [_format_arg(a) for a in arg[:int(min(len(arg), max_list_len))]]
        if len(arg) > len(items):
            items.append(f"...[total_len={len(arg)}]")
        if isinstance(arg, list):
            return "[" + ", ".join(items) + "]"
        return "(" + ", ".join(items) + (",)" if len(items) == 1 else ")")
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return "%" + str(arg) if isinstance(arg, Node) else str(arg)


class Node:
    """One step of a graph: op is what kind ("call_function"...), target what is called, args and kwargs with what.

    users are the nodes that read the result. Nodes are made by the methods of Graph.
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        assert op in _legal_ops, f"op '{op}' is not in _legal_ops"
        if op == "call_function":
            if not callable(target):
                raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type_repr(type(target))} but a Callable "
                                 "is expected")
        elif not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {_kind(target)} but a str is expected")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self._args, self._kwargs = (), immutable_dict()
        self._input_nodes = {}
        self.users = {}
        self.meta = {}
        self._prev = self._next = self
        self._erased = False
        self._repr_fn = None
        self._set_arguments(args, kwargs)

    def __deepcopy__(self, memo):
        # A node is copied with its graph, which tells its copy.
        copied = copy.deepcopy(self.graph, memo)
        assert id(self) in memo, f"node {self} is not in its graph {copied}"
        return memo[id(self)]

    # ---- arguments

    def _set_arguments(self, args, kwargs):
        inputs = {}

        def seen(node):
            inputs.setdefault(node)
            return node
        self._args, self._kwargs = map_arg(args, seen), map_arg(kwargs, seen)
        for old in self._input_nodes:
            if old not in inputs:
                old.users.pop(self, None)
        for new in inputs:
            new.users.setdefault(self)
        self._input_nodes = inputs

    @property
    def args(self):
        """Positional arguments; assigned, never changed in place."""
        return self._args

    @args.setter
    def args(self, args):
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self):
        """Arguments by name; assigned, never changed in place."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._set_arguments(self._args, kwargs)

    @property
    def all_input_nodes(self):
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Puts another argument in the place of args[idx]."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Puts an argument before args[idx]."""
        assert 0 <= idx <= len(self.args), "insert_args index must be between 0 and len(self.args)"
        self.args = self.args[:idx] + (arg,) + self.args[idx:]

    def update_kwarg(self, key, arg):
        """Sets kwargs[key]."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input, new_input):
        """Reads new_input wherever this node read old_input."""
        def replaced(node):
            return new_input if node is old_input else node
        self._set_arguments(map_arg(self.args, replaced), map_arg(self.kwargs, replaced))

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """All users (for which delete_user_cb is true) read another node instead; returns them."""
        if propagate_meta:
            assert not replace_with.meta, "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has "\
                ".meta keys"
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # ---- place

    @property
    def next(self):
        """The node after this one."""
        return self._next

    @property
    def prev(self):
        """The node before this one."""
        return self._prev

    def prepend(self, x):
        """Moves x right before this node."""
        assert self.graph is x.graph, "Attempting to move a Node into a different Graph"
        if x is not self:
            x._unlink()
            before = self._prev
            before._next = self._prev = x
            x._prev, x._next = before, self

    def append(self, x):
        """Moves x right after this node."""
        if x is not self:
            self._next.prepend(x)

    def _unlink(self):
        self._prev._next, self._next._prev = self._next, self._prev

    # ---- what it is

    @property
    def stack_trace(self):
        """Where the program made this node, if the tracer recorded that."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    @harmless(impure_random="functions that draw numbers are not told from others, as PyTorch does not tell functions of torch")
    def is_impure(self, impure_random=True):
        """Whether the node must stay though nothing reads it."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            schema = getattr(self.target, "_schema", None)  # of an op of torch.ops: it may write an argument
            return self.target in _side_effectful_functions or bool(schema is not None and schema.is_mutable)
        if self.op == "call_module":
            assert self.graph.owning_module is not None, "self.graph.owning_module not set for purity check"
            return getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False)
        return False

    def _rename(self, candidate):
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace.associate_name_with_obj(self.name, self)

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    def _pretty_print_target(self, target):
        if isinstance(target, str):
            return target
        if getattr(target, "__module__", None) == "builtins":
            return f"builtins.{target.__name__}"
        if getattr(target, "__module__", None) == "_operator":
            return f"operator.{target.__name__}"
        return qualified_name(target)

    @ignored(include_tensor_metadata="lines have no sizes or dtypes")
    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """The node as a line of its graph's text; None for the output where the caller gathers the signature."""
        typename = f"{type_repr(self.type)} " if self.type else ""
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(self.target + (f": {type_repr(self.type)}" if self.type else ""))
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            # harmless(maybe_return_typename): it gets the type of the output
            return f"%{self.name} : {typename}[num_users={len(self.users)}] = {self.op}[target={self.target}]{default}"
        if self.op == "get_attr":
            # harmless(placeholder_names, maybe_return_typename): they get the types of inputs and of the output
            return f"%{self.name} : {typename}[num_users={len(self.users)}] = {self.op}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_repr(self.type)}"
            # harmless(placeholder_names): it gets the types of inputs
            return f"return {self.args[0]}"
        # harmless(placeholder_names, maybe_return_typename): they get the types of inputs and of the output
        return (f"%{self.name} : {typename}[num_users={len(self.users)}] = {self.op}[target={self._pretty_print_target(self.target)}]"
                f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})")


def _kind(target):
    return f"{target.__module__}.{target.__name__}" if isinstance(target, types.FunctionType) else type_repr(type(target))
