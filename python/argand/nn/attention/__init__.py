"""Which kernels scaled_dot_product_attention may take, as torch.nn.attention.  Argand has one that is exact, deterministic and
does not store the scores; what is chosen here is remembered and changes nothing."""
import contextlib
import enum

WARN_FOR_UNFUSED_KERNELS = False  # accepted: there is one kernel


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of scaled_dot_product_attention."""
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_allowed = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH, SDPBackend.CUDNN_ATTENTION]


def _cur_sdpa_kernel_backends(with_priority=False):
    return list(_allowed)


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A scope in which PyTorch would take one of these kernels; the results are the same ones with any."""
    global _allowed
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not chosen or not all(isinstance(b, SDPBackend) for b in chosen):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, but got {backends!r}")
    before, _allowed = _allowed, chosen
    try:
        yield {}
    finally:
        _allowed = before


def list_flash_attention_impls():
    """None: the one kernel is the library's own."""
    return []


def current_flash_attention_impl():
    """None."""


def restore_flash_attention_impl():
    """Nothing was changed."""


def activate_flash_attention_impl(impl):
    """There is one kernel, which cannot be exchanged."""
    raise NotImplementedError("torch.nn.attention.activate_flash_attention_impl: there is one kernel of attention, which cannot be "
                              "exchanged")


def register_flash_attention_impl(impl, *, register_fn):
    """See activate_flash_attention_impl."""
    activate_flash_attention_impl(impl)
