"""Which kernels scaled_dot_product_attention may take, as torch.nn.attention.  Argand has one that is exact, deterministic and
does not store the scores; what is chosen here is remembered and changes no result."""
import contextlib
import enum

from ... import _surface, _switches
from ..._ignored import harmless, warn_ignored


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of scaled_dot_product_attention."""
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_ALL = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH, SDPBackend.CUDNN_ATTENTION]
_allowed = list(_ALL)


_ONE_KERNEL = "one kernel computes what each of them computes"


def is_allowed(backend):
    """Whether a backend is among those that are allowed: torch.backends.cuda asks."""
    return backend in _allowed


def allow(backend, on):
    """Adds a backend to those that are allowed, or takes it away."""
    _choose([b for b in _ALL if (on if b is backend else b in _allowed)])


def _choose(chosen):
    """Makes these the ones that are allowed; those before."""
    global _allowed
    if not set(chosen) & set(_ALL):
        warn_ignored("torch.nn.attention", "backends", chosen, "attention runs although no backend that there is is allowed")
    before, _allowed = _allowed, chosen
    return before


@harmless(with_priority=_ONE_KERNEL)
def _cur_sdpa_kernel_backends(with_priority=False):
    return list(_allowed)


@contextlib.contextmanager
@harmless(set_priority=_ONE_KERNEL)
def sdpa_kernel(backends, set_priority=False):
    """A scope in which PyTorch would take one of these kernels; the results are the same ones with any."""
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not chosen or not all(isinstance(b, SDPBackend) for b in chosen):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, but got {backends!r}")
    before = _choose(chosen)
    try:
        yield {}
    finally:
        _choose(before)


def list_flash_attention_impls():
    """None: the only implementation is the library's own."""
    return []


def current_flash_attention_impl():
    """None."""


def restore_flash_attention_impl():
    """Nothing was changed."""


__getattr__, __dir__ = _surface.of(__name__)
_switches.make(__name__, {"WARN_FOR_UNFUSED_KERNELS": _switches.fixed(
    "torch.nn.attention.WARN_FOR_UNFUSED_KERNELS", False, "there is one kernel, so none is chosen for a reason")})
