// Eigenvalues and singular values by cuSOLVER.
#include <algorithm>

#include "argand/kernels/cuda/linalg_calls.h"

namespace argand::cuda {
namespace {

cusolverEigMode_t mode(bool vectors) { return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR; }

// ---- Hermitian matrices

// One matrix after the other, or `together` at once if that is above 1.
struct Syevd {
  SolverHandle* handle;
  int64_t type, upper, vectors, n, batch, together;
  void *a, *values, *work;
  size_t work_bytes, host_bytes;
  int32_t* info;

  ScalarType scalar() const { return static_cast<ScalarType>(type); }
  cublasFillMode_t fill() const { return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER; }
  SolverSpace space(const SolverHandle::Lock& h) const {
    const cudaDataType_t element = cuda_type(scalar()), real = cuda_type(to_real_type(scalar()));
    SolverSpace s;
    if (together > 1)
      ARGAND_CUSOLVER(h.api().syev_batched_buffer(h.solver(), h.params(), mode(vectors), fill(), n, element, a, n, real,
                                                  values, element, &s.device, &s.host, together));
    else
      ARGAND_CUSOLVER(h.api().syevd_buffer(h.solver(), h.params(), mode(vectors), fill(), n, element, a, n, real,
                                           values, element, &s.device, &s.host));
    return s;
  }
  void run(const SolverHandle::Lock& h) const {
    const cudaDataType_t element = cuda_type(scalar()), real = cuda_type(to_real_type(scalar()));
    const int64_t matrix = n * n * element_size(scalar()), row = n * element_size(to_real_type(scalar()));
    std::vector<char> host(host_bytes);
    for (int64_t b = 0; b < batch; b += together) {
      void *from = at(a, matrix, b), *to = at(values, row, b);
      if (together > 1)
        ARGAND_CUSOLVER(h.api().syev_batched(h.solver(), h.params(), mode(vectors), fill(), n, element, from, n, real,
                                             to, element, work, work_bytes, host.data(), host.size(), info + b,
                                             std::min(together, batch - b)));
      else
        ARGAND_CUSOLVER(h.api().syevd(h.solver(), h.params(), mode(vectors), fill(), n, element, from, n, real, to,
                                      element, work, work_bytes, host.data(), host.size(), info + b));
    }
  }
};

constexpr size_t kMostWorkBytes = size_t{1} << 30;  // of one call for a batch

void decompose_hermitian(const HermitianCall& c) {
  if (c.n == 0 || c.batch == 0) return fill_bytes(c.info, 0, static_cast<size_t>(c.batch) * sizeof *c.info);
  if (!calls_libraries()) return;
  size_for_library(c.n);
  Syevd call{&current_solver(),
             static_cast<int64_t>(c.type),
             c.upper,
             c.vectors,
             c.n,
             c.batch,
             in_one_batch(c.n, c.batch) ? c.batch : 1,
             c.a,
             c.values,
             nullptr,
             0,
             0,
             c.info};
  SolverSpace space = space_of(call);
  while (call.together > 1 && space.device > kMostWorkBytes) {
    call.together = (call.together + 1) / 2;
    space = space_of(call);
  }
  put_with_space(call, space);
}

// ---- singular values

template <class T>
struct Gesvdj {
  using R = typename SolverOf<T>::R;
  SolverHandle* handle;
  int64_t m, n, width, batch, vectors;
  T* a;
  R* s;
  T *u, *v, *work;
  int64_t size;
  int32_t* info;

