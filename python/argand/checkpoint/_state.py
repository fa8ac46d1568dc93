"""The state of a training run: collected from its parts (model, optimizer, ...) and restored to them."""
import copy
import random

from .. import cuda
from .._numpy_if_loaded import numpy_if_loaded
from ..random import get_rng_state, set_rng_state
from .._per_rank import LeftOut, PerRank


def _random_states():
    states = PerRank(cpu=get_rng_state(), python=random.getstate())
    if cuda.is_available() and cuda.is_initialized():
        states["cuda"] = [cuda.get_rng_state(i) for i in range(cuda.device_count())]
    numpy = numpy_if_loaded()
    if numpy is not None:
        kind, keys, position, has_normal, normal = numpy.random.get_state()
        states["numpy"] = (kind, keys.tobytes(), int(position), int(has_normal), float(normal))
    return states


def _set_random_states(states):
    set_rng_state(states["cpu"].cpu())  # map_location may have put it on a GPU
    random.setstate(states["python"])
    for i, state in enumerate(states.get("cuda", ())):
        if cuda.is_available() and i < cuda.device_count():
            cuda.set_rng_state(state, i)
    if "numpy" in states:
        import numpy
        kind, keys, *rest = states["numpy"]
        numpy.random.set_state((kind, numpy.frombuffer(keys, dtype=numpy.uint32), *rest))


def training_state(*, epoch=0, step=0, per_rank=(), **parts):
    """All that it takes to go on: state_dict() of each part (of None, None), epoch, step and the generators' states.

    Parts are the model, optimizer, scheduler, scaler, loader and whatever else has state_dict() and load_state_dict();
    plain values stay as they are.  Tensors share memory with the parts.
    per_rank: names of parts that are not alike on all ranks (an optimizer of which each rank has a piece).  The generators and a
        DataLoader always are: DistributedCheckpointFolder saves them for each rank.
    """
    states = {name: part.state_dict() if hasattr(part, "state_dict") else part for name, part in parts.items()}
    for name in per_rank:
        if not isinstance(states.get(name), dict):
            raise ValueError(f"training_state: per_rank: expected a part whose state is a dict, got {name!r}: {type(states.get(name)).__name__}")
        states[name] = PerRank(states[name])
    return {"epoch": epoch, "step": step, "random": _random_states(), "parts": states}


def restore(state, **parts):
    """Puts a training_state() back into the same parts; all of it or, if anything raises, nothing.

    What load_latest(any_world_size=True) has left out stays as it is in these parts.  Returns epoch, step and the plain values by
    their names.
    """
    saved = state["parts"]
    objects = {name: part for name, part in parts.items() if hasattr(part, "load_state_dict")}
    missing = sorted(objects.keys() - saved.keys())
    if missing:
        raise ValueError(f"restore: the state has no {', '.join(missing)}; it has {', '.join(saved)}")
    objects = {name: part for name, part in objects.items() if not isinstance(saved[name], LeftOut)}
    before = {name: copy.deepcopy(part.state_dict()) for name, part in objects.items()}
    random_before = _random_states()
    done = []
    try:
        for name, part in objects.items():
            done.append(name)
            part.load_state_dict(saved[name])
        if not isinstance(state["random"], LeftOut):
            _set_random_states(state["random"])
    except BaseException:
        for name in done:
            objects[name].load_state_dict(before[name])
        _set_random_states(random_before)
        raise
    rest = {name: value for name, value in saved.items() if not hasattr(parts.get(name), "load_state_dict")}
    return {**rest, "epoch": state["epoch"], "step": state["step"]}
