"""detect_anomaly: backward raises where a gradient becomes NaN, and names the op."""
import warnings

from .. import _C


class set_detect_anomaly:
    """Anomaly detection on or off, at once; in a `with` statement, for its scope."""

    def __init__(self, mode, check_nan=True):
        self._before = _C._is_anomaly_enabled()
        _C._set_anomaly_enabled(bool(mode) and bool(check_nan))

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _C._set_anomaly_enabled(self._before)


class detect_anomaly(set_detect_anomaly):
    """A scope in which backward checks each gradient for NaN, and says which op made it."""

    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled "
                      "for debugging.", stacklevel=2)
