"""Where a model would be quantized: modules that pass on what they get, as PyTorch's do until the model is converted.  There
are no quantized tensors; what converts models to them is not here."""
from ..nn import Module


class QuantStub(Module):
    """Where floating-point numbers would become quantized."""

    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    """Where quantized numbers would become floating-point."""
