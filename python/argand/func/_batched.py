"""Tensors that stand for a slice of a batch, and what ops on them do: docs/design/0020-vmap.md.

Note [Batched tensors]
Within a function that vmap maps, an argument is a BatchedTensor.  It has the sizes of one slice, and the whole batch as its value.  A call of
an op with such a tensor among its arguments comes here before the op runs (offer(), of argand._dispatch).  The rule of the op computes the
results of all slices from the values; an op without a rule runs once for each slice, with a warning.

Autograd lies above: a node is recorded from the BatchedTensors, so gradients within the function are those of each slice.  The rules run as
if outside of the function, where autograd records the values, so gradients of vmap's results are right, too.
"""
import contextlib
import functools

from .. import _C
from .._dispatch import BELOW_AUTOGRAD, _own_schema, modes, own_packet, set_modes
from .._ignored import harmless
from ..autograd._vmap_levels import levels
from . import _batch_rules

_PLAIN, _IN_PLACE, _OUT = range(3)  # exec::OfferedCall::Form


class Level:
    """One call of a function that vmap maps."""

    def __init__(self, size, randomness, number):
        self.size, self.randomness, self.number, self.active = size, randomness, number, True
        self.written = {}        # storages that the function made and then wrote slices into: the batch that is in their place
        self.made = _C._TransformScope(gradients=False)
        self._watch = None

    def batched(self, value, bdim=0):
        """A tensor of this level."""
        shape, strides = list(value.shape), list(value.stride())
        if bdim < 0:
            bdim += len(shape)
        del shape[bdim], strides[bdim]
        t = _C._wrapper(BatchedTensor, shape, strides, value.storage_offset(), value.dtype, value.device, False)
        t._value, t._bdim, t._level, t._layout = value, bdim, self, (tuple(shape), tuple(strides))
        return t

    def same(self, value):
        """A tensor of this level that is the same for all slices: what gradients within the function are taken by has a history of its own."""
        t = _C._wrapper(BatchedTensor, value.shape, value.stride(), value.storage_offset(), value.dtype, value.device, False)
        t._value, t._bdim, t._level = value, None, self
        return t

    def bare(self, v):
        """A tensor, or a list of some, without a wrapper around what is the same for all slices."""
        if type(v) is BatchedTensor:
            return v._value if v._bdim is None and v._level is self else v
        return [self.bare(x) for x in v] if type(v) is list else v

    def differs(self, v):
        """Whether a tensor, or one of a list, differs between the slices."""
        if type(v) is list:
            return any(map(self.differs, v))
        if type(v) is BatchedTensor:
            return v._level is self and v._bdim is not None
        return bool(self.written) and isinstance(v, _C.Tensor) and self.front(v) is not None

    def front(self, t):
        """The batch of a tensor of this level, which has the dimension of the batch first; None if all slices have the same tensor."""
        if type(t) is BatchedTensor:
            if t._level is self and t._bdim is not None:
                if (t.shape, t.stride()) != t._layout:
                    self._fit(t)
                return t._value if t._bdim == 0 else t._value.movedim(t._bdim, 0)
        elif self.written:
            batch = self.written.get(t.untyped_storage()._cdata)
            if batch is not None:
                step = batch.stride(0)
                return batch.as_strided([self.size, *t.shape], [step, *t.stride()], t.storage_offset())
        return None

    def _fit(self, t):
        """Gives the batch the sizes that ops such as squeeze_() gave the slice."""
        value, (shape, strides) = t._value, (t.shape, t.stride())
        t._value = value.as_strided([self.size, *shape], [value.stride(t._bdim), *strides], t.storage_offset())
        t._bdim, t._layout = 0, (shape, strides)

    def whole(self, t):
        """The batch of any tensor."""
        value = self.front(t)
        return t.expand(self.size, *t.shape) if value is None else value

    def watch(self):
        """Has all ops of this thread offered, also those without a BatchedTensor among their arguments."""
        if self._watch is None:
            self._watch = _Watch()
            set_modes([self._watch, *modes()])

    def write(self, t):
        """The batch of a tensor that all slices have and that slices are to be written into; it is one that the function made."""
        if not self.made.made(t):
            return None
        storage = t.untyped_storage()
        length = storage.nbytes() // t.element_size()
        with levels.outside(self):
            flat = t.detach().as_strided([length], [1], 0)
            batch = flat.expand(self.size, length).clone(memory_format=_C.contiguous_format)
        self.written[storage._cdata] = batch
        self._kept = (*getattr(self, "_kept", ()), t)  # the storage's address is its name
        self.watch()
        return self.front(t)

    @contextlib.contextmanager
    def run(self):
        """The scope of the function."""
        if self.randomness == "different":
            self.watch()
        draws = _C._NoDraws() if self.randomness == "error" else contextlib.nullcontext()
        try:
            with self.made, draws, levels.entered(self):
                yield self
        finally:
            self.active = False
            if self._watch is not None:
                set_modes([m for m in modes() if m is not self._watch])


