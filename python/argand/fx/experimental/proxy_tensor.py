"""Traces below autograd: make_fx() runs a function once and keeps the ops of aten that it called, its gradients' among them."""
import contextlib
import functools
import inspect
import operator

from ... import _C
from ..._dispatch import _TorchDispatchModeKey, modes
from ...utils import _pytree as pytree
from ...utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from ..graph import Graph
from ..graph_module import GraphModule


def _place(tensor):
    """What says which tensor it is, aliases without history too: the graph keeps those."""
    return (tensor.untyped_storage()._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Writes the ops that run into a graph."""

    _mode_key = _TorchDispatchModeKey.PROXY

    def __init__(self, graph, decomposition_table=None):
        super().__init__()
        self.graph, self.constants = graph, {}
        self._table, self._nodes, self._alive = decomposition_table or {}, {}, []

    def track(self, tensor, node):
        """`node` is the tensor from here on."""
        self._alive.append(tensor)  # another tensor in its place would be taken for it
        self._nodes[_place(tensor)] = node
        node.meta.setdefault("tensor_meta", (tuple(tensor.shape), tensor.dtype))

    def node_of(self, tensor):
        """The node of a tensor; one that was made outside becomes an attribute."""
        found = self._nodes.get(_place(tensor))
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
        if str(func) == "aten.lift_fresh.default":  # each run of the graph gives another one
            from ...library import ops
            func = ops.aten.lift_fresh_copy.default
        as_nodes = functools.partial(pytree.tree_map_only, _C.Tensor, self.node_of)
        node = self.graph.create_node("call_function", func, as_nodes(tuple(args)), as_nodes(kwargs), name=func.overloadpacket.__name__)
        result = func(*args, **kwargs)
        if str(func) == "aten._local_scalar_dense.default":
            raise RuntimeError("It appears that you're trying to get value out of a tracing tensor with aten._local_scalar_dense.default - "
                               "erroring out! It's likely that this is caused by data-dependent control flow or similar.")
        self._keep(result, node)
        return result

    def _keep(self, result, node):
        if isinstance(result, _C.Tensor):
            self.track(result, node)
        elif isinstance(result, (list, tuple)):
            for i, part in enumerate(result):
                if part is not None:
                    self._keep(part, self.graph.call_function(operator.getitem, (node, i)))


def get_proxy_mode():
    """The mode of the trace that runs; None outside."""
    return next((m for m in reversed(modes()) if isinstance(m, ProxyTorchDispatchMode)), None)


def _names(f, n):
    """Those of a function's parameters; arg0, arg1, ... where it does not say."""
    code = getattr(inspect.unwrap(f), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS or code.co_argcount != n:
        return [f"arg{i}" for i in range(n)]
    return list(code.co_varnames[:n])


def make_fx(f, decomposition_table=None, tracing_mode="real"):
    """A function that runs f(*args) and gives the GraphModule of the ops of aten that it called.

    tracing_mode "fake" runs it on tensors of the device "meta", so without a look at elements; "symbolic" is refused: sizes are
    numbers.  decomposition_table gives functions that make an op of others.
    """
    if tracing_mode not in ("real", "fake"):
        raise NotImplementedError(f"torch.fx.experimental.proxy_tensor.make_fx: tracing_mode: expected 'real' or 'fake', got {tracing_mode!r}; "
                                  "sizes are numbers")

    @functools.wraps(f) if hasattr(f, "__name__") else (lambda g: g)
    def traced(*args):
        with _disable_current_modes() as outside:
            if any(isinstance(m, ProxyTorchDispatchMode) for m in outside):
                raise RuntimeError("make_fx: a trace runs already")
        graph = Graph()
        mode = ProxyTorchDispatchMode(graph, decomposition_table)
        scope = contextlib.nullcontext()
        if tracing_mode == "fake":
            from ..._subclasses.fake_tensor import FakeTensorMode
            scope = fake = FakeTensorMode(allow_non_fake_inputs=True)
            args = pytree.tree_map_only(_C.Tensor, fake.from_tensor, args)
        leaves, spec = pytree.tree_flatten(args)
        names = _names(f, len(args)) if len(leaves) == len(args) else [f"arg{i}" for i in range(len(leaves))]
        for name, leaf in zip(names, leaves):
            node = graph.placeholder(f"{name}_1")
            if isinstance(leaf, _C.Tensor):
                mode.track(leaf, node)
        with scope, mode:
            result = f(*pytree.tree_unflatten(leaves, spec))
        graph.output(pytree.tree_map_only(_C.Tensor, mode.node_of, result))
        graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output") or _writes(node))
        from ...nn import Module, Parameter
        root = Module()
        for name, tensor in mode.constants.items():
            if isinstance(tensor, Parameter):
                root.register_parameter(name, tensor)
            else:
                root.register_buffer(name, tensor)
        return GraphModule(root, graph, class_name=getattr(f, "__name__", type(f).__name__).strip("<>"))
    return traced


def _writes(node):
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def maybe_disable_fake_tensor_mode():
    """A scope without fake tensors."""
    from ..._subclasses.fake_tensor import unset_fake_temporarily
    return unset_fake_temporarily()


__all__ = ["ProxyTorchDispatchMode", "get_proxy_mode", "make_fx", "maybe_disable_fake_tensor_mode"]
