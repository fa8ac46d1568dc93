"""The calls of a model as a graph for TensorBoard: the ops that run for an input, in the modules that they run in."""
import collections

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from ..._ignored import harmless
from ... import _C
from ...autograd.grad_mode import no_grad
from ...nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from ...overrides import TorchFunctionMode
from .._pytree import tree_leaves

_PRODUCER = 22  # the version of TensorFlow's graphs that TensorBoard reads


def _node(name, op, inputs=(), text="{}", shape=None):
    attributes = {"attr": AttrValue(s=text.encode("utf-8"))}
    if shape is not None:
        dims = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in shape])
        attributes["_output_shapes"] = AttrValue(list=AttrValue.ListValue(shape=[dims]))
    return NodeDef(name=name, op=op, input=list(inputs), attr=attributes)


class _Recorder(TorchFunctionMode):
    """Notes the ops that are called in its scope: which tensor is the result of which node."""

    def __init__(self, model, inputs):
        self.nodes, self._of, self._kept, self._numbers = [], {}, [], collections.Counter()
        self._labels = {id(model): type(model).__name__}
        for module in model.modules():
            for name, child in module.named_children():
                self._labels.setdefault(id(child), f"{type(child).__name__}[{name}]")
        self._scopes, self._places = [], {}
        for path, module in model.named_modules():
            scope = [self._labels[id(model)]]
            for i, part in enumerate(path.split(".") if path else ()):
                child = model.get_submodule(".".join(path.split(".")[:i + 1]))
                scope.append(f"{type(child).__name__}[{part}]")
            for name, tensor in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]:
                self._places.setdefault(id(tensor), ("/".join([*scope, name]), name))
        for i, tensor in enumerate(t for t in tree_leaves(inputs) if isinstance(t, _C.Tensor)):
            self._add("input/x" if i == 0 else f"input/x.{i}", "IO Node", (), "", tensor)

    def _add(self, name, op, inputs, text, tensor):
        self.nodes.append(_node(name, op, inputs, text, tensor.shape))
        self._is(tensor, name)

    def _is(self, tensor, name):
        self._of[id(tensor)] = name
        self._kept.append(tensor)  # or another might get its id

    def source(self, tensor):
        """The name of the node that a tensor comes from: an op's, a parameter's, or a constant's."""
        if id(tensor) not in self._of:
            name, attribute = self._places.get(id(tensor), (None, None))
            if name is None:
                self._add(self._new_name("constant"), "prim::Constant", (), "{}", tensor)
            else:
                self._add(name, "prim::GetAttr", (), f"{{ name :  {attribute} }}", tensor)
        return self._of[id(tensor)]

    def _new_name(self, what):
        name = "/".join([*self._scopes, what])
        self._numbers[name] += 1
        return name if self._numbers[name] == 1 else f"{name}.{self._numbers[name] - 1}"

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        results = [t for t in tree_leaves(result) if isinstance(t, _C.Tensor)]
        name = getattr(func, "__name__", "")
        if results and name not in ("__get__", "__set__"):
            given = tree_leaves((args, kwargs or {}))
            sources = [self.source(t) for t in given if isinstance(t, _C.Tensor)]
            options = [repr(value) for value in given if not isinstance(value, _C.Tensor) and value is not None]
            op = name.strip("_") or name
            node = self._new_name(op)
            self._add(node, f"aten::{op}", sources, "{ " + ", ".join(options) + " }" if options else "{}", results[0])
            for other in results[1:]:
                self._is(other, node)
        return result

    @harmless(_="modules are told by themselves")
    def enter(self, module, _):
        """A module begins to run."""
        self._scopes.append(self._labels.get(id(module), type(module).__name__))

    @harmless(_="modules are told by themselves")
    def leave(self, *_):
        """It has run."""
        self._scopes.pop()


@harmless(use_strict_trace="results may be lists and dicts anyway")
def graph(model, args, verbose=False, use_strict_trace=True):
    """(GraphDef, RunMetadata) of model(*args), which runs once, in evaluation mode.

    Nodes have PyTorch's names for modules, parameters and ops; numbers that its trace would have as nodes stand with the op.
    use_strict_trace changes nothing: results may be lists and dicts.
    """
    inputs = args if isinstance(args, tuple) else (args,)
    recorder = _Recorder(model, inputs)
    hooks = [register_module_forward_pre_hook(recorder.enter), register_module_forward_hook(recorder.leave, always_call=True)]
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad(), recorder:
            outputs = model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
        for module, training in modes:
            module.training = training
    results = [t for t in tree_leaves(outputs) if isinstance(t, _C.Tensor)]
    if not results:
        raise RuntimeError("graph: expected a model whose result has tensors")
    ends = [_node(f"output/output.{i}", "IO Node", [recorder.source(t)], "", t.shape) for i, t in enumerate(results, 1)]
    if verbose:
        for node in recorder.nodes:
            print(f"{node.name} = {node.op}({', '.join(node.input)})")
    made = GraphDef(node=recorder.nodes + ends, versions=VersionDef(producer=_PRODUCER))
    return made, RunMetadata(step_stats=StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")]))
