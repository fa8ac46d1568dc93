"""What libraries ask of torch.overrides: no class replaces functions here."""


def has_torch_function(args):
    """False: __torch_function__ is not called."""
    return False


has_torch_function_unary = has_torch_function_variadic = has_torch_function


def is_tensor_like(inp):
    """Whether inp is a Tensor."""
    from ._C import Tensor
    return isinstance(inp, Tensor)