  gesvdjInfo_t jacobi(const SolverHandle::Lock& h) const { return h.jacobi(std::is_same_v<R, double>); }
  bool is_thin() const { return width < m; }
  int find_size(const SolverHandle::Lock& h) const {
    const int rows = static_cast<int>(m), columns = static_cast<int>(n);
    int found = 0;
    ARGAND_CUSOLVER(h.api().of<T>().gesvdj_buffer(h.solver(), mode(vectors), is_thin(), rows, columns, a, rows, s, u,
                                                  rows, v, columns, &found, jacobi(h)));
    return found;
  }
  void run(const SolverHandle::Lock& h) const {
    const int rows = static_cast<int>(m), columns = static_cast<int>(n);
    for (int64_t b = 0; b < batch; ++b) {
      T* const left = vectors ? at(u, m * width, b) : u;
      T* const right = vectors ? at(v, n * n, b) : v;
      ARGAND_CUSOLVER(h.api().of<T>().gesvdj(h.solver(), mode(vectors), is_thin(), rows, columns, at(a, m * n, b), rows,
                                             at(s, n, b), left, rows, right, columns, work, static_cast<int>(size),
                                             info + b, jacobi(h)));
    }
  }
};

// At most 32 rows, and always whole matrices U.
template <class T>
struct GesvdjBatched {
  using R = typename SolverOf<T>::R;
  SolverHandle* handle;
  int64_t m, n, batch, vectors;
  T* a;
  R* s;
  T *u, *v, *work;
  int64_t size;
  int32_t* info;

  gesvdjInfo_t jacobi(const SolverHandle::Lock& h) const { return h.jacobi(std::is_same_v<R, double>); }
  int find_size(const SolverHandle::Lock& h) const {
    const int rows = static_cast<int>(m), columns = static_cast<int>(n);
    int found = 0;
    ARGAND_CUSOLVER(h.api().of<T>().gesvdj_batched_buffer(h.solver(), mode(vectors), rows, columns, a, rows, s, u, rows,
                                                          v, columns, &found, jacobi(h), static_cast<int>(batch)));
    return found;
  }
  void run(const SolverHandle::Lock& h) const {
    const int rows = static_cast<int>(m), columns = static_cast<int>(n);
    ARGAND_CUSOLVER(h.api().of<T>().gesvdj_batched(h.solver(), mode(vectors), rows, columns, a, rows, s, u, rows, v,
                                                   columns, work, static_cast<int>(size), info, jacobi(h),
                                                   static_cast<int>(batch)));
  }
};
constexpr int64_t kMostTogether = 32;  // rows

template <class Call>
void put_jacobi(Call call) {
  call.size = call.find_size(SolverHandle::Lock(*call.handle, current_stream()));
  const Scratch work(static_cast<size_t>(call.size) * sizeof *call.work);
  call.work = static_cast<decltype(call.work)>(work.data());
  put_solver_call(call);
}

// The library writes U and V even if it is told that nobody wants them.
template <class T>
void decompose_together(const SingularCall& c) {
  using R = typename SolverOf<T>::R;
  const size_t whole = static_cast<size_t>(c.m * c.m) * sizeof(T),
               taken = static_cast<size_t>(c.m * c.width) * sizeof(T), batch = static_cast<size_t>(c.batch);
  const bool vectors = c.u != nullptr;
  const Scratch u(!vectors || c.width < c.m ? whole * batch : 0);
  const Scratch v(vectors ? 0 : static_cast<size_t>(c.n * c.n) * sizeof(T) * batch);
  put_jacobi(GesvdjBatched<T>{&current_solver(), c.m, c.n, c.batch, vectors, static_cast<T*>(c.a), static_cast<R*>(c.s),
                              u.data() ? u.as<T>() : static_cast<T*>(c.u), v.data() ? v.as<T>() : static_cast<T*>(c.v),
                              nullptr, 0, c.info});
  if (!vectors || !u.data()) return;
  // The first `width` columns of each U.
  const Piece columns{
      c.u, u.data(), c.batch, static_cast<int64_t>(taken), static_cast<int64_t>(taken), static_cast<int64_t>(whole)};
  blocks::copy_pieces.of(kCUDA)(&columns, 1);
}

template <class T>
void decompose_each(const SingularCall& c) {
  using R = typename SolverOf<T>::R;
  const bool vectors = c.u != nullptr;
  const Scratch u(vectors ? 0 : static_cast<size_t>(c.m * c.width) * sizeof(T));  // of one matrix after the other
  const Scratch v(vectors ? 0 : static_cast<size_t>(c.n * c.n) * sizeof(T));
  put_jacobi(Gesvdj<T>{&current_solver(), c.m, c.n, c.width, c.batch, vectors, static_cast<T*>(c.a),
                       static_cast<R*>(c.s), vectors ? static_cast<T*>(c.u) : u.as<T>(),
                       vectors ? static_cast<T*>(c.v) : v.as<T>(), nullptr, 0, c.info});
}

void decompose_singular(const SingularCall& c) {
  if (c.n == 0 || c.batch == 0) {
    fill_bytes(c.info, 0, static_cast<size_t>(c.batch) * sizeof *c.info);
    // Without columns every U will do; the reflections are none.
    if (c.u && c.m * c.width * c.batch > 0)
      blocks::reflections_product.of(kCUDA)({c.type, c.m, c.width, 0, c.batch, c.u, nullptr});
    return;
  }
  if (!calls_libraries()) return;
  size_for_library(c.m);
  with_element(c.type, [&](auto element) {
    if (c.batch > 1 && c.m <= kMostTogether) {
      size_for_library(c.batch);
      decompose_together<decltype(element)>(c);
    } else {
      decompose_each<decltype(element)>(c);
    }
  });
}

// ---- any matrices

struct Geev {
  SolverHandle* handle;
  int64_t type, n, batch;
  void *a, *values, *vectors, *work;
  size_t work_bytes, host_bytes;
  int32_t* info;

