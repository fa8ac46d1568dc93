"""Module: holds parameters, buffers and submodules, and computes with them."""
import collections
import functools
import itertools
import types
import warnings
from typing import TYPE_CHECKING, Any, Callable, Union

from ... import _C
from ..._functions import typename as _typename
from ..._hook_handles import add_hook as _add_hook
from ..._typed_tensors import dtype_and_device_of
from ...autograd.grad_mode import no_grad
from ..parameter import Buffer, Parameter, is_lazy
from .conversion import convert_parameter
from .hooks import _BackwardHooks, _check_one_kind, _hook_node_of, _HookOfModule, _registered
from .loading import _IncompatibleKeys, load_state_dict, load_tensor  # noqa: F401 -- programs take _IncompatibleKeys from here
from .walking import _Walks

Tensor = _C.Tensor
_EXTRA_STATE = _EXTRA_STATE_KEY_SUFFIX = "_extra_state"

# Hooks of all modules; they run before a module's own.
_global_forward_pre_hooks = collections.OrderedDict()
_global_forward_hooks = collections.OrderedDict()
_global_forward_hooks_with_kwargs = collections.OrderedDict()
_global_forward_hooks_always_called = collections.OrderedDict()
_global_backward_pre_hooks = collections.OrderedDict()
_global_backward_hooks = collections.OrderedDict()
_global_is_full_backward_hook = None  # until one is registered
_global_parameter_registration_hooks = collections.OrderedDict()
_global_buffer_registration_hooks = collections.OrderedDict()
_global_module_registration_hooks = collections.OrderedDict()


