"""Products with Jacobians and Hessians of functions, and these matrices themselves, as torch.autograd.functional.

Note [Forward products]
The product J v of the Jacobian with a vector comes from two backward passes: u -> J^T u is linear, so the gradient of (J^T u, v) by u
is J v.  Its cost is that of forward-mode differentiation: a pass for each vector, however many outputs there are.
"""
from .. import _C
from .grad_mode import enable_grad


def _tuple(value):
    return (value,) if isinstance(value, _C.Tensor) else tuple(value)


def _like(value, was_tuple):
    return tuple(value) if was_tuple else value[0]


def _run(func, inputs, create_graph):
    """func of copies of the inputs that require grad; whether inputs and outputs were tuples."""
    many_inputs = not isinstance(inputs, _C.Tensor)
    inputs = tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in _tuple(inputs))
    outputs = func(*inputs)
    many_outputs = not isinstance(outputs, _C.Tensor)
    outputs = _tuple(outputs)
    if not all(isinstance(y, _C.Tensor) for y in outputs):
        raise TypeError("The outputs of the user-provided function must be either a Tensor or a tuple of Tensors")
    return inputs, outputs, many_inputs, many_outputs


def _vectors(v, like, many, what):
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {what} a single Tensor with a single element")
        return (_C.ones_like(like[0]),)
    v = _tuple(v)
    if len(v) != len(like) or any(a.shape != b.shape for a, b in zip(v, like)):
        raise RuntimeError(f"v should have the sizes of the {what.split()[0]}: expected {[tuple(x.shape) for x in like]}, got "
                           f"{[tuple(x.shape) for x in v]}")
    return v


def _grad(outputs, inputs, vectors, create_graph, strict=False, what="input", retain_graph=True):
    from . import grad
    # What does not depend on the inputs has no history, and no gradient.
    pairs = [(y, v) for y, v in zip(outputs, vectors) if y.requires_grad]
    wanted = [x for x in inputs if x.requires_grad]
    found = iter(grad([y for y, _ in pairs], wanted, [v for _, v in pairs], create_graph=create_graph, allow_unused=True,
                      retain_graph=retain_graph) if pairs and wanted else [None] * len(wanted))
    found = [next(found) if x.requires_grad else None for x in inputs]
    if strict and any(g is None for g in found):
        raise RuntimeError(f"The output of the user-provided function is independent of {what} "
                           f"{next(i for i, g in enumerate(found) if g is None)}. This is not allowed in strict mode.")
    return tuple(_C.zeros_like(x) if g is None else g for x, g in zip(inputs, found))


def _finished(results, create_graph):
    return results if create_graph else tuple(r.detach() for r in results)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Jacobian)"""
    with enable_grad():
        inputs, outputs, many_inputs, many_outputs = _run(func, inputs, create_graph)
        v = _vectors(v, outputs, many_outputs, "outputs are")
        found = _grad(outputs, inputs, v, create_graph, strict)
    return _like(_finished(outputs, create_graph), many_outputs), _like(_finished(found, create_graph), many_inputs)


def _transposed(outputs, inputs, strict=False):
    """(u, J^T u): what products with J are gradients of."""
    dual = tuple(_C._as_transform_input(_C.zeros_like(y)) if y.requires_grad else _C.zeros_like(y) for y in outputs)
    return dual, _grad(outputs, inputs, dual, True, strict)


def _forward(outputs, inputs, v, create_graph, strict=False):
    dual, back = _transposed(outputs, inputs, strict)
    _C._end_transform_inputs([d for d in dual if d.requires_grad])
    return _grad(back, dual, v, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Jacobian times v)"""
    with enable_grad():
        inputs, outputs, many_inputs, many_outputs = _run(func, inputs, create_graph)
        v = _vectors(v, inputs, many_inputs, "inputs are")
        found = _forward(outputs, inputs, v, create_graph, strict)
    return _like(_finished(outputs, create_graph), many_outputs), _like(_finished(found, create_graph), many_outputs)


