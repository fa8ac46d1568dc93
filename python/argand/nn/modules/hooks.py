"""Calls the hooks of modules."""
import functools
import warnings
import weakref

from ... import _C
from ._functions import BackwardHookFunction

Tensor = _C.Tensor

def _check_one_kind(is_full, wanted, whose):
    """Full hooks and those of the last node do not go together."""
    if is_full is not None and is_full is not wanted:
        raise RuntimeError(f"Cannot use both regular backward hooks and full backward hooks {whose}. Please use only one of them.")
    return wanted


def _registered(hooks, module, name, value):
    for hook in hooks.values():
        output = hook(module, name, value)
        if output is not None:
            value = output
    return value


class _HookOfModule:
    """A hook that is called with the module, which it does not keep alive."""

    def __init__(self, hook, module):
        functools.update_wrapper(self, hook)
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args):
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self):
        return self.hook, self.module()

    def __setstate__(self, state):
        if state[1] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self.__init__(*state)


class _BackwardHooks:
    """The full backward hooks of one call of a module: its inputs and outputs pass through functions that tell of their gradients."""

    def __init__(self, module, pre_hooks, hooks):
        self.module, self.pre_hooks, self.hooks = module, pre_hooks, hooks
        self.grad_output = None
        self.num_inputs = 0
        self.watches_inputs = False

    @staticmethod
    def _pass_through(values, on_gradients):
        """The values, a tuple, and whether `on_gradients` will hear of their gradients: one each, None for what is no tensor."""
        places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        if not _C.is_grad_enabled() or not any(values[i].requires_grad for i in places):
            return values, False

        def of_tensors(gradients):
            full = [None] * len(values)
            for place, gradient in zip(places, gradients):
                full[place] = gradient
            result = on_gradients(tuple(full))
            return tuple(result[place] for place in places)
        passed = list(values)
        for place, tensor in zip(places, BackwardHookFunction.apply(of_tensors, *(values[i] for i in places))):
            passed[place] = tensor
        return (tuple(passed) if type(values) is tuple else type(values)(*passed)), True

    def inputs(self, args):
        self.num_inputs = len(args)
        passed, self.watches_inputs = self._pass_through(args, self._on_input_gradients)
        return passed

    def outputs(self, result):
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                          f"{type(result)}", stacklevel=4)
        passed, _ = self._pass_through(result if isinstance(result, tuple) else (result,), self._on_output_gradients)
        return passed if isinstance(result, tuple) else passed[0]

    def _on_output_gradients(self, gradients):
        for hook in self.pre_hooks:
            given = hook(self.module, gradients)
            if given is not None:
                gradients = self._same_number(given, gradients, "grad_output", "Backward pre hook")
        self.grad_output = gradients
        if not self.watches_inputs:
            self._call_without_inputs(gradients)
            self.grad_output = None
        return gradients

    def _call_without_inputs(self, gradients):
        if self.hooks:
            warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
                          "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                          "#torch.nn.Module.register_full_backward_hook for more details.", stacklevel=5)
        for hook in self.hooks:
            given = hook(self.module, (None,) * self.num_inputs, gradients)
            if given is not None and not (isinstance(given, tuple) and all(g is None for g in given)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or None for all "
                                   "gradients.")

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
        given = (given,) if isinstance(given, Tensor) else tuple(given)
        if len(given) != len(gradients):
            raise RuntimeError(f"{who} returned an invalid number of {what}, got {len(given)}, but expected "
                               f"{len(gradients)}")
        return given


# ---- hooks that see the gradients of the node which made the output, and no more


def _hook_node_of(module, hooks, args, result):
    """Registers register_backward_hook()'s hooks with the node of the first tensor of the result."""
    first = result
    while not isinstance(first, Tensor):
        first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(_HookOfModule(hook, module))
    missing = _what_they_miss(node, args, result)
    if missing is not None:
        warnings.warn(missing, FutureWarning, stacklevel=4)


def _what_they_miss(node, args, result):
    """Why the gradients of this node are not those of the module's inputs and outputs; None if they are."""
    def all_tensors(values):
        return isinstance(values, tuple) and all(isinstance(v, Tensor) for v in values)

    def text(when, what, instead=" Please use register_full_backward_hook to get the documented behavior."):
        return f"Using {when} is deprecated and will be removed in future versions. This hook will be missing {what}.{instead}"
    results = (result,) if isinstance(result, Tensor) else result
    if not all_tensors(results):
        return text("non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors", "some of the grad_output")
    if not all_tensors(args):
        return text("non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors",
                    "some of the grad_input")
    nodes = {r.grad_fn for r in results if r.grad_fn is not None}
    if len(nodes) < 2 and node not in nodes:
        return text("a non-full backward hook when outputs are nested in python data structure", "some grad_output", "")
    if len(nodes) > 1:
        return text("a non-full backward hook when outputs are generated by different autograd Nodes", "some grad_output")
    if {a.grad_fn for a in args if a.grad_fn is not None} != {following for following, _ in node.next_functions}:
        return text("a non-full backward hook when the forward contains multiple autograd Nodes", "some grad_input")
    return None
