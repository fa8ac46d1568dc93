"""How tensors become text, by the names that packages take from torch._tensor_str."""
import types

from . import _settings

PRINT_OPTS = types.SimpleNamespace(**_settings.print_options)  # as they were when this was imported


def _str(self, *, tensor_contents=None):
    return repr(self)


def _tensor_str(self, indent):
    """The elements alone, lines after the first indented."""
    text = self.detach()._text(**_settings.print_options)
    inner = text[len("tensor("):text.rindex("]") + 1] if "]" in text else text[len("tensor("):-1]
    return inner.replace("\n" + " " * len("tensor("), "\n" + " " * indent)
