"""Backward, gradients and Functions, as torch.autograd."""
from .. import _C, _surface
from .._plain_functions import plain
from . import forward_ad, function, functional, grad_mode, graph  # noqa: F401
from ._backward import backward, grad  # noqa: F401
from ._engine import SavedTensor, Variable, set_multithreading_enabled  # noqa: F401
from .anomaly_mode import detect_anomaly, set_detect_anomaly  # noqa: F401
from .function import Function  # noqa: F401
from .gradcheck import gradcheck, gradgradcheck  # noqa: F401
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: F401

_is_multithreading_enabled = is_multithreading_enabled = plain(_C._is_multithreading_enabled, __name__)


def _is_checkpoint_valid():
    return Variable._execution_engine.is_checkpoint_valid()


__getattr__, __dir__ = _surface.of(__name__)
