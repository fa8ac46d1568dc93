"""Functions of neural networks, as torch.nn.functional."""
from ... import _surface
from ..._overridable import make_overridable as _make_overridable
from .activation import *  # noqa: F401,F403
from .attention import *  # noqa: F401,F403
from .attention import (_canonical_mask, _in_projection, _in_projection_packed, _mha_shape_check,  # noqa: F401 -- for copies of
                        _none_or_dtype)  # multi_head_attention_forward
from .convolution import *  # noqa: F401,F403
from .distance import *  # noqa: F401,F403
from .dropout import *  # noqa: F401,F403
from .linear import *  # noqa: F401,F403
from .loss import *  # noqa: F401,F403
from .normalization import *  # noqa: F401,F403
from .padding import *  # noqa: F401,F403
from .pooling import *  # noqa: F401,F403
from .sparse import *  # noqa: F401,F403
from .vision import *  # noqa: F401,F403

# With PyTorch the functions named here are C, and are seen as they were called.
_make_overridable(globals(), as_given=("bilinear", "rrelu_", "scaled_dot_product_attention"))

__getattr__, __dir__ = _surface.of(__name__)
