"""Parameters and buffers: tensors that modules register by being assigned."""
from .. import _C


class _ParameterMeta(type(_C.Tensor)):
    """Tensors of other classes count as parameters if they say so by `_is_param`."""

    def __instancecheck__(cls, instance):
        if type(instance) is cls:  # by far the most frequent
            return True
        return super().__instancecheck__(instance) or (
            cls is Parameter and isinstance(instance, _C.Tensor) and getattr(instance, "_is_param", False))


class Parameter(_C.Tensor, metaclass=_ParameterMeta):
    """A tensor that is a parameter of the module it is assigned to; requires grad unless said otherwise."""

    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, requires_grad=True):
        if data is not None and type(data) not in (_C.Tensor, Parameter):  # stays what it is, and says that it is a parameter
            own = data.detach()
            if type(own) is not type(data):
                raise RuntimeError(f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
                                   f"instance of the same type, but return type {type(own).__name__} was found instead. To use the type as "
                                   "a Parameter, please correct the detach() semantics defined by its __torch_dispatch__() implementation.")
            own._is_param = True
            return own.requires_grad_(requires_grad)
        return _C._make_subclass(cls, _C.empty(0) if data is None else data, requires_grad)

    def __init__(self, *_, **__):
        pass

    def __deepcopy__(self, memo):
        """A parameter of its own: without .grad, hooks, attributes and what else belongs to the training of this one."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(memory_format=_C.preserve_format), self.requires_grad)
        return memo[id(self)]


_C._set_parameter_type(Parameter)


class _BufferMeta(type(_C.Tensor)):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(_C.Tensor, metaclass=_BufferMeta):
    """A tensor that is a buffer of the module it is assigned to, part of its state_dict() if persistent."""

    def __new__(cls, data=None, *, persistent=True):
        buffer = (_C.empty(0) if data is None else data).detach()
        buffer.requires_grad_(data is not None and data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


class UninitializedTensorMixin:
    """A tensor whose shape is not known yet; materialize() gives it one, and the object stays the same."""

    cls_to_become = _C.Tensor
    # These methods work without elements: they ask for the kind of the tensor, or change its dtype or device.
    _allowed_methods = [_C.Tensor.__hash__, *(getattr(_C.Tensor, name) for name in (
        "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "bfloat16", "char", "short", "int", "long", "cuda",
        "cpu", "to", "get_device", "requires_grad_"))]

    def materialize(self, shape, device=None, dtype=None):
        """Makes it a Parameter (or a plain tensor) of this shape, its elements left as they come."""
        self.data = _C.empty(shape, device=device or self.device, dtype=dtype or self.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        """There is none yet."""
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
                           "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
                           "`forward` to initialize the parameters before accessing their attributes.")

    def share_memory_(self):
        """There are no elements to share yet."""
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
                           "calling `module.share_memory()`.")

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in cls._allowed_methods or type(func).__name__ == "method-wrapper":  # which reads a property
            return super().__torch_function__(func, types, args, kwargs or {})
        raise ValueError(f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` or "
                         f"explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` with "
                         "a dummy batch to initialize the parameters before calling torch functions")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return _uninitialized, (type(self), self.requires_grad, self.device, self.dtype)

    def __deepcopy__(self, memo):
        memo[id(self)] = result = _uninitialized(type(self), self.requires_grad, self.device, self.dtype)
        return result


def _uninitialized(cls, requires_grad, device, dtype):
    return _C._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter of a lazy module before its first call."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _uninitialized(cls, requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, _C.Tensor):
    """A buffer of a lazy module before its first call."""

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        buffer = _uninitialized(cls, requires_grad, device, dtype)
        buffer.persistent, buffer._is_buffer = persistent, True
        return buffer


def is_lazy(param):
    """Whether the tensor has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
