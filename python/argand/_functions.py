"""Functions of the package that are not ops of the library, or whose Python signature differs from the op's schema."""
import sys

from . import _C
from ._buffers import frombuffer
from ._overridable import make_overridable as _make_overridable
from ._tensor_arguments import need_tensors as _need_tensors
from ._typed_storage import TypedStorage
from ._untyped_storage import UntypedStorage, tensor_over as _tensor_over

Tensor = _C.Tensor


def _by_name(name):
    """What a pickle of a dtype or a function of the package stands for: `float32`, `relu`, `Tensor.relu`."""
    found = sys.modules[__package__]
    for part in name.split("."):
        found = getattr(found, part)
    return found


def typename(obj):
    """The type of obj as text: "torch.FloatTensor" for tensors, "int" for a number; the full name of what has one, as functions."""
    if isinstance(obj, Tensor):
        return obj.type()
    module = getattr(obj, "__module__", "") or ""
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    if name is None:
        module, name = type(obj).__module__, type(obj).__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"


def _reduced_results(self):
    """How several results by name are pickled."""
    from . import return_types
    return return_types._results, (type(self).__name__, tuple(self))


def _results_text(self):
    """Several results by name as PyTorch prints them, a line each."""
    parts = (f"{name}={value!r}" for name, value in zip(self.__match_args__, self))
    return f"{type(self).__module__}.{type(self).__qualname__}(\n" + ",\n".join(parts) + ")"


def _assert(condition, message):
    """An assertion that tracing would see."""
    assert condition, message


def _check_with(kind, cond, message):
    """An error of that kind, with the text that message() gives, unless cond is True."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        raise kind("Expected cond to be True, but got False." if message is None else str(message()))


def _check(cond, message=None):
    """RuntimeError, with the text that message() gives, unless cond is True."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond, message=None):
    """IndexError unless cond is True."""
    _check_with(IndexError, cond, message)


def _check_value(cond, message=None):
    """ValueError unless cond is True."""
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    """TypeError unless cond is True."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    """NotImplementedError unless cond is True."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i, message=None, *, max=None):
    """RuntimeError unless i is a size: at least 0, and at most max."""
    _check(i >= 0 and (max is None or i <= max), message)


def _check_tensor_all_with(kind, cond, message=None):
    """An error of that kind, with the text that message() gives, unless all elements of a tensor of bools are True."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not _C.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(kind, bool(cond.all()), message)


def _check_tensor_all(cond, message=None):
    """RuntimeError unless all elements of a tensor of bools are True."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert_async(input, assert_msg=""):
    """RuntimeError unless the only element of a tensor is not 0; it is waited for."""
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _shape_as_tensor(input):
    """The sizes as a tensor."""
    return _C.tensor(tuple(input.shape))


def is_floating_point(input):
    """Whether the dtype is a real floating-point type."""
    _need_tensors("is_floating_point", input=input)
    return input.is_floating_point()


def is_complex(input):
    """Whether the dtype is complex."""
    _need_tensors("is_complex", input=input)
    return input.is_complex()


def is_signed(input):
    """Whether the dtype has negative numbers."""
    _need_tensors("is_signed", input=input)
    return input.is_signed()


def numel(input):
    """The number of elements."""
    _need_tensors("numel", input=input)
    return input.numel()


def is_inference(input):
    """Whether the tensor was made in inference mode."""
    _need_tensors("is_inference", input=input)
    return input.is_inference()


def _over(obj, dtype):
    """A tensor over the memory of a tensor, an array, a capsule, a storage or a buffer; None where there is none to share."""
    if isinstance(obj, Tensor):
        return obj
    if hasattr(type(obj), "__array_interface__"):
        return _C.from_numpy(obj)
    if isinstance(obj, (TypedStorage, UntypedStorage)):
        return obj._tensor_over(dtype or getattr(obj, "_dtype", None) or _C.get_default_dtype())
    if hasattr(type(obj), "__dlpack__"):
        from .utils.dlpack import from_dlpack
        return from_dlpack(obj)
    if type(obj).__name__ == "PyCapsule":
        return _C._from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=dtype or _C.get_default_dtype())


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """`obj` as a tensor, sharing its memory where that is possible and `copy` is not True; copy=False: ValueError where it is not."""
    result = _over(obj, dtype)
    if result is None:
        if copy is False:
            raise ValueError("asarray: can't alias arbitrary sequence into a tensor.")
        return _C.tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    if copy is False and not isinstance(obj, Tensor) and hasattr(type(obj), "__array_interface__") and not hasattr(obj, "__setitem__"):
        raise RuntimeError("asarray: can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray.")
    if device is None and not isinstance(obj, Tensor) or _C._get_default_device().type != "cpu":
        device = device or _C._get_default_device()
    device, dtype = result.device if device is None else _C.device(device), dtype or result.dtype
    if device.index is None and device.type == result.device.type:
        device = result.device
    if copy is False and device != result.device:
        raise ValueError(f"asarray: can't alias tensor from device '{result.device}' to '{device}'.")
    if copy is False and dtype is not result.dtype:
        raise ValueError(f"asarray: can't alias tensor with dtype '{result.dtype}' into dtype '{dtype}'.")
    result = result.to(device, dtype, copy=bool(copy))
    if result.requires_grad and not requires_grad:
        return result.detach()
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


