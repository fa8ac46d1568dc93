"""Marks of where a model would be quantized: modules that return their input, as PyTorch's do until the model is converted.  There
are no quantized tensors, and models cannot be converted to them."""
from .. import _surface
from ..nn import Module

__path__ = []  # PyTorch has modules below it: argand/_surface/ao.txt has them


class QuantStub(Module):
    """Marks where floating-point numbers would become quantized."""

    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    """Marks where quantized numbers would become floating-point."""


__getattr__, __dir__ = _surface.of(__name__)