  ScalarType scalar() const { return static_cast<ScalarType>(type); }
  SolverSpace space(const SolverHandle::Lock& h) const {
    const cudaDataType_t element = cuda_type(scalar()), value = cuda_type(to_complex_type(scalar()));
    SolverSpace s;
    ARGAND_CUSOLVER(h.api().geev_buffer(h.solver(), h.params(), CUSOLVER_EIG_MODE_NOVECTOR, mode(vectors != nullptr), n,
                                        element, a, n, value, values, element, nullptr, n, element, vectors, n, element,
                                        &s.device, &s.host));
    return s;
  }
  void run(const SolverHandle::Lock& h) const {
    const cudaDataType_t element = cuda_type(scalar()), value = cuda_type(to_complex_type(scalar()));
    const int64_t matrix = n * n * element_size(scalar()), row = n * element_size(to_complex_type(scalar()));
    std::vector<char> host(host_bytes);
    for (int64_t b = 0; b < batch; ++b)
      ARGAND_CUSOLVER(h.api().geev(h.solver(), h.params(), CUSOLVER_EIG_MODE_NOVECTOR, mode(vectors != nullptr), n,
                                   element, at(a, matrix, b), n, value, at(values, row, b), element, nullptr, n,
                                   element, vectors ? at(vectors, matrix, b) : nullptr, n, element, work, work_bytes,
                                   host.data(), host.size(), info + b));
  }
};

void decompose_general(const GeneralCall& c) {
  if (c.n == 0 || c.batch == 0) return fill_bytes(c.info, 0, static_cast<size_t>(c.batch) * sizeof *c.info);
  if (!calls_libraries()) return;
  // The library works on the host for a good part, and takes one matrix after the other.
  if (c.n <= 64 && c.batch > 8) throw NotOnDevice("large batches of small general matrices");
  size_for_library(c.n);
  const Geev call{
      &current_solver(), static_cast<int64_t>(c.type), c.n, c.batch, c.a, c.values, c.vectors, nullptr, 0, 0, c.info};
  put_with_space(call, space_of(call));
}

const bool registered = (blocks::decompose_hermitian.set(kCUDA, decompose_hermitian),
                         blocks::decompose_singular.set(kCUDA, decompose_singular),
                         blocks::decompose_general.set(kCUDA, decompose_general), true);

}  // namespace
}  // namespace argand::cuda
