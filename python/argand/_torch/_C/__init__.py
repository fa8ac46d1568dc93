"""What `import torch` shows as torch._C: the names of the extension module argand._C, and those of PyTorch's that packages import."""
import contextlib

from ... import _C, _surface
from ..._dispatch_keys import DispatchKey, DispatchKeySet  # noqa: F401
from ..._dispatch import StateOff as _DisableTorchDispatch, _disabled_torch_dispatch_impl, _TorchDispatchModeKey  # noqa: F401
from ..._global_settings import (_get_deterministic_fill_uninitialized_memory,  # noqa: F401
                                _set_deterministic_fill_uninitialized_memory)
from ..._ignored import harmless
from ...amp import autocast
from ...autograd import forward_ad
from ...overrides import has_torch_function, has_torch_function_unary, has_torch_function_variadic  # noqa: F401
from ...autograd import _is_multithreading_enabled  # noqa: F401
from ..._untyped_storage import StorageBase, _is_alias_of  # noqa: F401

globals().update({_name: _value for _name, _value in vars(_C).items() if not _name.startswith("__") and _name not in globals()})


@contextlib.contextmanager
def _ExcludeDispatchKeyGuard(keys):
    """A scope without some of the dispatcher's work: without autocast, if its keys are among them."""
    with contextlib.ExitStack() as scopes:
        for device in ("CPU", "CUDA"):
            if keys.has(getattr(DispatchKey, "Autocast" + device)):
                scopes.enter_context(autocast(device.lower(), enabled=False))
        yield


def _log_api_usage_once(event):
    """Nothing is counted."""


def _get_tracing_state():
    """None: nothing is ever traced."""


def _is_tracing():
    """False: nothing is ever traced."""
    return False


def _show_config():
    """How the library was built, as a text."""
    from ... import __config__
    return __config__.show()


def _get_cudnn_enabled():
    """Whether cuDNN may be used."""
    from ...backends import cudnn
    return cudnn.enabled


@harmless(check="there is no other kind of device")
def _get_accelerator(check=None):
    """The kind of device that computes: a GPU, if there is one."""
    return _C.device("cuda" if _C.cuda.is_available() else "cpu")


def _get_privateuse1_backend_name():
    """The name of devices that a program would add."""
    return "privateuseone"


def _dispatch_key_for_device(device_type):
    """The place of a kind of device in PyTorch's dispatcher, by its name."""
    return {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}[device_type]


def _cuda_clearCublasWorkspaces():
    """Nothing to free: products take their workspaces from the allocator for each call."""


def _switch_of_script(name, value):
    """A switch of TorchScript's optimizer, which is not there to read it: sets it, and gives back what it was."""
    def switch(on):
        nonlocal value
        before, value = value, on
        return before
    switch.__name__ = switch.__qualname__ = name
    return switch, lambda: value


for _setter, _getter, _value in (
        ("_jit_set_profiling_executor", "", True), ("_jit_set_profiling_mode", "", True),
        ("_jit_set_texpr_fuser_enabled", "_jit_texpr_fuser_enabled", True),
        ("_jit_override_can_fuse_on_cpu", "_jit_can_fuse_on_cpu", False),
        ("_jit_override_can_fuse_on_gpu", "_jit_can_fuse_on_gpu", False),
        ("_jit_set_nvfuser_enabled", "_jit_nvfuser_enabled", False),
        ("_jit_set_nvfuser_guard_mode", "", False)):
    _set, _get = _switch_of_script(_setter, _value)
    globals()[_setter] = _set
    if _getter:
        globals()[_getter] = _get


def _are_functorch_transforms_active():
    """False: vmap is a loop, and gradients of functions are those of recorded calls."""
    return False


def _is_torch_function_mode_enabled():
    """Whether a TorchFunctionMode is active."""
    return len(_C._torch_function_modes()) > 0


def _current_graph_task_id():
    """The number of the backward that runs on this thread, -1 outside of one."""
    return _C._backward_pass() or -1


class _WeakTensorRef:
    """Whether a tensor is still there."""

    def __init__(self, tensor):
        import weakref
        self._of = weakref.ref(tensor)

    def expired(self):
        """Whether nobody in Python holds it any more."""
        return self._of() is None


def _is_fwd_grad_enabled():
    """Whether forward-mode derivatives are computed."""
    return forward_ad._is_fwd_grad_enabled()


def _set_fwd_grad_enabled(mode):
    """Lets forward-mode derivatives be computed, or not."""
    _C._set_forward_enabled(True if mode else False)


_TensorMeta = type(_C.Tensor)
_has_xpu = _has_mps = _has_mkldnn = False
from . import _autograd, _functions, _functorch, _nn  # noqa: E402,F401

__getattr__, __dir__ = _surface.of(__name__)
