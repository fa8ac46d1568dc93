"""Tools for training programs, as torch.utils."""
from . import checkpoint, data  # noqa: F401


def __getattr__(name):
    if name not in ("_contextlib", "_python_dispatch", "_pytree", "_foreach_utils", "_triton", "collect_env", "cpp_extension", "deterministic",
                     "dlpack", "hooks", "weak"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module
    return import_module("." + name, __name__)


def swap_tensors(t1, t2):
    """Makes each tensor the other: values, gradients, class and attributes; who holds one of them sees it changed."""
    import weakref
    for name, t in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    from .. import _C
    _C._swap_tensors(t1, t2)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__


def set_module(obj, mod):
    """Says that obj is of the module of this name."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
