"""Key-value stores that processes share, and the errors of communication between processes."""
from .. import _C
from .._C._stores import FileStore, HashStore, PrefixStore, Store, TCPStore

DistError, DistBackendError, DistNetworkError = _C.DistError, _C.DistBackendError, _C.DistNetworkError
DistStoreError, QueueEmptyError, PeerLost = _C.DistStoreError, _C.QueueEmptyError, _C.PeerLost
DistQueueEmptyError = QueueEmptyError

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistQueueEmptyError", "DistStoreError", "FileStore", "HashStore",
           "PeerLost", "PrefixStore", "QueueEmptyError", "Store", "TCPStore"]
