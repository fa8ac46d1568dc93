"""The package functorch, from before torch.func: its functions, and the classes that packages ask about."""
from .._refused import refused, refused_class
from ..func import (functional_call, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, stack_module_state,  # noqa: F401
                    vjp, vmap)
from ..nn import Module

_INSTEAD = "use torch.func.functional_call(), or stack_module_state() for several models"
FunctionalModule, FunctionalModuleWithBuffers = (
    refused_class("functorch." + name, _INSTEAD, Module) for name in ("FunctionalModule", "FunctionalModuleWithBuffers"))
make_functional, make_functional_with_buffers, combine_state_for_ensemble = (
    refused("functorch." + name, _INSTEAD) for name in ("make_functional", "make_functional_with_buffers", "combine_state_for_ensemble"))
