"""Names of torch._subclasses.fake_tensor."""
from ... import _surface
from ..._fake_tensors import (DataDependentOutputException, DynamicOutputShapeException, FakeTensor, FakeTensorMode,  # noqa: F401
                              UnsupportedFakeTensorException, disable_fake_tensor_cache, is_fake, maybe_get_fake_mode,
                              unset_fake_temporarily)

__getattr__, __dir__ = _surface.of(__name__)
