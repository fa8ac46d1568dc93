"""Activation checkpointing: what a part of a model computes is computed again in the backward pass instead of kept."""
import contextlib
import enum
import warnings

from .. import _C
from ..amp import autocast
from ..autograd import backward as run_backward
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad
from ..random import fork_rng, get_rng_state, set_rng_state

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


def set_device_states(devices, states):
    """Puts generators of devices into these states."""
    from ..cuda import set_rng_state as of_device
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


def detach_variable(inputs):
    """The inputs as leaves of a new graph."""
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, _C.Tensor) else x for x in inputs)


class _Call:
    """A call whose tensors are given anew each time."""

    def __init__(self, function, args, kwargs, preserve_rng_state, contexts):
        self.function = function
        self.arguments = [*args, *kwargs.values()]
        self.names = list(kwargs)
        self.places = [i for i, a in enumerate(self.arguments) if isinstance(a, _C.Tensor)]
        self.tensors = [self.arguments[i] for i in self.places]
        self.surroundings = _Surroundings(preserve_rng_state, self.tensors)
        self.contexts = contexts

    def forget_tensors(self):
        """The graph has them from now on, and notices if they are changed in place."""
        for i in self.places:
            self.arguments[i] = None
        del self.tensors

    def __call__(self, tensors, context):
        arguments = list(self.arguments)
        for i, tensor in zip(self.places, tensors):
            arguments[i] = tensor
        split = len(arguments) - len(self.names)
        with context:
            return self.function(*arguments[:split], **dict(zip(self.names, arguments[split:])))


class CheckpointFunction(Function):
    """A call without its graph: the backward pass makes it again, with one, and goes through that.  Gradients of tensors
    that it does not get as arguments, parameters for example, are summed into their .grad there."""

    @staticmethod
    def forward(ctx, call, _, *tensors):
        ctx.call = call
        ctx.save_for_backward(*tensors)
        # Recorded, only to see which results depend on something that requires grad.
        with enable_grad():
            outputs = call(detach_variable(tensors), call.contexts[0])
        single = isinstance(outputs, _C.Tensor)
        outputs = [outputs] if single else list(outputs)
        constant = [i for i, o in enumerate(outputs) if isinstance(o, _C.Tensor) and not o.requires_grad]
        outputs = [o.detach() if isinstance(o, _C.Tensor) else o for o in outputs]
        ctx.mark_non_differentiable(*(outputs[i] for i in constant))
        return outputs[0] if single else tuple(outputs)

    @staticmethod
    def backward(ctx, *grads):
        detached = detach_variable(ctx.saved_tensors)
        call = ctx.call
        with call.surroundings.again(), enable_grad():
            outputs = call(detached, call.contexts[1])
        outputs = (outputs,) if isinstance(outputs, _C.Tensor) else outputs
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, _C.Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None) + tuple(x.grad for x in detached)


def noop_context_fn():
    """No contexts for the first run and the second."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False,
               early_stop=True, **kwargs):
    """function(*args, **kwargs), of which nothing is kept for the backward pass but the arguments: it is called again there.

    use_reentrant=True: gradients flow only if an argument requires grad.  False: also if the function uses parameters
    alone; keyword arguments are possible.  preserve_rng_state=False leaves the generators alone, so that dropout, for
    example, differs the second time.  The others of PyTorch's options are accepted: results are checked by nothing, and the
    second run goes to its end.
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
                      "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True.",
                      stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn:
            raise ValueError("Passing `context_fn` is only supported when use_reentrant=False.")
        check_backward_validity(args)
    if not _C.is_grad_enabled():
        with context_fn()[0]:
            return function(*args, **kwargs)
    call = _Call(function, args, kwargs, preserve, context_fn())
    tensors = call.tensors
    call.forget_tensors()
    # Something that requires grad makes the call a node of the graph even if no argument does.
    node = _C.empty(0, requires_grad=not use_reentrant)
    return CheckpointFunction.apply(call, node, *tensors)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """A chain of modules (a Sequential, or a list) in `segments` parts, each but the last a checkpoint()."""
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


class CheckpointError(RuntimeError):
    """What PyTorch raises where the second run differs from the first; nothing looks here."""


class CheckpointPolicy(enum.Enum):
    """What would become of the result of an op in a checkpoint."""
    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """Not there: the ops of a checkpoint are not told one by one."""
    raise NotImplementedError("torch.utils.checkpoint.create_selective_checkpoint_contexts: all of a checkpoint is computed again")


def set_checkpoint_early_stop(enable):
    """A scope that changes nothing: the second run goes to its end."""
    return contextlib.nullcontext()


def set_checkpoint_debug_enabled(enabled):
    """A scope that changes nothing: results are checked by nothing."""
    return contextlib.nullcontext()
