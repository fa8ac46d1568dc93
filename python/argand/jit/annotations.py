"""Names of types for TorchScript's annotations."""
import typing
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union  # noqa: F401 -- programs take them from here


class _OneForAll:
    """BroadcastingList2[int]: a list, or one number for all its places."""

    def __getitem__(self, kind):
        return typing.Union[kind, typing.List[kind]]


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = _OneForAll()
