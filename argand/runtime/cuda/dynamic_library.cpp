#include "argand/runtime/cuda/dynamic_library.h"

#include <dlfcn.h>

#include "argand/runtime/process_end.h"

namespace argand::cuda {

DynamicLibrary::DynamicLibrary(const std::string& name, const char* path) {
  const DeviceCalls calls;
  handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle_) watch_process_end();
}

void* DynamicLibrary::address_of(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace argand::cuda
