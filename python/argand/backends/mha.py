"""The fast path of nn.TransformerEncoderLayer, as torch.backends.mha."""
from .._ignored import harmless

_enabled = True


def get_fastpath_enabled():
    """What set_fastpath_enabled() chose."""
    return _enabled


@harmless(value="there is one path, so results are the same with either")
def set_fastpath_enabled(value):
    """Kept for get_fastpath_enabled(): there is one path."""
    global _enabled
    _enabled = value
