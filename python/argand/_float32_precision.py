"""The precision of float32 products and convolutions, as the settings `fp32_precision` of torch.backends say it.

A level has a precision of its own, "ieee" or "tf32", or "none", and then that of the level above: torch.backends, torch.backends.cudnn
(all of CUDA), and below it products and convolutions.  What comes out is set in the library, which also hears of `allow_tf32` and
set_float32_matmul_precision() from here.
"""
from . import _C
from ._ignored import warn_ignored

_ABOVE = {"matmul": "cuda", "conv": "cuda", "cuda": "all", "all": None}
_SWITCHES = {"matmul": (_C._allow_tf32_matmul, _C._set_allow_tf32_matmul), "conv": (_C._allow_tf32_cudnn, _C._set_allow_tf32_cudnn)}
_own = dict.fromkeys(_ABOVE, "none") | {"conv": "tf32"}  # as in PyTorch
_NAMED = {"exact": {"matmul": "ieee", "conv": "ieee"}, "default": {"conv": "tf32"}, "fast": {"matmul": "tf32", "conv": "tf32"}}


def _resolved(level):
    while _own[level] == "none" and _ABOVE[level] is not None:
        level = _ABOVE[level]
    return _own[level]


def get(level):
    """The precision of a level: its own or that of the level above."""
    precision = _resolved(level)
    if level in _SWITCHES and (precision == "tf32") != _SWITCHES[level][0]():
        return "ieee" if precision == "tf32" else "tf32"  # C++ code has changed it
    return precision


def check(precision):
    """The name of a precision: TypeError or RuntimeError for what is none."""
    if not isinstance(precision, str):
        raise TypeError(f"fp32_precision must be str, not {type(precision).__name__}")
    if precision not in ("none", "ieee", "tf32", "bf16"):
        raise RuntimeError(f"Unknown precision: {precision}")
    return precision


def set(level, precision):
    """Gives a level a precision of its own, or that of the level above ("none")."""
    if check(precision) == "bf16":
        if level != "all":
            raise RuntimeError("backend 'cuda' does not support precision 'bf16'")
        return warn_ignored("torch.backends", "fp32_precision", precision, "float32 products are never computed in bfloat16")
    _own[level] = precision
    for below, (is_on, switch) in _SWITCHES.items():
        on = _resolved(below) == "tf32"
        if on != is_on():
            switch(on)


def allow_tf32(level, on):
    """The older switch of a level."""
    if on or level == "matmul":
        return set(level, "tf32" if on else "ieee")
    set(level, "none")
    if _resolved(level) == "tf32":  # from above
        set(level, "ieee")


def set_matmul_precision(precision):
    """See torch.set_float32_matmul_precision()."""
    _C._set_float32_matmul_precision(precision)
    _own["matmul"] = "ieee" if precision == "highest" else "tf32"


def set_float32_precision(precision):
    """How float32 products and convolutions compute on a GPU, in place of all settings of `torch.backends`.

    "exact": in float32.  "default": convolutions round their operands to TF32, whose mantissa has 10 bits, and products compute in
    float32, as in PyTorch.  "fast": products round to TF32, too.  ValueError for anything else.
    """
    if precision not in _NAMED:
        raise ValueError(f"set_float32_precision: expected 'exact', 'default' or 'fast', got {precision!r}")
    for level in _ABOVE:
        set(level, _NAMED[precision].get(level, "none"))


def get_float32_precision():
    """What set_float32_precision() chose, or "other" if the settings of `torch.backends` differ from its three."""
    return _C._get_float32_precision()
