// Bytes of a storage that are made when somebody first looks at them, as those of a file that is read late.
#pragma once
#include <functional>

#include "argand/core/storage.h"

namespace argand {

// A storage with late bytes keeps one of these where other storages keep the function that releases borrowed bytes.
struct LateBytes {
  std::function<void(void*)> fill;
  Allocator* allocator;
  size_t nbytes;

  void* make() const;                          // what `fill` throws, or OutOfMemoryError
  void give_back(void* data) const noexcept;   // what make() gave
  void operator()(void* data) const noexcept;  // the storage ends; null if nobody looked
};

// `fill` writes `nbytes` bytes of `allocator`, whose memory the host can write.  Where it throws, the look at the bytes
// throws, and the next one calls it again; it may be called by several threads at once.  Such a storage cannot be
// resized, and nothing that uses it waits in a window.
intrusive_ptr<StorageImpl> late_storage(size_t nbytes, Allocator& allocator, std::function<void(void*)> fill);

}  // namespace argand
