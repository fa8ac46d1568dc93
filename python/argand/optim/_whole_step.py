"""Makes steps atomic, done completely or not at all, for optimizers written in Python; those in C++ guarantee it themselves."""
import contextlib

from .. import _C
from ..autograd.grad_mode import no_grad


def _copied(value, tensors):
    if isinstance(value, _C.Tensor):
        return value.clone() if tensors else value
    if isinstance(value, list):
        return [_copied(v, tensors) for v in value]
    return value


@contextlib.contextmanager
def whole_step(optimizer, params, copy_states=True):
    """Puts `params` and the states of all parameters back if what is inside raises.

    copy_states: tensors in the states are written in place, as opposed to replaced.
    """
    values = [p.detach().clone() for p in params]
    states = {key: {name: _copied(v, copy_states) for name, v in state.items()} for key, state in optimizer.state.items()}
    try:
        yield
    except BaseException:
        with no_grad():
            for p, value in zip(params, values):
                p.copy_(value)
        for key in list(optimizer.state):
            if key not in states:
                del optimizer.state[key]
        for key, state in states.items():
            optimizer.state[key].clear()
            optimizer.state[key].update(state)
        raise
