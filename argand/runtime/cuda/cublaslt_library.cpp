#include "argand/runtime/cuda/cublaslt_library.h"

#include <cuda_runtime_api.h>

#include "argand/base/log.h"
#include "argand/base/str.h"
#include "argand/runtime/cuda/dynamic_library.h"

#ifndef ARGAND_CUBLASLT_PATH
#define ARGAND_CUBLASLT_PATH ""
#endif

namespace argand::cuda {

const char* cublaslt_path() { return ARGAND_CUBLASLT_PATH; }

namespace {

const CublasLtLibrary* load() {
  const std::string name = str("libcublasLt.so.", CUDART_VERSION / 1000);
  const DynamicLibrary library(name, cublaslt_path());
  auto* all = new CublasLtLibrary;
  const bool complete = library.find(all->get_status_string, "cublasLtGetStatusString") &&
                        library.find(all->create, "cublasLtCreate") && library.find(all->matmul, "cublasLtMatmul") &&
                        library.find(all->get_heuristic, "cublasLtMatmulAlgoGetHeuristic") &&
                        library.find(all->check_algorithm, "cublasLtMatmulAlgoCheck") &&
                        library.find(all->desc_init, "cublasLtMatmulDescInit_internal") &&
                        library.find(all->desc_set, "cublasLtMatmulDescSetAttribute") &&
                        library.find(all->preference_init, "cublasLtMatmulPreferenceInit_internal") &&
                        library.find(all->preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
                        library.find(all->layout_init, "cublasLtMatrixLayoutInit_internal") &&
                        library.find(all->layout_set, "cublasLtMatrixLayoutSetAttribute");
  if (complete) return all;
  delete all;
  warn(name, " was not found: matrix products run on kernels that are several times slower");
  return nullptr;
}

}  // namespace

const CublasLtLibrary* find_cublaslt() {
  static const CublasLtLibrary* const library = load();
  return library;
}

}  // namespace argand::cuda