def from_file(filename, shared=False, size=0, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor of `size` elements over the beginning of a file.  shared: what is written to the tensor is written to the file, which is
    made or made longer if need be; otherwise the file, which must be long enough, stays as it is.  If it becomes shorter, or cannot be
    read, each use of the tensor is an error that names it."""
    dtype = dtype or _C.get_default_dtype()
    if size < 0:
        raise ValueError(f"from_file(): expected a size of at least 0, got {size}")
    if layout not in (None, _C.strided):
        raise NotImplementedError(f"from_file(): layout: expected torch.strided, got {layout}")
    if pin_memory or _C.device(device or "cpu").type != "cpu":
        raise RuntimeError("from_file(): the memory of a file is neither pinned nor on a GPU: move the tensor there")
    return _tensor_over(UntypedStorage.from_file(filename, bool(shared), size * dtype.itemsize), dtype).requires_grad_(requires_grad)


def split(tensor, split_size_or_sections, dim=0):
    """The tensor in parts, views: of one size, or of the sizes listed."""
    return tensor.split(split_size_or_sections, dim)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distances between all rows of x1 and all of x2."""
    modes = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _C.cdist(x1, x2, p, modes[compute_mode])


def _into(out, result):
    """Writes the result of a call to its out=, which takes the result's shape, and returns that; without one, the result."""
    return result if out is None else _C.view_copy(result, result.shape, out=out)


def _into_each(name, out, results, op=None):
    """Writes the results of a call, of the op of that name or of `op`, to the tensors of its out=: none of them unless all can take
    theirs."""
    if not isinstance(out, (list, tuple)) or not all(isinstance(to, Tensor) for to in out):
        kind = typename(out) if not isinstance(out, (list, tuple)) else f"{typename(out)} of " + ", ".join(map(typename, out))
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {kind}")
    if len(out) != len(results):
        raise RuntimeError(f"{name}(): expected {len(results)} tensors in out, got {len(out)}")
    for to, result in zip(out, results):
        if _C.is_grad_enabled() and (to.requires_grad or result.requires_grad):
            raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                               "arguments requires grad.")
    _C._write_outs(op or name, list(results), list(out))
    return tuple(out)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm over dimensions (all if None); "fro" is the 2-norm of all elements, "nuc" the sum of singular values."""
    if p == "nuc":
        result = _C.linalg_matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
        return _into(out, result)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    order = 2.0 if p in ("fro", None) else p
    dims = list(range(input.dim())) if dim is None else dim
    return _C.linalg_vector_norm(input, order, dims, keepdim, dtype=dtype, out=out)


def lu(A, pivot=True, get_infos=False, out=None):
    """linalg.lu_factor; with get_infos, also the number of the first pivot that is 0, or 0, instead of an error."""
    LU, pivots, infos = _C.linalg_lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    results = (LU, pivots, infos) if get_infos else (LU, pivots)
    return results if out is None else _into_each("lu", out, results, "linalg_lu_factor_ex")


def broadcast_shapes(*shapes):
    """The common shape of broadcasting."""
    empty = [_C.empty((s,) if isinstance(s, int) else tuple(s), device="meta") for s in shapes]
    return _C.broadcast_tensors(empty)[0].shape if empty else _C.Size([])


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along dim); with their inverse indices and counts if asked for."""
    if dim is None:
        values, inverse, counts = _C._unique2(input, sorted, return_inverse, return_counts)
    else:
        values, inverse, counts = _C.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """Like unique(), but removes only repetitions of the neighbouring element."""
    if dim is None:
        values, inverse, counts = _C.unique_consecutive(input, return_inverse, return_counts)
    else:
        values, inverse, counts = _C.unique_dim_consecutive(input, dim, return_inverse, return_counts)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _chosen(values, inverse, counts, return_inverse, return_counts):
    out = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return out if len(out) > 1 else values


