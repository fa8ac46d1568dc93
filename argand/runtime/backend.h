// What a kind of device offers.  A backend registers itself when its library is loaded; `core` and `exec` know it only
// here.
#pragma once
#include "argand/core/allocator.h"

namespace argand {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Allocator& allocator(DeviceIndex index) = 0;
  virtual int device_count() = 0;
  // Copies bytes from or to the host; returns when the host memory may be used again.
  virtual void copy_to_host(void* host, const void* device, size_t nbytes) = 0;
  virtual void copy_from_host(void* device, const void* host, size_t nbytes) = 0;
};

void register_backend(DeviceType type, Backend& backend);
// DeviceError with a sentence on what to do when there is none.
Backend& backend_of(DeviceType type);
Allocator& allocator_for(const Device& device);

}  // namespace argand
