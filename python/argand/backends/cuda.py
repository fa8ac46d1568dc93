"""CUDA's libraries, as torch.backends.cuda."""
import warnings

from .. import _C


class _Matmul:
    """torch.backends.cuda.matmul.  Reduced precision in sums is accepted and not used: they are float32's either way."""
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False

    @property
    def allow_tf32(self):
        """Whether float32 products may be TF32's."""
        return _C._allow_tf32_matmul()

    @allow_tf32.setter
    def allow_tf32(self, on):
        _C._set_allow_tf32_matmul(bool(on))

    @property
    def fp32_precision(self):
        """"tf32" or "ieee"."""
        return "tf32" if self.allow_tf32 else "ieee"

    @fp32_precision.setter
    def fp32_precision(self, precision):
        if precision not in ("tf32", "ieee"):
            raise RuntimeError(f"Invalid precision '{precision}': expected 'tf32' or 'ieee'")
        self.allow_tf32 = precision == "tf32"


matmul = _Matmul()


def is_built():
    """Whether the CUDA backend is there."""
    try:
        return _C.cuda._runtime_version() > 0
    except _C.DeviceError:
        return False


def flash_sdp_enabled():
    """True: attention takes the fastest way there is."""
    return True


math_sdp_enabled = mem_efficient_sdp_enabled = cudnn_sdp_enabled = flash_sdp_enabled


def enable_flash_sdp(enabled):
    """Accepted: attention takes the fastest way there is."""


enable_math_sdp = enable_mem_efficient_sdp = enable_cudnn_sdp = enable_flash_sdp


def is_flash_attention_available():
    """True: there is one kernel of attention, which does not store the scores."""
    return True


def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """The older form of nn.attention.sdpa_kernel."""
    from ..nn.attention import SDPBackend, sdpa_kernel
    warnings.warn("`torch.backends.cuda.sdp_kernel()` is deprecated. Please see `torch.nn.attention.sdpa_kernel()`.", FutureWarning,
                  stacklevel=2)
    chosen = {SDPBackend.FLASH_ATTENTION: enable_flash, SDPBackend.MATH: enable_math,
              SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient, SDPBackend.CUDNN_ATTENTION: enable_cudnn}
    return sdpa_kernel([backend for backend, on in chosen.items() if on] or [SDPBackend.ERROR])


def fp16_bf16_reduction_math_sdp_allowed():
    """False: sums are float32's."""
    return False


def allow_fp16_bf16_reduction_math_sdp(enabled):
    """Accepted: sums are float32's."""


def _only_default(libraries):
    def preferred(backend=None):
        """The name of the library that is preferred: "default".  Others are accepted and change nothing."""
        if backend is not None and (not isinstance(backend, str) or backend.lower() not in libraries):
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(libraries)}.")
        return "default"
    return preferred


preferred_linalg_library = _only_default(("default", "cusolver", "magma"))
preferred_blas_library = _only_default(("default", "cublas", "cublaslt", "hipblaslt", "ck"))
