"""Finds attributes of modules by their full names: "net.0.bias"."""
import argand

from ..nn import Module


def get(module, path):
    """What stands there (the module itself under ""); AttributeError if nothing does."""
    for part in filter(None, path.split(".")):
        module = getattr(module, part)
    return module


def has(module, path):
    """Whether something stands there."""
    try:
        get(module, path)
    except AttributeError:
        return False
    return True


def owner(module, path):
    """The module that has it, or will, and its name there; in modules those on the way are made."""
    *path, name = path.split(".")
    for part in path:
        if isinstance(module, Module) and not hasattr(module, part):
            setattr(module, part, Module())
        module = getattr(module, part)
    return module, name


def put(module, path, value, persistent=True):
    """Puts a value there; a tensor becomes a buffer."""
    module, name = owner(module, path)
    if isinstance(value, argand.Tensor) and not isinstance(value, argand.nn.Parameter):
        module.register_buffer(name, value, persistent=persistent)
    else:
        setattr(module, name, value)
