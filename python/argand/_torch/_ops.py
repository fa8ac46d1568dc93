"""The types of ops, as torch._ops, which packages use with isinstance()."""
from .. import _surface
from .._overloads import OpOverload, OpOverloadPacket  # noqa: F401
from ..library import _Namespace as _OpNamespace, ops  # noqa: F401

__getattr__, __dir__ = _surface.of(__name__)
