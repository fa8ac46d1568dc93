"""The memory behind tensors, as torch.storage: UntypedStorage, of bytes, and TypedStorage, of elements of a dtype."""
from . import _surface
from ._typed_storage import (TypedStorage, _dtype_to_storage_type_map, _get_always_warn_typed_storage_removal,  # noqa: F401
                             _LegacyStorage, _reset_warn_typed_storage_removal, _set_always_warn_typed_storage_removal,
                             _storage_type_to_dtype_map, _warn_typed_storage_removal)
from ._untyped_storage import StorageBase, UntypedStorage  # noqa: F401

for _class in (TypedStorage, UntypedStorage, StorageBase, _LegacyStorage):
    _class.__module__ = __name__  # pickles name them here, as PyTorch's do

__getattr__, __dir__ = _surface.of(__name__)
