"""How a state dict gets into a module and its submodules."""
import collections
import collections.abc
import threading
import warnings

from ... import __future__ as _future
from ... import _C
from ...autograd.grad_mode import no_grad
from ...utils._swap import swap_tensors
from ..parameter import Parameter, is_lazy

Tensor = _C.Tensor
# Whether this thread only looks for what is wrong.
_checking = threading.local()


class _IncompatibleKeys(collections.namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


def load_tensor(module, name, key, current, given, assign):
    """Puts `given` into the parameter or buffer; returns what went wrong."""
    if not isinstance(given, Tensor):
        return (f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}")
    if is_lazy(current):
        pass  # any shape fits
    elif current.dim() == 0 and given.dim() == 1 and given.shape[0] == 1:
        given = given[0]  # as numbers were saved once
    if not is_lazy(current) and given.shape != current.shape:
        return (f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                f"current model is {current.shape}.")
    if getattr(_checking, "on", False):
        return None
    if current.is_meta and not given.is_meta and not assign:
        warnings.warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
                      "current model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the "
                      "state dictionary to their corresponding key in the module instead of copying them in place?)",
                      stacklevel=2)
    try:
        with no_grad():
            if _future.get_swap_module_params_on_conversion():
                _swap(current, given, assign)
            elif not assign:
                current.copy_(given)
            elif not isinstance(current, Parameter):
                setattr(module, name, given)
            elif isinstance(given, Parameter):
                setattr(module, name, given.requires_grad_(current.requires_grad))
            else:
                setattr(module, name, Parameter(given, requires_grad=current.requires_grad))
    except Exception as error:
        return (f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{current.size()} and whose dimensions in the checkpoint are {given.size()}, an exception "
                f"occurred : {error.args}.")
    return None


def _swap(current, given, assign):
    loaded = current.module_load(given, assign=assign)
    if loaded is current or loaded is given:
        raise RuntimeError("module_load returned one of self or other, please .detach() the result if returning one of the inputs in "
                           "module_load")
    if isinstance(current, Parameter):
        if isinstance(loaded, Parameter):
            loaded.requires_grad_(current.requires_grad)
        else:
            loaded = Parameter(loaded, requires_grad=current.requires_grad)
    swap_tensors(current, loaded)


def _can_be_checked(module):
    """Whether a state dict can be compared with the modules without running anything of a user's."""
    def is_ours(function):
        # Lazy modules take over sizes while they load.
        where = str(function.__module__)
        return where.startswith(("argand.", "torch.")) and not where.endswith(".lazy")

    return all(
        all(getattr(h, "only_renames", False) for h in m._load_state_dict_pre_hooks.values()) and not m._load_state_dict_post_hooks and
        is_ours(type(m)._load_from_state_dict) and is_ours(type(m).set_extra_state) for m in module.modules())


def load_state_dict(module, state_dict, strict, assign):
    """Module.load_state_dict.  What does not fit is found before anything is changed, but where hooks or loading of a
    user's have a say: they run as in PyTorch, between the copies."""
    if isinstance(state_dict, collections.abc.Mapping) and _can_be_checked(module):
        _checking.on = True
        try:
            _load_state_dict(module, state_dict, strict, assign)
        finally:
            _checking.on = False
    return _load_state_dict(module, state_dict, strict, assign)


def _load_state_dict(module, state_dict, strict, assign):
    if not isinstance(state_dict, collections.abc.Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing, unexpected, errors = [], [], []
    metadata = getattr(state_dict, "_metadata", None)
    state_dict = collections.OrderedDict(state_dict)
    if metadata is not None:
        state_dict._metadata = metadata

    def load(part, local_state, prefix):
        local_metadata = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
        if assign:
            local_metadata["assign_to_params_buffers"] = True
        part._load_from_state_dict(local_state, prefix, local_metadata, True, missing, unexpected, errors)
        for name, child in part._modules.items():
            if child is not None:
                child_prefix = prefix + name + "."
                # A module sees its own part, so that loading n modules looks at each key once a level.
                load(child, {k: v for k, v in local_state.items() if k.startswith(child_prefix)}, child_prefix)
        incompatible = _IncompatibleKeys(missing, unexpected)
        for hook in part._load_state_dict_post_hooks.values():
            if hook(part, incompatible) is not None:
                raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                                     "return new values, if incompatible_keys need to be modified, it should be done "
                                     "inplace.")

    load(module, state_dict, "")
    del load  # which refers to itself
    if strict:
        quoted = lambda keys: ", ".join(f'"{k}"' for k in keys)  # noqa: E731
        if unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {quoted(unexpected)}. ")
        if missing:
            errors.insert(0, f"Missing key(s) in state_dict: {quoted(missing)}. ")
    if errors:
        lines = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{lines}")
    return _IncompatibleKeys(missing, unexpected)
