"""Modules as functions of their parameters: the interface before torch.func.functional_call()."""
import copy

from ... import _C
from ...nn import Module
from ...nn.utils.stateless import _swapped


def _names_of(named, own):
    """name -> all names of the same tensor."""
    return {name: [other for other, t in own if t is tensor] for name, tensor in named}


class _Stateless(Module):
    """A module that is called with the tensors it computes with."""

    def __init__(self, model, param_names, buffer_names):
        super().__init__()
        self.stateless_model, self.param_names, self._buffer_names = model, param_names, buffer_names

    @classmethod
    def _make(cls, model, disable_autograd_tracking):
        model = copy.deepcopy(model)
        params, buffers = list(model.named_parameters()), list(model.named_buffers())
        made = cls(model, tuple(n for n, _ in params), tuple(n for n, _ in buffers))
        made._names = {**_names_of(params, list(model.named_parameters(remove_duplicate=False))),
                       **_names_of(buffers, list(model.named_buffers(remove_duplicate=False)))}
        if disable_autograd_tracking:
            for _, param in params:
                param.requires_grad_(False)
        # The model has memory only for the time of a call.
        for first, tensor in params + buffers:
            for name in made._names[first]:
                path, _, last = name.rpartition(".")
                owner = model.get_submodule(path)
                places = owner._parameters if last in owner._parameters else owner._buffers
                places[last] = _C.empty_like(tensor, device="meta")
        return made, tuple(t for _, t in params), tuple(t for _, t in buffers)

    def _call(self, names, values, args, kwargs):
        values = tuple(values)
        if len(values) != len(names):
            raise ValueError(f"{type(self).__name__}: expected {len(names)} tensors, of {', '.join(names)}; got {len(values)}")
        given = {name: value for first, value in zip(names, values) for name in self._names[first]}
        with _swapped(self.stateless_model, given, False):
            return self.stateless_model(*args, **kwargs)


class FunctionalModule(_Stateless):
    """make_functional()'s function: fmodel(params, *args, **kwargs)."""

    @property
    def names_map(self):
        """The name of each parameter -> all its names."""
        return self._names

    def forward(self, params, *args, **kwargs):
        return self._call(self.param_names, params, args, kwargs)


class FunctionalModuleWithBuffers(_Stateless):
    """make_functional_with_buffers()'s function: fmodel(params, buffers, *args, **kwargs)."""

    @property
    def buffer_names(self):
        return self._buffer_names

    @property
    def all_names_map(self):
        """The name of each parameter and buffer -> all its names."""
        return self._names

    def forward(self, params, buffers, *args, **kwargs):
        return self._call(self.param_names + self._buffer_names, (*params, *buffers), args, kwargs)


def make_functional(model, disable_autograd_tracking=False):
    """(function, parameters): function(parameters, *args) is model(*args).  The parameters are copies, and the model keeps its own."""
    if next(model.buffers(), None) is not None:
        raise RuntimeError("make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead.")
    function, params, _ = FunctionalModule._make(model, disable_autograd_tracking)
    return function, params


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    """(function, parameters, buffers): function(parameters, buffers, *args) is model(*args).  The tensors are copies of the model's."""
    return FunctionalModuleWithBuffers._make(model, disable_autograd_tracking)


def combine_state_for_ensemble(models):
    """(function, parameters, buffers) of several modules of one kind, whose tensors are stacked: for vmap."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    made = [make_functional_with_buffers(m) for m in models]
    params, buffers = (tuple(_C.stack([t.detach() for t in column]) for column in zip(*(m[i] for m in made))) for i in (1, 2))
    return made[0][0], tuple(p.requires_grad_() for p in params), buffers


def _first_call(function):
    """Functions of older programs take the model's arguments as one tuple."""
    return lambda *state_and_data: function(*state_and_data[:-1], *state_and_data[-1])


def _initialized(make, model_class, ensemble_shape, device, args, kwargs):
    if len(ensemble_shape) >= 2:
        raise ValueError(f"functional_init: ensemble_shape: expected at most one dimension, got {tuple(ensemble_shape)}")
    count = ensemble_shape[0] if ensemble_shape else 1
    if count <= 0:
        raise ValueError(f"functional_init: ensemble_shape: expected models, got {count}")
    made = [make(model_class(*args, **kwargs).to(device)) for _ in range(count)]
    if not ensemble_shape:
        return made[0][0], made[0][1:]
    return made[0][0], tuple(tuple(_C.stack([t.detach() for t in column]) for column in zip(*(m[i] for m in made)))
                             for i in range(1, len(made[0])))


def functional_init(model_class, ensemble_shape=(), device="cpu"):
    """init(*args): (parameters, function, names) of model_class(*args), or of so many of them, stacked; function(parameters, arguments)."""
    def init(*args, **kwargs):
        function, (params,) = _initialized(make_functional, model_class, ensemble_shape, device, args, kwargs)
        return params, _first_call(function), function.param_names
    return init


def functional_init_with_buffers(model_class, ensemble_shape=(), device="cpu"):
    """functional_init() of modules with buffers: (parameters, buffers, function, names of parameters, names of buffers)."""
    def init(*args, **kwargs):
        function, (params, buffers) = _initialized(make_functional_with_buffers, model_class, ensemble_shape, device, args, kwargs)
        return params, buffers, _first_call(function), function.param_names, function.buffer_names
    return init
