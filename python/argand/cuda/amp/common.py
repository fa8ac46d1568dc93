"""As torch.cuda.amp.common."""
from ... import _C


def amp_definitely_not_available():
    """Whether there is no GPU."""
    return not _C.cuda.is_available()
