"""Settings of the process: defaults, determinism, printing, and torch.compile."""

from . import _C, _float32_precision
from ._dtypes import TENSOR_CLASSES
from ._ignored import warn_ignored, warn_once
from ._switches import checked, checked_argument

print_options = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES = {"default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
             "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
             "full": {"precision": 4, "threshold": 2**63 - 1, "edgeitems": 3, "linewidth": 80}}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are printed; see torch.set_printoptions.  A profile is set first, then what is given beside it."""
    if profile is not None:
        print_options.update(_PROFILES[profile])
    for name, value in (("precision", precision), ("edgeitems", edgeitems), ("linewidth", linewidth)):
        if value is not None:
            print_options[name] = int(value)
    if threshold is not None:
        print_options["threshold"] = 2**63 - 1 if threshold == float("inf") else int(threshold)
    print_options["sci_mode"] = sci_mode


def set_default_device(device):
    """Sets the device of factory functions that are not given one; None: the CPU."""
    _C._set_default_device(_C.device("cpu" if device is None else device))


def get_default_device():
    """The device that set_default_device() chose; of a GPU without a number, that of the current one."""
    device = _C._get_default_device()
    return device if device.type != "cuda" or device.index is not None else _C.device("cuda", _C.cuda.current_device())


def set_default_tensor_type(t):
    """The dtype, and device, of a tensor type by name or class ("torch.cuda.FloatTensor") as defaults."""
    if isinstance(t, _C.dtype) or not isinstance(t, (str, type)):
        raise TypeError(f"set_default_tensor_type(): expected a tensor type, got {t}; set_default_dtype() takes a dtype")
    warn_once("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
               "torch.set_default_device() as alternatives.")
    name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
    dtype = TENSOR_CLASSES.get(name.rpartition(".")[2])
    if dtype is None or not dtype.is_floating_point:
        raise TypeError(f"set_default_tensor_type(): expected a floating-point tensor type, got {name}")
    _C.set_default_dtype(dtype)
    set_default_device("cuda" if ".cuda." in name else None)


_deterministic = {"mode": False, "warn_only": False, "fill": True}


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Accepted for what PyTorch's programs say: every op here is deterministic, with and without.  With it, empty() and the like fill
    the memory, see utils.deterministic.fill_uninitialized_memory."""
    checked_argument(mode, "_set_deterministic_algorithms", "mode", 1)
    checked_argument(warn_only, "_set_deterministic_algorithms", "warn_only")
    _deterministic.update(mode=mode, warn_only=warn_only)
    _C._set_fills_uninitialized(mode and _deterministic["fill"])


def _get_deterministic_fill_uninitialized_memory():
    return _deterministic["fill"]


def _set_deterministic_fill_uninitialized_memory(on):
    _deterministic["fill"] = on
    _C._set_fills_uninitialized(on and _deterministic["mode"])


def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms() was told."""
    return _deterministic["mode"]


def is_deterministic_algorithms_warn_only_enabled():
    """What use_deterministic_algorithms() was told."""
    return _deterministic["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """As use_deterministic_algorithms(): 0 or "default", 1 or "warn", 2 or "error"."""
    modes = {0: 0, 1: 1, 2: 2, "default": 0, "warn": 1, "error": 2}
    if debug_mode not in modes:
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1 or 2 or their names, but got {debug_mode!r}")
    use_deterministic_algorithms(modes[debug_mode] > 0, warn_only=modes[debug_mode] == 1)


def get_deterministic_debug_mode():
    """0, 1 or 2: see set_deterministic_debug_mode()."""
    return 0 if not _deterministic["mode"] else 1 if _deterministic["warn_only"] else 2


def set_flush_denormal(mode):
    """False, which says that it is not supported: denormal numbers are kept."""
    if checked(mode, "torch.set_flush_denormal()"):
        warn_ignored("torch.set_flush_denormal()", "mode", mode, "denormal numbers are kept")
    return False


def set_float32_matmul_precision(precision):
    """"highest": float32 products are float32; "high" and "medium": TF32 on GPUs that have it."""
    _float32_precision.set_matmul_precision(checked(precision, "torch.set_float32_matmul_precision()", str))


def get_float32_matmul_precision():
    """What set_float32_matmul_precision() chose."""
    return _C._get_float32_matmul_precision()


def set_num_interop_threads(num, /):
    """Checked as PyTorch's, and ignored: there is one pool of threads."""
    if type(num) is not int:
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(num).__name__}")
    if not 0 < num < 2**31:
        raise RuntimeError(f"set_num_interop_threads expects a positive integer, got {num}")
    if num != 1:
        warn_ignored("torch.set_num_interop_threads()", "num", num, "there is one pool of threads, see set_num_threads()")


def get_num_interop_threads():
    """1: there is one pool of threads."""
    return 1
