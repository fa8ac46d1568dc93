"""As torch.utils.deterministic."""
from .. import _C, _switches

_switches.make(__name__, {"fill_uninitialized_memory": _switches.honoured(
    "torch.utils.deterministic.fill_uninitialized_memory", _C._get_deterministic_fill_uninitialized_memory,
    _C._set_deterministic_fill_uninitialized_memory,
    "Whether, after use_deterministic_algorithms(True), elements that nobody has set are NaN, the largest integer, or true.")})
