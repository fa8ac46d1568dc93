"""Hooks of modules: those of all modules, and what calls the backward hooks of one."""
import collections
import functools
import itertools

from ... import _C
from ..._tensor import RemovableHandle
from ...autograd.function import Function

Tensor = _C.Tensor
_hook_ids = itertools.count()


class _Hook:
    """A hook with how it wants to be called."""
    __slots__ = ("function", "with_kwargs", "always_call")

    def __init__(self, function, with_kwargs=False, always_call=False):
        self.function, self.with_kwargs, self.always_call = function, with_kwargs, always_call

    def __getstate__(self):
        return self.function, self.with_kwargs, self.always_call

    def __setstate__(self, state):
        self.function, self.with_kwargs, self.always_call = state


def _kept(function, with_kwargs=False, always_call=False):
    """What is kept of a hook: the function itself, as programs look for theirs in module._forward_pre_hooks, unless it is called
    in a special way."""
    return _Hook(function, with_kwargs, always_call) if with_kwargs or always_call else function


def _all_hooks(*several):
    """The hooks of these dicts, each a _Hook."""
    return [h if type(h) is _Hook else _Hook(h) for hooks in several for h in hooks.values()]


def _add_hook(hooks, hook, prepend=False):
    key = next(_hook_ids)
    hooks[key] = hook
    if prepend:
        hooks.move_to_end(key, last=False)
    handle = RemovableHandle(functools.partial(hooks.pop, key, None))
    handle.id = key
    return handle


# Hooks of all modules; they run before a module's own.
_global_forward_pre_hooks = collections.OrderedDict()
_global_forward_hooks = collections.OrderedDict()
_global_backward_pre_hooks = collections.OrderedDict()
_global_backward_hooks = collections.OrderedDict()
_global_parameter_hooks = collections.OrderedDict()
_global_buffer_hooks = collections.OrderedDict()
_global_module_hooks = collections.OrderedDict()


def register_module_forward_pre_hook(hook):
    """Calls hook(module, args) before forward of every module."""
    return _add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Calls hook(module, args, output) after forward of every module."""
    return _add_hook(_global_forward_hooks, _kept(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook):
    """Calls hook(module, grad_output) before the backward of every module."""
    return _add_hook(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Calls hook(module, grad_input, grad_output) after the backward of every module."""
    return _add_hook(_global_backward_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Calls hook(module, name, parameter) where a module gets a parameter; what it returns is taken instead."""
    return _add_hook(_global_parameter_hooks, hook)


def register_module_buffer_registration_hook(hook):
    """Calls hook(module, name, buffer) where a module gets a buffer; what it returns is taken instead."""
    return _add_hook(_global_buffer_hooks, hook)


def register_module_module_registration_hook(hook):
    """Calls hook(module, name, submodule) where a module gets a module; what it returns is taken instead."""
    return _add_hook(_global_module_hooks, hook)


def _registered(hooks, module, name, value):
    for hook in hooks.values():
        output = hook(module, name, value)
        if output is not None:
            value = output
    return value


class _Probe(Function):
    """Passes tensors through; their gradients, on the way back, go through `on_gradients`."""

    @staticmethod
    def forward(ctx, on_gradients, *tensors):
        ctx.set_materialize_grads(False)
        ctx.on_gradients = on_gradients
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx, *gradients):
        if all(g is None for g in gradients):  # nothing came this way, as where a gradient is differentiated
            return (None,) * (1 + len(gradients))
        return (None, *ctx.on_gradients(gradients))


class _BackwardHooks:
    """The backward hooks of one call of a module: probes around its inputs and outputs."""

    def __init__(self, module, pre_hooks, hooks):
        self.module, self.pre_hooks, self.hooks = module, pre_hooks, hooks
        self.grad_output = None
        self.num_inputs = 0
        self.watches_inputs = False

    def _through_probe(self, values, on_gradients):
        # What does not require grad must not do so behind the probe.
        places = [i for i, v in enumerate(values) if isinstance(v, Tensor) and v.requires_grad]
        if not places or not _C.is_grad_enabled():
            return values, False

        def all_gradients(gradients):
            full = [None] * len(values)
            for place, gradient in zip(places, gradients):
                full[place] = gradient
            result = on_gradients(tuple(full))
            return tuple(result[place] for place in places)
        passed = list(values)
        for place, tensor in zip(places, _Probe.apply(all_gradients, *(values[i] for i in places))):
            passed[place] = tensor
        return tuple(passed), True

    def inputs(self, args):
        self.num_inputs = len(args)
        passed, self.watches_inputs = self._through_probe(args, self._on_input_gradients)
        return passed

    def outputs(self, result):
        values = result if isinstance(result, tuple) else (result,)
        passed, _ = self._through_probe(values, self._on_output_gradients)
        return passed if isinstance(result, tuple) else passed[0]

    def _on_output_gradients(self, gradients):
        for hook in self.pre_hooks:
            given = hook(self.module, gradients)
            if given is not None:
                gradients = self._same_number(given, gradients, "grad_output", "Backward pre hook")
        self.grad_output = gradients
        if not self.watches_inputs:
            for hook in self.hooks:
                if hook(self.module, (None,) * self.num_inputs, gradients) is not None:
                    raise RuntimeError("Backward hook for Modules where no input requires gradient should always "
                                       "return "
                                       "None or None for all gradients.")
            self.grad_output = None
        return gradients

    def _on_input_gradients(self, gradients):
        if self.grad_output is None:  # what came did not pass the outputs, as where a gradient is differentiated
            return gradients
        for hook in self.hooks:
            given = hook(self.module, gradients, self.grad_output)
            if given is not None:
                gradients = self._same_number(given, gradients, "grad_input", "Backward hook")
        self.grad_output = None
        return gradients

    @staticmethod
    def _same_number(given, gradients, what, who):
        given = given if isinstance(given, tuple) else (given,)
        if len(given) != len(gradients):
            raise RuntimeError(f"{who} returned an invalid number of {what}, got {len(given)}, but expected "
                               f"{len(gradients)}")
        return given
