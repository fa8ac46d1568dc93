// Decompositions into L D L^T: by cuSOLVER, and by own kernels for complex Hermitian matrices, which it does not take.
#include "argand/kernels/cuda/code_type.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/linalg_calls.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/linalg_ldl.cuh";
constexpr unsigned kThreads = 256;

bool by_kernels(ScalarType type, bool hermitian) { return hermitian && is_complex(type); }

template <class T>
struct Sytrf {
  SolverHandle* handle;
  int64_t n, batch, size;
  T *a, *work;
  int32_t *pivots, *info;

  void run(const SolverHandle::Lock& h) const {
    const int rows = static_cast<int>(n);
    for (int64_t b = 0; b < batch; ++b)
      ARGAND_CUSOLVER(h.api().of<T>().sytrf(h.solver(), CUBLAS_FILL_MODE_LOWER, rows, at(a, n * n, b), rows,
                                            at(pivots, n, b), work, static_cast<int>(size), info + b));
  }
};

void factor_ldl(const LdlCall& c) {
  if (c.n == 0 || c.batch == 0) return fill_bytes(c.info, 0, static_cast<size_t>(c.batch) * sizeof *c.info);
  if (by_kernels(c.type, c.hermitian)) {
    launch(kernel_instance(kHeader, "factor_hermitian", code_type(c.type)), {blocks_for(c.batch, 1), kThreads}, c.a,
           c.pivots, c.info, c.n);
    return;
  }
  if (!calls_libraries()) return;
  const int n = size_for_library(c.n);
  with_element(c.type, [&](auto element) {
    using T = decltype(element);
    SolverHandle& handle = current_solver();
    int size = 0;
    {
      const SolverHandle::Lock h(handle, current_stream());
      ARGAND_CUSOLVER(h.api().of<T>().sytrf_buffer(h.solver(), n, static_cast<T*>(c.a), n, &size));
    }
    const Scratch work(static_cast<size_t>(size) * sizeof(T));
    put_solver_call(Sytrf<T>{&handle, c.n, c.batch, size, static_cast<T*>(c.a), work.as<T>(), c.pivots, c.info});
  });
}

struct Sytrs {
  SolverHandle* handle;
  int64_t type, n, columns, batch;
  const void* ld;
  const int64_t* pivots;
  void *b, *work;
  size_t work_bytes, host_bytes;
  int32_t* info;  // always 0 for valid arguments

  cudaDataType_t element() const { return cuda_type(static_cast<ScalarType>(type)); }
  SolverSpace space(const SolverHandle::Lock& h) const {
    SolverSpace s;
    ARGAND_CUSOLVER(h.api().sytrs_buffer(h.solver(), CUBLAS_FILL_MODE_LOWER, n, columns, element(), ld, n, pivots,
                                         element(), b, n, &s.device, &s.host));
    return s;
  }
  void run(const SolverHandle::Lock& h) const {
    std::vector<char> host(host_bytes);
    const int64_t bytes = element_size(static_cast<ScalarType>(type));
    for (int64_t i = 0; i < batch; ++i)
      ARGAND_CUSOLVER(h.api().sytrs(h.solver(), CUBLAS_FILL_MODE_LOWER, n, columns, element(),
                                    static_cast<const char*>(ld) + n * n * bytes * i, n, at(pivots, n, i), element(),
                                    at(b, n * columns * bytes, i), n, work, work_bytes, host.data(), host.size(),
                                    info));
  }
};

void solve_ldl(const LdlSolveCall& c) {
  if (c.n == 0 || c.columns == 0 || c.batch == 0) return;
  if (by_kernels(c.type, c.hermitian)) {
    const int64_t columns = c.columns * c.batch;
    launch(kernel_instance(kHeader, "solve_hermitian", code_type(c.type)), {blocks_for(columns, kThreads), kThreads},
           c.ld, c.pivots, c.b, c.n, c.columns, columns);
    return;
  }
  if (!calls_libraries()) return;
  size_for_library(c.n);
  size_for_library(c.columns);
  const int64_t count = c.n * c.batch;
  const Scratch info(sizeof(int32_t)), pivots(static_cast<size_t>(count) * sizeof(int64_t));
  launch(kernel(kHeader, "widen_pivots"), {blocks_for(count, kThreads), kThreads}, c.pivots, pivots.as<int64_t>(),
         count);
  const Sytrs call{&current_solver(),
                   static_cast<int64_t>(c.type),
                   c.n,
                   c.columns,
                   c.batch,
                   c.ld,
                   pivots.as<int64_t>(),
                   c.b,
                   nullptr,
                   0,
                   0,
                   info.as<int32_t>()};
  put_with_space(call, space_of(call));
}

const bool registered = (blocks::factor_ldl.set(kCUDA, factor_ldl), blocks::solve_ldl.set(kCUDA, solve_ldl), true);

}  // namespace
}  // namespace argand::cuda
