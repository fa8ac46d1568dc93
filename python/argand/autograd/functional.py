"""Products with Jacobians and Hessians of functions, and these matrices themselves, as torch.autograd.functional.

Note [Forward products]
Where a function was recorded, the product J v of the Jacobian with a vector comes from two backward passes: u -> J^T u is linear, so
the gradient of (J^T u, v) by u is J v.  jvp() works so, as PyTorch's does; torch.func.jvp() has tangents that travel (forward_ad).
"""
from .. import _C
from ._backward import grad
from .grad_mode import enable_grad


def _tuple(value):
    return (value,) if isinstance(value, _C.Tensor) else tuple(value)


def _tensors(value, what, name):
    """A tensor, or several, as a tuple; `what` of the function `name` they are."""
    if isinstance(value, _C.Tensor):
        return (value,)
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the given {what} has type "
                        f"{type(value)}.")
    for i, x in enumerate(value):
        if not isinstance(x, _C.Tensor):
            raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the value at index {i} has type "
                            f"{type(x)}.")
    return tuple(value)


def _like(value, was_tuple):
    return tuple(value) if was_tuple else value[0]


def _run(func, inputs, create_graph, name, strict=False):
    """func of copies of the inputs that require grad; whether inputs and outputs were tuples."""
    many_inputs = not isinstance(inputs, _C.Tensor)
    inputs = _tensors(inputs, "inputs", name)
    inputs = tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs)
    outputs = func(*inputs)
    many_outputs = not isinstance(outputs, _C.Tensor)
    outputs = _tensors(outputs, "outputs of the user-provided function", name)
    if strict:
        for i, y in enumerate(outputs):
            if not y.requires_grad:
                raise RuntimeError(f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                                   "differentiable manner from the input when running in strict mode.")
    return inputs, outputs, many_inputs, many_outputs


def _vectors(v, like, many, what, name):
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {what} a single Tensor with a single element.")
        return (_C.ones_like(like[0]),)
    v = _tensors(v, "v", name)
    if len(v) != len(like):
        if many:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(v, like)):
        if a.shape != b.shape:
            entry = f"Entry {i} in " if many else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {b.shape} but got {a.shape}.")
    return v


# Errors of strict mode for a missing gradient, and for a constant one when create_graph is on.
_MISSING = "The output of the user-provided function is independent of input {}. This is not allowed in strict mode."
_CONSTANT = "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode when create_graph=True."
_LINEAR = ("The jacobian of the user-provided function with respect to input {} is independent of the input. This is not allowed in strict "
           "mode. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs.")


def _grad(outputs, inputs, vectors, create_graph, strict=False, missing=_MISSING, constant=_CONSTANT, retain_graph=True):
    # Outputs that do not depend on the inputs have no history, and no gradient.
    pairs = [(y, v) for y, v in zip(outputs, vectors) if y.requires_grad]
    wanted = [x for x in inputs if x.requires_grad]
    found = iter(grad([y for y, _ in pairs], wanted, [v for _, v in pairs], create_graph=create_graph, allow_unused=True,
                      retain_graph=retain_graph) if pairs and wanted else [None] * len(wanted))
    found = [next(found) if x.requires_grad else None for x in inputs]
    if strict:
        for i, g in enumerate(found):
            if g is None:
                raise RuntimeError(missing.format(i))
            if create_graph and not g.requires_grad:
                raise RuntimeError(constant.format(i))
    return tuple(_C.zeros_like(x) if g is None else g for x, g in zip(inputs, found))


def _finished(results, create_graph):
    return results if create_graph else tuple(r.detach() for r in results)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Jacobian)"""
    with enable_grad():
        inputs, outputs, many_inputs, many_outputs = _run(func, inputs, create_graph, "vjp", strict)
        v = _vectors(v, outputs, many_outputs, "the user-provided function returns", "vjp")
        found = _grad(outputs, inputs, v, create_graph, strict)
    return _like(_finished(outputs, create_graph), many_outputs), _like(_finished(found, create_graph), many_inputs)


def _transposed(outputs, inputs, strict=False, constant=_CONSTANT):
    """(u, J^T u): what products with J are gradients of."""
    dual = tuple(_C._as_transform_input(_C.zeros_like(y)) if y.requires_grad else _C.zeros_like(y) for y in outputs)
    return dual, _grad(outputs, inputs, dual, True, strict, constant=constant)


def _forward(outputs, inputs, v, create_graph, strict=False):
    dual, back = _transposed(outputs, inputs, strict)
    _C._end_transform_inputs([d for d in dual if d.requires_grad])
    return _grad(back, dual, v, create_graph, strict and create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Jacobian times v)"""
    with enable_grad():
        many_inputs = not isinstance(inputs, _C.Tensor)
        v = _vectors(v, _tensors(inputs, "inputs", "jvp"), many_inputs, "the input to the user-provided function is", "jvp")
        inputs, outputs, many_inputs, many_outputs = _run(func, inputs, create_graph, "jvp", strict)
        found = _forward(outputs, inputs, v, create_graph, strict)
    return _like(_finished(outputs, create_graph), many_outputs), _like(_finished(found, create_graph), many_outputs)