def register_module_forward_pre_hook(hook):
    """Calls hook(module, args) before forward of every module."""
    return _add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Calls hook(module, args[, kwargs], output) after forward of every module, also a failed one if always_call."""
    extra = [holder for holder, wanted in ((_global_forward_hooks_with_kwargs, with_kwargs),
                                           (_global_forward_hooks_always_called, always_call)) if wanted]
    return _add_hook(_global_forward_hooks, hook, extra=extra)


def register_module_backward_hook(hook):
    """Calls hook(module, grad_input, grad_output) after the backward of the node that made a module's output, of every module;
    register_module_full_backward_hook() is about the whole module."""
    global _global_is_full_backward_hook
    _global_is_full_backward_hook = _check_one_kind(_global_is_full_backward_hook, False, "as a global Module hook")
    return _add_hook(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook):
    """Calls hook(module, grad_output) before the backward of every module."""
    return _add_hook(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Calls hook(module, grad_input, grad_output) after the backward of every module."""
    global _global_is_full_backward_hook
    _global_is_full_backward_hook = _check_one_kind(_global_is_full_backward_hook, True, "as a global Module hook")
    return _add_hook(_global_backward_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Calls hook(module, name, parameter) where a module gets a parameter; what it returns is taken instead."""
    return _add_hook(_global_parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook):
    """Calls hook(module, name, buffer) where a module gets a buffer; what it returns is taken instead."""
    return _add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Calls hook(module, name, submodule) where a module gets a module; what it returns is taken instead."""
    return _add_hook(_global_module_registration_hooks, hook)


def _indented(text, spaces):
    first, *rest = text.split("\n")
    return "\n".join([first] + [" " * spaces + line for line in rest])


_addindent = _indented


def _to_arguments(device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None):
    if copy:
        raise RuntimeError(".to() does not accept copy argument")
    if isinstance(device, Tensor):
        device, dtype, non_blocking = device.device, device.dtype, bool(dtype)
    elif isinstance(device, _C.dtype):
        device, dtype, non_blocking = None, device, bool(dtype)
    elif dtype is not None and not isinstance(dtype, _C.dtype):
        raise TypeError(f"to(): argument 'dtype' (position 2) must be torch.dtype, not {type(dtype).__name__}")
    if device is not None:
        device = _C.device(device)
    return device, dtype, non_blocking, memory_format


def weight_and_bias(module):
    """module.weight, module.bias.  Python looks a parameter up as an attribute before it calls __getattr__, which takes as long
    as a small op.  So this reads _parameters first, and attributes (of weight_norm, say) if there is no such parameter."""
    parameters = module._parameters
    if "weight" in parameters and "bias" in parameters:
        return parameters["weight"], parameters["bias"]
    return module.weight, module.bias


class Module(_Walks):
    """Base of all neural network modules.

    A subclass assigns parameters, buffers and modules to attributes after super().__init__(), and computes in
    forward(); calling the module runs forward() and the hooks around it.
    """

    dump_patches = False
    call_super_init = False
    # Version of what state_dict() holds; _load_from_state_dict() of a class sees the version that was saved.
    _version = 1
    training: bool

    if TYPE_CHECKING:  # a subclass takes and returns what it likes
        forward: Callable[..., Any]
        __call__: Callable[..., Any]

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and kwargs:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                            f"'{next(iter(kwargs))}'")
        if not self.call_super_init and args:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were "
                            "given")
        # Past __setattr__, which has nothing to sort here.
        attributes = self.__dict__
        attributes["training"] = True
        attributes["_parameters"] = {}
        attributes["_buffers"] = {}
        attributes["_non_persistent_buffers_set"] = set()
        attributes["_modules"] = {}
        for name in self._HOOKS:
            attributes[name] = collections.OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    _HOOKS = ("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks", "_forward_hooks_with_kwargs",
              "_forward_hooks_always_called", "_backward_pre_hooks", "_backward_hooks", "_state_dict_pre_hooks", "_state_dict_hooks",
              "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")
    # Whether the registered backward hooks are full ones; None without hooks.  Both kinds together are an error.
    _is_full_backward_hook = None

    def forward(self, *input):
        """What the module computes; subclasses write it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- attributes

    def _check_name(self, kind, name, registered):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in registered:
            raise KeyError(f"attribute '{name}' already exists")

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor (or None) that is no parameter but moves with the module; part of state_dict() if
        persistent."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{_typename(tensor)}' object to buffer '{name}' (torch Tensor or None "
                            "required)")
        self._buffers[name] = _registered(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        """Adds a parameter; None reserves the name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(f"cannot assign '{_typename(param)}' object to parameter '{name}' (torch.nn.Parameter "
                                "or None required)")
            if param.grad_fn is not None:
                raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                                 f"created explicitly. To express '{name}' as a function of another Tensor, compute "
                                 "the value in the forward() method.")
            param = _registered(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def add_module(self, name, module):
        """Adds a module (or None) as the attribute `name`."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = _registered(_global_module_registration_hooks, self, name, module)

    def register_module(self, name, module):
        """add_module() by its other name."""
        self.add_module(name, module)

    def __getattr__(self, name: str) -> Union[Tensor, "Module"]:
        # Python asks here for what is no ordinary attribute.
        attributes = self.__dict__
        if "_parameters" in attributes:
            found = attributes["_parameters"]
            if name in found:
                return found[name]
        if "_buffers" in attributes:
            found = attributes["_buffers"]
            if name in found:
                return found[name]
        if "_modules" in attributes:
            found = attributes["_modules"]
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _forget(self, name, *places):
        for place in places:
            if place is not None and name in place:
                if isinstance(place, dict):
                    del place[name]
                else:
                    place.discard(name)

    def __setattr__(self, name, value):
        attributes = self.__dict__
        parameters = attributes.get("_parameters")
        if isinstance(value, Tensor):
            if isinstance(value, Parameter):
                if parameters is None:
                    raise AttributeError("cannot assign parameters before Module.__init__() call")
                self._forget(name, attributes, self._buffers, self._modules, self._non_persistent_buffers_set)
                self.register_parameter(name, value)
                return
        elif isinstance(value, Module):
            if parameters is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            if name not in parameters:
                self._forget(name, attributes, self._buffers, self._non_persistent_buffers_set)
                self._modules[name] = _registered(_global_module_registration_hooks, self, name, value)
                return
        if parameters is None:
            if isinstance(value, Buffer):
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            object.__setattr__(self, name, value)
        elif name in parameters:
            if value is not None:
                raise TypeError(f"cannot assign '{_typename(value)}' as parameter '{name}' (torch.nn.Parameter or None "
                                "expected)")
            self.register_parameter(name, None)
        elif name in self._modules:
            if value is not None:
                raise TypeError(f"cannot assign '{_typename(value)}' as child module '{name}' (torch.nn.Module or None "
                                "expected)")
            self._modules[name] = _registered(_global_module_registration_hooks, self, name, None)
        elif name in self._buffers or isinstance(value, Buffer):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{_typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor "
                                "or None expected)")
            if isinstance(value, Buffer):
                self._forget(name, self._buffers)
                if value.persistent:
                    self.register_buffer(name, value)  # a subclass may have one without the argument
                else:
                    self.register_buffer(name, value, persistent=False)
            else:
                self._buffers[name] = _registered(_global_buffer_registration_hooks, self, name, value)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name):
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(n for n in names if not n[0].isdigit())

    def __setstate__(self, state):
        self.__dict__.update(state)
        # A pickle by an older version may lack these.
        for name in self._HOOKS:
            self.__dict__.setdefault(name, collections.OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())

    # ---- calls

    def __call__(self, *args, **kwargs):
        # One test for each kind of hook, as most modules have none.
        if (self._forward_pre_hooks or self._forward_hooks or self._backward_hooks or self._backward_pre_hooks
                or _global_forward_pre_hooks or _global_forward_hooks or _global_backward_hooks
                or _global_backward_pre_hooks):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    _call_impl = __call__

    def _call_with_hooks(self, args, kwargs):
        called = set()
        result = None
        try:
            for key, hook in (*_global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()):
                args, kwargs = self._call_pre_hook(key, hook, args, kwargs)
            full, of_node = self._backward_hooks_by_kind()
            pre_hooks = [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]
            backward = _BackwardHooks(self, pre_hooks, full) if pre_hooks or full else None
            if backward:
                args = backward.inputs(args)
            result = self.forward(*args, **kwargs)
            for key, hook in (*_global_forward_hooks.items(), *self._forward_hooks.items()):
                called.add(key)
                result = self._call_forward_hook(key, hook, args, kwargs, result)
            if backward:
                result = backward.outputs(result)
            if of_node:
                _hook_node_of(self, of_node, args, result)
            return result
        except Exception:
            self._call_always_called_hooks(called, args, kwargs, result)
            raise

    def _call_always_called_hooks(self, called, args, kwargs, result):
        for hooks, always, what in ((_global_forward_hooks, _global_forward_hooks_always_called, "global module"),
                                    (self._forward_hooks, self._forward_hooks_always_called, "module")):
            for key, hook in [*hooks.items()]:
                if key not in always or key in called:
                    continue
                try:
                    result = self._call_forward_hook(key, hook, args, kwargs, result)
                except Exception as error:
                    warnings.warn(f"{what} forward hook with ``always_call=True`` raised an exception that was silenced as another error "
                                  f"was raised in forward: {error}", stacklevel=3)

    def _backward_hooks_by_kind(self):
        """The full ones, and those of the node of the output."""
        kinds = {True: [], False: [], None: []}
        kinds[_global_is_full_backward_hook].extend(_global_backward_hooks.values())
        kinds[self._is_full_backward_hook].extend(self._backward_hooks.values())
        return kinds[True], kinds[False]

    def _call_pre_hook(self, key, hook, args, kwargs):
        if key in self._forward_pre_hooks_with_kwargs:
            given = hook(self, args, kwargs)
            if given is None:
                return args, kwargs
            if not (isinstance(given, tuple) and len(given) == 2):
                raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                                   f"{given}.")
            return given
        given = hook(self, args)
        if given is None:
            return args, kwargs
        return (given if isinstance(given, tuple) else (given,)), kwargs

    def _call_forward_hook(self, key, hook, args, kwargs, result):
        with_kwargs = key in self._forward_hooks_with_kwargs or key in _global_forward_hooks_with_kwargs
        given = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
        return result if given is None else given

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls hook(module, args[, kwargs]) before forward; what it returns replaces the arguments."""
        return _add_hook(self._forward_pre_hooks, hook, prepend, [self._forward_pre_hooks_with_kwargs] if with_kwargs else None)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Calls hook(module, args[, kwargs], output) after forward (also a failed one if always_call); what it returns
        replaces the output."""
        extra = [holder for holder, wanted in ((self._forward_hooks_with_kwargs, with_kwargs),
                                               (self._forward_hooks_always_called, always_call)) if wanted]
        return _add_hook(self._forward_hooks, hook, prepend, extra)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Calls hook(module, grad_output) before the gradients of the inputs are computed; may replace grad_output."""
        return _add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Calls hook(module, grad_input, grad_output) when the gradients of the inputs are computed; may replace
        grad_input."""
        self._is_full_backward_hook = _check_one_kind(self._is_full_backward_hook, True, "on a single Module")
        return _add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook):
        """Calls hook(module, grad_input, grad_output) with the gradients of the node that made the output; register_full_backward_hook()
        has those of the whole module."""
        self._is_full_backward_hook = _check_one_kind(self._is_full_backward_hook, False, "on a single Module")
        return _add_hook(self._backward_hooks, hook)

    # ---- devices and dtypes

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                convert_parameter(self, name, param, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn):
        """Calls fn with every submodule and, last, with this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args, **kwargs):
        """Moves parameters and buffers, in place: to(device, dtype, non_blocking), to(dtype), to(tensor),
        to(memory_format=...).  The dtype is that of floating-point tensors alone."""
        device, dtype, non_blocking, memory_format = _to_arguments(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                            f"dtype={dtype}")
        if dtype is not None and dtype.is_complex:
            warnings.warn("Complex modules are a new feature under active development whose design may change, and some modules might not "
                          "work as expected when using complex tensors as parameters or buffers.", stacklevel=2)

        def convert(t):
            wanted = dtype if t.is_floating_point() or t.is_complex() else None
            layout = {"memory_format": memory_format} if memory_format is not None and t.dim() in (4, 5) else {}
            try:
                return t.to(device, wanted, non_blocking, **layout)
            except NotImplementedError as error:
                if not t.is_meta:
                    raise
                raise NotImplementedError(f"{error} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
                                          "module from meta to a different device.") from None
        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Moves parameters and buffers to a device without their values."""
        return self._apply(lambda t: _C.empty_like(t, device=device), recurse=recurse)

    def cuda(self, device=None):
        """Moves parameters and buffers to a GPU."""
        return self._apply(lambda t: t.cuda(device))

    def cpu(self):
        """Moves parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type):
        """Casts parameters and buffers to a dtype, or a tensor type by name."""
        if isinstance(dst_type, str):
            dtype, device = dtype_and_device_of(dst_type)
            return self._apply(lambda t: t.to(device, dtype))
        dtype = getattr(dst_type, "_argand_dtype", dst_type)
        return self._apply(lambda t: t.to(dtype))

    def _floating(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        """Casts floating-point parameters and buffers to float32."""
        return self._floating(_C.float32)

    def double(self):
        """Casts floating-point parameters and buffers to float64."""
        return self._floating(_C.float64)

    def half(self):
        """Casts floating-point parameters and buffers to float16."""
        return self._floating(_C.float16)

    def bfloat16(self):
        """Casts floating-point parameters and buffers to bfloat16."""
        return self._floating(_C.bfloat16)

    def share_memory(self):
        """Moves parameters and buffers to memory that other processes see, too: what one trains, all have."""
        return self._apply(lambda t: t.share_memory_())

    # ---- state

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False) -> "dict[str, Any]":
        """Parameters and persistent buffers by their full names, detached unless keep_vars."""
        if args:
            warnings.warn("Positional args are being deprecated, use kwargs instead. Refer to "
                          "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for "
                          "details.", FutureWarning, stacklevel=2)
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = collections.OrderedDict()
            destination._metadata = collections.OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in list(self._state_dict_hooks.values()):
            given = hook(self, destination, prefix, local_metadata)
            if given is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = given
        return destination

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars or is_lazy(param) else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars or is_lazy(buffer) else buffer.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def get_extra_state(self):
        """What state_dict() keeps beside tensors; a class that writes it writes set_extra_state() too."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state):
        """Takes what get_extra_state() returned."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def register_state_dict_pre_hook(self, hook):
        """Calls hook(module, prefix, keep_vars) before state_dict()."""
        return _add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Calls hook(module, state_dict, prefix, local_metadata) after state_dict(); it may change the dict."""
        if isinstance(hook, types.MethodType):
            hook = functools.partial(hook)  # which can be marked
        hook._from_public_api = True
        return _add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that was previously registered via "
                               "register_state_dict_post_hook")
        return _add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Calls hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors) before
        loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return _add_hook(self._load_state_dict_pre_hooks, _HookOfModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook):
        """Calls hook(module, incompatible_keys) after load_state_dict(); it may change both lists."""
        return _add_hook(self._load_state_dict_post_hooks, hook)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        local = {name: value for name, value in itertools.chain(
            self._parameters.items(),
            ((n, b) for n,
             b in self._buffers.items() if n not in self._non_persistent_buffers_set)) if value is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, current in local.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            error = load_tensor(self, name, key, current, state_dict[key], assign)
            if error is not None:
                error_msgs.append(error)
        key = prefix + _EXTRA_STATE
        if type(self).set_extra_state is not Module.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != prefix + _EXTRA_STATE:
                    head, dot, _ = key[len(prefix):].partition(".")
                    if head not in (self._modules if dot else local):
                        unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False) -> "_IncompatibleKeys":
        """Copies (or, with assign, puts) the tensors of a state_dict() into this module and its submodules.

        Returns the lists of missing and unexpected keys, which must be empty if strict: else RuntimeError.
        """
        return load_state_dict(self, state_dict, strict, assign)

    # ---- modes

    def train(self, mode=True):
        """Sets training mode for this module and its submodules; some modules behave differently in it (dropout, batch norm)."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Sets whether autograd computes gradients of the parameters."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Drops (or zeroes) the gradients of the parameters."""
        for param in self.parameters():
            if param.grad is not None:
                if set_to_none:
                    param.grad = None
                else:
                    if param.grad.grad_fn is not None:
                        param.grad = param.grad.detach()
                    else:
                        param.grad.requires_grad_(False)
                    param.grad.zero_()

    def compile(self, *args, **kwargs):
        """Applies torch.compile() to its calls, in place: names of parameters stay."""
        from ..._compiling.models import compile_module  # upward: the method is torch.compile() of the module
        compile_module(self, *args, **kwargs)

    def _replicate_for_data_parallel(self):
        """A module with this one's attributes, whose parameters, buffers and modules are then replaced: see DataParallel."""
        replica = self.__new__(type(self))
        attributes = replica.__dict__
        attributes.update(self.__dict__)
        # A replica holds copies of the parameters.  They are no leaves, so they become plain attributes.
        attributes["_parameters"] = {}
        attributes["_buffers"], attributes["_modules"] = self._buffers.copy(), self._modules.copy()
        attributes["_is_replica"] = True
        return replica

    # ---- text

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """The part of repr() between the module's name and its submodules."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + _indented(repr(module), 2) for name, module in self._modules.items()]
        inner = ""
        if len(lines) == 1 and not children:
            inner = lines[0]
        elif lines or children:
            inner = "\n  " + "\n  ".join(lines + children) + "\n"
        return f"{self._get_name()}({inner})"


