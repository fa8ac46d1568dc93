// Bytes of a storage that are made at the first access to them, such as those of a file that is read late.
#pragma once
#include <functional>

#include "argand/core/storage.h"

namespace argand {

// A storage with late bytes keeps one of these where other storages keep the function that releases borrowed bytes.
struct LateBytes {
  std::function<void(void*)> fill;
  Allocator* allocator;
  size_t nbytes;

  void* make() const;                          // throws what `fill` throws, or OutOfMemoryError
  void give_back(void* data) const noexcept;   // frees what make() returned
  void operator()(void* data) const noexcept;  // the storage is destroyed; null if nobody accessed it
};

// `fill` writes `nbytes` bytes of `allocator`, whose memory the host can write.  If it throws, the access to the bytes
// throws, and the next access calls it again.  Several threads may call it at once.  Such a storage cannot be resized,
// and nothing that uses it waits in a window.
intrusive_ptr<StorageImpl> late_storage(size_t nbytes, Allocator& allocator, std::function<void(void*)> fill);

}  // namespace argand
