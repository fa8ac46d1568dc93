// cuBLASLt's functions, found in its library when first asked for: a program runs without it.
#pragma once
#include <cublasLt.h>

namespace argand::cuda {

struct CublasLtLibrary {
  decltype(&cublasLtGetStatusString) get_status_string;
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulAlgoGetHeuristic) get_heuristic;
  decltype(&cublasLtMatmulAlgoCheck) check_algorithm;
  decltype(&cublasLtMatmulDescInit_internal) desc_init;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatmulPreferenceInit_internal) preference_init;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatrixLayoutInit_internal) layout_init;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
};

// Where the build found it.
const char* cublaslt_path();

// Null if it is not there; one warning says so.
const CublasLtLibrary* find_cublaslt();

}  // namespace argand::cuda
