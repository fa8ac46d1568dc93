"""As torch.utils.deterministic."""
from .. import _switches

_switches.make(__name__, {"fill_uninitialized_memory": _switches.fixed(
    "torch.utils.deterministic.fill_uninitialized_memory", False, "what empty() gives stays as it is")})
