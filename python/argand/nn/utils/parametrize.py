"""Parameters computed from others: module.weight becomes what its parametrizations make of
parametrizations.weight.original."""
import collections.abc
import contextlib
import copy
import copyreg

from ... import __future__ as _future
from ... import _C
from ...autograd.grad_mode import no_grad
from ...utils._swap import swap_tensors
from ...utils._python_dispatch import is_traceable_wrapper_subclass
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

_cache = {}
_cache_depth = 0


@contextlib.contextmanager
def cached():
    """A scope in which a parametrized tensor is computed once."""
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if _cache_depth == 0:
            _cache.clear()


def _register(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _replace(original, new):
    """Gives the object `original`, which optimizers may hold, the values of `new`."""
    if _future.get_swap_module_params_on_conversion() or is_traceable_wrapper_subclass(original) or is_traceable_wrapper_subclass(new):
        if isinstance(original, Parameter) and not isinstance(new, Parameter):
            new = Parameter(new, requires_grad=original.requires_grad)
        swap_tensors(original, new)
    elif original.shape == new.shape and original.dtype == new.dtype and original.device == new.device:
        original.copy_(new)
    else:
        original.data = new.detach()


def _check_inverse(new):
    """What right_inverse() gave: a tensor, or several."""
    if isinstance(new, _C.Tensor):
        return
    what = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...)."
    if not isinstance(new, collections.abc.Sequence):
        raise ValueError(f"{what} Got {type(new).__name__}")
    for i, part in enumerate(new):
        if not isinstance(part, _C.Tensor):
            raise ValueError(f"{what} Got element {i} of the sequence with type {type(part).__name__}.")


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, first to last, and the tensor (or tensors) they start from."""

    def __init__(self, modules, original, unsafe=False):
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            form, new = original.detach(), original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):  # the values change
                        new = module.right_inverse(new)
        _check_inverse(new)
        self.is_tensor = isinstance(new, _C.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                                 f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}")
            if new is not original:
                form = form.clone()
                with no_grad():
                    _replace(original, new)
            _register(self, "original", original)
        else:
            for i, part in enumerate(new):
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                _register(self, f"original{i}", part)
        if not unsafe:
            with no_grad():
                _check_same_form(form, self(), "Registering a parametrization")

    def right_inverse(self, value):
        """Sets the original tensors so that the parametrized one becomes `value`."""
        with no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            values = [value] if self.is_tensor else value
            if self.is_tensor and not isinstance(value, _C.Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if not isinstance(values, collections.abc.Sequence) or len(values) != self.ntensors:
                raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got {values}.")
            for i, (original, new) in enumerate(zip(self._originals(), values)):
                if not isinstance(new, _C.Tensor):
                    raise ValueError(f"`right_inverse` must return a sequence of tensors. Got element {i} of type {type(new).__name__}")
                if original.dtype != new.dtype:
                    raise ValueError(f"Tensor {i} returned by `right_inverse` has dtype {new.dtype} while `original{i}` has dtype "
                                     f"{original.dtype}")
                _replace(original, new)

    def _originals(self):
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self):
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


def _refuse_state(self):
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See: "
                       "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
                       "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")


def _deepcopy(self, memo):
    """Copies the module attribute by attribute, as Python copies any object: copy.deepcopy() itself would call __getstate__, which raises."""
    if id(self) in memo:
        return memo[id(self)]
    memo[id(self)] = replica = type(self).__new__(type(self))
    replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    for slot in copyreg._slotnames(type(self)):
        if hasattr(self, slot):
            setattr(replica, slot, copy.deepcopy(getattr(self, slot), memo))
    return replica


def _parametrized_class(module):
    """A class of the module's own, for the properties of its parametrized tensors."""
    base = type(module)
    methods = {"__module__": base.__module__, "__getstate__": _refuse_state}
    if not hasattr(base, "__deepcopy__"):
        methods["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), methods)
    module.parametrizations = ModuleDict()


def _add_property(module, name):
    def get(self):
        parametrization = self.parametrizations[name]
        if not _cache_depth:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def put(self, value):
        self.parametrizations[name].right_inverse(value)
    setattr(type(module), name, property(get, put))


def is_parametrized(module, tensor_name=None):
    """Whether the module (or its tensor of that name) is parametrized."""
    parametrizations = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Makes module.tensor_name the result of the Module `parametrization`, applied to the tensor as it was."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parametrizations = module.parametrizations[tensor_name]
        if not unsafe:
            with no_grad():
                _check_one_more(getattr(module, tensor_name), parametrization)
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _parametrized_class(module)
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    return module


def _check_one_more(current, parametrization):
    """A parametrization on top of others: it and its inverse give what they get."""
    result = parametrization(current)
    _check_same_form(current, result, "Registering a parametrization")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(result)
    except NotImplementedError:
        return
    if not isinstance(back, _C.Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(current, what):
            raise ValueError(f"The tensor returned by parametrization.right_inverse must have the same {what} as module's tensor, unless "
                             f"the `unsafe` flag is enabled: {getattr(current, what)} became {getattr(back, what)}")


def _check_same_form(before, after, who):
    if not isinstance(after, _C.Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(before, what) != getattr(after, what):
            raise ValueError(f"{who} may not change the {what} of the tensor, unless the `unsafe` flag is enabled: "
                             f"{getattr(before, what)} became {getattr(after, what)}.")


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes the tensor a parameter or buffer again: as parametrized, or (if False) the original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name).detach()
        if parametrizations.is_tensor:
            original = parametrizations.original
            with no_grad():
                _replace(original, value)
        else:
            is_parameter = isinstance(parametrizations.original0, Parameter)
            original = Parameter(value, parametrizations.original0.requires_grad) if is_parameter else value
    elif parametrizations.is_tensor:
        original = parametrizations.original
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The class of the module before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Gives to_module the parametrizations of from_module (of one tensor, or all) and the tensors they start from."""
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not is_parametrized(from_module, name):
            raise AssertionError(f"Module {from_module} does not have a parametrization on {name}")
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in source:
            register_parametrization(to_module, name, parametrization, unsafe=True)
        target = to_module.parametrizations[name]
        for original in ["original"] if source.is_tensor else [f"original{i}" for i in range(source.ntensors)]:
            setattr(target, original, getattr(source, original))
    return to_module
