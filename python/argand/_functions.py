"""Functions of the package that are no ops of the library, or whose Python form is not the schema's."""
import builtins
import sys

from . import _C

_max, _min = builtins.max, builtins.min
Tensor = _C.Tensor


def _by_name(name):
    """What a pickle of a dtype or a function of the package stands for: `float32`, `relu`, `Tensor.relu`."""
    found = sys.modules[__package__]
    for part in name.split("."):
        found = getattr(found, part)
    return found


def typename(obj):
    """The type of obj as text: "torch.FloatTensor" for tensors, "int" and the like for Python's own types."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _results_text(self):
    """Several results by name as PyTorch prints them, a line each."""
    parts = (f"{name}={value!r}" for name, value in zip(self.__match_args__, self))
    return f"{type(self).__module__}.{type(self).__qualname__}(\n" + ",\n".join(parts) + ")"


def _assert(condition, message):
    """An assertion that tracing would see."""
    assert condition, message


def is_floating_point(input):
    """Whether the dtype is a real floating-point type."""
    return input.is_floating_point()


def is_complex(input):
    """Whether the dtype is complex."""
    return input.is_complex()


def is_signed(input):
    """Whether the dtype has negative numbers."""
    return input.is_signed()


def numel(input):
    """The number of elements."""
    return input.numel()


def is_same_size(input, other):
    """Whether the shapes are equal."""
    return input.shape == other.shape


def is_inference(input):
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """`obj` as a tensor, sharing its memory where that is possible and `copy` is not True."""
    result = _C.tensor(obj, dtype=dtype, device=device) if copy else _C.as_tensor(obj, dtype=dtype, device=device)
    return result.requires_grad_() if requires_grad else result


def from_dlpack(ext_tensor):
    """A tensor over the memory of an object with __dlpack__, or of a DLPack capsule."""
    if hasattr(ext_tensor, "__dlpack__"):
        ext_tensor = ext_tensor.__dlpack__()
    return _C._from_dlpack(ext_tensor)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A 1-d tensor of the bytes of an object with the buffer protocol (a copy)."""
    data = bytes(memoryview(buffer).cast("B")[offset:])
    if count < 0 and len(data) % dtype.itemsize:
        raise ValueError(f"buffer length ({len(data)} bytes) after offset ({offset} bytes) must be a multiple of element "
                         f"size ({dtype.itemsize})")
    if count >= 0:
        if len(data) < count * dtype.itemsize:
            raise ValueError(f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) must "
                             f"not be greater than actual buffer length ({len(data) + offset} bytes)")
        data = data[:count * dtype.itemsize]
    return _C._from_bytes(data, dtype).requires_grad_(requires_grad)


def split(tensor, split_size_or_sections, dim=0):
    """The tensor in parts, views: of one size, or of the sizes listed."""
    return tensor.split(split_size_or_sections, dim)


