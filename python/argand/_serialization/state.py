"""What torch.serialization is told by settings and scopes, which its readers and writers ask for."""
import pickle
import threading

from .. import _C
from .._surface.naming import own

mapping = {"shared": False}  # what set_default_mmap_options() chose
safe = []  # what add_safe_globals() allowed


class _Skips(threading.local):
    """What skip_data() has set for this thread."""
    skip_data = materialize_fake_tensors = False


_serialization_tls = _Skips()


class SourceChangeWarning(Warning):
    """That the class of a module is not what it was when a file of the format before PyTorch 1.6 was saved, which has its source."""


def _get_layout(name):
    """The layout of this name, which files hold."""
    found = next((each for each in _C.layout if str(each) == name), None)
    if found is None:
        raise pickle.UnpicklingError(f"load: the layout {name!r:.40}")
    return found


SourceChangeWarning.__module__ = _get_layout.__module__ = own("serialization")  # where files name it
