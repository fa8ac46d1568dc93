"""The types of ops, as torch._ops, which packages use with isinstance()."""
from ._named_modules import names_of as _names_of
from ._overloads import OpOverload, OpOverloadPacket  # noqa: F401
from .library import _Namespace as _OpNamespace, ops  # noqa: F401

__getattr__ = _names_of(__name__)
