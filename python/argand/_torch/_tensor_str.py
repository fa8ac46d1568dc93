"""How tensors become text, by the names that packages import from torch._tensor_str."""
from .. import _global_settings
from .._global_settings import set_printoptions  # noqa: F401


class _Options:
    """What set_printoptions() sets, as attributes."""

    def __init__(self):
        self.__dict__ = _global_settings.print_options


PRINT_OPTS = _Options()


def _str(self, *, tensor_contents=None):
    return self.__repr__(tensor_contents=tensor_contents)


def _tensor_str(self, indent):
    """The elements alone, lines after the first indented."""
    text = self.detach()._text(**_global_settings.print_options)
    inner = text[len("tensor("):text.rindex("]") + 1] if "]" in text else text[len("tensor("):-1]
    return inner.replace("\n" + " " * len("tensor("), "\n" + " " * indent)
