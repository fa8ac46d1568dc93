"""Activation checkpointing: what a part of a model computes is computed again in the backward pass instead of kept."""
import contextlib
import functools
import warnings

from .. import _C
from .._ignored import warn_ignored
from ..amp import autocast
from ..autograd import backward as run_backward
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, no_grad
from ..random import fork_rng, get_rng_state, set_rng_state
from ._checkpoint_regions import DETERMINISM_CHECKS, CheckpointError, GraphExecGroup, Region
from ._selective_checkpoint import (CheckpointPolicy, SelectiveCheckpointContext, _CachedTorchDispatchMode,  # noqa: F401
                                    _CachingTorchDispatchMode, create_selective_checkpoint_contexts)

__all__ = ["checkpoint", "checkpoint_sequential", "CheckpointError", "CheckpointFunction", "check_backward_validity", "detach_variable",
           "get_device_states", "set_device_states", "noop_context_fn", "set_checkpoint_early_stop", "DefaultDeviceType",
           "set_checkpoint_debug_enabled", "CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts",
           "GraphExecGroup"]

DefaultDeviceType = "cuda"


def check_backward_validity(inputs):
    """Warns if no input requires grad, as then nothing that the function computes gets gradients."""
    if not any(x.requires_grad for x in inputs if isinstance(x, _C.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)


def get_device_states(*args):
    """The CUDA devices of tensors among the arguments, and the states of their generators."""
    from ..cuda import get_rng_state as of_device
    devices = sorted({a.get_device() for a in args if isinstance(a, _C.Tensor) and a.is_cuda})
    return devices, [of_device(d) for d in devices]


def set_device_states(devices, states, *, device_type=None):
    """Puts generators of devices into these states."""
    from ..cuda import set_rng_state as of_device
    if device_type not in (None, "cuda"):
        raise ValueError(f"set_device_states: expected device_type 'cuda', got {device_type!r}")
    for device, state in zip(devices, states):
        of_device(state, device)


class _Surroundings:
    """What the function's results depend on beside its arguments: generators and autocast, as they are now."""

    def __init__(self, preserve_rng_state, args):
        self.preserve = preserve_rng_state
        if preserve_rng_state:
            self.cpu_state = get_rng_state()
            self.devices, self.states = get_device_states(*args)
        kinds = ["cpu"] + (["cuda"] if _C.cuda.is_available() else [])
        self.autocast = [dict(device_type=kind, enabled=_C._is_autocast_enabled(kind), dtype=_C._get_autocast_dtype(kind),
                              cache_enabled=_C.is_autocast_cache_enabled()) for kind in kinds]

    @contextlib.contextmanager
    def again(self):
        """A scope in which they are as they were."""
        with contextlib.ExitStack() as stack:
            if self.preserve:
                stack.enter_context(fork_rng(devices=self.devices))
                set_rng_state(self.cpu_state)
                set_device_states(self.devices, self.states)
            for options in self.autocast:
                stack.enter_context(autocast(**options))
            yield


class _Call:
    """A call whose tensors are given anew each time: it holds none itself."""

    def __init__(self, function, args, kwargs):
        self.function = function
        self.names = tuple(kwargs)
        self.arguments = [*args, *kwargs.values()]
        self.places = [i for i, a in enumerate(self.arguments) if isinstance(a, _C.Tensor)]

    def take_tensors(self):
        """The tensors among the arguments, once."""
        tensors = [self.arguments[i] for i in self.places]
        for i in self.places:
            self.arguments[i] = None
        return tensors

    def __call__(self, tensors):
        arguments = list(self.arguments)
        for i, tensor in zip(self.places, tensors):
            arguments[i] = tensor
        split = len(arguments) - len(self.names)
        return self.function(*arguments[:split], **dict(zip(self.names, arguments[split:])))


# ---- with a backward pass within the backward pass

def detach_variable(inputs):
    """The inputs as leaves of a new graph."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ", type(inputs).__name__)
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, _C.Tensor) else x for x in inputs)


class CheckpointFunction(Function):
    """A call without its graph: the backward pass makes it again, with one, and goes through that.  Gradients of tensors
    that it does not get as arguments, parameters for example, are summed into their .grad there."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.call = _Call(run_function, args, {})
        tensors = ctx.call.take_tensors()
        ctx.surroundings = _Surroundings(preserve_rng_state, tensors)
        ctx.save_for_backward(*tensors)
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if _C._backward_takes_inputs():
            raise RuntimeError("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter "
                               "to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
                               "passing the `inputs` argument.")
        inputs = detach_variable(tuple(ctx.saved_tensors))
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.call(inputs)
        outputs = (outputs,) if isinstance(outputs, _C.Tensor) else outputs
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, _C.Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([o for o, _ in pairs], [g for _, g in pairs])
        of_arguments = [None] * len(ctx.call.arguments)
        for place, x in zip(ctx.call.places, inputs):
            of_arguments[place] = x.grad
        return (None, None, *of_arguments)


# ---- with holders for what is saved: Note [Regions that are computed again]

def noop_context_fn():
    """Contexts for the first run and the second that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


_early_stop = None
_debug = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """A scope that sets whether second runs end once all saved tensors are computed, whatever checkpoint() is given."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """A scope that sets `debug` of each checkpoint(); None leaves it as given."""
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


def _run_region(function, args, kwargs, preserve_rng_state, context_fn, determinism_check, debug, early_stop):
    describe_error = None
    if debug if _debug is None else _debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        from ._checkpoint_debug import log_of_both
        (first, second), describe_error = log_of_both()
    else:
        first, second = context_fn()
    if determinism_check not in DETERMINISM_CHECKS:
        raise ValueError(f"determinism_check should be one of {list(DETERMINISM_CHECKS)}, but got {determinism_check}")
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    call = _Call(function, args, kwargs)
    tensors = call.take_tensors()
    surroundings = _Surroundings(preserve_rng_state, tensors)

    def run_again(inputs):
        with surroundings.again(), second:
            call(inputs)
    region = Region(run_again, tensors, early_stop if _early_stop is None else _early_stop, determinism_check, describe_error)
    with region.hooks(), first:
        result = function(*args, **kwargs)
    region.complete = True
    return result


# ---- both

def checkpoint(function=None, *args, use_reentrant=None, preserve_rng_state=True, context_fn=noop_context_fn, determinism_check="default",
               debug=False, early_stop=True, respect_saved_tensors_hooks=None, **kwargs):
    """function(*args, **kwargs), of which nothing is kept for the backward pass but the arguments: it is called again there.
    Without a function, a decorator.

    use_reentrant=True: a backward pass within the backward pass, which ends in leaves: not for autograd.grad(), and gradients flow
    only if an argument requires grad.  False: by what ops save, without these limits; keyword arguments are possible.
    preserve_rng_state=False leaves the generators alone, so that dropout, for example, differs the second time.

    Of use_reentrant=False alone: context_fn() gives contexts for both runs; the second run ends, unless early_stop is False, when it has
    saved as many tensors as the first, whose shape, dtype and device are compared unless determinism_check is "none"; debug adds the
    calls of both runs to the CheckpointError.  respect_saved_tensors_hooks is about what selective checkpoints keep, which hooks do not get here.
    """
    if function is None:
        options = dict(use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state, context_fn=context_fn,
                       determinism_check=determinism_check, debug=debug, early_stop=early_stop,
                       respect_saved_tensors_hooks=respect_saved_tensors_hooks)
        # harmless(args, kwargs): the function that is called later has its own
        return lambda f: functools.wraps(f)(lambda *a, **k: checkpoint(f, *a, **options, **k))
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. In a future release, calling "
                      "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to "
                      "preserve the current default behavior, you can pass use_reentrant=True.", stacklevel=2)
        use_reentrant = True
    if not use_reentrant:
        if respect_saved_tensors_hooks and context_fn is not noop_context_fn:
            warn_ignored("torch.utils.checkpoint.checkpoint()", "respect_saved_tensors_hooks", respect_saved_tensors_hooks,
                         "what a selective checkpoint keeps is not packed by hooks")
        return _run_region(function, args, kwargs, preserve_rng_state, context_fn, determinism_check, debug, early_stop)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False or respect_saved_tensors_hooks is not None:
        raise ValueError("Passing `context_fn`, `debug`, or `respect_saved_tensors_hooks` is only supported when use_reentrant=False.")
    for name, value, default in (("determinism_check", determinism_check, "default"), ("early_stop", early_stop, True)):
        if value != default:
            warn_ignored("torch.utils.checkpoint.checkpoint()", name, value, "only checkpoints with use_reentrant=False use it")
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """A chain of modules (a Sequential, or a list) in `segments` parts, each but the last a checkpoint()."""
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In a future "
                      "release, we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you "
                      "need to preserve the current default behavior, you can pass use_reentrant=True.", stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if hasattr(functions, "children"):
        functions = list(functions.children())
    size = len(functions) // segments

    def run(start, end):
        def forward(value):
            for function in functions[start:end]:
                value = function(value)
            return value
        return forward
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(end, len(functions))(input)
