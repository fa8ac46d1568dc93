#include "argand/runtime/cuda/cudnn_library.h"

#if ARGAND_CUDNN

#include "argand/base/str.h"
#include "argand/runtime/cuda/dynamic_library.h"

namespace argand::cuda {
namespace {

const CudnnLibrary* load() {
  const DynamicLibrary library(str("libcudnn.so.", CUDNN_MAJOR), ARGAND_CUDNN_PATH);
  auto* all = new CudnnLibrary;
  const bool complete =
      library.find(all->get_version, "cudnnGetVersion") && library.find(all->get_error_string, "cudnnGetErrorString") &&
      library.find(all->get_last_error_string, "cudnnGetLastErrorString") && library.find(all->create, "cudnnCreate") &&
      library.find(all->set_stream, "cudnnSetStream") &&
      library.find(all->create_descriptor, "cudnnBackendCreateDescriptor") &&
      library.find(all->destroy_descriptor, "cudnnBackendDestroyDescriptor") &&
      library.find(all->set_attribute, "cudnnBackendSetAttribute") &&
      library.find(all->get_attribute, "cudnnBackendGetAttribute") &&
      library.find(all->finalize, "cudnnBackendFinalize") && library.find(all->execute, "cudnnBackendExecute");
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
