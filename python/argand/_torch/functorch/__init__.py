"""The package functorch, from before torch.func: its functions, which warn, and the classes that packages use with isinstance()."""
import functools
import warnings

from ... import __version__, func
from .._functorch import make_functional as _make_functional
from .._functorch.make_functional import FunctionalModule, FunctionalModuleWithBuffers  # noqa: F401
from ...fx.experimental.proxy_tensor import make_fx  # noqa: F401


def _deprecated(name, successor, module=func):
    function = getattr(module, name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        warnings.warn(f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is deprecated as of "
                      f"PyTorch 2.0 and will be deleted in a future version of PyTorch >= 2.3. Please use `{successor}` instead; see the "
                      "PyTorch 2.0 release notes and/or the `torch.func` migration guide for more details "
                      "https://pytorch.org/docs/main/func.migrating.html", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)
    return call


functional_call, stack_module_state = func.functional_call, func.stack_module_state
vmap = _deprecated("vmap", "torch.vmap")
functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp = (
    _deprecated(name, "torch.func." + name)
    for name in ("functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"))
make_functional, make_functional_with_buffers = (_deprecated(name, "torch.func.functional_call", _make_functional)
                                                 for name in ("make_functional", "make_functional_with_buffers"))
combine_state_for_ensemble = _deprecated("combine_state_for_ensemble", "torch.func.stack_module_state", _make_functional)
