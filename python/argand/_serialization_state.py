"""What torch.serialization is told by settings and scopes, which its readers and writers ask for."""
import pickle
import threading

from . import _C

mapping = {"shared": False}  # what set_default_mmap_options() chose
safe = []  # what add_safe_globals() allowed


class _Skips(threading.local):
    """What skip_data() has set for this thread."""
    skip_data = materialize_fake_tensors = False


_serialization_tls = _Skips()


def _get_layout(name):
    """The layout of this name, which files hold."""
    if name != "torch.strided":
        raise pickle.UnpicklingError(f"load: the layout {name!r:.40}")
    return _C.strided


_get_layout.__module__ = f"{__package__}.serialization"  # where files name it
