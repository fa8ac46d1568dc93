"""What `import torch` means under `python -m argand`: argand without what PyTorch does not have.

The names are argand's, and so are the objects.  Not shown are those that _surface/torch.txt marks as Argand's own, and argand's private
modules, apart from those that PyTorch has under the same names.
"""
import functools
import types
from importlib.util import find_spec, spec_from_file_location

import argand

from . import _torch_c
from ._surface.table import section

# PyTorch's private modules that have a file of the same name here.
_MODULES = ("_C", "_VF", "_custom_ops", "_dynamo", "_functorch", "_guards", "_higher_order_ops", "_inductor", "_jit_internal", "_lobpcg",
            "_lowrank", "_ops", "_subclasses", "_tensor", "_tensor_str", "_utils")


def shows(name):
    """Whether torch has this name of argand."""
    if name.startswith("__") or name in _MODULES:
        return True
    if section("").hides(name):
        return False
    return not name.startswith("_") or section(name) is not None or not _is_module(name)


def _is_module(name):
    return isinstance(vars(argand).get(name), types.ModuleType) or find_spec(f"{__package__}.{name}") is not None


class _Torch(types.ModuleType):
    """The type of the module torch.

    What a program assigns to torch.NAME is argand.NAME, too, so that the package calls what the program has put there, as PyTorch does.
    """

    def __getattr__(self, name):
        if not shows(name):
            raise AttributeError(f"module 'torch' has no attribute '{name}'")
        try:
            return getattr(argand, name)
        except AttributeError as error:
            raise AttributeError(str(error).replace("'argand'", "'torch'", 1)) from None

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if not name.startswith("__"):
            setattr(argand, name, value)

    def __delattr__(self, name):
        if name in vars(self):
            super().__delattr__(name)
        delattr(argand, name)

    def __dir__(self):
        return [name for name in dir(argand) if shows(name)]


@functools.cache
def torch():
    """The module.  It begins with the names that argand has loaded; it asks argand for others when a program asks for them."""
    module = _Torch("torch", argand.__doc__)
    own = {name: value for name, value in vars(argand).items() if shows(name)}
    for name in ("__name__", "__getattr__", "__dir__"):
        del own[name]
    spec = spec_from_file_location("torch", argand.__file__, submodule_search_locations=argand.__path__)
    vars(module).update(own, _C=_torch_c, __package__="torch", __spec__=spec)
    return module
