"""Calls of a module with other parameters and buffers than its own."""
import contextlib

from ._named_member_accessor import swap_tensor


@contextlib.contextmanager
def _swapped(module, tensors, tie_weights):
    """A scope in which the module has `tensors` in the places of the parameters, buffers and attributes of those names, which need not
    be there before."""
    own = {**dict(module.named_parameters(remove_duplicate=False)),
           **dict(module.named_buffers(remove_duplicate=False))}
    given = dict(tensors)
    if tie_weights:
        # Names of one tensor get one replacement.
        by_tensor = {id(own[name]): value for name, value in given.items() if name in own}
        given.update((name, by_tensor[id(t)]) for name, t in own.items() if id(t) in by_tensor and name not in given)
    before = []
    try:
        for full_name, value in given.items():
            path, _, name = full_name.rpartition(".")
            owner = module.get_submodule(path)
            before.append((owner, name, swap_tensor(owner, name, value, allow_missing=True)))
        yield
    finally:
        for owner, name, value in reversed(before):
            swap_tensor(owner, name, value, allow_missing=True)


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    """functional_call()'s scope, as packages take it."""
    if strict or stack_weights:
        raise NotImplementedError("_reparametrize_module: strict and stack_weights are not done; torch.func.functional_call takes strict")
    with _swapped(module, parameters_and_buffers, tie_weights):
        yield


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the tensors of a dict, or of several, in the places of those it has."""
    if isinstance(parameters_and_buffers, (tuple, list)):
        parameters_and_buffers = {name: t for d in parameters_and_buffers for name, t in d.items()}
    if strict:
        names = {n for n, _ in module.named_parameters()} | {n for n, _ in module.named_buffers()}
        missing, unexpected = names - set(parameters_and_buffers), set(parameters_and_buffers) - names
        if missing or unexpected:
            raise RuntimeError(f"functional_call: missing keys {sorted(missing)}, unexpected keys {sorted(unexpected)}")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(module, parameters_and_buffers, tie_weights):
        return module(*args, **(kwargs or {}))
