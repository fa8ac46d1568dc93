"""Access to tensors of modules by their names, as torch.nn.utils._named_member_accessor."""
from ... import _C

_MISSING = object()


def swap_tensor(module, name, tensor, allow_missing=False):
    """Puts a tensor in the place of module.name, as parameter, buffer or attribute; what stood there.  With allow_missing there may
    be nothing before: what this returns then takes the tensor away again."""
    if not hasattr(module, "_parameters"):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    if tensor is not None and tensor is not _MISSING and not isinstance(tensor, _C.Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    place = next((d for d in (module._parameters, module._buffers, module.__dict__) if name in d), None)
    if place is None and hasattr(module, name):  # of the class
        before = getattr(module, name)
        if not isinstance(before, _C.Tensor):
            raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
        setattr(module, name, tensor)
        return before
    if place is None:
        if not allow_missing:
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if tensor is not _MISSING:
            setattr(module, name, tensor)
        return _MISSING
    before = place[name]
    if before is not None and not isinstance(before, _C.Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is _MISSING:
        del place[name]
    else:
        place[name] = tensor
    return before
