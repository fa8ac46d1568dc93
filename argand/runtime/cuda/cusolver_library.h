// The functions of cuSOLVER and of cuBLAS that linear algebra uses, found in their libraries when first asked for: a
// program runs without them.
#pragma once
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <type_traits>

namespace argand::cuda {

// The functions that exist once for each type of elements; cuBLAS's are the last five.
template <class T>
struct real_element {
  using type = T;
};
template <>
struct real_element<cuComplex> {
  using type = float;
};
template <>
struct real_element<cuDoubleComplex> {
  using type = double;
};

template <class T>
struct SolverOf {
  using R = typename real_element<T>::type;
  using Solver = cusolverDnHandle_t;
  using Blas = cublasHandle_t;

  cusolverStatus_t (*potrf_batched)(Solver, cublasFillMode_t, int n, T** a, int lda, int* info, int batch);
  cusolverStatus_t (*getrf_buffer)(Solver, int m, int n, T* a, int lda, int* size);
  cusolverStatus_t (*getrf)(Solver, int m, int n, T* a, int lda, T* work, int* pivots, int* info);
  cusolverStatus_t (*getrs)(Solver, cublasOperation_t, int n, int columns, const T* a, int lda, const int* pivots, T* b,
                            int ldb, int* info);
  cusolverStatus_t (*sytrf_buffer)(Solver, int n, T* a, int lda, int* size);
  cusolverStatus_t (*sytrf)(Solver, cublasFillMode_t, int n, T* a, int lda, int* pivots, T* work, int size, int* info);
  cusolverStatus_t (*orgqr_buffer)(Solver, int m, int n, int k, const T* a, int lda, const T* tau, int* size);
  cusolverStatus_t (*orgqr)(Solver, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size, int* info);
  cusolverStatus_t (*gesvdj_buffer)(Solver, cusolverEigMode_t, int econ, int m, int n, const T* a, int lda, const R* s,
                                    const T* u, int ldu, const T* v, int ldv, int* size, gesvdjInfo_t);
  cusolverStatus_t (*gesvdj)(Solver, cusolverEigMode_t, int econ, int m, int n, T* a, int lda, R* s, T* u, int ldu,
                             T* v, int ldv, T* work, int size, int* info, gesvdjInfo_t);
  cusolverStatus_t (*gesvdj_batched_buffer)(Solver, cusolverEigMode_t, int m, int n, const T* a, int lda, const R* s,
                                            const T* u, int ldu, const T* v, int ldv, int* size, gesvdjInfo_t,
                                            int batch);
  cusolverStatus_t (*gesvdj_batched)(Solver, cusolverEigMode_t, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* v,
                                     int ldv, T* work, int size, int* info, gesvdjInfo_t, int batch);

  cublasStatus_t (*getrf_batched)(Blas, int n, T* const a[], int lda, int* pivots, int* info, int batch);
  cublasStatus_t (*getrs_batched)(Blas, cublasOperation_t, int n, int columns, const T* const a[], int lda,
                                  const int* pivots, T* const b[], int ldb, int* info, int batch);
  cublasStatus_t (*geqrf_batched)(Blas, int m, int n, T* const a[], int lda, T* const tau[], int* info, int batch);
  cublasStatus_t (*trsm)(Blas, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int m, int n,
                         const T* alpha, const T* a, int lda, T* b, int ldb);
  cublasStatus_t (*trsm_batched)(Blas, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int m,
                                 int n, const T* alpha, const T* const a[], int lda, T* const b[], int ldb, int batch);
};

struct SolverLibrary {
  decltype(&cusolverDnCreate) create;
  decltype(&cusolverDnSetStream) set_stream;
  decltype(&cusolverDnSetDeterministicMode) set_deterministic_mode;
  decltype(&cusolverDnCreateParams) create_params;
  decltype(&cusolverDnCreateGesvdjInfo) create_gesvdj_info;
  decltype(&cusolverDnXgesvdjSetTolerance) set_gesvdj_tolerance;
  decltype(&cusolverDnXpotrf_bufferSize) potrf_buffer;
  decltype(&cusolverDnXpotrf) potrf;
  decltype(&cusolverDnXsytrs_bufferSize) sytrs_buffer;
  decltype(&cusolverDnXsytrs) sytrs;
  decltype(&cusolverDnXgeqrf_bufferSize) geqrf_buffer;
  decltype(&cusolverDnXgeqrf) geqrf;
  decltype(&cusolverDnXsyevd_bufferSize) syevd_buffer;
  decltype(&cusolverDnXsyevd) syevd;
  decltype(&cusolverDnXsyevBatched_bufferSize) syev_batched_buffer;
  decltype(&cusolverDnXsyevBatched) syev_batched;
  decltype(&cusolverDnXgeev_bufferSize) geev_buffer;
  decltype(&cusolverDnXgeev) geev;
  decltype(&cublasGetStatusString) get_blas_status_string;
  decltype(&cublasCreate_v2) create_blas;
  decltype(&cublasSetStream_v2) set_blas_stream;
  decltype(&cublasSetWorkspace_v2) set_blas_workspace;

  SolverOf<float> of_float;
  SolverOf<double> of_double;
  SolverOf<cuComplex> of_complex_float;
  SolverOf<cuDoubleComplex> of_complex_double;

  template <class T>
  const SolverOf<T>& of() const {
    if constexpr (std::is_same_v<T, float>)
      return of_float;
    else if constexpr (std::is_same_v<T, double>)
      return of_double;
    else if constexpr (std::is_same_v<T, cuComplex>)
      return of_complex_float;
    else
      return of_complex_double;
  }
};

// Where the build found them.
const char* cusolver_path();
const char* cublas_path();

// Null if one of them, or a function, is not there.  Looked for where the system looks for libraries, then where the
// build found it.
const SolverLibrary* find_cusolver();

}  // namespace argand::cuda
