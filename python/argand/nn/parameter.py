"""Parameters: tensors that modules register by being assigned."""
from .. import _C


class Parameter(_C.Tensor):
    """A tensor that is a parameter of the module it is assigned to; requires grad unless said otherwise."""

    def __new__(cls, data=None, requires_grad=True):
        return _C._make_subclass(cls, _C.empty(0) if data is None else data, requires_grad)

    def __init__(self, *_, **__):
        pass
