"""Marks of where a model would be quantized: modules that return their input, as PyTorch's do until the model is converted.  There
are no quantized tensors, and models cannot be converted to them."""
from .._named_modules import names_of as _names_of
from .._refused import refused, refused_class
from ..nn import Module

__path__ = []  # PyTorch has modules below it: see _named_modules.py


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


_WHY = "there are no quantized tensors; torch.fake_quantize_per_tensor_affine rounds as they would"
for _name in ("convert", "default_dynamic_qconfig", "default_qconfig", "fuse_modules", "fuse_modules_qat", "get_default_qat_qconfig",
              "get_default_qconfig", "get_default_qconfig_mapping", "prepare", "prepare_qat", "propagate_qconfig_", "quantize",
              "quantize_dynamic", "quantize_qat", "swap_module"):
    globals()[_name] = refused("torch.ao.quantization." + _name, _WHY)
for _name in ("FakeQuantize", "FakeQuantizeBase", "HistogramObserver", "MinMaxObserver", "MovingAverageMinMaxObserver", "ObserverBase",
              "PerChannelMinMaxObserver", "QConfig", "QConfigMapping", "QuantWrapper"):
    globals()[_name] = refused_class("torch.ao.quantization." + _name, _WHY, Module if _name != "QConfig" else object)
del _name


__getattr__ = _names_of(__name__)
