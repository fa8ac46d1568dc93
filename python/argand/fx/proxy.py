"""Proxy: stands for a tensor while a program is traced."""
import collections
import copy
import dataclasses
import dis
import enum
import inspect
import operator
import os
import traceback

import argand

from .._ignored import harmless
from ._operators import magic_methods, reflectable_magic_methods
from ._mutable_operations import check_for_mutable_operation
from .node import Node, base_types, map_aggregate

__all__ = ["TracerBase", "GraphAppendingTracer", "TraceError", "Proxy", "MetaProxy", "Attribute", "ParameterProxy", "Scope",
           "ScopeContextManager"]


class TraceError(ValueError):
    """A program does something that cannot be traced."""


@dataclasses.dataclass
class Scope:
    """Which module a trace is in."""
    module_path: str
    module_type: object


class ScopeContextManager:
    """Sets a scope, and what it was at the end."""

    def __init__(self, scope, current_scope):
        self._scope, self._before = scope, copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self):
        return self._scope

    def __exit__(self, *error):
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


def _where_the_program_is():
    frames = [f for f in traceback.extract_stack() if not f.filename.startswith(_OURS)]
    return "".join(traceback.format_list(frames))


_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class TracerBase:
    """Makes nodes of calls; subclasses say what may be an argument and what to do in control flow."""

    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope = None
    module_stack = None
    node_name_to_scope = None

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """A node of self.graph, with where it comes from in its meta."""
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if self.record_stack_traces and kind != "output":
            node.stack_trace = _where_the_program_is()
        if self.node_name_to_scope is not None:
            self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        return node

    def proxy(self, node):
        """The value of a node."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """The value of a new node, whose arguments are values of this tracer or what create_arg() makes of them."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        assert isinstance(args, tuple) and isinstance(kwargs, dict)
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a):
        """What a node's argument may be, of a value in the program."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return self._named_tuple(type(a), items) if hasattr(a, "_fields") else type(a)(items) if type(a) is argand.Size and all(
                isinstance(i, int) for i in items) else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {self._key(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, (*base_types, Node, enum.Enum)) or a is None or a is ...:
            return a
        if isinstance(a, type) or callable(a) and hasattr(a, "__name__"):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _named_tuple(self, cls, items):
        return cls(*items)

    def _key(self, key):
        key = self.create_arg(key)

        def refuse(leaf):
            if isinstance(leaf, Node):
                raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}")
            return leaf
        map_aggregate(key, refuse)
        return key

    def to_bool(self, obj):
        """Called by if, and, assert and the like: raises TraceError, as the truth of a value is unknown."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """Called by for, *x and the like: the length of a value is unknown."""
        raise TraceError("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
                         "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control "
                         "flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors")

    def keys(self, obj):
        """Called by **x, which asks whether a value has keys."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds operations on proxies to an existing graph."""

    def __init__(self, graph):
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope = {}


class Proxy:
    """The value of a node, while a program is traced: what is done to it becomes nodes of the graph.

    See Note [What a trace sees]. Its truth, its length and its elements are not known: TraceError.
    """

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, k):
        return Attribute(self, k)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__ = state

    def __deepcopy__(self, memo):
        result = object.__new__(type(self))
        memo[id(self)] = result
        result.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        return result

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        # a, b = x says how many there are.
        frame = inspect.currentframe().f_back
        for step in dis.get_instructions(frame.f_code):
            if step.offset == frame.f_lasti and step.opname == "UNPACK_SEQUENCE":
                return (self[i] for i in range(step.argval))
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        return self.tracer.to_bool(self)

    def keys(self):
        """What **x asks."""
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
                           "torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tracers = {}

        def note(value):
            if isinstance(value, cls):
                tracers.setdefault(value.tracer)
        map_aggregate((args, kwargs), note)
        if len(tracers) != 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}")
        tracer, = tracers
        name = orig_method.__name__
        if isinstance(orig_method, _METHODS):
            return tracer.create_proxy("call_method", _METHOD_OF_OPERATOR.get(name, name), args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=tracer.graph._target_to_str(name))


_METHODS = (type(argand.Tensor.add), argand._C.overridable_method, type(str.join), type(int.__add__))
# The method that `tensor + proxy` records, by operator.
_METHOD_OF_OPERATOR = {f"__{name}__": name for name in ("add", "sub", "mul", "pow", "matmul", "lt", "le", "eq", "ne", "gt", "ge")} | {
    "__truediv__": "div", "__mod__": "remainder"}


class MetaProxy(Proxy):
    """A proxy that carries a fake value along; there are no fake values here."""

    @harmless(fake_mode="it is for programs to read: there are no fake values")
    def __init__(self, node, tracer=None, fake_mode=None):
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self):
        return f"MetaProxy({self.node.name})"


class Attribute(Proxy):
    """x.name: a node of its own unless it is called, which is one call_method."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node = None

    @property
    def node(self):
        """The node of getattr(), made when it is first asked for."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is known to the trace."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        assert isinstance(param, argand.nn.Parameter)
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        return self.param.shape

    def size(self, *dim):
        return self.param.size(*dim)

    def dim(self):
        return self.param.dim()

    @property
    def ndim(self):
        return self.param.ndim

    def numel(self):
        return self.param.numel()

    nelement = numel


def _operator_method(name):
    function = getattr(operator, name)

    def method(self, *args):
        return self.tracer.create_proxy("call_function", function, (self, *args), {})
    return method


def _reflected_method(name):
    function = getattr(operator, name)

    def method(self, other):
        return self.tracer.create_proxy("call_function", function, (other, self), {})
    return method


for _name in magic_methods:
    if hasattr(operator, _name):
        setattr(Proxy, f"__{_name.strip('_')}__", _operator_method(_name))
for _name in reflectable_magic_methods:
    if hasattr(operator, _name) and _name != "getitem":
        setattr(Proxy, f"__r{_name.strip('_')}__", _reflected_method(_name))
del _name
