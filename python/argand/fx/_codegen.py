"""The Python code of a graph."""
import collections
import dataclasses
import enum
import keyword
import types
import typing

import argand

from .._ignored import harmless
from ._names import custom_builtins, is_ours, qualified_name, type_repr
from ._operators import inplace_methods, magic_methods
from ._pytree import tree_flatten_spec
from .node import Node

_TYPING_OF = {list: typing.List, dict: typing.Dict, set: typing.Set, frozenset: typing.FrozenSet, tuple: typing.Tuple}


@dataclasses.dataclass
class PythonCode:
    """src is the code; it needs `globals`.  _lineno_map has the number of the node that a line is about, by the number of the line
    after that of def; _prologue_start is the line of def."""
    src: str
    globals: dict
    _lineno_map: dict = dataclasses.field(default_factory=dict)
    _prologue_start: int = 0


_KNOWN = "the line is the same with what else is known of it"


class CodeGen:
    """Writes a graph as a function; subclasses write its signature and its return otherwise."""

    _body_transformer = None

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        """The line of def: free_vars are its arguments as text."""
        if not free_vars or free_vars[0] != "self":
            free_vars = ["self", *free_vars]
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    @harmless(descs=_KNOWN, repr_fn=_KNOWN)
    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        """The line of return."""
        return f"return {output_args!r}"

    def process_inputs(self, *args):
        """What the arguments are to the placeholders, for an interpreter of the graph."""
        return args

    def process_outputs(self, outputs):
        """What the output is to the caller, for an interpreter of the graph."""
        return outputs

    def additional_globals(self):
        """[(name, object)] that the code needs beside what its nodes do."""
        return []

    def _gen_python_code(self, nodes, root_module, namespace, verbose=False):
        writer = _Writer(self, root_module, namespace)
        for name, obj in self.additional_globals():
            writer.add_global(name, obj)
        return writer.write(list(nodes), verbose)


