"""vmap's rules of views, of joins, and of copies."""
import math

from .. import _C
from ._batch_rules import RULES, along_dims, check_slice, dim_of, ranked, rule, target, trailing

for name in ("alias", "detach", "view_as_real", "tril", "triu", "frexp"):
    RULES[name] = trailing


@rule("view_as_complex")
def _view_as_complex(level, op, arguments):
    if arguments["self"].dim() == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    return trailing(level, op, arguments)


@rule("view")
def _view(level, op, arguments):
    t, value = arguments["self"], level.whole(arguments["self"])
    if "dtype" in arguments:
        return value.view(arguments["dtype"])
    size = list(arguments["size"])
    if -1 in size and level.size != 0:
        known = math.prod(n for n in size if n != -1)
        if known and t.numel() % known == 0:
            size[size.index(-1)] = t.numel() // known
    if math.prod(size) != t.numel() or level.size == 0:
        check_slice(op, arguments)
    return value.view(level.size, *size)


@rule("expand")
def _expand(level, op, arguments):
    t, size = arguments["self"], list(arguments["size"])
    value = level.whole(t)
    return ranked(value, max(len(size), t.dim())).expand(level.size, *size)


@rule("squeeze")
def _squeeze(level, op, arguments):
    t, value = arguments["self"], level.whole(arguments["self"])
    if "dim" not in arguments:
        dims = [i + 1 for i, n in enumerate(t.shape) if n == 1]
    else:
        given = arguments["dim"]
        given = [given] if isinstance(given, int) else given
        if t.dim() == 0:
            for d in given:
                dim_of(d, 0)
            return value.alias() if hasattr(value, "alias") else _C.alias(value)
        dims = [dim_of(d, t.dim()) for d in given]
    return value.squeeze(dims) if dims else _C.alias(value)


@rule("as_strided")
def _as_strided(level, op, arguments):
    t = arguments["self"]
    value = level.whole(t)
    offset = arguments.get("storage_offset")
    if len(arguments["size"]) != len(arguments["stride"]):
        raise RuntimeError(f"as_strided: size and stride must have the same length, got {arguments['size']} and {arguments['stride']}")
    if value is not t and value.stride(0) == 0 and level.front(t) is None:
        return t.as_strided(arguments["size"], arguments["stride"], offset).expand(level.size, *arguments["size"])
    shape, strides = [level.size, *arguments["size"]], [value.stride(0), *arguments["stride"]]
    offset = value.storage_offset() if offset is None else offset

    def last(sizes, steps):
        return sum((n - 1) * s for n, s in zip(sizes, steps))
    if t.numel() and offset + last(shape[1:], strides[1:]) > t.storage_offset() + last(t.shape, t.stride()):
        raise RuntimeError(f"as_strided: size {shape[1:]}, stride {strides[1:]} and offset {offset} go beyond a slice of size {list(t.shape)} and "
                           f"stride {list(t.stride())}.  This is not supported inside of vmap.")
    return value.as_strided(shape, strides, offset)


@rule("cat", "stack")
def _join(level, op, arguments):
    tensors, dim = arguments["tensors"], arguments["dim"]
    if op.name == "cat":
        ranks = [t.dim() for t in tensors if t.shape != (0,)]
        if ranks:
            tensors = [t for t in tensors if t.shape != (0,) or ranks[0] == 1]
        rank = ranks[0] if ranks else 1
    else:
        rank = tensors[0].dim() + 1
    return op({**arguments, "tensors": [level.whole(t) for t in tensors], "dim": dim_of(dim, rank)})


@rule("clone", "_to_copy")
def _clone(level, op, arguments):
    value, form = level.whole(arguments["self"]), arguments.get("memory_format")
    if form in (_C.channels_last, _C.channels_last_3d):
        if value.dim() != (5 if form == _C.channels_last else 6):
            raise RuntimeError(f"{op.name}: of slices of {value.dim() - 1} dimensions, it is only supported with memory_format torch.preserve_format or "
                               f"torch.contiguous_format (got {form})")
        flat = value.flatten(0, 1)
        return op({**arguments, "self": flat}).unflatten(0, value.shape[:2])
    return op({**arguments, "self": value})


@rule("copy_")
def _copy(level, op, arguments):
    t, source = arguments["self"], arguments["src"]
    value, from_value = target(level, t, "copy_", "inplace arithmetic"), level.front(source)
    if source.dim() > t.dim():
        while source.dim() > t.dim() and source.shape[0] == 1:
            source = source[0]
        from_value = level.front(source)
    value.copy_(source if from_value is None else ranked(from_value, t.dim()), arguments["non_blocking"])


@rule("fill_")
def _fill(level, op, arguments):
    t, number = arguments["self"], arguments["value"]
    value = target(level, t, "fill_", "inplace arithmetic")
    batch = level.front(number) if isinstance(number, _C.Tensor) else None
    if batch is None:
        value.fill_(number)
    else:
        value.copy_(ranked(batch, t.dim()))


@rule("fill")
def _filled(level, op, arguments):
    value, number = level.whole(arguments["self"]), arguments["value"]
    batch = level.front(number) if isinstance(number, _C.Tensor) else None
    return op({**arguments, "self": value}) if batch is None else value.clone().copy_(ranked(batch, value.dim() - 1))


@rule("_softmax_backward_data", "_log_softmax_backward_data")
def _softmax_backward(level, op, arguments):
    return along_dims(level, op, arguments, ("output",))


@rule("_linear_scan")
def _scan(level, op, arguments):
    return along_dims(level, op, arguments, ("factor",))


@rule("diagonal")
def _diagonal(level, op, arguments):
    t = arguments["self"]
    return level.whole(t).diagonal(arguments["offset"], dim_of(arguments["dim1"], t.dim()), dim_of(arguments["dim2"], t.dim()))


@rule("max", "min", "median", "nanmedian", "prod")
def _reduced(level, op, arguments):
    if "dim" in arguments:
        return along_dims(level, op, arguments)
    value = level.whole(arguments["self"]).reshape(level.size, -1)
    if op.name in ("max", "min"):
        return value.amax(1) if op.name == "max" else value.amin(1)
    if op.name == "prod":
        return value.prod(1, dtype=arguments.get("dtype"))
    return getattr(_C, op.name)(value, 1).values
