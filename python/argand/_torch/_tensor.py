"""Names of torch._tensor that packages import, and those that pickles have."""
from .._C import Tensor  # noqa: F401
from .._copies import _named_dtype, _rebuild, _rebuild_from_type_v2, _restore  # noqa: F401