class _Writer:
    """Writes the code of one graph."""

    def __init__(self, codegen, root_module, namespace):
        self.codegen, self.root, self.namespace = codegen, root_module, namespace
        self.globals, self.wrapped, self.free_vars, self.body = {}, {}, [], []
        self.return_annotation = ""
        for name, (obj, _) in custom_builtins().items():
            self.globals[name] = obj

    def add_global(self, hint, obj):
        """The name by which the code finds obj."""
        if is_ours(obj) and obj is not argand.device:
            return qualified_name(obj)
        hint = hint.replace(".", "_")
        if self.globals.get(hint, self) is obj:
            return hint
        name = self.namespace.create_name(hint, obj)
        if name not in self.globals:
            self.globals[name] = obj
        return name

    # ---- parts of lines

    def type_of(self, kind):
        """A type annotation."""
        if kind is ...:
            return self.add_global("_", kind)
        if kind == typing.Tuple[()]:
            return self.add_global("typing.Tuple", typing.Tuple)
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if origin is None or not args and origin is not collections.abc.Callable:
            return self.add_global(type_repr(kind), kind)
        if isinstance(kind, types.UnionType):
            origin = typing.Union
        base = origin if isinstance(kind, types.GenericAlias) else _TYPING_OF.get(origin, origin)
        hint = f"typing.{base._name}" if getattr(base, "__module__", "") == "typing" else type_repr(base)
        name = self.add_global(hint, base)
        return f"{name}[{','.join(self.type_of(a) for a in args)}]" if args else name

    def value(self, arg):
        """An argument."""
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple):
            if hasattr(arg, "_fields"):
                return f"{self.add_global(qualified_name(type(arg)), type(arg))}({', '.join(map(self.value, arg))})"
            return "(" + ", ".join(map(self.value, arg)) + (",)" if len(arg) == 1 else ")")
        if isinstance(arg, list):
            return "[" + ", ".join(map(self.value, arg)) + "]"
        if isinstance(arg, dict):
            return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in arg.items()) + "}"
        if isinstance(arg, slice):
            return f"slice({self.value(arg.start)}, {self.value(arg.stop)}, {self.value(arg.step)})"
        if isinstance(arg, complex):
            return f"complex({arg.real!r}, {arg.imag!r})"
        if isinstance(arg, (argand.memory_format, argand.layout)):
            return f"torch.{arg.name}"
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(qualified_name(type(arg)), type(arg))}.{arg.name}"
        if isinstance(arg, argand.device):
            self.add_global("device", argand.device)
        if isinstance(arg, type) and arg is not type(None):
            return self.type_of(arg)
        if callable(arg) and hasattr(arg, "__name__"):
            return self.add_global(qualified_name(arg), arg)
        return repr(arg)

    def arguments(self, args, kwargs):
        """What stands between the parentheses of a call."""
        return ", ".join([self.value(a) for a in args] + [f"{k} = {self.value(v)}" for k, v in kwargs.items()])

    # ---- lines

    def line(self, node):
        """The assignment of a node."""
        kind = "" if node.type is None else f" : {self.type_of(node.type)}"
        result = f"{node!r}{kind} = "
        if node.op == "get_attr":
            return result + _path(self.root, node.target)
        if node.op == "call_module":
            return result + f"{_path(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            return result + f"{_path(self.value(node.args[0]), node.target)}({self.arguments(node.args[1:], node.kwargs)})"
        if node.op == "call_function":
            return self.call_of_function(node, result)
        raise NotImplementedError(f"node: {node.op} {node.target}")

    def call_of_function(self, node, result):
        """The assignment of a call of a function: an operator where it is one."""
        function = node.target
        if getattr(function, "__module__", None) == "_operator" and not node.kwargs:
            values = [self.value(a) for a in node.args]
            if function.__name__ in magic_methods:
                return result + magic_methods[function.__name__].format(*values)
            if function.__name__ in inplace_methods:
                return f"{inplace_methods[function.__name__].format(*values)};  {result}{values[0]}"
        name = self.add_global(qualified_name(function), function)
        if node.meta.get("is_wrapped"):
            self.wrapped.setdefault(name)
        if function is getattr and len(node.args) == 2 and _is_attribute(node.args[1]):
            return result + _path(self.value(node.args[0]), node.args[1])
        return result + f"{name}({self.arguments(node.args, node.kwargs)})"

    def placeholder(self, node):
        """An argument of the function."""
        kind = "" if node.type is None else f" : {self.type_of(node.type)}"
        default = f" = {self.value(node.args[0])}" if node.args else ""
        self.free_vars.append(f"{node.target}{kind}{default}")
        name = node.target.replace("*", "")
        if name != repr(node):
            self.body.append(f"{node!r} = {name}\n")

    def write(self, nodes, verbose):
        """The whole function."""
        last_uses = _last_uses(nodes)
        if verbose and nodes:
            self.body.append("# No stacktrace found for following nodes\n")
        for number, node in enumerate(nodes):
            self.body.append(f"{_NODE}{number}\n")
            if node.op == "placeholder":
                self.placeholder(node)
            elif node.op == "output":
                if node.type is not None:
                    self.return_annotation = f" -> {self.type_of(node.type)}"
                text = _Text(self.value(node.args[0]))
                self.body.append(self.codegen.generate_output(text) + "\n")
            else:
                # What nobody reads any more is let go, as Python would at the end of a function that was written by hand.
                dead = [repr(n) for n in last_uses.get(node, ())] + ([] if node.users else [repr(node)])
                self.body.append(self.line(node) + (f";  {' = '.join(dead)} = None\n" if dead else "\n"))
        body = self.body
        if all(line.startswith(_NODE) for line in body):
            body.append("pass\n")
        if self.codegen._body_transformer is not None:
            body = self.codegen._body_transformer(body)
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        head = self.codegen.gen_fn_def(self.free_vars, self.return_annotation)
        lines, numbers, number = [], {}, None
        for line in "".join(body).split("\n"):
            if line.startswith(_NODE):
                number = int(line.removeprefix(_NODE))
                continue
            lines.append("    " + line)
            numbers[len(lines) + head.count("\n")] = number
        start = f"\n{wraps}\n\n"
        return PythonCode(start + head + "\n" + "\n".join(lines), self.globals, numbers, start.count("\n") + 1)


_NODE = "# COUNTER: "  # before the lines of a node: whatever transforms them, each is still known to be its node's


class _Text(str):
    """Text whose repr is itself: what generate_output() of any CodeGen puts in its line."""

    __repr__ = str.__str__


def _last_uses(nodes):
    # node -> the nodes that are read by it for the last time
    seen, result = set(), {}
    for node in reversed(nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                result.setdefault(node, []).append(used)
    return result


def _is_attribute(name):
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


def _path(base, target):
    # "self", "net.0.bias" -> 'getattr(self.net, "0").bias'
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


class _PyTreeInfo(typing.NamedTuple):
    """How a function's arguments and result are nests of the graph's."""
    orig_args: list
    in_spec: object
    out_spec: object


class _PyTreeCodeGen(CodeGen):
    """Takes the function's own arguments, nests, and hands their leaves to the graph."""

    def __init__(self, pytree_info):
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        return tree_flatten_spec(inputs, self.pytree_info.in_spec)

    def process_outputs(self, out):
        from ..utils import _pytree
        if self.pytree_info.out_spec is None:
            return out
        return _pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        own = self.pytree_info.orig_args
        has_self = bool(own) and own[0] == "self"
        head = super().gen_fn_def(list(own), maybe_return_annotation)
        if not free_vars:
            return head
        leaves = [v.partition(":")[0].partition("=")[0].strip() for v in free_vars]
        given = own[1:] if has_self else own
        return f"{head}\n    {', '.join(leaves)}, = fx_pytree.tree_flatten_spec([{', '.join(given)}], self._in_spec)"

    @harmless(descs=_KNOWN, repr_fn=_KNOWN)
    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args)
        return f"return pytree.tree_unflatten({output_args!r}, self._out_spec)"
