// Memory of the CPU that other processes map: storages whose bytes lie behind a descriptor (memfd), which can be sent.
// No file names it, so nothing is left behind when the last process ends.
//
// Thread safety: all functions may be called from any thread, and a process may be forked at any time; moving a storage
// needs the caller's order against all other uses of it, as resizing does.
#pragma once
#include <cstddef>

#include "argand/core/storage.h"

namespace argand {

// The descriptor of the memory that a storage lies in, which stays open as long as the storage is there; -1 if other
// processes cannot map it.
int shared_descriptor(StorageImpl& storage);

// Moves the bytes of a storage of the CPU to such memory, unless they lie there; all tensors of the storage see them.
// ValueError where its bytes cannot move: they are borrowed, or an array or a capsule shows them.
void share_bytes(StorageImpl& storage);

// The storage of `nbytes` bytes behind a descriptor that another process sent, or this one: then it is the storage that
// the descriptor is of, if that is alive.  Takes the descriptor, unless it throws ValueError: nothing of that size.
StoragePtr map_shared(int descriptor, size_t nbytes);

}  // namespace argand