def _jacobian(outputs, inputs, create_graph, strict):
    """One row for each element of each output, a backward pass for each."""
    table = []
    for output in outputs:
        rows = []
        for i in range(output.numel()):
            unit = _C.zeros(output.numel(), dtype=output.dtype, device=output.device)
            unit[i] = 1
            rows.append(_grad((output,), inputs, (unit.view_as(output),), create_graph, strict))
        table.append(tuple(_C.stack([r[k] for r in rows]).reshape(*output.shape, *x.shape) if rows
                           else output.new_zeros(*output.shape, *x.shape) for k, x in enumerate(inputs)))
    return table


def _columns(outputs, inputs, dual, back, create_graph):
    """The same table: one product with J for each element of each input."""
    columns = [[] for _ in inputs]
    for column, x, product in zip(columns, inputs, back):
        for i in range(x.numel()):
            unit = _C.zeros(x.numel(), dtype=x.dtype, device=x.device)
            unit[i] = 1
            column.append(_grad((product,), dual, (unit.view_as(x),), create_graph))
    return [tuple(_C.stack([c[k] for c in column], -1).reshape(*y.shape, *x.shape) if column else y.new_zeros(*y.shape, *x.shape)
                  for column, x in zip(columns, inputs)) for k, y in enumerate(outputs)]


def _forward_strategy(strategy, create_graph, strict, vectorize):
    """Whether a Jacobian is computed by columns; refuses what PyTorch refuses.  Vectorized or not, it takes the same passes."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
                             'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".')
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError('torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
                                  'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.')
    if strict and vectorize:
        raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
                           "set `strict=False` or `vectorize=False`.")
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
                                  "`vectorize=True`.")
    return strategy == "forward-mode"


def _table(outputs, inputs, create_graph, strict, by_columns):
    if not by_columns:
        return _jacobian(outputs, inputs, create_graph, strict)
    dual, back = _transposed(outputs, inputs, strict)
    _C._end_transform_inputs([d for d in dual if d.requires_grad])
    return _columns(outputs, inputs, dual, back, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivatives of all outputs by all inputs: a tensor, or tuples of tensors where there are several.

    By a pass for each element of the outputs, or of the inputs with strategy="forward-mode".  vectorize changes nothing: the passes
    run one after the other.
    """
    by_columns = _forward_strategy(strategy, create_graph, strict, vectorize)
    with enable_grad():
        inputs, outputs, many_inputs, many_outputs = _run(func, inputs, create_graph)
        table = _table(outputs, inputs, create_graph, strict, by_columns)
    return _like([_like(_finished(row, create_graph), many_inputs) for row in table], many_outputs)


def _one_number(outputs):
    if len(outputs) != 1 or outputs[0].numel() != 1:
        raise RuntimeError("The output of the user-provided function should be a single Tensor with a single element, got "
                           f"{[tuple(y.shape) for y in outputs]}")
    return outputs


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function with one number as its result; see jacobian() for what computes those of the gradient."""
    by_columns = _forward_strategy(outer_jacobian_strategy, create_graph, strict, vectorize)
    with enable_grad():
        inputs, outputs, many_inputs, _ = _run(func, inputs, create_graph)
        first = _grad(tuple(y.reshape(()) for y in _one_number(outputs)), inputs, (_C.ones_like(outputs[0]).reshape(()),), True, strict)
        table = _table(first, inputs, create_graph, strict, by_columns)
    return _like([_like(_finished(row, create_graph), many_inputs) for row in table], many_inputs)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Hessian)"""
    with enable_grad():
        inputs, outputs, many_inputs, _ = _run(func, inputs, create_graph)
        v = _vectors(v, inputs, many_inputs, "inputs are")
        first = _grad(_one_number(outputs), inputs, (_C.ones_like(outputs[0]),), True, strict)
        found = _grad(first, inputs, v, create_graph)
    return _finished(outputs, create_graph)[0], _like(_finished(found, create_graph), many_inputs)


# A Hessian is symmetric; PyTorch's hvp takes another way to the same numbers.
hvp = vhp
