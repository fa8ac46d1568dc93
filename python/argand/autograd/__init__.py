"""Backward, gradients and Functions, as torch.autograd."""
import warnings

from .. import _C
from . import forward_ad, function, functional, grad_mode, graph  # noqa: F401
from .anomaly_mode import detect_anomaly, set_detect_anomaly  # noqa: F401
from .function import Function  # noqa: F401
from .gradcheck import gradcheck, gradgradcheck  # noqa: F401
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: F401

Variable = _C.Tensor


def _sequence(tensors):
    if tensors is None:
        return []
    return [tensors] if isinstance(tensors, _C.Tensor) else list(tensors)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Sums the gradients of `tensors` into .grad of the leaves they depend on (or of `inputs` alone)."""
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        grad_tensors = grad_variables if grad_tensors is None else grad_tensors
    inputs_given = inputs is not None
    inputs = _sequence(inputs)
    if inputs_given and not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    _C._backward(_sequence(tensors), _sequence(grad_tensors), retain_graph, bool(create_graph), inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):
    """The gradients of `outputs` with respect to `inputs`, a tuple; .grad is left alone."""
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other "
                      "parts of the graph, please use torch.autograd.backward.", FutureWarning, stacklevel=2)
    if is_grads_batched:
        raise NotImplementedError("grad(): is_grads_batched is not supported; compute one gradient after the other")
    inputs = _sequence(inputs)
    found = _C._grad(_sequence(outputs), inputs, _sequence(grad_outputs), retain_graph, bool(create_graph),
                     bool(allow_unused) or materialize_grads)
    if materialize_grads:
        found = tuple(_C.zeros_like(x) if g is None else g for x, g in zip(inputs, found))
    return found


def __getattr__(name):
    # Loaded for the programs that profile.
    from importlib import import_module
    if name in ("profiler", "profiler_util", "variable"):
        return import_module("." + name, __name__)
    if name in ("DeviceType", "ProfilerActivity", "ProfilerState", "kineto_available"):
        return getattr(import_module(".profiler", __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
