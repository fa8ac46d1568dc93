"""Bounds on gradients."""
import warnings

from ... import _C
from ..._ignored import harmless
from ...autograd.grad_mode import no_grad

_SAME = "the result is the same, and so is the time"


def _listed(tensors):
    return [tensors] if isinstance(tensors, _C.Tensor) else list(tensors)


def _gradients(parameters):
    return [p.grad for p in _listed(parameters) if p.grad is not None]


@no_grad()
@harmless(foreach=_SAME)
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all elements of the tensors as one vector."""
    tensors, norm_type = _listed(tensors), float(norm_type)
    if not tensors:
        # harmless(error_if_nonfinite): the norm of nothing is 0, which is finite
        return _C.tensor(0.0)
    device = tensors[0].device
    norms = [_C.linalg_vector_norm(t, norm_type).to(device) for t in tensors]
    total = _C.linalg_vector_norm(_C.stack(norms), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
                           "cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
                           "anyway, set `error_if_nonfinite=False`")
    return total


@no_grad()
@harmless(foreach=_SAME)
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients, in place, by max_norm / total_norm if that is below 1."""
    # Multiplied by 1 too: a test would wait for the device.
    factor = _C.clamp_max(float(max_norm) / (total_norm + 1e-6), 1.0)
    for grad in _gradients(parameters):
        grad.mul_(factor.to(grad.device))


@no_grad()
@harmless(foreach=_SAME)
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients, in place, so that their norm as one vector is max_norm at most; returns the norm before."""
    parameters = _listed(parameters)
    total_norm = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total_norm)
    return total_norm


@harmless(foreach=_SAME)
def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """clip_grad_norm_() by its older name."""
    warnings.warn("torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.",
                  FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


@no_grad()
@harmless(foreach=_SAME)
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clamps the gradients, in place, to -clip_value ... clip_value."""
    clip_value = float(clip_value)
    for grad in _gradients(parameters):
        grad.clamp_(-clip_value, clip_value)
