"""CUDA's libraries, as torch.backends.cuda."""
import functools
import warnings

from .. import _C, _float32_precision, _switches
from .._ignored import harmless, warn_ignored
from ..nn.attention import SDPBackend, allow, is_allowed, sdpa_kernel


_NAME, _WHY = "torch.backends.cuda.matmul.", "it is a permission that is not used: sums are float32's either way"
matmul = _switches.group({
    "allow_tf32": _switches.honoured(_NAME + "allow_tf32", _C._allow_tf32_matmul, functools.partial(_float32_precision.allow_tf32, "matmul"),
                                     "Whether float32 products may be TF32's."),
    "fp32_precision": _switches.precision("matmul"),
    "allow_fp16_reduced_precision_reduction": _switches.kept(_NAME + "allow_fp16_reduced_precision_reduction", True, _WHY),
    "allow_bf16_reduced_precision_reduction": _switches.kept(_NAME + "allow_bf16_reduced_precision_reduction", True, _WHY),
    "allow_fp16_accumulation": _switches.kept(_NAME + "allow_fp16_accumulation", False, _WHY)})


class _PlanCache(_switches.Group):
    """The plans of cuFFT that a device keeps; those that were used last stay.  Without an index: of the current device."""
    _NAME = "torch.backends.cuda.cufft_plan_cache."
    _device = None

    def __init__(self, device=None):
        object.__setattr__(self, "_device", device)

    @property
    def size(self):
        """How many there are."""
        return _C.cuda._fourier_plans(self._device)

    @size.setter
    def size(self, _):
        raise RuntimeError(f"{self._NAME}size is a read-only property showing the number of plans there are. "
                           f"To change how many may be kept, set {self._NAME}max_size.")

    @property
    def max_size(self):
        """How many are kept; with 0 none is."""
        return _C.cuda._most_fourier_plans(self._device)

    @max_size.setter
    def max_size(self, n):
        if _switches.checked(n, self._NAME + "max_size", int) < 0:
            raise RuntimeError(f"{self._NAME}max_size must be non-negative, but got {n}")
        _C.cuda._set_most_fourier_plans(self._device, n)

    def clear(self):
        """Forgets all plans."""
        _C.cuda._clear_fourier_plans(self._device)

    def __getitem__(self, device):
        from ..cuda.streams import index_of
        index, count = index_of(device), _C.cuda.device_count()
        if index is None or index < 0:
            return self
        if index >= count:
            raise RuntimeError(f"cufft_plan_cache: expected 0 <= device index < {count}, but got device with index {index}")
        return _PlanCache(index)


cufft_plan_cache = _PlanCache()


def is_built():
    """Whether the library was built with CUDA, be there a GPU and a driver or not."""
    try:
        return _C.cuda._runtime_version() > 0
    except _C.DeviceError as error:
        return "no CUDA backend" not in str(error)


def _of_attention(name, backend):
    """The functions that read and set whether nn.attention's kernels may be of a kind."""
    def sdp_enabled():
        """Whether it is allowed: see nn.attention."""
        return is_allowed(backend)

    def enable_sdp(enabled):
        """Allows it or not: see nn.attention."""
        allow(backend, _switches.checked(enabled, enable_sdp.__name__))
    for function, form in ((sdp_enabled, "{}_sdp_enabled"), (enable_sdp, "enable_{}_sdp")):
        function.__name__ = function.__qualname__ = form.format(name)
    return sdp_enabled, enable_sdp


flash_sdp_enabled, enable_flash_sdp = _of_attention("flash", SDPBackend.FLASH_ATTENTION)
math_sdp_enabled, enable_math_sdp = _of_attention("math", SDPBackend.MATH)
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _of_attention("mem_efficient", SDPBackend.EFFICIENT_ATTENTION)
cudnn_sdp_enabled, enable_cudnn_sdp = _of_attention("cudnn", SDPBackend.CUDNN_ATTENTION)


def is_flash_attention_available():
    """True: there is one kernel of attention, which does not store the scores."""
    return True


def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """The older form of nn.attention.sdpa_kernel."""
    warnings.warn("`torch.backends.cuda.sdp_kernel()` is deprecated. Please see `torch.nn.attention.sdpa_kernel()`.", FutureWarning,
                  stacklevel=2)
    chosen = {SDPBackend.FLASH_ATTENTION: enable_flash, SDPBackend.MATH: enable_math,
              SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient, SDPBackend.CUDNN_ATTENTION: enable_cudnn}
    return sdpa_kernel([backend for backend, on in chosen.items() if on] or [SDPBackend.ERROR])


_reduces = False


def fp16_bf16_reduction_math_sdp_allowed():
    """What allow_fp16_bf16_reduction_math_sdp() was told."""
    return _reduces


@harmless(enabled="it is a permission that is not used: sums are float32's either way")
def allow_fp16_bf16_reduction_math_sdp(enabled):
    """Kept for fp16_bf16_reduction_math_sdp_allowed()."""
    global _reduces
    _reduces = _switches.checked(enabled, "torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp()")


def _one_library(name, libraries, used, why):
    """A function that is asked for, or told, the library that is preferred: those `used` are, another is ignored with a warning."""
    def preferred(backend=None):
        """The name of the library that is preferred: "default"."""
        if backend is not None:
            if not isinstance(backend, str) or backend.lower() not in libraries:
                raise RuntimeError(f"Unknown input value. Choose from: {', '.join(libraries)}.")
            if backend.lower() not in used:
                warn_ignored(f"torch.backends.cuda.{name}()", "backend", backend, why)
        return "default"
    preferred.__name__ = preferred.__qualname__ = name
    return preferred


preferred_linalg_library = _one_library("preferred_linalg_library", ("default", "cusolver", "magma"), ("default",),
                                        "linear algebra is the library's own and runs on the CPU")
preferred_blas_library = _one_library("preferred_blas_library", ("default", "cublas", "hipblas", "cublaslt", "hipblaslt", "ck"),
                                      ("default", "cublaslt"), "products are cuBLASLt's or the library's own")


class SDPAParams:
    """The arguments of an attention, as packages ask whether a kernel takes them."""

    @harmless(enable_gqa="attention picks its kernel by itself")
    def __init__(self, query, key, value, attn_mask, dropout, is_causal, enable_gqa):
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


@harmless(params="attention picks its kernel by itself", debug="there is no kernel of PyTorch's to say a reason of")
def can_use_flash_attention(params, debug=False):
    """False: attention picks its kernel by itself; PyTorch's are not here."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention
