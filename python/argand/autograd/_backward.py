"""backward() and grad()."""
import warnings

from .. import _C
from .graph import GradientEdge


def _sequence(tensors):
    if tensors is None:
        return []
    if isinstance(tensors, (_C.Tensor, GradientEdge)) or hasattr(type(tensors), "__torch_function__"):
        return [tensors]
    return list(tensors)


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
    outputs, inputs = _sequence(outputs), _sequence(inputs)
    if _C._is_overridden((*outputs, *inputs)):
        return _C._call_override(grad, (*outputs, *inputs), (tuple(outputs), tuple(inputs)), {
            "grad_outputs": grad_outputs, "retain_graph": retain_graph, "create_graph": create_graph, "only_inputs": only_inputs,
            "allow_unused": allow_unused, "is_grads_batched": is_grads_batched, "materialize_grads": materialize_grads})
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other "
                      "parts of the graph, please use torch.autograd.backward.", FutureWarning, stacklevel=2)
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    allow_unused = bool(allow_unused) or materialize_grads
    if is_grads_batched:
        found = _batched(outputs, inputs, _sequence(grad_outputs), retain_graph, create_graph, allow_unused)
    else:
        found = _C._grad(outputs, inputs, _sequence(grad_outputs), retain_graph, bool(create_graph), allow_unused)
    if materialize_grads:
        if any(g is None and not isinstance(x, _C.Tensor) for x, g in zip(inputs, found)):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        found = tuple(_C.zeros_like(x).requires_grad_(bool(create_graph)) if g is None else g for x, g in zip(inputs, found))
    return found


def _batched(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused):
    """The gradients for each slice of grad_outputs along their first dimension, stacked: one backward pass of tensors
    that stand for the slices."""
    sizes = set()
    for i, (y, g) in enumerate(zip(outputs, grad_outputs)):
        if g is None or g.dim() == 0:
            raise ValueError(f"grad(): is_grads_batched=True needs a first dimension of each grad_output, grad_output[{i}] is "
                             f"{'None' if g is None else 'a tensor without dimensions'}")
        if g.shape[1:] != y.shape:
            raise RuntimeError("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
                               "sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch "
                               f"was detected: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {y.shape}.")
        sizes.add(g.shape[0])
    if len(sizes) != 1 or len(grad_outputs) != len(outputs):
        raise ValueError(f"grad(): is_grads_batched=True expects a grad_output for each of {len(outputs)} outputs, all with the same first "
                         f"dimension, got {len(grad_outputs)} with {sorted(sizes)}")
    from ..func._batched import of_all  # upward: grad(is_grads_batched=True) is one pass of the tensors by which vmap() computes
    keep = create_graph if retain_graph is None else retain_graph
    return of_all(sizes.pop(), lambda given: _C._grad(outputs, inputs, given, keep, bool(create_graph), allow_unused), grad_outputs)
