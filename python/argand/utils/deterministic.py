"""As torch.utils.deterministic."""
from .. import _global_settings, _switches

_switches.make(__name__, {"fill_uninitialized_memory": _switches.honoured(
    "torch.utils.deterministic.fill_uninitialized_memory", _global_settings._get_deterministic_fill_uninitialized_memory,
    _global_settings._set_deterministic_fill_uninitialized_memory,
    "Whether, after use_deterministic_algorithms(True), elements that nobody has set are NaN, the largest integer, or true.")})