def tensor_split(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """The tensor in so many parts, or cut at the indices; views."""
    if indices_or_sections is None:
        indices_or_sections = sections if indices is None else indices
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    return _tensor_split(input, indices_or_sections, dim)


_tensor_split = _C.tensor_split
Tensor.tensor_split = tensor_split


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distances between all rows of x1 and all of x2."""
    modes = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _C.cdist(x1, x2, p, modes[compute_mode])


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm over dimensions (all if None); "fro" is the 2-norm of all elements, "nuc" is not supported."""
    if p == "nuc":
        raise NotImplementedError("norm(): the nuclear norm is not supported")
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    order = 2.0 if p in ("fro", None) else p
    dims = list(range(input.dim())) if dim is None else dim
    result = _C.linalg_vector_norm(input, order, dims, keepdim, dtype=dtype)
    return result if out is None else out.copy_(result)


def einsum(equation, *operands):
    """The Einstein sum of the operands, given as arguments or as one list."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    return _C.einsum(equation, list(operands))


def meshgrid(*tensors, indexing="ij"):
    """Grids of coordinates, one for each 1-d tensor."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return _C.meshgrid(list(tensors), indexing=indexing)


def broadcast_tensors(*tensors):
    """The tensors expanded to their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return _C.broadcast_tensors(list(tensors))


def broadcast_shapes(*shapes):
    """The common shape of broadcasting."""
    empty = [_C.empty((s,) if isinstance(s, int) else tuple(s), device="meta") for s in shapes]
    return _C.broadcast_tensors(empty)[0].shape if empty else _C.Size([])


def _listed(name):
    function = getattr(_C, name)

    def call(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return function(tensors[0])
        if len(tensors) == 1:
            tensors = tensors[0]
        return tuple(function(t) for t in tensors)
    call.__name__, call.__doc__ = name, f"{name} of a tensor, or of each of several."
    return call


atleast_1d, atleast_2d, atleast_3d = (_listed(f"atleast_{n}d") for n in (1, 2, 3))


def block_diag(*tensors):
    """A matrix with the matrices on its diagonal."""
    matrices = [t.reshape(1, -1) if t.dim() < 2 else t for t in tensors]
    rows = sum(m.shape[0] for m in matrices)
    columns = sum(m.shape[1] for m in matrices)
    parts, before = [], 0
    for m in matrices:
        left = _C.zeros(m.shape[0], before, dtype=m.dtype, device=m.device)
        right = _C.zeros(m.shape[0], columns - before - m.shape[1], dtype=m.dtype, device=m.device)
        parts.append(_C.cat([left, m, right], 1))
        before += m.shape[1]
    return _C.cat(parts, 0) if parts else _C.zeros(1, rows)


def cartesian_prod(*tensors):
    """All combinations of elements of 1-d tensors, one a row."""
    if len(tensors) == 1:
        return tensors[0]
    return _C.stack([g.reshape(-1) for g in meshgrid(*tensors)], 1)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along dim); with their inverse indices and counts if asked for."""
    if dim is None:
        values, inverse, counts = _C._unique2(input, sorted, return_inverse, return_counts)
    else:
        values, inverse, counts = _C.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """As unique(), of neighbours alone."""
    if dim is None:
        values, inverse, counts = _C.unique_consecutive(input, return_inverse, return_counts)
    else:
        values, inverse, counts = _C.unique_dim_consecutive(input, dim, return_inverse, return_counts)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _chosen(values, inverse, counts, return_inverse, return_counts):
    out = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return out if len(out) > 1 else values


Tensor.unique = unique
Tensor.unique_consecutive = unique_consecutive


def tensordot(a, b, dims=2, out=None):
    """The product of a and b summed over `dims` last and first dimensions, or over two lists of dimensions."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims_a, dims_b = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        dims_a, dims_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    result = _C.tensordot(a, b, dims_a, dims_b)
    return result if out is None else out.copy_(result)


def result_type(tensor, other):
    """The dtype of an arithmetic result of both."""
    return (_C.add(_meta(tensor), _meta(other)) if isinstance(tensor, Tensor) or isinstance(other, Tensor)
            else _C.add(_C.tensor(tensor), other)).dtype


def _meta(value):
    return value.to("meta") if isinstance(value, Tensor) and value.dim() else value


def where(condition, input=None, other=None, *, out=None):
    """input where condition, other elsewhere; without both, the indices where condition holds."""
    if input is None and other is None:
        return _C.where(condition)
    result = _C.where(condition, input, other)
    return result if out is None else out.copy_(result)


def nonzero(input, *, out=None, as_tuple=False):
    """The indices of elements that are not 0: a row for each, or a tuple with a tensor for each dimension."""
    if as_tuple:
        return tuple(_C.nonzero_numpy(input))
    result = _C.nonzero(input)
    return result if out is None else out.resize_(result.shape).copy_(result)


def _nonzero_method(self, *, as_tuple=False):
    return nonzero(self, as_tuple=as_tuple)


Tensor.nonzero = _nonzero_method


def aminmax(input, *, dim=None, keepdim=False):
    """The smallest and the largest element, of all or along dim."""
    dims = [] if dim is None else dim
    return _C.amin(input, dims, keepdim), _C.amax(input, dims, keepdim)


def count_nonzero(input, dim=None):
    """How many elements are not 0, of all or over dimensions."""
    if dim is None:
        return _C.count_nonzero(input)
    return _C.count_nonzero(input, (dim,) if isinstance(dim, int) else dim)


Tensor.count_nonzero = count_nonzero


def vander(x, N=None, increasing=False):
    """The Vandermonde matrix of a 1-d tensor."""
    n = x.shape[0] if N is None else N
    powers = _C.arange(n, device=x.device)
    return x.unsqueeze(-1) ** (powers if increasing else powers.flip(0))


def trace(input):
    """The sum of a matrix's diagonal."""
    if input.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    return _C.diagonal(input).sum()


Tensor.trace = trace


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """Differences of neighbours along dim, n times."""
    if n == 0:
        return input
    parts = [p for p in (prepend, input, append) if p is not None]
    input = _C.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        size = input.shape[dim]
        after, before = input.narrow(dim, 1, _max(size - 1, 0)) if size else input, input.narrow(dim, 0, _max(size - 1, 0))
        input = after ^ before if input.dtype is _C.bool else after - before
    return input


Tensor.diff = diff
