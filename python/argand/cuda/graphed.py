"""make_graphed_callables: modules and functions whose forward and backward passes are CUDA graphs."""
from .. import _C
from ..amp.autocast_mode import is_autocast_enabled
from ..autograd import Function, grad
from ..autograd.function import once_differentiable
from ..nn import Module
from ..utils._pytree import tree_flatten, tree_unflatten
from .graphs import CUDAGraph, graph, graph_pool_handle
from .streams import Stream, current_stream, stream


class _Part:
    """One callable with what its graphs read and write: tensors that stay where they are."""

    def __init__(self, call, args, allow_unused):
        self.call, self.allow_unused = call, allow_unused
        self.args, self.args_spec = tree_flatten(args)
        if not all(isinstance(a, _C.Tensor) for a in self.args):
            raise TypeError("make_graphed_callables: sample_args must hold tensors alone, got "
                            + ", ".join(sorted({type(a).__name__ for a in self.args if not isinstance(a, _C.Tensor)})))
        self.params = ()
        if isinstance(call, Module):
            hooks = (m for m in call.modules() if m._forward_hooks or m._forward_pre_hooks
                     or m._backward_hooks or m._backward_pre_hooks)
            if next(hooks, None) is not None:
                raise RuntimeError("make_graphed_callables: expected modules without hooks; they may be registered afterwards")
            if any(b.requires_grad for b in call.buffers()):
                raise RuntimeError("make_graphed_callables: expected buffers without requires_grad; only parameters are trained")
            self.params = tuple(call.parameters())
        self.inputs = (*self.args, *self.params)
        elsewhere = next((t.device for t in self.inputs if not t.is_cuda), None)
        if elsewhere is not None:
            raise RuntimeError(f"make_graphed_callables: expected arguments and parameters on a GPU, got one on {elsewhere}")
        self.wanted = [t for t in self.inputs if t.requires_grad]

    def run(self):
        """The outputs as a flat list, and their tree structure."""
        return tree_flatten(self.call(*tree_unflatten(self.args, self.args_spec)))

    def gradients(self, outputs, given):
        """The gradients of the inputs that want one, from those given for the outputs that have one."""
        return grad([o for o in outputs if o.requires_grad], self.wanted, [g for g in given if g is not None], only_inputs=True,
                    allow_unused=self.allow_unused)

    def warm_up(self, times):
        """Compiles and allocates all that the passes need, which a capture could not."""
        for _ in range(times):
            outputs, _ = self.run()
            if self.wanted and any(o.requires_grad for o in outputs):
                self.gradients(outputs, [_C.empty_like(o) if o.requires_grad else None for o in outputs])

    def capture_forward(self, pool):
        self.forward = CUDAGraph()
        with graph(self.forward, pool=pool):
            self.outputs, self.outputs_spec = self.run()

    def capture_backward(self, pool):
        self.backward, self.grad_outputs, self.grad_inputs = None, (), (None,) * len(self.inputs)
        if not self.wanted or not any(o.requires_grad for o in self.outputs):
            return
        self.grad_outputs = tuple(_C.empty_like(o) if o.requires_grad else None for o in self.outputs)
        self.backward = CUDAGraph()
        with graph(self.backward, pool=pool):
            found = iter(self.gradients(self.outputs, self.grad_outputs))
        self.grad_inputs = tuple(next(found) if t.requires_grad else None for t in self.inputs)

    def __call__(self, *args):
        given, spec = tree_flatten(args)
        if spec != self.args_spec:
            raise ValueError(f"a graphed callable: expected arguments nested as when it was made, {self.args_spec}, got {spec}")
        for i, (own, new) in enumerate(zip(self.args, given)):
            if not isinstance(new, _C.Tensor) or (new.shape, new.dtype, new.device) != (own.shape, own.dtype, own.device):
                got = f"{new.dtype} {tuple(new.shape)} on {new.device}" if isinstance(new, _C.Tensor) else type(new).__name__
                raise ValueError(f"a graphed callable: expected argument {i} as it was when it was made, {own.dtype} "
                                 f"{tuple(own.shape)} on {own.device}, got {got}")
        return tree_unflatten(list(_Replay.apply(self, *given, *self.params)), self.outputs_spec)


class _Replay(Function):
    """A call: its arguments go to where the graph reads them."""

    @staticmethod
    def forward(ctx, part, *inputs):
        for own, new in zip(part.args, inputs):
            if own is not new:
                own.detach().copy_(new)
        part.forward.replay()
        ctx.part = part
        results = tuple(o.detach() for o in part.outputs)
        ctx.mark_non_differentiable(*(r for r, o in zip(results, part.outputs) if not o.requires_grad))
        return results

    @staticmethod
    @once_differentiable
    def backward(ctx, *grads):
        part = ctx.part
        for own, new in zip(part.grad_outputs, grads):
            if own is not None:
                own.copy_(new)
        part.backward.replay()
        return (None, *(None if g is None else g.detach() for g in part.grad_inputs))


def _graphed_module(module, part):
    """The module, which replays while it trains, or not, as when it was captured."""
    training, plain = module.training, module.forward

    def forward(*args):
        return part(*args) if module.training == training else plain(*args)
    module.forward = forward
    return module


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    """Callables (modules or functions of tensors) whose passes are replayed as CUDA graphs; one of them, or a tuple.

    `sample_args`: the arguments of each, as later calls give them but for their values.  Several callables are captured in the
    order in which they will be called, and share memory: they must be called in that order.  What a call returns is overwritten
    by the next one.  A module is changed itself and returned.
    """
    if is_autocast_enabled("cuda") and _C.is_autocast_cache_enabled():
        raise RuntimeError("make_graphed_callables: the cache of autocast would outlive the graphs; use "
                           "torch.autocast(cache_enabled=False)")
    single = not isinstance(callables, tuple)
    if single:
        callables, sample_args = (callables,), (sample_args,)
    if len(callables) != len(sample_args):
        raise ValueError(f"make_graphed_callables: expected arguments for each of {len(callables)} callables, got {len(sample_args)}")
    parts = [_Part(call, args, allow_unused_input) for call, args in zip(callables, sample_args)]
    _C.cuda.synchronize()
    side = Stream()
    side.wait_stream(current_stream())
    with stream(side):
        for part in parts:
            part.warm_up(num_warmup_iters)
    current_stream().wait_stream(side)
    pool = graph_pool_handle() if pool is None else pool
    for part in parts:
        part.capture_forward(pool)
    for part in reversed(parts):
        part.capture_backward(pool)
    made = tuple(_graphed_module(part.call, part) if isinstance(part.call, Module) else part for part in parts)
    return made[0] if single else made
