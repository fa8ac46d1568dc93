"""The order of einsum's products, as torch.backends.opt_einsum: from left to right."""
from .. import _switches


def is_available():
    """False: the package opt_einsum is not used."""
    return False


_NAME, _WHY = "torch.backends.opt_einsum.", "einsum multiplies its operands from left to right"
_switches.make(__name__, {"enabled": _switches.fixed(_NAME + "enabled", False, _WHY),
                          "strategy": _switches.fixed(_NAME + "strategy", None, _WHY)})