def _construct_standard_basis_for(tensors, numels):
    """The columns of an identity matrix of sum(numels) rows, as a matrix for each tensor, in its dtype and on its device."""
    total, start, chunks = sum(numels), 0, []
    for tensor, numel in zip(tensors, numels):
        chunk = _C.zeros(total, numel, dtype=tensor.dtype, device=tensor.device)
        chunk.diagonal(-start).fill_(1)
        chunks.append(chunk)
        start += numel
    return tuple(chunks)


def _jacobian(outputs, inputs, create_graph, strict, linear=False):
    """One row for each element of each output, a backward pass for each."""
    table = []
    for k, output in enumerate(outputs):
        missing = _LINEAR if linear else (f"Output {k} of the user-provided function is independent of input {{}}. This is not allowed in "
                                          "strict mode.")
        rows = []
        for i in range(output.numel()):
            unit = _C.zeros(output.numel(), dtype=output.dtype, device=output.device)
            unit[i] = 1
            rows.append(_grad((output,), inputs, (unit.view_as(output),), create_graph, strict, missing))
        table.append(tuple(_C.stack([r[k] for r in rows]).reshape((*output.shape, *x.shape)) if rows
                           else output.new_zeros((*output.shape, *x.shape)) for k, x in enumerate(inputs)))
    return table


def _units(t, chunk_size):
    """The units of a tensor's elements, [n, *t.shape], at most chunk_size at once."""
    n = t.numel()
    size = chunk_size or max(n, 1)
    for first in range(0, n, size):
        length = min(size, n - first)
        units = _C.zeros(length, n, dtype=t.dtype, device=t.device)
        units.diagonal(first).fill_(1)
        yield units.view(length, *t.shape)


def _for_all(output, inputs, units, create_graph):
    """The gradients of an output for a batch of vectors, each by one pass for the whole batch."""
    wanted = [x for x in inputs if x.requires_grad] if output.requires_grad else []
    found = iter(grad([output], wanted, [units], retain_graph=True, create_graph=create_graph, allow_unused=True, is_grads_batched=True)
                 if wanted else ())
    found = [next(found) if output.requires_grad and x.requires_grad else None for x in inputs]
    return [x.new_zeros((units.shape[0], *x.shape)) if g is None else g for x, g in zip(inputs, found)]


def _joined(parts, shape, like):
    """Parts of a table as one tensor."""
    parts = list(parts)
    return (parts[0] if len(parts) == 1 else _C.cat(parts)).reshape(shape) if parts else like.new_zeros(shape)


def _jacobian_at_once(outputs, inputs, create_graph, chunk_size=None):
    """The table of _jacobian(), its rows as a batch."""
    if chunk_size == 1:
        return _jacobian(outputs, inputs, create_graph, False)
    table = []
    for output in outputs:
        parts = [_for_all(output, inputs, units, create_graph) for units in _units(output, chunk_size)]
        table.append(tuple(_joined((part[k] for part in parts), (*output.shape, *x.shape), output) for k, x in enumerate(inputs)))
    return table


def _unit_batches(inputs):
    """For each input a batch of tangents: those that have a 1 at one element of one of the inputs, for all elements in turn."""
    return [unit.view((-1, *x.shape)) for unit, x in zip(_construct_standard_basis_for(inputs, [x.numel() for x in inputs]), inputs)]


def _columns_of(products, inputs):
    """The derivatives by each input, [*sizes of the output, *sizes of the input], from the products with _unit_batches(inputs) as a batch."""
    parts = products.movedim(0, -1).split([x.numel() for x in inputs], dim=-1)
    return [part.reshape((*products.shape[1:], *x.shape)) for part, x in zip(parts, inputs)]


