#include "argand/runtime/cuda/cusolver_library.h"

#include <initializer_list>
#include <string>

#include "argand/base/str.h"
#include "argand/runtime/cuda/dynamic_library.h"

#ifndef ARGAND_CUSOLVER_PATH
#define ARGAND_CUSOLVER_PATH ""
#endif
#ifndef ARGAND_CUBLAS_PATH
#define ARGAND_CUBLAS_PATH ""
#endif

namespace argand::cuda {

const char* cusolver_path() { return ARGAND_CUSOLVER_PATH; }
const char* cublas_path() { return ARGAND_CUBLAS_PATH; }

namespace {

// The types above are those of the libraries' headers.
#define ARGAND_CHECK_TYPE(T, member, function) \
  static_assert(std::is_same_v<decltype(SolverOf<T>::member), decltype(&function)>)
#define ARGAND_CHECK_TYPES(T, L, orthogonal)                                            \
  ARGAND_CHECK_TYPE(T, potrf_batched, cusolverDn##L##potrfBatched);                     \
  ARGAND_CHECK_TYPE(T, getrf_buffer, cusolverDn##L##getrf_bufferSize);                  \
  ARGAND_CHECK_TYPE(T, getrf, cusolverDn##L##getrf);                                    \
  ARGAND_CHECK_TYPE(T, getrs, cusolverDn##L##getrs);                                    \
  ARGAND_CHECK_TYPE(T, sytrf_buffer, cusolverDn##L##sytrf_bufferSize);                  \
  ARGAND_CHECK_TYPE(T, sytrf, cusolverDn##L##sytrf);                                    \
  ARGAND_CHECK_TYPE(T, orgqr_buffer, cusolverDn##L##orthogonal##_bufferSize);           \
  ARGAND_CHECK_TYPE(T, orgqr, cusolverDn##L##orthogonal);                               \
  ARGAND_CHECK_TYPE(T, gesvdj_buffer, cusolverDn##L##gesvdj_bufferSize);                \
  ARGAND_CHECK_TYPE(T, gesvdj, cusolverDn##L##gesvdj);                                  \
  ARGAND_CHECK_TYPE(T, gesvdj_batched_buffer, cusolverDn##L##gesvdjBatched_bufferSize); \
  ARGAND_CHECK_TYPE(T, gesvdj_batched, cusolverDn##L##gesvdjBatched);                   \
  ARGAND_CHECK_TYPE(T, getrf_batched, cublas##L##getrfBatched);                         \
  ARGAND_CHECK_TYPE(T, getrs_batched, cublas##L##getrsBatched);                         \
  ARGAND_CHECK_TYPE(T, geqrf_batched, cublas##L##geqrfBatched);                         \
  ARGAND_CHECK_TYPE(T, trsm, cublas##L##trsm_v2);                                       \
  ARGAND_CHECK_TYPE(T, trsm_batched, cublas##L##trsmBatched)
ARGAND_CHECK_TYPES(float, S, orgqr);
ARGAND_CHECK_TYPES(double, D, orgqr);
ARGAND_CHECK_TYPES(cuComplex, C, ungqr);
ARGAND_CHECK_TYPES(cuDoubleComplex, Z, ungqr);
#undef ARGAND_CHECK_TYPES
#undef ARGAND_CHECK_TYPE

bool all(std::initializer_list<bool> found) {
  for (const bool is_there : found)
    if (!is_there) return false;
  return true;
}

template <class T>
bool find(SolverOf<T>& to, const char* letter, const char* orthogonal, const DynamicLibrary& solver,
          const DynamicLibrary& blas) {
  const auto of_solver = [&](auto& function, const char* name, const char* suffix = "") {
    return solver.find(function, str("cusolverDn", letter, name, suffix).c_str());
  };
  const auto of_blas = [&](auto& function, const char* name) {
    return blas.find(function, str("cublas", letter, name).c_str());
  };
  return all({of_solver(to.potrf_batched, "potrfBatched"), of_solver(to.getrf_buffer, "getrf_bufferSize"),
              of_solver(to.getrf, "getrf"), of_solver(to.getrs, "getrs"),
              of_solver(to.sytrf_buffer, "sytrf_bufferSize"), of_solver(to.sytrf, "sytrf"),
              of_solver(to.orgqr_buffer, orthogonal, "_bufferSize"), of_solver(to.orgqr, orthogonal),
              of_solver(to.gesvdj_buffer, "gesvdj_bufferSize"), of_solver(to.gesvdj, "gesvdj"),
              of_solver(to.gesvdj_batched_buffer, "gesvdjBatched_bufferSize"),
              of_solver(to.gesvdj_batched, "gesvdjBatched"), of_blas(to.getrf_batched, "getrfBatched"),
              of_blas(to.getrs_batched, "getrsBatched"), of_blas(to.geqrf_batched, "geqrfBatched"),
              of_blas(to.trsm, "trsm_v2"), of_blas(to.trsm_batched, "trsmBatched")});
}

const SolverLibrary* load() {
  const DynamicLibrary solver(str("libcusolver.so.", CUSOLVER_VER_MAJOR), cusolver_path());
  const DynamicLibrary blas(str("libcublas.so.", CUBLAS_VER_MAJOR), cublas_path());
  auto* to = new SolverLibrary;
  const bool complete = all({solver.find(to->create, "cusolverDnCreate"),
                             solver.find(to->set_stream, "cusolverDnSetStream"),
                             solver.find(to->set_deterministic_mode, "cusolverDnSetDeterministicMode"),
                             solver.find(to->create_params, "cusolverDnCreateParams"),
                             solver.find(to->create_gesvdj_info, "cusolverDnCreateGesvdjInfo"),
                             solver.find(to->set_gesvdj_tolerance, "cusolverDnXgesvdjSetTolerance"),
                             solver.find(to->potrf_buffer, "cusolverDnXpotrf_bufferSize"),
                             solver.find(to->potrf, "cusolverDnXpotrf"),
                             solver.find(to->sytrs_buffer, "cusolverDnXsytrs_bufferSize"),
                             solver.find(to->sytrs, "cusolverDnXsytrs"),
                             solver.find(to->geqrf_buffer, "cusolverDnXgeqrf_bufferSize"),
                             solver.find(to->geqrf, "cusolverDnXgeqrf"),
                             solver.find(to->syevd_buffer, "cusolverDnXsyevd_bufferSize"),
                             solver.find(to->syevd, "cusolverDnXsyevd"),
                             solver.find(to->syev_batched_buffer, "cusolverDnXsyevBatched_bufferSize"),
                             solver.find(to->syev_batched, "cusolverDnXsyevBatched"),
                             solver.find(to->geev_buffer, "cusolverDnXgeev_bufferSize"),
                             solver.find(to->geev, "cusolverDnXgeev"),
                             blas.find(to->get_blas_status_string, "cublasGetStatusString"),
                             blas.find(to->create_blas, "cublasCreate_v2"),
                             blas.find(to->set_blas_stream, "cublasSetStream_v2"),
                             blas.find(to->set_blas_workspace, "cublasSetWorkspace_v2"),
                             find(to->of_float, "S", "orgqr", solver, blas),
                             find(to->of_double, "D", "orgqr", solver, blas),
                             find(to->of_complex_float, "C", "ungqr", solver, blas),
                             find(to->of_complex_double, "Z", "ungqr", solver, blas)});
  if (complete) return to;
  delete to;
  return nullptr;
}

}  // namespace

const SolverLibrary* find_cusolver() {
  static const SolverLibrary* const library = load();
  return library;
}

}  // namespace argand::cuda
