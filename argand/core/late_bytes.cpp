#include "argand/core/late_bytes.h"

#include <utility>

#include "argand/core/memory_hook.h"

namespace argand {

void* LateBytes::make() const {
  void* data = allocator->allocate(nbytes);
  try {
    fill(data);
  } catch (...) {
    allocator->deallocate(data, nbytes);
    throw;
  }
  return data;
}

void LateBytes::give_back(void* data) const noexcept { allocator->deallocate(data, nbytes); }

void LateBytes::operator()(void* data) const noexcept {
  if (!data) return;
  give_back(data);
  note_memory(allocator->device(), data, nbytes, -1);
}

intrusive_ptr<StorageImpl> late_storage(size_t nbytes, Allocator& allocator, std::function<void(void*)> fill) {
  return make_intrusive<StorageImpl>(nullptr, nbytes, allocator.device(),
                                     LateBytes{std::move(fill), &allocator, nbytes});
}

}  // namespace argand
