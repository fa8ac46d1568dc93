"""Remote procedure calls, as torch.distributed.rpc: only names; they are not supported."""
from ... import _surface


def is_available():
    """False."""
    return False


def _is_current_rpc_agent_set():
    """False."""
    return False


__getattr__, __dir__ = _surface.of(__name__)
