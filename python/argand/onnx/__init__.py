"""What packages ask of torch.onnx while they are imported.  Models cannot be exported: export() says so."""
import enum

from .._ignored import harmless
from .. import _surface
from . import symbolic_helper  # noqa: F401

TrainingMode = enum.Enum("TrainingMode", {"EVAL": 0, "PRESERVE": 1, "TRAINING": 2})
OperatorExportTypes = enum.Enum("OperatorExportTypes", {"ONNX": 0, "ONNX_ATEN": 2, "ONNX_ATEN_FALLBACK": 3, "ONNX_FALLTHROUGH": 1})

_NONE = "nothing is exported: export() says so"


def is_in_onnx_export():
    """False: nothing is exported."""
    return False


@harmless(symbolic_name=_NONE, symbolic_fn=_NONE, opset_version=_NONE)
def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """How an op would be written into a file; nothing is."""


@harmless(symbolic_name=_NONE, opset_version=_NONE)
def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """See register_custom_op_symbolic."""


__getattr__, __dir__ = _surface.of(__name__)
