"""Names of torch._C that packages take, with what they mean here; importing this module adds them to argand._C."""
import contextlib
import sys
import threading

from . import _C, _named_modules, _wrapped


class DispatchKey:
    """Places in PyTorch's dispatcher, by name.  Argand has none: calls are looked up by device alone."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"DispatchKey.{self.name}"


for _name in ("CPU", "CUDA", "Meta", "Autograd", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA", "AutocastXPU"):
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


class _nn:
    """torch._C._nn, of which packages take one function."""

    @staticmethod
    def _parse_to(*args, **kwargs):
        """What Module.to(*args, **kwargs) means: device, dtype, non_blocking, memory_format."""
        from .nn.modules.module import _to_arguments
        return _to_arguments(*args, **kwargs)


def _are_functorch_transforms_active():
    """False: vmap is a loop, and gradients of functions are those of recorded calls."""
    return False


def _is_torch_function_mode_enabled():
    """Whether a TorchFunctionMode is active."""
    return len(_C._torch_function_modes()) > 0


def _is_alias_of(a, b):
    """Whether two tensors share memory."""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


for _thing in (DispatchKey, DispatchKeySet, _ExcludeDispatchKeyGuard, _log_api_usage_once, _get_tracing_state, _nn,
               _are_functorch_transforms_active, _is_torch_function_mode_enabled, _is_alias_of):
    setattr(_C, _thing.__name__, _thing)

# A module of its own, since packages import from it.
_C.__path__ = []
_C.__getattr__ = _named_modules.names_of(_C.__name__)
_C._functorch = sys.modules[_C.__name__ + "._functorch"] = _wrapped
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


_C.device.__enter__, _C.device.__exit__ = _enter_device, _exit_device

for _kind in (_C.layout, _C.memory_format):
    _kind.__repr__ = _kind.__str__ = lambda self: f"torch.{self.name}"