def tensordot(a, b, dims=2, out=None):
    """The product of a and b summed over `dims` last and first dimensions, or over two lists of dimensions."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims >= 0 and no more than both tensors have, but got dims={dims} for tensors of "
                               f"{a.dim()} and {b.dim()} dimensions")
        dims_a, dims_b = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        dims_a, dims_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    return _into(out, _C.tensordot(a, b, dims_a, dims_b))


def result_type(tensor, other):
    """The dtype of an arithmetic result of both."""
    return (_C.add(_meta(tensor), _meta(other)) if isinstance(tensor, Tensor) or isinstance(other, Tensor)
            else _C.add(_C.tensor(tensor), other)).dtype


def _meta(value):
    if not isinstance(value, Tensor) or value.dim() == 0 and type(value) is Tensor:
        return value
    return _C.empty(1, dtype=value.dtype, device="meta") if value.dim() else _C.empty((), dtype=value.dtype)


def where(condition, input=None, other=None, *, out=None):
    """input where condition, other elsewhere; without both, the indices where condition holds."""
    if input is None and other is None:
        if out is not None:
            raise TypeError("where() received an invalid combination of arguments: out is of where(condition, input, other)")
        return _C.where(condition)
    return _C.where(condition, input, other, out=out)


def repeat_interleave(input=None, repeats=None, dim=None, *, output_size=None):
    """Every element along dim (of the flat tensor if none) `repeats` times in a row, for all or for each; of counts alone, the number i
    counts[i] times in a row."""
    if input is not None and repeats is not None:
        return _C.repeat_interleave(input, repeats, dim, output_size=output_size)
    if dim is not None:
        raise TypeError("repeat_interleave() received an invalid combination of arguments: counts alone have no dim")
    counts = repeats if input is None else input
    if not isinstance(counts, Tensor):
        raise TypeError(f"repeat_interleave: expected a tensor and repeats, or a tensor of counts alone, got {typename(counts)} alone")
    if counts.dim() != 1:
        raise RuntimeError(f"repeat_interleave only accept 1D vector as repeat, got a tensor of shape {tuple(counts.shape)}")
    if counts.dtype not in (_C.int64, _C.int32):
        raise NotImplementedError(f"repeat_interleave: expected counts of int64 or int32, got {counts.dtype}")
    return _C.repeat_interleave(_C.arange(len(counts), dtype=counts.dtype, device=counts.device), counts, 0, output_size=output_size)


def nonzero(input, *, out=None, as_tuple=False):
    """The indices of elements that are not 0: a row for each, or a tuple with a tensor for each dimension."""
    if as_tuple:
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return tuple(_C.nonzero_numpy(input))
    result = _C.nonzero(input)
    if out is None:
        return result
    if not isinstance(out, Tensor):
        raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {typename(out)}")
    if out.dtype is not _C.int64:
        raise RuntimeError(f"nonzero: Expected out tensor to have scalar type Long (int64) but got scalar type {out.dtype}")
    if out.device != input.device:
        raise RuntimeError(f"nonzero: expected out on {input.device}, the device of input, got {out.device}")
    return _into(out, result)


def _list_into(name):
    """A function of several results with out=, a list of tensors."""
    function = getattr(_C, name)

    def form(*args, out=None, **kwargs):
        results = function(*args, **kwargs)
        if out is None:
            return results
        _into_each(name, out, results)
        return None
    form.__name__ = form.__qualname__ = name
    form.__doc__ = function.__doc__
    return form


split_copy, split_with_sizes_copy, unbind_copy = map(_list_into, ("split_copy", "split_with_sizes_copy", "unbind_copy"))


def unravel_index(indices, shape):
    """The coordinates, a tensor for each dimension, of indices into a tensor of some shape with its elements in one row."""
    if indices.dtype is _C.bool or indices.is_floating_point() or indices.is_complex():
        raise TypeError(f"unravel_index(): expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, list, tuple)):
        raise TypeError(f"unravel_index(): expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"unravel_index(): expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in shape):
        raise ValueError(f"unravel_index(): 'shape' cannot have negative values, but got {shape}")
    found, indices = [], indices.long()
    for size in reversed(shape):
        found.insert(0, indices % size)
        indices = indices.div(size, rounding_mode="floor")
    return tuple(found)


def get_device(input):
    """The index of the GPU, -1 on the CPU."""
    _need_tensors("get_device", input=input)
    return input.get_device()


# With PyTorch the first are C, and are seen as they were called.
_AS_GIVEN = ("_assert", "get_device", "is_complex", "is_floating_point", "is_inference", "is_signed", "nonzero", "numel",
             "repeat_interleave", "result_type", "unravel_index", "where")
_make_overridable(globals(), (*_AS_GIVEN, "cdist", "lu", "norm", "split", "tensordot", "unique", "unique_consecutive"), _AS_GIVEN)
