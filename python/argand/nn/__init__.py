"""Neural networks, as torch.nn."""
from .. import _surface
from . import attention, functional, init, modules, utils  # noqa: F401
from .modules import *  # noqa: F401,F403
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


__getattr__, __dir__ = _surface.of(__name__)
