"""XNNPACK, a library of kernels for mobile devices: it is not used."""
from .. import _switches

_switches.make(__name__, {"enabled": _switches.fixed("torch.backends.xnnpack.enabled", False, "XNNPACK is not used")})
