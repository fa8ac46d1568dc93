"""Parameters computed from others: module.weight becomes what its parametrizations make of
parametrizations.weight.original."""
import contextlib

from ... import _C
from ..._ignored import harmless
from ...autograd.grad_mode import no_grad
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


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, first to last, and the tensor (or tensors) they start from."""

    @harmless(unsafe="register_parametrization() compares the forms")
    def __init__(self, modules, original, unsafe=False):
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            new = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):  # the values change
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, _C.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            with no_grad():
                original.data = new.detach()  # the parameter stays the object that optimizers hold
            _register(self, "original", original)
        else:
            for i, part in enumerate(new):
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                _register(self, f"original{i}", part)

    def right_inverse(self, value):
        """Sets the original tensors so that the parametrized one becomes `value`."""
        with no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            values = [value] if self.is_tensor else value
            for original, new in zip(self._originals(), values):
                original.copy_(new)

    def _originals(self):
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self):
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


def _parametrized_class(module):
    """A class of the module's own, for the properties of its parametrized tensors."""
    base = type(module)
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), {"__module__": base.__module__})
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
    """Makes module.tensor_name the result of parametrization, a Module, of what it was."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parametrizations = module.parametrizations[tensor_name]
        if not unsafe:
            with no_grad():
                current = getattr(module, tensor_name)
                _check_same_form(current, parametrization(current), parametrization)
        if hasattr(parametrization, "right_inverse"):
            with no_grad(), contextlib.suppress(NotImplementedError):
                parametrizations.right_inverse(parametrization.right_inverse(getattr(module, tensor_name)))
        parametrizations.append(parametrization)
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        form = original.detach().clone()
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        if not unsafe:
            with no_grad():
                _check_same_form(form, parametrizations(), parametrization)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _parametrized_class(module)
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    return module


def _check_same_form(before, after, parametrization):
    for what in ("dtype", "shape"):
        if getattr(before, what) != getattr(after, what):
            raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless the "
                             "`unsafe` flag "
                             f"is enabled: {getattr(before, what)} became {getattr(after, what)} in {parametrization}.")


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
            original.data = value
        else:
            is_parameter = isinstance(parametrizations.original0, Parameter)
            original = Parameter(value, parametrizations.original0.requires_grad) if is_parameter else value
    elif parametrizations.is_tensor:
        original = parametrizations.original
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of "
                         "a sequence of tensors.")
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
