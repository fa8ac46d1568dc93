"""The fast path of nn.TransformerEncoderLayer, as torch.backends.mha: there is one path."""
_enabled = True


def get_fastpath_enabled():
    """What set_fastpath_enabled() chose."""
    return _enabled


def set_fastpath_enabled(value):
    """Kept, and read by nobody: results are the same."""
    global _enabled
    _enabled = value
