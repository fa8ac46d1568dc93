"""Names of torch.optim.optimizer that optimizers of other packages import, loaded at first use."""
import functools

from .. import _C
from .._ignored import harmless
from .._C import Tensor
from ..autograd.grad_mode import set_grad_enabled

_capturable_doc = _differentiable_doc = _foreach_doc = _fused_doc = _maximize_doc = _params_doc = ""


def _use_grad_for_differentiable(func):
    """Decorates step(): it is recorded if defaults["differentiable"] says so, and not else."""
    @functools.wraps(func)
    def step(self, *args, **kwargs):
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)
    return step


@harmless(single_tensor_fn="nothing is compiled")
def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A decorator that changes nothing."""
    return lambda function: function


def _get_value(x):
    """A tensor of one element as a number."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x):
    """A tensor of one element as one without dimensions."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _stack_if_compiling(x):
    """x: nothing is compiled."""
    return x


def _view_as_real(params, *state_and_grads):
    """Complex tensors in these lists, where a parameter is complex, become real ones, in place."""
    for i, param in enumerate(params):
        if param.is_complex():
            for tensors in (params, *state_and_grads):
                if tensors:
                    tensors[i] = _C.view_as_real(tensors[i])


def _get_scalar_dtype(is_fused=None):
    """The dtype of step counts: float64 if that is the default dtype and the step is not fused, else float32."""
    return _C.float64 if not is_fused and _C.get_default_dtype() is _C.float64 else _C.float32


def _get_fused_kernels_supported_devices():
    return ["cuda", "cpu"]


@harmless(supports_xla="there is no XLA")
def _get_capturable_supported_devices(supports_xla=True):
    return ["cuda"]

_get_foreach_kernels_supported_devices = _get_capturable_supported_devices


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(whether the step is one op, whether it is ops on lists): on GPUs, unless it is recorded."""
    if differentiable:
        return False, False
    on_gpu = all(p.is_cuda for p in params if p is not None)
    fused = use_fused and all(p.is_floating_point() for p in params if p is not None)
    return fused, not fused and on_gpu


def _device_dtype_check_for_fused(p, cuda_unsupported=False):
    """RuntimeError if a parameter cannot take part in a fused step."""
    devices = [name for name in _get_fused_kernels_supported_devices() if not (cuda_unsupported and name == "cuda")]
    if p.device.type not in devices or not p.is_floating_point():
        raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of supported devices: "
                           f"{devices} but {p.dtype} and {p.device.type}")
