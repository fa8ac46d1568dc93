"""Tensors whose class is asked for their sizes, strides, device or layout: the policies of _make_wrapper_subclass() and _make_subclass().

Python's accessors ask, by the ops below; what the library itself reads of such a tensor are its own sizes and device.
"""
import functools

from . import _C
from ._dispatch import OFF, _ask
from ._overloads import find

_OF_STRIDES = {"stride": "aten.sym_stride", "is_contiguous": "aten.is_contiguous", "contiguous": "aten.is_contiguous"}
_OF_SIZES = {**_OF_STRIDES, "size": "aten.sym_size", "shape": "aten.sym_size", "dim": "aten.dim", "ndim": "aten.dim", "numel": "aten.numel",
             "data_ptr": "aten.numel"}
_POLICIES = {None: {}, "strides": _OF_STRIDES, "sizes": _OF_SIZES}
_PROPERTIES = ("shape", "ndim", "device", "layout")


@functools.cache
def _op(name, overload):
    return find(*name.split("."), overload)


def _asked(t, accessor, overload="default", more=()):
    """What the class says; None if it has nothing to say of this, or if the tensor's own value is meant."""
    op = t.__dict__.get("_asks", {}).get(accessor)
    if op is None or _C._dispatch_state() & OFF:
        return None
    return _ask(_op(op, overload), (t, *more), {}, op)


def ask(t, op, *more):
    """What the class says to an op that only the dispatcher has; None if nothing."""
    asks = getattr(t, "_asks", {})
    if "stride" not in asks or _C._dispatch_state() & OFF:
        return None
    return _ask(_op(op, "default"), (t, *more), {}, op)


def _size_of(base):
    def size(self, dim=None):
        found = _asked(self, "size")
        if found is None:
            return base(self) if dim is None else base(self, dim)
        return _C.Size(found) if dim is None else found[dim]
    return size


def _stride_of(base):
    def stride(self, dim=None):
        found = _asked(self, "stride")
        if found is None:
            return base(self) if dim is None else base(self, dim)
        return tuple(found) if dim is None else found[dim]
    return stride


def _is_contiguous_of(base):
    def is_contiguous(self, memory_format=_C.contiguous_format):
        plain = memory_format == _C.contiguous_format
        found = _asked(self, "is_contiguous", *(() if plain else ("memory_format", (memory_format,))))
        return base(self, memory_format=memory_format) if found is None else found
    return is_contiguous


def _contiguous_of(_):
    def contiguous(self, memory_format=_C.contiguous_format):
        return self if self.is_contiguous(memory_format) else self.clone(memory_format=memory_format)
    return contiguous


def _data_ptr_of(base):
    def data_ptr(self):
        if _asked(self, "data_ptr") == 0 or _C._has_no_memory(self):
            return 0
        return base(self)
    return data_ptr


def _number_of(name):
    def make(base):
        def number(self):
            found = _asked(self, name)
            return base(self) if found is None else found
        return number
    return make


def _property_of(name):
    def make(base):
        def get(self):
            found = _asked(self, name)
            if found is None:
                return base.__get__(self)
            return _C.Size(found) if name == "shape" else found
        return property(get)
    return make


_ACCESSORS = {name: make(getattr(_C.Tensor, name)) for name, make in {
    "size": _size_of, "stride": _stride_of, "is_contiguous": _is_contiguous_of, "contiguous": _contiguous_of, "data_ptr": _data_ptr_of,
    "dim": _number_of("dim"), "numel": _number_of("numel"), **{name: _property_of(name) for name in _PROPERTIES}}.items()}


def _asking(base):
    """A __getattribute__ whose accessors ask.  The class keeps those of Tensor: programs check that no class has others."""
    def __getattribute__(self, name):
        if name in _ACCESSORS and name in base(self, "__dict__").get("_asks", ()):
            return _ACCESSORS[name].__get__(self)
        return base(self, name)
    return __getattribute__


def apply(t, policy, device, layout):
    """Has the class of a new tensor asked for what the arguments of its maker say."""
    if policy not in _POLICIES:
        raise ValueError(f"dispatch_sizes_strides_policy: expected 'strides' or 'sizes', got {policy!r}")
    asks = {**_POLICIES[policy], **({"device": "prim.device"} if device else {}), **({"layout": "prim.layout"} if layout else {})}
    if not asks:
        return t
    cls = type(t)
    if not getattr(cls.__getattribute__, "_asks", False):
        cls.__getattribute__ = _asking(cls.__getattribute__)
        cls.__getattribute__._asks = True
    t._asks = asks
    return t
