"""Rarely used names of torch.compiler, loaded at first use."""
import contextlib
import functools
import types

from .._ignored import harmless
from ..compiler import _NOT_COMPILED
from . import models

config = types.SimpleNamespace(cache_key_tag="")  # options are kept and read by nobody


class set_stance(contextlib.ContextDecorator):
    """When backends of the program's own are called, from now on or in a scope: not at all with "force_eager", for a first kind of
    arguments only with "eager_on_recompile", which "fail_on_recompile" makes an error of."""

    @harmless(skip_guard_eval_unsafe=_NOT_COMPILED, force_backend=_NOT_COMPILED)
    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in ("default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile",
                          "fail_on_recompile"):
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        if force_backend is not None:
            raise NotImplementedError("torch.compiler.set_stance: force_backend is not supported; give torch.compile() the backend")
        self._stance = stance
        self._before = models.state["stance"]
        models.state["stance"] = stance

    def __call__(self, function):
        models.state["stance"] = self._before  # it decorates: nothing is to change now
        return super().__call__(function)

    def _recreate_cm(self):
        return set_stance(self._stance)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        models.state["stance"] = self._before
        return False


def set_default_backend(backend):
    """The backend of torch.compile() where none is given."""
    models.lookup_backend(backend)
    models.state["backend"] = backend


def get_default_backend():
    """What set_default_backend() was told."""
    return models.state["backend"]


@harmless(enabled=_NOT_COMPILED)
def set_enable_guard_collectives(enabled):
    """Accepted: there are no guards.  False, as it was before."""
    return False


def _all_guards(guard_entries, *_, **__):
    """Keeps all guards.  PyTorch calls such a function to choose guards of a compiled program; here there are none."""
    return [True] * len(guard_entries)

keep_portable_guards_unsafe = keep_tensor_guards_unsafe = skip_all_guards_unsafe = skip_guard_on_all_nn_modules_unsafe = _all_guards
skip_guard_on_globals_unsafe = skip_guard_on_inbuilt_nn_modules_unsafe = _all_guards


def save_cache_artifacts():
    """None: nothing was compiled."""


@harmless(serialized_artifacts=_NOT_COMPILED)
def load_cache_artifacts(serialized_artifacts):
    """None: nothing would read it."""


def wrap_numpy(fn):
    """The function of NumPy arrays fn as one of tensors; gradients do not pass."""
    @functools.wraps(fn)
    def call(*args, **kwargs):
        import numpy

        from .. import _C
        from ..utils._pytree import tree_map_only
        args, kwargs = tree_map_only(_C.Tensor, lambda t: t.numpy(), (args, kwargs))
        return tree_map_only((numpy.ndarray, numpy.generic), _C.as_tensor, fn(*args, **kwargs))
    return call
