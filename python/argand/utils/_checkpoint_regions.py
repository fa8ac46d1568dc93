"""Checkpoints without a backward pass within the backward pass.

Note [Regions that are computed again]
While a region runs, each tensor that one of its ops saves is replaced by a holder, and its shape, dtype and device are noted.
The first node of the region that a backward pass asks for what it saved runs the region again: the tensors that its ops save this
time go into the holders, in order, and the nodes take them from there, each once. So gradients flow through the graph that
the first run recorded, to parameters as well, and can be differentiated again; the graph of the second run is dropped. Inputs of
the region are saved as those of an op are: in a region within another one, the second run of the outer one gives them again.
"""
import contextvars
import weakref

from .. import _C
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad
from ..autograd.graph import saved_tensors_hooks
from ..nn.parameter import Parameter


class CheckpointError(RuntimeError):
    """The second run of a region saved other tensors than the first."""


_HINT = ("\n\nTip: To see a more detailed error message, either pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)` or wrap the "
         "code block with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable checkpoint-debug mode globally.")

_group = contextvars.ContextVar("GraphExecGroup", default=None)


class GraphExecGroup:
    """Within it, backward passes count as one: a region runs again once for all of them.  They must not read the same saved
    tensors."""

    def __enter__(self):
        if _group.get() is not None:
            raise RuntimeError("GraphExecGroup contexts cannot be nested.")
        self._token = _group.set(self)

    def __exit__(self, *_):
        _group.reset(self._token)


def _of_shape_dtype_device(x):
    return {"shape": x.shape, "dtype": x.dtype, "device": x.device}


DETERMINISM_CHECKS = {"default": _of_shape_dtype_device, "none": lambda _: None}


class _StopRecomputation(Exception):
    pass


class _Holder:
    """Stands for a saved tensor; `values` has it for the backward passes that need it now."""

    def __init__(self):
        self.values = {}


class _SavedInputs(Function):
    """A node that keeps tensors as ops keep what they save."""

    @staticmethod
    def forward(ctx, box, _, *tensors):
        box.append(ctx)
        ctx.save_for_backward(*tensors)
        return _C.empty(0)

    @staticmethod
    def backward(ctx, *_):
        raise AssertionError("nothing depends on the result of this node")


class Region:
    """One call of a checkpointed function, without the tensors that its ops saved.

    `run_again(tensors)` calls the function on its tensor arguments.  `describe_error(error)` makes the CheckpointError that is raised
    instead of one.
    """

    def __init__(self, run_again, tensors, early_stop, determinism_check, describe_error):
        self.run_again = run_again
        self.early_stop = early_stop
        self.description = DETERMINISM_CHECKS[determinism_check]
        self.describe_error = describe_error
        self.holders, self.descriptions = [], []
        self.complete, self.ended_early = False, False
        self.counts = {}  # of tensors that were saved again, by backward pass
        self.classes = [type(t) for t in tensors]
        box = []
        self._owner_of_inputs = _SavedInputs.apply(box, _C.empty(0, requires_grad=True), *tensors)
        self._inputs, = box

    @property
    def records(self):
        return self._owner_of_inputs.requires_grad

    def hooks(self):
        """The hooks for saved tensors of the first run."""
        return saved_tensors_hooks(self._hold, self._unpack)

    def _hold(self, x):
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        self.descriptions.append(self.description(x))
        return holder

    def _unpack(self, holder):
        # Outside a backward pass (ctx.saved_tensors, for example), each unpacking counts as a pass of its own.
        key = _group.get() or _C._backward_pass() or object()
        try:
            if key not in self.counts:
                self._recompute(key)
            if key not in holder.values:
                raise CheckpointError("torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If "
                                      "you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please "
                                      "open an issue with details on your use case.")
        except CheckpointError as error:
            if self.describe_error is None:
                raise
            raise self.describe_error(error) from error
        return holder.values.pop(key)

    def inputs(self):
        """The tensor arguments, as they were."""
        return [t if cls is type(t) or cls in (_C.Tensor, Parameter) else t.as_subclass(cls)
                for t, cls in zip(self._inputs.saved_tensors, self.classes)]

    def _recompute(self, key):
        inputs = self.inputs()
        self.counts[key] = 0
        try:
            with saved_tensors_hooks(lambda x: self._fill(key, x), lambda x: x), enable_grad():
                self.run_again(inputs)
        except _StopRecomputation:
            pass
        except BaseException:
            del self.counts[key]
            raise
        self._check(key)

    def _fill(self, key, x):
        i = self.counts[key]
        self.counts[key] += 1
        kept = x.detach()
        if i >= len(self.holders):
            if self.complete:
                raise CheckpointError("torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                                      "forward pass." + _HINT)
            self.ended_early = True  # the first run ended by an exception, the caller of it went on
            return kept
        if (holder := self.holders[i]()) is not None:
            holder.values[key] = kept
        if self.early_stop and i + 1 == len(self.holders):
            raise _StopRecomputation
        return kept

    def _check(self, key):
        if self.ended_early:
            return
        if self.counts[key] != len(self.holders):
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                                  f"recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\n"
                                  f"Number of tensors saved during recomputation: {self.counts[key]}." + _HINT)
        wrong = ""
        for i, (ref, before) in enumerate(zip(self.holders, self.descriptions)):
            if (holder := ref()) is None or key not in holder.values:
                continue
            now = self.description(holder.values[key])
            if now != before:
                wrong += f"tensor at position {i}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
        if wrong:
            raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                                  "during the forward pass.\n" + wrong + _HINT)