def _by_columns(func, inputs):
    """The table of a function of tensors that returns a tuple of tensors: a product with J for each element of each input, as a batch."""
    from ..func import jvp, vmap  # upward: strategy="forward-mode" is a vmap of jvp
    inputs = tuple(x.detach() for x in inputs)
    products = vmap(lambda *tangents: jvp(func, inputs, tangents)[1])(*_unit_batches(inputs))
    return [tuple(_columns_of(product, inputs)) for product in products]


def _forward_strategy(strategy, create_graph, strict, vectorize):
    """Whether a Jacobian is computed by columns; refuses what PyTorch refuses."""
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


def _table(outputs, inputs, create_graph, strict, linear=False, vectorize=False):
    if vectorize:
        return _jacobian_at_once(outputs, inputs, create_graph)
    return _jacobian(outputs, inputs, create_graph, strict, linear)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivatives of all outputs by all inputs: a tensor, or tuples of tensors where there are several.

    By a pass for each element of the outputs, or of the inputs with strategy="forward-mode".  With vectorize=True
    they are one pass of batches, as torch.func.jacrev's.
    """
    if _forward_strategy(strategy, create_graph, strict, vectorize):
        many_inputs, many_outputs = not isinstance(inputs, _C.Tensor), []

        def as_tuple(*given):
            outputs = func(*given)
            many_outputs.append(not isinstance(outputs, _C.Tensor))
            return _tensors(outputs, "outputs of the user-provided function", "jacobian")
        table = _by_columns(as_tuple, _tensors(inputs, "inputs", "jacobian"))
        return _like([_like(row, many_inputs) for row in table], many_outputs[0])
    with enable_grad():
        inputs, outputs, many_inputs, many_outputs = _run(func, inputs, create_graph, "jacobian", strict)
        table = _table(outputs, inputs, create_graph, strict, vectorize=vectorize)
    return _like([_like(_finished(row, create_graph), many_inputs) for row in table], many_outputs)


def _one_number(outputs, many, name):
    if many:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return outputs


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function with one number as its result; see jacobian() for what computes those of the gradient."""
    if _forward_strategy(outer_jacobian_strategy, create_graph, strict, vectorize):
        from ..func import grad as gradient_of  # upward: as in _by_columns()
        many_inputs, inputs = not isinstance(inputs, _C.Tensor), _tensors(inputs, "inputs", "hessian")

        def one_number(*given):
            outputs = func(*given)
            many = not isinstance(outputs, _C.Tensor)
            return _one_number(_tensors(outputs, "outputs of the user-provided function", "hessian"), many, "hessian")[0].reshape(())
        table = _by_columns(gradient_of(one_number, tuple(range(len(inputs)))), inputs)
        return _like([_like(row, many_inputs) for row in table], many_inputs)
    with enable_grad():
        inputs, outputs, many_inputs, many_outputs = _run(func, inputs, create_graph, "hessian", strict)
        output, = _one_number(outputs, many_outputs, "hessian")
        first = _grad((output.reshape(()),), inputs, (_C.ones_like(output).reshape(()),), True, strict, _LINEAR, _LINEAR)
        table = _table(first, inputs, create_graph, strict, linear=True, vectorize=vectorize)
    return _like([_like(_finished(row, create_graph), many_inputs) for row in table], many_inputs)


def _product(func, inputs, v, create_graph, strict, name):
    with enable_grad():
        inputs, outputs, many_inputs, many_outputs = _run(func, inputs, create_graph, name, strict)
        v = _vectors(v, inputs, many_inputs, "the input to the user-provided function is", name)
        output, = _one_number(outputs, many_outputs, name)
        first = _grad((output,), inputs, (_C.ones_like(output),), True, strict, constant=_LINEAR)
        found = _grad(first, inputs, v, create_graph, strict, _LINEAR,
                      "The hessian of the user-provided function with respect to input {} is independent of the input. This is not allowed "
                      "in strict mode when create_graph=True.")
    return _finished(outputs, create_graph)[0], _like(_finished(found, create_graph), many_inputs)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Hessian)"""
    return _product(func, inputs, v, create_graph, strict, "vhp")


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """Equal to vhp(), since a Hessian is symmetric.  PyTorch's hvp computes the same numbers in another way."""
    return _product(func, inputs, v, create_graph, strict, "hvp")
