"""Generators of CUDA devices."""
from .. import _C
from .streams import index_of


def _generator(device="cuda"):
    index = index_of(device)
    if index is None:
        index = _C.cuda.current_device()
    return _C._default_generator(_C.device("cuda", index))


def get_rng_state(device="cuda"):
    """The state of a device's generator, a uint8 tensor on the CPU."""
    return _generator(device).get_state()


def get_rng_state_all():
    """The states of all devices' generators."""
    return [get_rng_state(i) for i in range(_C.cuda.device_count())]


def set_rng_state(new_state, device="cuda"):
    """Puts a device's generator into a state that get_rng_state() returned."""
    if _C.cuda.is_available():
        _generator(device).set_state(new_state.cpu())


def set_rng_state_all(new_states):
    """Puts all devices' generators into states."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)


def manual_seed(seed):
    """Seeds the current device's generator; without a device nothing happens."""
    if _C.cuda.is_available():
        _generator().manual_seed(int(seed))


def manual_seed_all(seed):
    """Seeds all devices' generators."""
    for i in range(_C.cuda.device_count()):
        _generator(i).manual_seed(int(seed))


def seed():
    """Seeds the current device's generator from the system's entropy."""
    if _C.cuda.is_available():
        _generator().seed()


def seed_all():
    """Seeds all devices' generators with one seed from the system's entropy."""
    if _C.cuda.is_available():
        manual_seed_all(_generator(0).seed())


def initial_seed():
    """The seed that the current device's generator was last given."""
    return _generator().initial_seed()
