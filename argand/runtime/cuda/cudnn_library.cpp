#include "argand/runtime/cuda/cudnn_library.h"

#if ARGAND_CUDNN

#include <dlfcn.h>

#include "argand/base/str.h"
#include "argand/runtime/cuda/process_end.h"

namespace argand::cuda {
namespace {

void* open_library() {
  const std::string name = str("libcudnn.so.", CUDNN_MAJOR);
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return dlopen(ARGAND_CUDNN_PATH, RTLD_NOW | RTLD_LOCAL);
}

template <class F>
bool find(void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

const CudnnLibrary* load() {
  void* library = open_library();
  if (!library) return nullptr;
  watch_process_end();
  auto* all = new CudnnLibrary;
  const bool complete = find(library, all->get_version, "cudnnGetVersion") &&
                        find(library, all->get_error_string, "cudnnGetErrorString") &&
                        find(library, all->get_last_error_string, "cudnnGetLastErrorString") &&
                        find(library, all->create, "cudnnCreate") && find(library, all->set_stream, "cudnnSetStream") &&
                        find(library, all->create_descriptor, "cudnnBackendCreateDescriptor") &&
                        find(library, all->destroy_descriptor, "cudnnBackendDestroyDescriptor") &&
                        find(library, all->set_attribute, "cudnnBackendSetAttribute") &&
                        find(library, all->get_attribute, "cudnnBackendGetAttribute") &&
                        find(library, all->finalize, "cudnnBackendFinalize") &&
                        find(library, all->execute, "cudnnBackendExecute");
  if (complete) return all;
  delete all;
  return nullptr;
}

}  // namespace

const CudnnLibrary* find_cudnn() {
  static const CudnnLibrary* const library = load();
  return library;
}

}  // namespace argand::cuda

#endif