class _Watch:
    """A mode that makes nothing else of a call."""

    only_watches = True


class BatchedTensor(_C.Tensor):
    """See Note [Batched tensors]."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        level = _innermost((*args, *kwargs.values()))
        return _batch_rules.slice_by_slice(level, str(func), func, args, kwargs)

    @harmless(tensor_contents="the batch is shown")
    def __repr__(self, *, tensor_contents=None):
        return f"BatchedTensor(lvl={self._level.number}, bdim={self._bdim}, value={self._value!r})"


def depth_of(t):
    """The number of the level that a tensor belongs to; 0 for one that stands for no slice."""
    return t._level.number if type(t) is BatchedTensor else 0


def _innermost(values):
    """The level that a call belongs to; None if no argument is a BatchedTensor."""
    found = None
    for v in values:
        if type(v) is BatchedTensor:
            if found is None or v._level.number > found.number:
                found = v._level
        elif type(v) is list or type(v) is tuple:
            inner = _innermost(v)
            if inner is not None and (found is None or inner.number > found.number):
                found = inner
    return found


def _written(values):
    """The innermost level in which one of the tensors was written: Level.written."""
    storages = None
    for level in reversed(levels.of_thread):
        if level.written:
            if storages is None:
                storages = {t.untyped_storage()._cdata for v in values for t in (v if isinstance(v, (list, tuple)) else (v,))
                            if isinstance(t, _C.Tensor) and type(t) is not BatchedTensor and not _C._has_no_memory(t)}
            if not storages.isdisjoint(level.written):
                return level
    return None


def level_of(values):
    """The level that a call with these arguments belongs to, or None."""
    level = _innermost(values)
    if levels.of_thread and any(one.written for one in levels.of_thread):
        other = _written(values)
        if other is not None and (level is None or other.number > level.number):
            level = other
    if level is not None and not level.active:
        raise RuntimeError("vmap: a tensor that stands for a slice is used after the function that vmap maps has returned. If your tensor escaped "
                           "from inside a function being vmapped, this is a user error. Please return it from the function instead.")
    return level


@functools.cache
def _op(name, text):
    return _batch_rules.Op(name, text, own_packet(name, text)._function, _own_schema(text))


def offer(name, form, text, whole, records, arguments, outs):
    """What a call gives for all slices; None if no level takes it, or if it is to be made of the ops that it is made of."""
    level = level_of((*arguments.values(), *outs))
    if level is None:
        level = next((one for one in reversed(levels.of_thread) if one.randomness != "same"), None)
        if level is None or level.randomness != "different" or whole or name not in _batch_rules.DRAWS:
            return None
    op = _op(name, text)
    if whole and (op.rule is None or records and op.name not in _batch_rules.CONSTANT):
        return NotImplemented  # a composite has no gradient, so the ops that it is made of are recorded
    with levels.outside(level):
        state = _C._dispatch_state()
        _C._set_dispatch_state(state & ~BELOW_AUTOGRAD)
        try:
            return _run(level, op, form, {n: level.bare(v) for n, v in arguments.items()}, arguments, [level.bare(t) for t in outs])
        finally:
            _C._set_dispatch_state(_C._dispatch_state() | state & BELOW_AUTOGRAD)


def _run(level, op, form, arguments, given, outs):
    """A call of a level; `given` are its arguments with their wrappers."""
    differ = any(level.differs(v) for v in (*arguments.values(), *outs)) or op.name in _batch_rules.DRAWS and level.randomness == "different"
    if form == _OUT:
        return _batch_rules.write_outs(level, op, arguments, outs)
    if form == _IN_PLACE:
        if differ:
            return _batch_rules.in_place(level, op, arguments)
        op(arguments, op.in_place)
        return []
    if not differ:
        results, wrapped = op(arguments), level.same
    else:
        results, wrapped = (op.rule or _batch_rules.loop)(level, op, arguments), level.batched
    if isinstance(results, _batch_rules.Same):
        return [results.value]
    results = [results] if isinstance(results, _C.Tensor) else results
    results = [_left_out(arguments) if r is None else r for r in results]
    results = [r if not isinstance(r, _C.Tensor) or type(r) is BatchedTensor and r._level is level else wrapped(r) for r in results]
    base = next(iter(given.values())) if op.kind == "view" else None
    if type(base) is BatchedTensor:
        _C._share_storage(results[0], base)
    return results


def _left_out(arguments):
    """What ops give in the place of a result that their output_mask leaves out: a tensor of no elements, which can be recorded."""
    like = next(v for v in arguments.values() if isinstance(v, _C.Tensor))
    return _C.empty((0,), dtype=like.dtype, device=like.device)


def of_all(n, function, batches):
    """function(slices) for all slices of some batches at once: a tuple of batches and None."""
    level = Level(n, "different", levels.depth + 1)
    with level.run():
        results = [level.bare(t) for t in function([level.batched(batch) for batch in batches])]
    with levels.outside(level):
        return tuple(None if t is None else level.whole(t) for t in results)


def offer_number(tensor):
    """item() of a tensor; it raises if slices have different ones."""
    if level_of((tensor,)) is not None:
        raise RuntimeError("vmap: It looks like you're calling .item() on a Tensor, or attempting to use a Tensor in some data-dependent control flow "
                           "(if x > 0:). The slices have different values, so please rewrite it with other operations, such as torch.where().")


def with_values(t):
    """The tensor, and the batches that it stands for slices of."""
    yield t
    while type(t) is BatchedTensor:
        t = t._value
        yield t


def has_outer_history(tensors):
    """Whether a value below these tensors requires a gradient: what is computed of them must be recorded there."""
    for t in tensors:
        while type(t) is BatchedTensor:
            t = t._value
            if t.requires_grad:
                return True
    return False


def renewed(t):
    """The tensor without the history that it has at its own level, and with that of its value."""
    if type(t) is not BatchedTensor:
        return t.detach()
    return t._level.same(t._value) if t._bdim is None else t._level.batched(t._value, t._bdim)


def as_input(t):
    """The tensor for a transform that takes gradients by it: its history is that of the transform alone."""
    if type(t) is BatchedTensor:
        return with_tangents(renewed(t), t)
    if not levels.of_thread:
        return _C._alias_with_tangents(t)
    vmap = levels.of_thread[-1]
    inner = [level for level in _C._forward_levels([t]) if level.depth > vmap.number]
    # The tangents of levels within the function are the wrapper's, the others are those of what it holds.
    return with_tangents(vmap.same(inner[0].primal(t) if inner else t), t, inner)


def with_tangents(new, t, levels=None):
    """`new`, the same tensor as t without its history, with its tangents."""
    for level in _C._forward_levels([t]) if levels is None else levels:
        level.set(new, level.tangent(t))
    return new
