#include "argand/runtime/cuda/dynamic_library.h"

#include <dlfcn.h>

#include <sstream>

#include "argand/base/env.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {

DynamicLibrary::DynamicLibrary(const std::string& name, const char* path) {
  const CallsThatMakeGlobals calls;
  handle_ = nullptr;
  std::stringstream folders(env("ARGAND_CUDA_LIBRARY_PATH").value_or(""));
  for (std::string path_there; !handle_ && std::getline(folders, path_there, ':');) {
    path_there.append("/").append(name);
    handle_ = dlopen(path_there.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle_) handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void* DynamicLibrary::address_of(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace argand::cuda
