// Moves the bytes of a storage of the CPU to another allocator's memory: all tensors of the storage see them there.
#pragma once
#include "argand/core/storage.h"

namespace argand {

// ValueError for borrowed memory, and for memory that an array or a capsule shows, as StorageImpl::resize(); what `to`
// throws leaves the storage as it was.  Needs the caller's order against all other uses of the storage.
void move_bytes(StorageImpl& storage, Allocator& to);

}  // namespace argand
