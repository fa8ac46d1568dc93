#include "argand/kernels/cpu/search.h"

#include "argand/core/dispatch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

template <bool kRight, class T>
int64_t place_in(const T* row, int64_t n, const int64_t* order, T value) {
  using A = op_math_t<T>;
  int64_t begin = 0, end = n;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    const A x = static_cast<A>(row[order ? order[middle] : middle]), v = static_cast<A>(value);
    if (kRight ? x > v : x >= v)
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

}  // namespace

void search_sorted(const SearchCall& c) {
  dispatch<kRealTypes>(c.type, "searchsorted", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *rows = static_cast<const T*>(c.rows), *values = static_cast<const T*>(c.values);
    parallel_for(0, c.count, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t start = i / c.per_row * c.n;
        const int64_t* order = c.order ? c.order + start : nullptr;
        const int64_t at = c.right ? place_in<true>(rows + start, c.n, order, values[i])
                                   : place_in<false>(rows + start, c.n, order, values[i]);
        if (c.out_int32)
          static_cast<int32_t*>(c.out)[i] = static_cast<int32_t>(at);
        else
          static_cast<int64_t*>(c.out)[i] = at;
      }
    });
  });
}

}  // namespace argand::cpu
