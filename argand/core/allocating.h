// For tables of who holds memory: the storage for which memory is being allocated.
#pragma once
#include "argand/core/storage.h"

namespace argand {

// The storage for which the calling thread is allocating device memory; null if the memory is not for a tensor.
const StorageImpl* allocating_storage();

}  // namespace argand
