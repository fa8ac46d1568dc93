"""Arguments cut into one part for each device, and results put together again.  Gradients flow through both."""
from ... import _C


def device_index(device):
    """A CUDA device as torch.device."""
    return _C.device("cuda", device) if isinstance(device, int) else _C.device(device)


def _is_namedtuple(obj):
    return isinstance(obj, tuple) and hasattr(obj, "_fields")


def _remade(obj, parts):
    """Elements as a container of obj's type."""
    return type(obj)(*parts) if _is_namedtuple(obj) else type(obj)(parts)


def scatter(inputs, target_gpus, dim=0):
    """For each device its part of `inputs`: tensors are cut along dim, containers element by element, other objects are
    shared."""
    devices = [device_index(d) for d in target_gpus]

    def cut(obj):
        if isinstance(obj, _C.Tensor):
            return [part.to(device, non_blocking=True) for part, device in zip(obj.chunk(len(devices), dim), devices)]
        if isinstance(obj, (tuple, list)) and obj:
            return [_remade(obj, parts) for parts in zip(*map(cut, obj))]
        if isinstance(obj, dict) and obj:
            return [type(obj)(pairs) for pairs in zip(*map(cut, obj.items()))]
        return [obj for _ in devices]
    return cut(inputs)


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """scatter() of positional and named arguments; what has fewer parts is filled up with empty ones."""
    inputs = scatter(inputs, target_gpus, dim) if inputs else []
    kwargs = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(inputs), len(kwargs))
    inputs.extend(() for _ in range(count - len(inputs)))
    kwargs.extend({} for _ in range(count - len(kwargs)))
    return tuple(inputs), tuple(kwargs)


def gather(outputs, target_device, dim=0):
    """One result, on target_device ("cpu" or -1: the CPU), of those of all devices: tensors are joined along dim."""
    device = _C.device("cpu") if target_device in (-1, "cpu") else device_index(target_device)

    def join(parts):
        first = parts[0]
        if isinstance(first, _C.Tensor):
            parts = [p.unsqueeze(0) if p.dim() == 0 else p for p in parts]  # numbers become a vector
            return _C.cat([p.to(device) for p in parts], dim)
        if first is None:
            return None
        if isinstance(first, dict):
            if not all(len(first) == len(p) for p in parts):
                raise ValueError("All dicts must have the same number of keys")
            return type(first)((key, join([p[key] for p in parts])) for key in first)
        return _remade(first, map(join, zip(*parts)))
    return join(outputs)
