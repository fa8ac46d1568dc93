"""torch._C._functions: the nodes that are no op's."""
from ... import _C
from ...autograd._engine import DelayedError, UndefinedGrad  # noqa: F401
from ...autograd.function import _DelayedError

AccumulateGrad, CopySlices = _C._node_class("AccumulateGrad"), _C._node_class("CopySlices")
Error = _DelayedError._backward_cls
