// CPU memory that other processes can map: storages whose bytes belong to a descriptor (memfd), which can be sent.  It
// has no file name, so nothing is left behind when the last process ends.
//
// Thread safety: all functions may be called from any thread, and a process may be forked at any time; moving a storage
// needs the caller's order against all other uses of it, as resizing does.
#pragma once
#include <cstddef>

#include "argand/core/storage.h"

namespace argand {

// The descriptor of a storage's memory, which stays open as long as the storage lives; -1 if other processes cannot map
// it.
int shared_descriptor(StorageImpl& storage);

// Moves the bytes of a CPU storage to such memory, unless they are there already; all tensors of the storage see them.
// ValueError if the bytes cannot move: they are borrowed, or an array or a capsule shows them.
void share_bytes(StorageImpl& storage);

// The storage of `nbytes` bytes of a descriptor that was received.  If this process has a live storage of that memory,
// it is returned.  Takes ownership of the descriptor, unless it throws ValueError because the size does not match.
StoragePtr map_shared(int descriptor, size_t nbytes);

}  // namespace argand
