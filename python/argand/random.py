"""Seeds and states of the default generators."""
import contextlib

from . import _C

default_generator = _C._default_generator(_C.device("cpu"))


def manual_seed(seed):
    """Seeds the generators of all devices; returns the CPU's."""
    seed = int(seed)
    if not -(2**63) <= seed < 2**64:
        raise RuntimeError(f"Overflow when unpacking long: seed {seed} does not fit 64 bits")
    _C._manual_seed(seed)
    return default_generator


def seed():
    """Seeds all generators from the system's entropy; returns the seed."""
    chosen = default_generator.seed()
    manual_seed(chosen)
    return chosen


def initial_seed():
    """The seed the CPU's generator was last given."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the CPU's generator, a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Puts the CPU's generator into a state that get_rng_state() returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, device_type="cuda"):
    """A scope after which the generators are as they were before it."""
    kind = _C.device(device_type).type
    if not enabled or kind == "meta":
        yield
        return
    from . import cuda
    if devices is None:
        devices = range(cuda.device_count()) if kind == "cuda" else ()
    before = get_rng_state()
    on_devices = [(d, cuda.get_rng_state(d)) for d in devices]
    try:
        yield
    finally:
        set_rng_state(before)
        for d, state in on_devices:
            cuda.set_rng_state(state, d)


def _generator(device, seed, state):
    """A generator as pickles describe it."""
    made = _C.Generator(device)
    made.manual_seed(seed)
    made.set_state(state)
    return made


class _GeneratorMethods:
    """The methods of generators that are written in Python: see _tensor_methods."""

    def __reduce__(self):
        return _generator, (str(self.device), self.initial_seed(), self.get_state())
