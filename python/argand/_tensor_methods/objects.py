"""Tensors as objects of Python."""
import numbers

from .. import _C
from .._ignored import harmless

Tensor = _C.Tensor


def _never(what):
    return property(lambda self: False, doc=f"False: there are no tensors {what}.")


class Objects:
    """Iteration, `in`, dir(), and what older programs and other devices ask."""

    def __iter__(self):
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self):
        return self if self.dim() == 0 else self.flip(0)

    def __contains__(self, element):
        if isinstance(element, (Tensor, numbers.Number)):
            return bool((element == self).any())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    def __complex__(self):
        return complex(self.item())

    def __dir__(self):
        names = set(object.__dir__(self))
        if not self.is_cuda:
            names.discard("__cuda_array_interface__")
        return sorted(names)

    # Python 2's names.
    __div__, __rdiv__, __idiv__ = Tensor.__truediv__, Tensor.__rtruediv__, Tensor.__itruediv__

    is_ipu, is_maia, is_mtia = _never("on an IPU"), _never("on a MAIA device"), _never("on an MTIA device")
    is_sparse_csr, is_vulkan, is_xla = _never("in CSR format"), _never("on Vulkan"), _never("on XLA")

    @harmless(self="a tensor is one process's")
    def is_distributed(self):
        """False: a tensor is one process's."""
        return False
