"""Converts the parameters of a module, for Module.to() and all other users of Module._apply()."""
from ... import __future__ as _future
from ...autograd.grad_mode import no_grad
from ...utils._swap import swap_tensors
from ...utils._python_dispatch import is_traceable_wrapper_subclass
from ..parameter import Parameter


def convert_parameter(module, name, param, fn):
    """Replaces the data of module._parameters[name], which is `param`, and of its gradient by the results of fn."""
    with no_grad():
        converted = fn(param)
    if _future.get_swap_module_params_on_conversion() or is_traceable_wrapper_subclass(converted):
        _swap(module, name, param, converted, fn)
    elif _future.get_overwrite_module_params_on_conversion() or param.is_meta != converted.is_meta:
        # PyTorch's rule: between tensors with memory and those without, there is a new parameter, too.
        module._parameters[name] = replacement = Parameter(converted, param.requires_grad)
        if param.grad is not None:
            with no_grad():
                replacement.grad = fn(param.grad).requires_grad_(param.grad.requires_grad)
    else:
        # Optimizers hold the parameter, and programs its gradient: the objects stay, their data changes.
        with no_grad():
            param.data = converted
            if param.grad is not None:
                param.grad.data = fn(param.grad)


def _swap(module, name, param, converted, fn):
    grad = param.grad
    param.grad = None
    try:
        swap_tensors(param, Parameter(converted, requires_grad=param.requires_grad))
    except Exception as error:
        param.grad = grad
        raise RuntimeError(f"_apply(): Couldn't swap {module._get_name()}.{name}") from error
    if grad is None:
        return
    with no_grad():
        converted = fn(grad).requires_grad_(grad.requires_grad)
    try:
        swap_tensors(grad, converted)
    except Exception as error:
        raise RuntimeError(f"_apply(): Couldn't swap {module._get_name()}.{name}.grad") from error
    param.grad = grad
