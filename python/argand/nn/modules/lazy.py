"""Modules that take their number of input features from their first input: LazyLinear, LazyConv*, LazyBatchNorm*, ..."""
import sys

from ... import _C
from ...autograd.grad_mode import no_grad
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d, _NormBase
from .conv import (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .linear import Linear
from .loading import Tensor


class LazyModuleMixin:
    """A module with parameters of no shape yet.  Before its first forward, initialize_parameters(*inputs) gives them one, and the
    module becomes a `cls_to_become`."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(type(self)._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args, **kwargs):
        """Materializes the parameters for these inputs."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self, args, kwargs=None):
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        self._initialize_hook.remove()
        del self._initialize_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def __getstate__(self):
        # The hook is a function of this object.
        state = {k: v for k, v in self.__dict__.items() if k != "_initialize_hook"}
        state["_forward_pre_hooks"] = type(self._forward_pre_hooks)()
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        self._initialize_hook = self.register_forward_pre_hook(type(self)._infer_parameters, with_kwargs=True)

    def _load_from_state_dict(self, state_dict, prefix, *args):
        # The shapes come from the tensors of the checkpoint.
        with no_grad():
            for name, t in (*self._parameters.items(), *self._buffers.items()):
                given = state_dict.get(prefix + name)
                if is_lazy(t) and isinstance(given, Tensor) and not is_lazy(given):
                    t.materialize(given.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _replicate_for_data_parallel(self):
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to correctly "
                           "initialize the modules")

    def _uninitialized(self, names, device, dtype):
        for name in names:
            setattr(self, name, UninitializedParameter(device=device, dtype=dtype))


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear whose in_features are the last size of its first input."""

    cls_to_become, __module__ = Linear, Linear.__module__

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False)
        self.out_features = out_features
        self._uninitialized(("weight", "bias") if bias else ("weight",), device, dtype)

    def reset_parameters(self):
        if self.in_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input):
        if not self.has_uninitialized_params():
            self.in_features = self.weight.shape[-1]
            return
        with no_grad():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()


class _LazyConv(LazyModuleMixin):
    def __init__(self, out_channels, kernel_size, *args, bias=True, device=None, dtype=None, **options):
        # 0 channels, none of them in a bias: the shape comes with the first input.
        names = ("weight", "bias") if bias else ("weight",)
        super().__init__(0, 0, kernel_size, *args, bias=False, **options)
        if out_channels % self.groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        self.out_channels = out_channels
        self._uninitialized(names, device, dtype)

    def reset_parameters(self):
        if self.in_channels != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input, *_, **__):
        if not self.has_uninitialized_params():
            self.in_channels = self.weight.shape[0] if self.transposed else self.weight.shape[1] * self.groups
            return
        dims = len(self.kernel_size)
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {type(self).__name__}, but got input "
                               f"of size: {input.shape}")
        with no_grad():
            self.in_channels = input.shape[-dims - 1]
            if self.in_channels % self.groups != 0:
                raise ValueError("in_channels must be divisible by groups")
            outer, inner = ((self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels))
            self.weight.materialize((outer, inner // self.groups, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()


class _LazyNorm(LazyModuleMixin):
    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        _NormBase.__init__(self, 0, eps, momentum, False, False)
        self._initialize_hook = self.register_forward_pre_hook(type(self)._infer_parameters, with_kwargs=True)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self._uninitialized(("weight", "bias") if bias else ("weight",), device, dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = _C.tensor(0, dtype=_C.int64, device=device)

    def reset_parameters(self):
        if self.num_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input):
        if not self.has_uninitialized_params():
            known = next((t for t in (self.weight, self.running_mean) if t is not None), None)
            self.num_features = input.shape[1] if known is None else known.shape[0]
            return
        self.num_features = input.shape[1]
        with no_grad():
            for t in (self.weight, self.bias, self.running_mean, self.running_var):
                if is_lazy(t):
                    t.materialize((self.num_features,))
            self.reset_parameters()


def _lazy(base, mixin, what):
    """The class LazyBASE."""
    return type("Lazy" + base.__name__, (mixin, base),
                {"cls_to_become": base, "__module__": base.__module__, "__doc__": f"A {base.__name__} that takes its number of {what} from "
                                                                           "its first input."})


LazyConv1d, LazyConv2d, LazyConv3d = (_lazy(c, _LazyConv, "input channels") for c in (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(c, _LazyConv, "input channels") for c in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (_lazy(c, _LazyNorm, "features") for c in (BatchNorm1d, BatchNorm2d, BatchNorm3d))
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy(c, _LazyNorm, "features") for c in (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d))

# PyTorch has each beside the module that it becomes.
for _lazy_class in [c for c in list(vars().values()) if isinstance(c, type) and getattr(c, "cls_to_become", None) is not None]:
    setattr(sys.modules[_lazy_class.__module__], _lazy_class.__name__, _lazy_class)
del _lazy_class
