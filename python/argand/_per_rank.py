"""The parts of a state that differ between ranks; the rest is equal on all ranks."""
import copy


class PerRank(dict):
    """A dict in a state that belongs to one rank: DistributedCheckpointFolder writes that of each rank, and gives it back to that rank.

    The rest of a state is alike on all ranks and written once.  Elsewhere this is a dict as any other, and it is saved as one.
    """

    def __repr__(self):
        return f"{type(self).__name__}({super().__repr__()})"


class LeftOut(PerRank):
    """Stands in place of a PerRank of another number of ranks, which load_latest(any_world_size=True) leaves out.  It is empty."""


def split(state):
    """(the state with an empty dict in the place of each PerRank, [[path, dict]]): a path is a list of keys."""
    found = []
    return _without(state, [], found, set()), found


def _without(value, path, found, above):
    if isinstance(value, PerRank):
        found.append([path, dict(value)])
        return {}
    if not isinstance(value, (dict, list, tuple)) or id(value) in above:  # one that holds itself is refused when it is written
        return value
    above.add(id(value))
    count = len(found)
    items = value.items() if isinstance(value, dict) else enumerate(value)
    kept = [(key, _without(each, [*path, key], found, above)) for key, each in items]
    above.discard(id(value))
    if len(found) == count:
        return value
    if not isinstance(value, dict):
        raise ValueError(f"PerRank: expected it to be a value of dicts, got one inside a {type(value).__name__}, at {spelled(path)}")
    out = copy.copy(value)  # keeps its class, order and attributes
    for key, each in kept:
        out[key] = each
    return out


def merge(state, found, paths):
    """Puts dicts back where split() took them from; a LeftOut at each path that is not among them."""
    found = {tuple(path): values for path, values in found}
    for path in paths:
        values = PerRank(found[tuple(path)]) if tuple(path) in found else LeftOut()
        if not path:
            return values
        holder = state
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = values
    return state


def spelled(path):
    """A path for people."""
    return ".".join(map(str, path)) or "the state itself"
