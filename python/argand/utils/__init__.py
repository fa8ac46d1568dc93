"""Tools for training programs, as torch.utils."""
from . import checkpoint, data  # noqa: F401


def __getattr__(name):
    if name not in ("_contextlib", "_python_dispatch", "_pytree", "collect_env", "deterministic", "dlpack", "hooks", "weak"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module
    return import_module("." + name, __name__)


def set_module(obj, mod):
    """Says that obj is of the module of this name."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
