"""Parameters and buffers: tensors that modules register by being assigned."""
from .. import _C


class _ParameterType(type(_C.Tensor)):
    """Tensors of other classes count as parameters if they say so by `_is_param`."""

    def __instancecheck__(cls, instance):
        if type(instance) is cls:  # by far the most frequent
            return True
        return super().__instancecheck__(instance) or (
            cls is Parameter and isinstance(instance, _C.Tensor) and getattr(instance, "_is_param", False))


class Parameter(_C.Tensor, metaclass=_ParameterType):
    """A tensor that is a parameter of the module it is assigned to; requires grad unless said otherwise."""

    def __new__(cls, data=None, requires_grad=True):
        return _C._make_subclass(cls, _C.empty(0) if data is None else data, requires_grad)

    def __init__(self, *_, **__):
        pass


class _BufferType(type(_C.Tensor)):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(_C.Tensor, metaclass=_BufferType):
    """A tensor that is a buffer of the module it is assigned to, part of its state_dict() if persistent."""

    def __new__(cls, data=None, *, persistent=True):
        buffer = (_C.empty(0) if data is None else data).detach()
        buffer.requires_grad_(data is not None and data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer
