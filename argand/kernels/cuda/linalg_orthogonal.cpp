// QR by cuSOLVER and cuBLAS.
#include <algorithm>

#include "argand/kernels/cuda/code_type.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/linalg_calls.h"

namespace argand::cuda {
namespace {

struct Geqrf {
  SolverHandle* handle;
  int64_t type, m, n, batch;
  void *a, *tau, *work;
  size_t work_bytes, host_bytes;
  int32_t* info;  // always 0 for valid arguments

  cudaDataType_t element() const { return cuda_type(static_cast<ScalarType>(type)); }
  SolverSpace space(const SolverHandle::Lock& h) const {
    SolverSpace s;
    ARGAND_CUSOLVER(h.api().geqrf_buffer(h.solver(), h.params(), m, n, element(), a, m, element(), tau, element(),
                                         &s.device, &s.host));
    return s;
  }
  void run(const SolverHandle::Lock& h) const {
    std::vector<char> host(host_bytes);
    const int64_t bytes = element_size(static_cast<ScalarType>(type));
    for (int64_t b = 0; b < batch; ++b)
      ARGAND_CUSOLVER(h.api().geqrf(h.solver(), h.params(), m, n, element(), at(a, m * n * bytes, b), m, element(),
                                    at(tau, std::min(m, n) * bytes, b), element(), work, work_bytes, host.data(),
                                    host.size(), info));
  }
};

template <class T>
struct GeqrfBatched {
  SolverHandle* handle;
  int64_t m, n, batch;
  T *const *a, *const *tau;
  void* blas_workspace;

  void run(const SolverHandle::Lock& h) const {
    int info = 0;  // of the host: whether an argument is invalid
    ARGAND_CUBLAS(h.api().of<T>().geqrf_batched(h.blas(blas_workspace), static_cast<int>(m), static_cast<int>(n), a,
                                                static_cast<int>(m), tau, &info, static_cast<int>(batch)));
  }
};

void factor_qr(const QrCall& c) {
  if (c.m == 0 || c.n == 0 || c.batch == 0) return;
  if (!calls_libraries()) return;
  size_for_library(c.m);
  size_for_library(c.n);
  if (in_one_batch(std::max(c.m, c.n), c.batch)) {
    size_for_library(c.batch);
    with_element(c.type, [&](auto element) {
      using T = decltype(element);
      const int64_t bytes = element_size(c.type);
      const Addresses a(c.a, c.m * c.n * bytes, c.batch), tau(c.tau, std::min(c.m, c.n) * bytes, c.batch);
      const Scratch workspace(kBlasWorkspaceBytes);
      put_blas_call(GeqrfBatched<T>{&current_blas(), c.m, c.n, c.batch, a.as<T*>(), tau.as<T*>(), workspace.data()},
                    true);
    });
    return;
  }
  const Scratch info(sizeof(int32_t));
  const Geqrf call{&current_solver(), static_cast<int64_t>(c.type), c.m, c.n, c.batch, c.a, c.tau, nullptr, 0, 0,
                   info.as<int32_t>()};
  put_with_space(call, space_of(call));
}

// ---- the product of reflections

template <class T>
struct Orgqr {
  SolverHandle* handle;
  int64_t m, columns, count, batch;
  T* a;
  const T* tau;
  T* work;
  int64_t size;
  int32_t* info;  // always 0 for valid arguments

  void run(const SolverHandle::Lock& h) const {
    for (int64_t b = 0; b < batch; ++b)
      ARGAND_CUSOLVER(h.api().of<T>().orgqr(h.solver(), static_cast<int>(m), static_cast<int>(columns),
                                            static_cast<int>(count), at(a, m * columns, b), static_cast<int>(m),
                                            at(tau, count, b), work, static_cast<int>(size), info));
  }
};

void product_by_library(const ReflectionsCall& c) {
  if (!calls_libraries()) return;
  const int m = size_for_library(c.m), columns = size_for_library(c.columns), count = size_for_library(c.count);
  SolverHandle& handle = current_solver();
  with_element(c.type, [&](auto element) {
    using T = decltype(element);
    T* a = static_cast<T*>(c.a);
    const T* tau = static_cast<const T*>(c.tau);
    int size = 0;
    {
      const SolverHandle::Lock h(handle, current_stream());
      ARGAND_CUSOLVER(h.api().of<T>().orgqr_buffer(h.solver(), m, columns, count, a, m, tau, &size));
    }
    const Scratch work(static_cast<size_t>(size) * sizeof(T)), info(sizeof(int32_t));
    put_solver_call(
        Orgqr<T>{&handle, c.m, c.columns, c.count, c.batch, a, tau, work.as<T>(), size, info.as<int32_t>()});
  });
}

// cuSOLVER has no routine for batches.
void product_by_columns(const ReflectionsCall& c) {
  constexpr int kThreads = 128;
  const int64_t total = c.batch * c.columns;
  const int64_t nbytes = total * c.m * element_size(c.type);
  const Scratch vectors(nbytes);
  const Piece copy{vectors.data(), c.a, 1, nbytes, nbytes, nbytes};
  blocks::copy_pieces.of(kCUDA)(&copy, 1);
  launch(kernel_instance("argand/kernels/cuda/linalg.cuh", "reflections_product", code_type(c.type)),
         {blocks_for(total, kThreads), kThreads}, static_cast<const void*>(vectors.data()), c.tau, c.a, c.m, c.columns,
         c.count, total);
}

constexpr int64_t kMostAlone = 64;  // rows, for which a thread per column is quicker than the CPU

void reflections_product(const ReflectionsCall& c) {
  if (c.m == 0 || c.columns == 0 || c.batch == 0) return;
  if (c.count == 0 || in_one_batch(c.m, c.batch) || (c.m <= kMostAlone && !has_cusolver()))
    product_by_columns(c);
  else
    product_by_library(c);
}

const bool registered =
    (blocks::factor_qr.set(kCUDA, factor_qr), blocks::reflections_product.set(kCUDA, reflections_product), true);

}  // namespace
}  // namespace argand::cuda
