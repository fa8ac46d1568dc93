// at::parallel_for and parallel_reduce over the library's threads.
#pragma once
#include <algorithm>
#include <memory>

#include "argand/base/error.h"
#include "argand/base/ignored.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "c10/namespaces.h"

namespace at {

namespace internal {
inline constexpr int64_t GRAIN_SIZE = 32768;
inline void lazy_init_num_threads() {}
}  // namespace internal

// The one thread pool starts by itself.
inline void init_num_threads() {}
inline void set_num_interop_threads(int nthreads) {
  ARGAND_CHECK(ValueError, nthreads > 0, "set_num_interop_threads: expected a positive number of threads, got ",
               nthreads);
  if (nthreads != 1)
    argand::warn_ignored("at::set_num_interop_threads", "nthreads",
                         "there is one pool of threads, see set_num_threads()");
}
inline int get_num_interop_threads() { return 1; }

inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }

// The results of f(begin, end, ident) over chunks of `grain_size` elements, joined by `join` from the first to the
// last: the same bits for any number of threads.
template <class T, class F, class Join>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, T ident, const F& f, const Join& join) {
  if (begin >= end) return ident;
  const int64_t grain = std::max<int64_t>(grain_size, 1), chunks = divup(end - begin, grain);
  if (chunks == 1) return f(begin, end, ident);
  const std::unique_ptr<T[]> results(new T[static_cast<size_t>(chunks)]);
  parallel_for(begin, end, grain, [&](int64_t b, int64_t e) { results[(b - begin) / grain] = f(b, e, ident); });
  T result = ident;
  for (int64_t i = 0; i < chunks; ++i) result = join(result, results[i]);
  return result;
}

}  // namespace at
