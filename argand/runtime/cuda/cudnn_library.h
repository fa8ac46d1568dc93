// cuDNN's functions, found in its library when first asked for: a program runs without it.
#pragma once

#if ARGAND_CUDNN

#include <cudnn.h>

namespace argand::cuda {

struct CudnnLibrary {
  decltype(&cudnnGetVersion) get_version;
  decltype(&cudnnGetErrorString) get_error_string;
  decltype(&cudnnGetLastErrorString) get_last_error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;
};

// Null if it is not there.  Looked for where the system looks for libraries, then where the build found it.
const CudnnLibrary* find_cudnn();

}  // namespace argand::cuda

#endif
