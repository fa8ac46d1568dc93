"""detect_anomaly: backward raises where a gradient becomes NaN, and says where in the program the op was called."""
import sys
import traceback
import warnings

from .. import _C
from .._switches import checked_argument

_STACK, _PARENT = "traceback_", "parent_"  # in the metadata of nodes


def _made(metadata, within):
    metadata[_STACK] = traceback.format_stack()[:-1]
    if within is not None:
        metadata[_PARENT] = within


def _say(text):
    try:
        warnings.warn(text, stacklevel=3)
    except Warning:  # it would hide the error that it is about
        print(text, file=sys.stderr)


def _failed(node):
    stack = node.metadata.get(_STACK)
    if stack is None:
        _say(f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward pass for more "
             "information.")
    else:
        _say(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(stack)}")
    while (parent := node.metadata.get(_PARENT)) is not None:
        child, node = node, parent
        stack = node.metadata.get(_STACK)
        what = ("No forward pass information available." if stack is None else
                f"Traceback of forward call that induced the previous calculation:\n{''.join(stack)}")
        _say(f"\n\nPrevious calculation was induced by {node.name()}. {what}")


class set_detect_anomaly:
    """Switches anomaly detection on or off at once; in a `with` statement, for its scope."""

    def __init__(self, mode, check_nan=True):
        mode = checked_argument(mode, "set_anomaly_enabled", "enabled", 1)
        check_nan = checked_argument(check_nan, "set_anomaly_enabled", "check_nan", 2)
        self._before = _C._is_anomaly_enabled(), _C._is_watched()
        self._set(mode and check_nan, mode)

    @staticmethod
    def _set(checks, watches):
        _C._set_anomaly_enabled(checks)
        _C._watch_nodes(_made if watches else None, _failed)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        self._set(*self._before)


class detect_anomaly(set_detect_anomaly):
    """A scope in which backward checks each gradient for NaN, and says which op made it, and where it was called."""

    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled "
                      "for debugging.", stacklevel=2)
