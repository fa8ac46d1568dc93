"""Function transforms, as torch.func: gradients, Jacobians, and vmap."""
from .. import _C, _surface
from .._ignored import harmless
from ..nn.utils import stateless
from ._functionalize import functionalize  # noqa: F401
from ._gradients import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp  # noqa: F401
from ._vmap import vmap  # noqa: F401

def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the tensors of a dict, or of several, in the places of those it has."""
    return stateless.functional_call(module, parameter_and_buffer_dicts, args, kwargs, tie_weights=tie_weights, strict=strict)


@harmless(recurse="no tensor is wrapped")
def debug_unwrap(tensor, *, recurse=True):
    """The tensor: none is wrapped."""
    return tensor


def replace_all_batch_norm_modules_(root):
    """Makes the batch normalizations of a model, in place, use the statistics of the batch alone, as vmap needs it."""
    from ..nn.modules.batchnorm import _BatchNorm
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def stack_module_state(models):
    """(parameters, buffers) of several modules of one kind, each name stacked: what vmap of functional_call takes."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    first = models[0]
    if any(m.training != first.training for m in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(first) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    for name, _ in first.named_parameters():
        if len({m.get_parameter(name).requires_grad for m in models}) != 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    parameters = {n: _C.stack([dict(m.named_parameters())[n].detach() for m in models]).requires_grad_(p.requires_grad)
                  for n, p in first.named_parameters()}
    buffers = {n: _C.stack([dict(m.named_buffers())[n].detach() for m in models]) for n, _ in first.named_buffers()}
    return parameters, buffers


__getattr__, __dir__ = _surface.of(__name__)
