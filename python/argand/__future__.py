"""Behaviours of later releases, as torch.__future__: how Module.to() and the like give modules their converted parameters.  By default
the parameters stay the same objects, with other data."""
from ._ignored import harmless

_overwrite = _swap = False


@harmless(value="modules ask by the getter")
def set_overwrite_module_params_on_conversion(value):
    """Whether modules get other objects as their parameters."""
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion():
    """Whether modules get other objects as their parameters."""
    return _overwrite


@harmless(value="modules ask by the getter")
def set_swap_module_params_on_conversion(value):
    """Whether parameters change places with the converted ones by torch.utils.swap_tensors(); load_state_dict() then does so, too."""
    global _swap
    _swap = value


def get_swap_module_params_on_conversion():
    """Whether parameters change places with the converted ones."""
    return _swap
