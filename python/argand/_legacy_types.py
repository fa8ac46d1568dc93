"""torch.FloatStorage and the like, and casts by such names, from before there were dtypes."""
import sys

from . import _C
from ._dtypes import STORAGE_TYPES
from ._typed_storage import ON_CPU
from .storage import TypedStorage, UntypedStorage

globals().update(ON_CPU)


def default_storage():
    """The class of storages of the default dtype."""
    return ON_CPU[STORAGE_TYPES[_C.get_default_dtype()]]


def storage_classes():
    """All classes of storages."""
    from .cuda import _legacy_types as of_gpus
    return {TypedStorage, UntypedStorage, *ON_CPU.values(), *(getattr(of_gpus, name) for name in ON_CPU)}


def tensor_classes():
    """All of torch.FloatTensor, torch.cuda.FloatTensor and the like."""
    from .cuda import _legacy_types as of_gpus
    package = sys.modules[__package__]
    return {getattr(module, name) for module in (package, of_gpus) for name in vars(of_gpus) if name.endswith("Tensor") and name[0] != "_"}


def _cast_to(dtype):
    return lambda input, non_blocking=False: input.to(dtype, non_blocking=non_blocking)


for _dtype, _name in STORAGE_TYPES.items():
    globals()["_cast_" + _name.removesuffix("Storage")] = _cast_to(_dtype)
del _dtype, _name
