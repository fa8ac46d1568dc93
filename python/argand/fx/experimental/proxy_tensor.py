"""Traces below autograd: make_fx() runs a function once and keeps the ops of aten that it called, its gradients' among them."""
import contextlib
import functools
import inspect
import operator

from ... import _C
from ..._dispatch import _TorchDispatchModeKey, modes, StateOff
from ..._ignored import harmless
from ..._overloads import _tensors
from ..._fake_tensors import ELEMENTS, FakeTensor, FakeTensorMode, is_fake, unset_fake_temporarily
from ...autograd.grad_mode import no_grad
from ...utils import _pytree as pytree
from ...utils._python_dispatch import (TorchDispatchMode, _disable_current_modes, is_traceable_wrapper_subclass,
                                       transform_subclass)
from ..graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from ..graph_module import GraphModule


def _place(tensor):
    """What says which tensor it is, aliases without history too: the graph keeps those."""
    return (tensor.untyped_storage()._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)


class _Values:
    """What traces tell of the values of nodes: FakeTensors, which do not change when the program writes the values."""

    def __init__(self):
        self._mode = FakeTensorMode()

    def of(self, value):
        """A nest of values with such tensors."""
        return pytree.tree_map_only(_C.Tensor, self._tensor, value)

    def _tensor(self, t):
        if is_traceable_wrapper_subclass(t):
            return transform_subclass(t, lambda _, inner: self._tensor(inner))
        with _disable_current_modes(), StateOff():
            if isinstance(t, FakeTensor):
                return FakeTensor(t.fake_mode, t._meta.detach(), t.fake_device)
            return FakeTensor(self._mode, _C.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="meta"), t.device)


class _Constants:
    """Tensors that a traced function makes of numbers, as torch.tensor(2.0) does: their elements are those of each run, so they may be
    asked for.  Here are copies of such tensors of one element, and of what deterministic ops make of them alone."""

    def __init__(self):
        self._copies = {}  # by place

    def add(self, made, value):
        """A tensor that the function made, and its value."""
        if value.numel() <= 1:
            with _unseen():
                self._copies[_place(made)] = value.detach().clone()

    def run(self, func, args, kwargs):
        """The op's result for the copies; None where a tensor has none, or where the op draws random numbers."""
        given = _tensors(args, kwargs)
        if not given or any(_place(t) not in self._copies for t in given):
            return None
        of_copies = functools.partial(pytree.tree_map_only, _C.Tensor, self._copy)
        try:
            with _unseen(), _C._NoDraws():
                return func(*of_copies(tuple(args)), **of_copies(kwargs))
        except RuntimeError:  # it draws, or what it is called with is wrong, which the call itself tells
            return None

    def _copy(self, t):
        return self._copies[_place(t)]

    def follow(self, func, args, kwargs, result, copies):
        """After an op: `copies` is what run() gave for it before, or None."""
        made = _tensors((result,), {})
        if copies is None or any(t.numel() > 1 for t in made):
            if _is_mutable(func):
                for t in (*made, *_tensors(args, kwargs)):
                    self._forget(t)
            return
        for t, copy in zip(made, _tensors((copies,), {})):
            self._copies[_place(t)] = copy

    def _forget(self, t):
        storage = _place(t)[0]
        for place in [place for place in self._copies if place[0] == storage]:
            del self._copies[place]


@contextlib.contextmanager
def _unseen():
    """A scope in which ops run as they are, and nobody sees them."""
    with _disable_current_modes(), StateOff(), no_grad():
        yield


