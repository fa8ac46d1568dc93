"""Methods whose Python form is not the schema of an op."""
import numbers

from .. import _C, _functions
from .._ignored import harmless
from .._linear_algebra import removed
from .._tensor_arguments import need_tensors

Tensor = _C.Tensor
_split = _C.split


def _in_place(name, function):
    def write(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        if result.dtype is not self.dtype:
            raise RuntimeError(f"{name}: the result has dtype {result.dtype}, the tensor it would be written to {self.dtype}")
        return self.copy_(result)
    write.__name__, write.__doc__ = name, f"Writes the result of {name[:-1]}() to the tensor."
    return write


class Functions:
    """Functions as methods."""

    def where(self, condition, y):
        """This tensor where condition holds, y elsewhere."""
        return _C.where(condition, self, y)

    def split(self, split_size, dim=0):
        """The tensor in parts of `split_size`, an int or the sizes of all parts, views."""
        return _split(self, split_size if isinstance(split_size, (int, Tensor)) else tuple(split_size), dim)

    def unflatten(self, dim, sizes):
        """A dimension as several."""
        if isinstance(dim, str):
            raise TypeError("unflatten(): argument 'dim' (position 1) must be int, not str")
        return _C.unflatten(self, dim, tuple(sizes))

    def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
        """See torch.norm."""
        return _functions.norm(self, p, dim, keepdim, dtype=dtype)

    def nonzero(self, *, as_tuple=False):
        """nonzero() of the tensor."""
        return _functions.nonzero.__wrapped__(self, as_tuple=as_tuple)

    # These functions ask their arguments for overrides (__torch_function__), and so do methods.  A method is made of what a function
    # wraps, so that it asks once.
    lu, unique, unique_consecutive = (f.__wrapped__ for f in (_functions.lu, _functions.unique, _functions.unique_consecutive))

    eig, lstsq, solve, symeig = removed.eig, removed.lstsq, removed.solve, removed.symeig

    def polygamma(self, n):
        """See torch.polygamma."""
        return _C.polygamma(n, self)

    polygamma_ = _in_place("polygamma_", polygamma)

    @harmless(masked_grad="all tensors are dense, so there is no mask")
    def to_dense(self, dtype=None, *, masked_grad=None):
        """The tensor itself, or in another dtype: all tensors are dense."""
        if masked_grad is not None and not isinstance(masked_grad, bool):
            raise TypeError(f"to_dense(): argument 'masked_grad' must be bool, not {type(masked_grad).__name__}")
        return self if dtype is None else self.to(dtype=dtype)

    def sparse_dim(self):
        """0: every tensor is dense."""
        return 0

    def dense_dim(self):
        """The number of dimensions: every tensor is dense."""
        return self.dim()

    def dim_order(self, *, ambiguity_check=False):
        """The dimensions from the one whose elements lie farthest apart to the nearest.  ambiguity_check: RuntimeError where more than one
        order fits the strides; a list of memory formats: where not exactly one of them does."""
        if not isinstance(ambiguity_check, (bool, list)) or isinstance(ambiguity_check, list) and not all(
                isinstance(f, _C.memory_format) for f in ambiguity_check):
            raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
        if ambiguity_check:
            formats = [] if ambiguity_check is True else ambiguity_check
            fits = sum(self.is_contiguous(memory_format=f) for f in formats)
            strides = self.stride()
            unique = all(n > 1 for n in self.shape) and len(set(strides)) == len(strides)
            if fits != 1 and (formats or not unique):
                raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.")
        if self.is_contiguous():
            return tuple(range(self.dim()))
        channels_last = {4: _C.channels_last, 5: _C.channels_last_3d}.get(self.dim())
        if channels_last is not None and self.is_contiguous(memory_format=channels_last):
            return (0, *range(2, self.dim()), 1)
        strides = self.stride()
        return tuple(sorted(range(self.dim()), key=lambda d: -strides[d]))

    def map_(self, tensor, callable):
        """Each element becomes callable(element, that of `tensor` at its place): slow, on the CPU alone."""
        need_tensors("map_", tensor=tensor)
        if not self.is_cpu:
            raise TypeError("map_ is only implemented on CPU tensors")
        if self.requires_grad and _C.is_grad_enabled():
            raise RuntimeError("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
        other = tensor.expand_as(self)
        values = [callable(x, y) for x, y in zip(self.flatten().tolist(), other.flatten().tolist())]
        return self.copy_(_C.tensor(values, dtype=self.dtype).view(self.shape))

    def map2_(self, x, y, callable):
        """Each element becomes callable(element, those of `x` and `y` at its place): slow, on the CPU alone."""
        need_tensors("map2_", x=x, y=y)
        if not self.is_cpu:
            raise TypeError("map2_ is only implemented on CPU tensors")
        if any(t.requires_grad for t in (self, x, y)) and _C.is_grad_enabled():
            raise RuntimeError("Can't call map2_() on Variable that requires grad. Use var.detach().map2_() instead.")
        rows = (t.expand_as(self).flatten().tolist() for t in (self, x, y))
        return self.copy_(_C.tensor([callable(*row) for row in zip(*rows)], dtype=self.dtype).view(self.shape))

    def apply_(self, callable):
        """Replaces each element by callable(element); CPU only and slow."""
        if not self.is_cpu:
            raise TypeError("apply_ is only implemented on CPU tensors")
        flat = [callable(v) for v in self.reshape(-1).tolist()]
        for value in flat:
            if not isinstance(value, (numbers.Number, Tensor)):
                raise TypeError(f"apply_: expected the function to return a number, got {type(value).__name__}")
        return self.copy_(_C.tensor(flat, dtype=self.dtype).reshape(self.shape))

    def module_load(self, other, assign=False):
        """What a module that loads `other` into this parameter or buffer gives it, where torch.__future__'s swapping is on: another object."""
        return other.detach() if assign else self.copy_(other).detach()
