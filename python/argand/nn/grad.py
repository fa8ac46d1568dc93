"""Gradients of convolutions, as torch.nn.grad."""
from .. import _C, autograd
from ..autograd.grad_mode import enable_grad


def _gradient(dims, of_input):
    convolution = getattr(_C, f"conv{dims}d")

    def gradient(known, size, grad_output, stride, padding, dilation, groups):
        with enable_grad():
            # A convolution is linear in either: its gradient is the same wherever it is taken.
            unknown = _C.zeros(tuple(size), dtype=grad_output.dtype, device=grad_output.device, requires_grad=True)
            both = (unknown, known) if of_input else (known, unknown)
            result = convolution(*both, None, stride, padding, dilation, groups)
        if result.shape != grad_output.shape:
            raise RuntimeError(f"conv{dims}d_{'input' if of_input else 'weight'}(): expected grad_output of shape "
                               f"{list(result.shape)}, got {list(grad_output.shape)}")
        history = _C.is_grad_enabled() and (known.requires_grad or grad_output.requires_grad)
        return autograd.grad(result, unknown, grad_output, create_graph=history)[0]
    return gradient


def _functions(dims):
    input_gradient, weight_gradient = _gradient(dims, True), _gradient(dims, False)

    def of_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return input_gradient(weight, input_size, grad_output, stride, padding, dilation, groups)

    def of_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return weight_gradient(input, weight_size, grad_output, stride, padding, dilation, groups)
    for function, what in ((of_input, "input"), (of_weight, "weight")):
        function.__name__ = function.__qualname__ = f"conv{dims}d_{what}"
        function.__doc__ = f"The gradient by the {what} of conv{dims}d, whose results have the gradient grad_output."
    return of_input, of_weight


conv1d_input, conv1d_weight = _functions(1)
conv2d_input, conv2d_weight = _functions(2)
conv3d_input, conv3d_weight = _functions(3)