def _is_mutable(func):
    schema = getattr(func, "_schema", None)
    return schema is not None and schema.is_mutable


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Writes the ops that run into a graph."""

    _mode_key = _TorchDispatchModeKey.PROXY

    def __init__(self, graph, decomposition_table=None, error_on_data_dependent_ops=True):
        super().__init__()
        self.graph, self.constants = graph, {}
        self._table, self._nodes, self._by_object, self._alive = decomposition_table or {}, {}, {}, []
        self._values, self._known, self._refuses_elements = _Values(), _Constants(), error_on_data_dependent_ops

    def note(self, value, node):
        """Notes the value of a node."""
        from ..passes.shape_prop import _extract_tensor_metadata
        if "val" not in node.meta:
            node.meta["val"] = self._values.of(value)
            if isinstance(value, _C.Tensor):
                node.meta["tensor_meta"] = _extract_tensor_metadata(node.meta["val"])

    def track(self, tensor, node):
        """Makes `node` the node of the tensor from here on."""
        self._alive.append(tensor)  # another tensor in its place would be taken for it
        self._nodes[_place(tensor)] = self._by_object[id(tensor)] = node
        self.note(tensor, node)

    def node_of(self, tensor):
        """The node of a tensor; one that was made outside becomes an attribute."""
        found = self._by_object.get(id(tensor)) or self._nodes.get(_place(tensor))
        if found is None:
            from ...nn import Parameter
            kind = "_param_constant" if isinstance(tensor, Parameter) else "_tensor_constant"
            name = next((n for n, t in self.constants.items() if t is tensor), None)
            if name is None:
                name = f"{kind}{sum(n.startswith(kind) for n in self.constants)}"
                self.constants[name] = tensor
            found = self.graph.get_attr(name)
            self.track(tensor, found)
        return found

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(t.__name__ != "FakeTensor" for t in types):
            return NotImplemented  # that class makes ops of its tensors' parts first
        kwargs = kwargs or {}
        if func in self._table:
            with self:
                result = self._table[func](*args, **kwargs)
            if result is not NotImplemented:
                return result
        name = func.overloadpacket.__name__
        copies = self._known.run(func, args, kwargs)
        if name in ELEMENTS:
            if copies is not None:
                return copies
            if self._refuses_elements and not any(is_fake(t) for t in _tensors(args, kwargs)):
                raise RuntimeError(f"It appears that you're trying to get value out of a tracing tensor with {func} - erroring out! It's "
                                   "likely that this is caused by data-dependent control flow or similar.")
        if name == "lift_fresh":
            return self._lift(func, args[0])
        as_nodes = functools.partial(pytree.tree_map_only, _C.Tensor, self.node_of)
        node = self.graph.create_node("call_function", func, as_nodes(tuple(args)), as_nodes(kwargs), name=func.overloadpacket.__name__)
        result = func(*args, **kwargs)
        self._known.follow(func, args, kwargs, result, copies)
        self._keep(result, node)
        return result

    def _lift(self, func, made):
        """A tensor that the function made of numbers: the graph has it as an attribute, of which each run takes a copy."""
        from ...library import ops
        node = self.graph.create_node("call_function", ops.aten.lift_fresh_copy.default, (self.node_of(made),), name="lift_fresh_copy")
        with _unseen():
            copy = made.clone()
        result = func(copy)
        self._known.add(result, copy)
        self.track(result, node)
        return result

    def _keep(self, result, node):
        if isinstance(result, _C.Tensor):
            self.track(result, node)
        elif isinstance(result, (list, tuple)):
            self.note(result, node)
            for i, part in enumerate(result):
                if part is not None:
                    self._keep(part, self.graph.call_function(operator.getitem, (node, i)))


def get_proxy_mode():
    """The mode of the trace that runs; None outside."""
    return next((m for m in reversed(modes()) if isinstance(m, ProxyTorchDispatchMode)), None)


def _names(f, n):
    """The names of a function's n parameters; arg0, arg1, ... if the function does not tell them."""
    code = getattr(inspect.unwrap(f), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS or code.co_argcount != n:
        return [f"arg{i}" for i in range(n)]
    return list(code.co_varnames[:n])


def _scope(tracing_mode, allow_non_fake_inputs):
    """What the function runs in, and what it gets in the place of a tensor."""
    if tracing_mode == "real":
        return contextlib.nullcontext(), lambda t: t
    fake = FakeTensorMode(allow_non_fake_inputs=allow_non_fake_inputs)
    return fake, fake.from_tensor


@harmless(_allow_fake_constant="a tensor of a mode that has ended becomes an attribute as any other")
def make_fx(f, decomposition_table=None, tracing_mode="real", _allow_non_fake_inputs=False, *, pre_dispatch=False, record_module_stack=False,
            _allow_fake_constant=False, _error_on_data_dependent_ops=True):
    """A function that runs f(*args) and gives the GraphModule of the ops of aten that it called.  It takes what f takes, nests of tensors
    too, and returns what f returned.

    tracing_mode "fake" runs it on tensors of the device "meta", so without a look at elements, and without tensors that are no arguments
    unless _allow_non_fake_inputs; "symbolic" is refused: sizes are numbers.  decomposition_table gives functions that make an op of others.
    A trace that asks for elements which depend on the arguments is an error, unless _error_on_data_dependent_ops is False: then the graph
    has those of this run.
    """
    if tracing_mode not in ("real", "fake"):
        raise NotImplementedError(f"torch.fx.experimental.proxy_tensor.make_fx: tracing_mode: expected 'real' or 'fake', got {tracing_mode!r}; "
                                  "sizes are numbers")
    if pre_dispatch:
        raise NotImplementedError("torch.fx.experimental.proxy_tensor.make_fx: pre_dispatch: ops are seen below autograd alone")
    if record_module_stack:
        raise NotImplementedError("torch.fx.experimental.proxy_tensor.make_fx: record_module_stack: nodes do not know of modules")

    @functools.wraps(f) if hasattr(f, "__name__") else (lambda g: g)
    def traced(*args):
        with _disable_current_modes() as outside:
            if any(isinstance(m, ProxyTorchDispatchMode) for m in outside):
                raise RuntimeError("make_fx: a trace runs already")
        graph = Graph()
        mode = ProxyTorchDispatchMode(graph, decomposition_table, _error_on_data_dependent_ops)
        scope, given = _scope(tracing_mode, _allow_non_fake_inputs)
        args = pytree.tree_map_only(_C.Tensor, given, args)
        names, (_, spec) = _names(f, len(args)), pytree.tree_flatten(args)
        for name, arg in zip(names, args):
            for number, leaf in enumerate(pytree.tree_flatten(arg)[0], 1):
                node = graph.placeholder(f"{name}_{number}")
                if isinstance(leaf, _C.Tensor):
                    mode.track(leaf, node)
        with scope, mode:
            result = f(*args)
        if not all(child.is_leaf() for child in spec.children_specs):
            result, out_spec = pytree.tree_flatten(result)
            graph._codegen = _PyTreeCodeGen(_PyTreeInfo(["self", *names], spec, out_spec))
        graph.output(pytree.tree_map_only(_C.Tensor, mode.node_of, result), type_expr=getattr(f, "__annotations__", {}).get("return"))
        from ...nn import Module, Parameter
        root = Module()
        for name, tensor in mode.constants.items():
            if isinstance(tensor, Parameter):
                root.register_parameter(name, tensor)
            else:
                root.register_buffer(name, tensor)
        return GraphModule(root, graph, class_name=getattr(f, "__name__", type(f).__name__).strip("<>"))
    return traced


def maybe_disable_fake_tensor_mode():
    """A scope without fake tensors."""
    return unset_fake_temporarily()


__all__ = ["ProxyTorchDispatchMode", "get_proxy_mode", "make_fx", "maybe_disable_fake_tensor_mode"]
