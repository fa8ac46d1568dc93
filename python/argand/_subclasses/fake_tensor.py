"""What packages ask of torch._subclasses.fake_tensor: whether a tensor is fake, which none is."""
import contextlib

from .._ignored import harmless
from .._named_modules import names_of as _names_of
from .._refused import refused_class

FakeTensor = refused_class("torch._subclasses.fake_tensor.FakeTensor", "use tensors of the device 'meta'")
FakeTensorMode = refused_class("torch._subclasses.fake_tensor.FakeTensorMode", "use tensors of the device 'meta'")


@harmless(t="no tensor is fake")
def maybe_get_fake_mode(t):
    """None: no tensor is fake."""


def unset_fake_temporarily():
    """A scope without fake tensors, as any is."""
    return contextlib.nullcontext()


@harmless(x="no tensor is fake")
def is_fake(x):
    """Whether x is a FakeTensor."""
    return False


__getattr__ = _names_of(__name__)
