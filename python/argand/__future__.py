"""Behaviours of later releases, as torch.__future__: how Module.to() and the like give modules their converted parameters.  Here the
parameters stay the same objects, with other data."""
from ._refused import refused


def get_overwrite_module_params_on_conversion():
    """False: parameters are not replaced."""
    return False


def get_swap_module_params_on_conversion():
    """False: parameters are not swapped."""
    return False


def _off(name):
    refuse = refused("torch.__future__." + name, "parameters stay the same objects, with other data")

    def switch(value):
        if value:
            refuse()
    switch.__name__, switch.__doc__ = name, "False; True raises NotImplementedError."
    return switch


set_overwrite_module_params_on_conversion = _off("set_overwrite_module_params_on_conversion")
set_swap_module_params_on_conversion = _off("set_swap_module_params_on_conversion")
