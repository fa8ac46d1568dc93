"""The ops of ONNX that such functions would call: none."""
from .._named_modules import names_of as _names_of


__getattr__ = _names_of(__name__)
