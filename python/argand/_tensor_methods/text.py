"""Tensors as text."""
from .. import _C, _global_settings
from ..autograd import forward_ad

Tensor = _C.Tensor


def _text_of_wrapper(self, contents):
    """The text of a tensor whose class intercepts ops: its elements are not read."""
    parts = ["..." if contents is None else contents]
    if self.device.type != "cpu":
        parts.append(f"device='{self.device}'")
    if contents is None:
        parts.append(f"size={tuple(self.shape)}")
        if self.dtype != _C.get_default_dtype():
            parts.append(f"dtype={self.dtype}")
    if self.grad_fn is not None:
        parts.append(f"grad_fn=<{self.grad_fn.name()}>")
    elif self.requires_grad:
        parts.append("requires_grad=True")
    return _as_parameter(self, f"{type(self).__name__}({', '.join(parts)})")


def _as_parameter(self, text):
    """A tensor of another class that Parameter() made a parameter says so."""
    return f"Parameter({text})" if getattr(self, "_is_param", False) else text


class Text:
    """repr() and format()."""

    def __repr__(self, *, tensor_contents=None):
        if _C._intercepts(self):
            return _text_of_wrapper(self, tensor_contents)
        text = self._text(**_global_settings.print_options)
        if tensor_contents is not None:  # in the place of the elements
            end = text.rindex("]") + 1 if "]" in text else text.find(", ") if ", " in text else len(text) - 1
            text = f"tensor({tensor_contents}{text[end:]}"
        if _C._tangents_travel():
            tangent = forward_ad.unpack_dual(self).tangent
            if tangent is not None:
                text = f"{text[:-1]}, tangent={tangent!r})"
        if type(self) is Tensor:
            return text
        name = type(self).__name__
        return f"{name} containing:\n{text}" if name == "Parameter" else _as_parameter(self, text.replace("tensor(", name + "(", 1))

    def __format__(self, spec):
        if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
            return format(self.item(), spec)
        return object.__format__(self, spec)
