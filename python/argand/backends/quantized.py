"""Engines of quantized tensors, as torch.backends.quantized: there are none."""
from .. import _switches

supported_engines = ["none"]


def _choose(_, name):
    if name not in supported_engines:
        raise RuntimeError(f"{name} is not a valid value for quantized engine")


_switches.make(__name__, {"engine": property(lambda _: "none", _choose, doc="\"none\".")})
