"""The order of einsum's products, as torch.backends.opt_einsum: from left to right."""
import sys

from .. import _switches


def is_available():
    """False: the package opt_einsum is not used."""
    return False


def get_opt_einsum():
    """None: the package opt_einsum is not used."""
    return None


def set_flags(_enabled=None, _strategy=None):
    """Sets the options that are given; returns the earlier settings."""
    module = sys.modules[__name__]
    before = (module.enabled, module.strategy)
    for name, value in (("enabled", _enabled), ("strategy", _strategy)):
        if value is not None:
            setattr(module, name, value)
    return before


def flags(enabled=None, strategy=None):
    """A scope with other settings."""
    return _switches.set_for_scope(sys.modules[__name__], dict(enabled=enabled, strategy=strategy))


_NAME, _WHY = "torch.backends.opt_einsum.", "einsum multiplies its operands from left to right"
_switches.make(__name__, {"enabled": _switches.fixed(_NAME + "enabled", False, _WHY),
                          "strategy": _switches.fixed(_NAME + "strategy", None, _WHY)})
