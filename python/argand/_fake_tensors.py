"""Tensors with a device, a dtype and sizes, and no elements: FakeTensorMode runs programs on the device "meta" as if elsewhere."""
import contextlib

from . import _C
from ._dispatch import _TorchDispatchModeKey, modes, StateOff
from ._ignored import harmless
from ._overloads import _tensors
from .autograd.grad_mode import no_grad
from .utils import _pytree as pytree
from .utils._python_dispatch import (TorchDispatchMode, _disable_infra_mode, _push_mode, _unset_infra_mode,
                                      is_traceable_wrapper_subclass, transform_subclass)
from .utils.weak import WeakTensorKeyDictionary


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor that sizes alone do not describe."""


class DynamicOutputShapeException(RuntimeError):
    """The sizes of an op's results depend on elements."""

    def __init__(self, func):
        super().__init__(func)
        self.func = func


class DataDependentOutputException(RuntimeError):
    """A program asks for an element."""

    def __init__(self, func):
        super().__init__(f"{func}: what it gives is data-dependent, and a FakeTensor has no elements")
        self.func = func


_SIZED_BY_ELEMENTS = frozenset(("nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "bincount"))
ELEMENTS = frozenset(("_local_scalar_dense", "item", "equal", "allclose", "is_nonzero"))


class FakeTensor(_C.Tensor):
    """A tensor of a FakeTensorMode: `fake_device` is where it claims to be."""

    @staticmethod
    @harmless(constant="no elements are kept, so none are known")
    def __new__(cls, fake_mode, elem, device, constant=None):
        if not elem.is_meta:
            raise TypeError(f"FakeTensor: expected a tensor on the device 'meta', got one on {elem.device}")
        made = _C.Tensor._make_wrapper_subclass(cls, elem.shape, strides=elem.stride(), storage_offset=elem.storage_offset(),
                                                dtype=elem.dtype, device=device, requires_grad=elem.requires_grad)
        made.fake_mode, made.fake_device, made._meta = fake_mode, device, elem.detach()
        return made

    @harmless(arguments="__new__() has them, or torch.Tensor's within a mode", named="__new__() has them")
    def __init__(self, *arguments, **named):
        super().__init__()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        mode = next(t.fake_mode for t in _tensors(args, kwargs or {}) if isinstance(t, FakeTensor))
        if maybe_get_fake_mode(None) is mode:
            return NotImplemented
        with mode:
            return func(*args, **(kwargs or {}))

    @staticmethod
    def from_tensor(t, fake_mode):
        """See FakeTensorMode.from_tensor."""
        return fake_mode.from_tensor(t)


def _fake_device(device):
    device = _C.device(device)
    return _C.device("cuda", 0) if device.type == "cuda" and device.index is None else device


def _layout(t):
    return t.shape, t.stride(), t.storage_offset()


class FakeTensorMode(TorchDispatchMode):
    """A scope in which new tensors are FakeTensors, and ops on such tensors compute only sizes and dtypes."""

    _mode_key = _TorchDispatchModeKey.FAKE

    @harmless(allow_fallback_kernels="there are no elements that a kernel could run on", static_shapes="sizes are numbers",
              export="nothing is exported")
    def __init__(self, *, allow_fallback_kernels=True, allow_non_fake_inputs=False, shape_env=None, static_shapes=None, export=False):
        super().__init__()
        if shape_env is not None:
            raise NotImplementedError("torch._subclasses.fake_tensor.FakeTensorMode: shape_env: sizes are numbers")
        self.allow_non_fake_inputs, self.shape_env = allow_non_fake_inputs, None
        self._known = WeakTensorKeyDictionary()

    @classmethod
    def is_infra_mode(cls):
        """Always True."""
        return True

    def __enter__(self):
        self.__dict__.setdefault("_entered", []).append(maybe_get_fake_mode(None))
        if self._entered[-1] is self:  # once is enough
            return self
        if self._entered[-1] is not None:
            _unset_infra_mode(self._mode_key)
        return super().__enter__()

    def __exit__(self, *error):
        outer = self._entered.pop()
        if outer is self:
            return
        super().__exit__(*error)
        if outer is not None:
            _push_mode(outer)

    @harmless(static_shapes="sizes are numbers", source="nothing is traced by names", symbolic_context="sizes are numbers",
              trace="nothing is traced")
    def from_tensor(self, tensor, *, static_shapes=None, source=None, symbolic_context=None, trace=True):
        """The FakeTensor that stands for a tensor: the same one each time."""
        if isinstance(tensor, FakeTensor):
            if tensor.fake_mode is not self:
                raise AssertionError("Mixing fake modes NYI")
            return tensor
        if is_traceable_wrapper_subclass(tensor):
            return transform_subclass(tensor, lambda _, inner: self.from_tensor(inner))
        found = self._known.get(tensor)
        if found is None:
            with StateOff():
                meta = _C.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
                found = FakeTensor(self, meta, tensor.device)
            found.requires_grad_(tensor.requires_grad)
            from .nn import Parameter
            if isinstance(tensor, Parameter):
                found._is_param = True
            self._known[tensor] = found
        return found

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(t is not FakeTensor for t in types):
            return NotImplemented  # that class makes ops of its tensors' parts first
        kwargs = dict(kwargs or {})
        name = func.overloadpacket.__name__
        if name in ("lift_fresh", "lift_fresh_copy"):
            return self.from_tensor(args[0])
        if name in ELEMENTS:
            raise DataDependentOutputException(func)
        if name in _SIZED_BY_ELEMENTS:
            raise DynamicOutputShapeException(func)
        given = _tensors(args, kwargs)
        if not self.allow_non_fake_inputs and any(not isinstance(t, FakeTensor) for t in given):
            raise AssertionError("Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. "
                                 f"Found in {func}")
        args, kwargs = pytree.tree_map_only(_C.Tensor, self.from_tensor, (tuple(args), kwargs))
        fakes = _tensors(args, kwargs)
        device = self._device(func, fakes, kwargs)
        if "device" in kwargs:
            kwargs["device"] = _C.device("meta")
            kwargs.pop("pin_memory", None)
        with StateOff():
            for t in fakes:  # sizes that t got since, as q.unsqueeze_() gives them where q has a history
                if _layout(t) != _layout(t._meta):
                    t._meta = t._meta.as_strided(*_layout(t))
            by_meta = {id(t._meta): t for t in fakes}
            inner_args, inner_kwargs = pytree.tree_map_only(FakeTensor, lambda t: t._meta, (args, kwargs))
            result = func(*inner_args, **inner_kwargs)
            for t in fakes:  # sizes that an op which writes in place, such as unsqueeze_(), gave what t stands for
                if _layout(t) != _layout(t._meta):
                    with no_grad():
                        t.as_strided_(*_layout(t._meta))

        def outside(t):
            if id(t) in by_meta and by_meta[id(t)].shape == t.shape:
                return by_meta[id(t)]
            return FakeTensor(self, t if t.is_meta else t.to("meta"), device)
        result = pytree.tree_map_only(_C.Tensor, outside, result)
        if func.is_view and fakes:
            for t in _tensors((result,), {}) if isinstance(result, _C.Tensor) else _tensors(tuple(result), {}):
                if t is not fakes[0]:
                    _C._share_storage(t, fakes[0])
        return result

    @staticmethod
    def _device(func, fakes, kwargs):
        if kwargs.get("device") is not None:
            return _fake_device(kwargs["device"])
        devices = {t.fake_device for t in fakes if t.dim() > 0 or t.fake_device.type != "cpu"}
        if len(devices) > 1:
            raise RuntimeError(f"Unhandled FakeTensor Device Propagation for {func}, found devices {', '.join(sorted(map(str, devices)))}")
        return next(iter(devices)) if devices else fakes[0].fake_device if fakes else _C.device("cpu")


def maybe_get_fake_mode(t):
    """The mode of a FakeTensor, or for None the active one; None if there is none."""
    if isinstance(t, FakeTensor):
        return t.fake_mode
    if t is None:
        return next((m for m in modes() if isinstance(m, FakeTensorMode)), None)
    return None


def unset_fake_temporarily():
    """A scope without the FakeTensorMode that is on."""
    return _disable_infra_mode(_TorchDispatchModeKey.FAKE)


def is_fake(x):
    """Whether x is a FakeTensor, or has one in it."""
    if isinstance(x, FakeTensor):
        return True
    if is_traceable_wrapper_subclass(x):
        return all(is_fake(getattr(x, name)) for name in x.__tensor_flatten__()[0])
    return False


@contextlib.contextmanager
def disable_fake_tensor_cache(fake_mode):
    """A scope without a cache of ops; there is none anyway."""
    yield fake_mode
