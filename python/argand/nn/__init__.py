"""Neural networks, as torch.nn."""
from . import attention, functional, init, modules, parallel, utils  # noqa: F401
from .modules import *  # noqa: F401,F403
from .parallel import DataParallel  # noqa: F401
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter  # noqa: F401


def factory_kwargs(kwargs):
    """What of device, dtype and memory_format keyword arguments have, for the tensors a module makes."""
    if kwargs is None:
        return {}
    names = {"device", "dtype", "memory_format"}
    if kwargs.keys() - names - {"factory_kwargs"}:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - names - {'factory_kwargs'}}")
    result = dict(kwargs.get("factory_kwargs", {}))
    for name in names & kwargs.keys():
        if name in result:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        result[name] = kwargs[name]
    return result


def __getattr__(name):
    if name not in ("common_types", "grad"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module
    return import_module("." + name, __name__)
