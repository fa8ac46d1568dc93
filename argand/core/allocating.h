// For tables of who holds memory: what an allocator is being asked for.
#pragma once
#include "argand/core/storage.h"

namespace argand {

// The storage that the calling thread gets bytes of a device for; null while it asks for memory of no tensor.
const StorageImpl* allocating_storage();

}  // namespace argand
