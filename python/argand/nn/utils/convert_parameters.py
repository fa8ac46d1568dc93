"""Parameters as one vector, and back."""
from ... import _C


def _check_device(param, known):
    """The device all parameters are on; the first one tells."""
    if known is not None and param.device != known:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
    return param.device


def parameters_to_vector(parameters):
    """The elements of all parameters, one after the other, in a 1-d tensor."""
    device, parts = None, []
    for param in parameters:
        device = _check_device(param, device)
        parts.append(param.reshape(-1))
    return _C.cat(parts)


def vector_to_parameters(vec, parameters):
    """Makes slices of a 1-d tensor the data of the parameters."""
    if not isinstance(vec, _C.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    device, at = None, 0
    for param in parameters:
        device = _check_device(param, device)
        param.data = vec[at:at + param.numel()].view_as(param).data
        at += param.numel()
