"""Names of torch._C that packages import, with their equivalents here; importing this module adds them to argand._C."""
import contextlib
import sys
import threading

from . import _C, _surface, _c_functorch
from ._ignored import harmless


class DispatchKey:
    """Places in PyTorch's dispatcher, by name.  Argand has none: calls are looked up by device alone."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"DispatchKey.{self.name}"


for _name in ("CPU", "CUDA", "Meta", "Autograd", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA", "AutocastXPU",
              "BackendSelect", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Dense", "Functionalize", "Python", "Undefined"):
    setattr(DispatchKey, _name, DispatchKey(_name))


class DispatchKeySet:
    """Several of them."""

    def __init__(self, *keys):
        self.keys = frozenset(keys)

    def __or__(self, other):
        return DispatchKeySet(*self.keys, *other.keys)

    def has(self, key):
        """Whether the key is one of them."""
        return key in self.keys


@contextlib.contextmanager
def _ExcludeDispatchKeyGuard(keys):
    """A scope without some of the dispatcher's work: without autocast, if its keys are among them."""
    from .amp import autocast
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
    from . import __config__
    return __config__.show()


def _get_cudnn_enabled():
    """Whether cuDNN may be used."""
    from .backends import cudnn
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


for _kind, _setter, _getter, _value in (
        ("profiling_executor", "_jit_set_profiling_executor", "", True), ("profiling_mode", "_jit_set_profiling_mode", "", True),
        ("texpr", "_jit_set_texpr_fuser_enabled", "_jit_texpr_fuser_enabled", True),
        ("cpu", "_jit_override_can_fuse_on_cpu", "_jit_can_fuse_on_cpu", False),
        ("gpu", "_jit_override_can_fuse_on_gpu", "_jit_can_fuse_on_gpu", False),
        ("nvfuser", "_jit_set_nvfuser_enabled", "_jit_nvfuser_enabled", False),
        ("guard", "_jit_set_nvfuser_guard_mode", "", False)):
    _set, _get = _switch_of_script(_setter, _value)
    setattr(_C, _setter, _set)
    if _getter:
        setattr(_C, _getter, _get)


class _nn:
    """torch._C._nn, of which packages take few functions."""

    @staticmethod
    def _parse_to(*args, **kwargs):
        """What Module.to(*args, **kwargs) means: device, dtype, non_blocking, memory_format."""
        from .nn.modules.module import _to_arguments
        return _to_arguments(*args, **kwargs)

    linear = _C.linear

    @staticmethod
    def flatten_dense_tensors(tensors):
        """The elements of all tensors, one after the other."""
        from ._utils import _flatten_dense_tensors
        return _flatten_dense_tensors(tensors)

    @staticmethod
    def unflatten_dense_tensors(flat, tensors):
        """Such elements as tensors of the shapes of `tensors`."""
        from ._utils import _unflatten_dense_tensors
        return _unflatten_dense_tensors(flat, tensors)


def _are_functorch_transforms_active():
    """False: vmap is a loop, and gradients of functions are those of recorded calls."""
    return False


def _is_torch_function_mode_enabled():
    """Whether a TorchFunctionMode is active."""
    return len(_C._torch_function_modes()) > 0


def _is_alias_of(a, b):
    """Whether two tensors share memory."""
    return _C._storage_id(a) == _C._storage_id(b)  # not data_ptr(), after which launches on the memory are not held back


for _thing in (_cuda_clearCublasWorkspaces, _dispatch_key_for_device, _get_accelerator, _get_cudnn_enabled,
               _get_privateuse1_backend_name, _is_tracing, _show_config, DispatchKey, DispatchKeySet, _ExcludeDispatchKeyGuard, _log_api_usage_once, _get_tracing_state, _nn,
               _are_functorch_transforms_active, _is_torch_function_mode_enabled, _is_alias_of):
    setattr(_C, _thing.__name__, _thing)

# A module of its own, since packages import from it.
_C.__path__ = []
_C.__getattr__, _C.__dir__ = _surface.of(_C.__name__)
_C._functorch = sys.modules[_C.__name__ + "._functorch"] = _c_functorch
_C._TensorMeta = type(_C.Tensor)
_C._has_xpu = _C._has_mps = _C._has_mkldnn = False


class _Devices(threading.local):
    """The devices before those whose scopes this thread is in."""

    def __init__(self):
        self.before = []


_devices = _Devices()


def _enter_device(self):
    """Tensors are made on this device, unless their maker is told another, until the end of the scope."""
    _devices.before.append(_C._get_default_device())
    _C._set_default_device(self)
    return self


def _exit_device(self, *_):
    """The device before."""
    _C._set_default_device(_devices.before.pop())


def _decorated_by_device(self, function):
    """The function, which makes its tensors on this device."""
    from .utils._device import set_device
    return set_device(self)(function)


_C.device.__enter__, _C.device.__exit__, _C.device.__call__ = _enter_device, _exit_device, _decorated_by_device

for _kind in (_C.layout, _C.memory_format):
    _kind.__repr__ = _kind.__str__ = lambda self: f"torch.{self.name}"
