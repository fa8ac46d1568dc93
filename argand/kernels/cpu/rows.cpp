#include "argand/kernels/cpu/rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/runs.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;  // elements

int64_t grain_for(int64_t inner) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(inner, 1)); }

template <class T, class Sum>
void add_one(T* to, const T* from, int64_t n, Sum) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(static_cast<Sum>(to[i]) + static_cast<Sum>(from[i]));
}

// The order of additions is that of GPUs (kernels/cuda/combine_rows.cuh): positions, sorted by row, are cut into pieces
// of kPiece, and a row that lies in several pieces is the sum of theirs, so that the error of a long sum stays small.
constexpr int64_t kPiece = 32;
bool in_one_piece(int64_t first, int64_t last) { return first / kPiece == (last - 1) / kPiece; }
int64_t piece_end(int64_t k, int64_t last) { return std::min(last, (k / kPiece + 1) * kPiece); }

// Positions k of `index` grouped by their row, in order: those of rows[i] are order[starts[i]] ... order[starts[i + 1]
// - 1].  Rows that no position names are left out, and take no memory: there can be far more rows than positions.
struct RowGroups {
  RowGroups(const int64_t* index, int64_t n, int64_t num_rows) : order(static_cast<size_t>(n)) {
    if (n < num_rows / 8)
      sort(index);
    else
      count(index, num_rows);
  }
  std::vector<int64_t> rows, starts, order;

 private:
  void sort(const int64_t* index) {
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return index[a] < index[b]; });
    for (size_t i = 0; i < order.size(); ++i) {
      const int64_t row = index[order[i]];
      if (!rows.empty() && rows.back() == row) continue;
      rows.push_back(row);
      starts.push_back(static_cast<int64_t>(i));
    }
    starts.push_back(static_cast<int64_t>(order.size()));
  }
  void count(const int64_t* index, int64_t num_rows) {
    const auto n = static_cast<int64_t>(order.size());
    std::vector<int64_t> next(static_cast<size_t>(num_rows), 0);
    for (int64_t k = 0; k < n; ++k) ++next[static_cast<size_t>(index[k])];
    int64_t start = 0;
    for (int64_t r = 0; r < num_rows; ++r) {
      int64_t& number = next[static_cast<size_t>(r)];
      if (number == 0) continue;
      rows.push_back(r);
      starts.push_back(start);
      start += std::exchange(number, start);
    }
    starts.push_back(start);
    for (int64_t k = 0; k < n; ++k) order[static_cast<size_t>(next[static_cast<size_t>(index[k])]++)] = k;
  }
};

template <class T>
void add_elements(T& to, const T* from, const int64_t* order, int64_t first, int64_t last) {
  using Sum = op_math_t<T>;
  auto sum = static_cast<Sum>(to);
  if (in_one_piece(first, last)) {
    for (int64_t k = first; k < last; ++k) sum = static_cast<Sum>(sum + static_cast<Sum>(from[order[k]]));
  } else {
    for (int64_t k = first; k < last;) {
      Sum part(0);
      for (const int64_t end = piece_end(k, last); k < end; ++k)
        part = static_cast<Sum>(part + static_cast<Sum>(from[order[k]]));
      sum = static_cast<Sum>(sum + part);
    }
  }
  to = static_cast<T>(sum);
}

// All rows that one number names, order[first] ... order[last - 1], added up before the sum is rounded to T.
template <class T>
void add_group(T* to, const T* from, int64_t inner, const int64_t* order, int64_t first, int64_t last) {
  using Sum = op_math_t<T>;
  if (inner == 1) return add_elements(*to, from, order, first, last);
  const bool short_sum = std::is_integral_v<T> || in_one_piece(first, last);
  if (std::is_same_v<Sum, T> && short_sum) {
    for (int64_t k = first; k < last; ++k) add_one(to, from + order[k] * inner, inner, Sum());
    return;
  }
  constexpr int64_t kBlock = 256;
  Sum sums[kBlock], part[kBlock];
  // Two rows at a time, in their order: half as many loads and stores of the sums.
  const auto add_up = [&](Sum* into, int64_t k, int64_t end, int64_t b, int64_t n) {
    for (; k + 1 < end; k += 2) {
      const T *p = from + order[k] * inner + b, *q = from + order[k + 1] * inner + b;
      for (int64_t i = 0; i < n; ++i)
        into[i] = static_cast<Sum>(static_cast<Sum>(into[i] + static_cast<Sum>(p[i])) + static_cast<Sum>(q[i]));
    }
    if (k == end) return;
    const T* p = from + order[k] * inner + b;
    for (int64_t i = 0; i < n; ++i) into[i] = static_cast<Sum>(into[i] + static_cast<Sum>(p[i]));
  };
  for (int64_t b = 0; b < inner; b += kBlock) {
    const int64_t n = std::min(kBlock, inner - b);
    for (int64_t i = 0; i < n; ++i) sums[i] = static_cast<Sum>(to[b + i]);
    if (short_sum) {
      add_up(sums, first, last, b, n);
    } else {
      for (int64_t k = first; k < last;) {
        const int64_t end = piece_end(k, last);
        std::fill(part, part + n, Sum(0));
        add_up(part, k, end, b, n);
        for (int64_t i = 0; i < n; ++i) sums[i] = static_cast<Sum>(sums[i] + part[i]);
        k = end;
      }
    }
    for (int64_t i = 0; i < n; ++i) to[b + i] = static_cast<T>(sums[i]);
  }
}

template <class T>
void add_rows_of(T* to, const RowBlock& s, const int64_t* index, int64_t n, const T* from) {
  if (n == 0 || s.outer == 0 || s.inner == 0) return;
  // Grouping pays where a row is long enough, or rows are the only thing to divide among threads; and sums that are
  // long or rounded need it.
  const bool any_order = std::is_integral_v<T> || (std::is_same_v<op_math_t<T>, T> && n <= kPiece * s.rows);
  if (s.inner < 8 && s.outer > 1 && any_order) {
    parallel_for(0, s.outer, grain_for(n * s.inner), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o)
        for (int64_t k = 0; k < n; ++k)
          add_one(to + (o * s.rows + index[k]) * s.inner, from + (o * n + k) * s.inner, s.inner, op_math_t<T>());
    });
    return;
  }
  const RowGroups groups(index, n, s.rows);
  const auto count = static_cast<int64_t>(groups.rows.size());
  parallel_for(0, s.outer * count, grain_for(n / count * s.inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / count;
      const auto k = static_cast<size_t>(i - o * count);
      add_group(to + (o * s.rows + groups.rows[k]) * s.inner, from + o * n * s.inner, s.inner, groups.order.data(),
                groups.starts[k], groups.starts[k + 1]);
    }
  });
}

}  // namespace

void take_rows(const void* from, const RowBlock& s, int64_t item_size, const int64_t* index, int64_t n, void* to) {
  with_block_type(item_size, [&](auto block) {
    using T = decltype(block);
    const T* p = static_cast<const T*>(from);
    T* q = static_cast<T*>(to);
    parallel_for(0, s.outer * n, grain_for(s.inner), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t o = i / n;
        const T* row = p + (o * s.rows + index[i - o * n]) * s.inner;
        if (s.inner == 1)
          q[i] = *row;
        else
          std::memcpy(q + i * s.inner, row, static_cast<size_t>(s.inner) * sizeof(T));
      }
    });
  });
}

void put_rows(void* to, const RowBlock& s, int64_t item_size, const int64_t* index, int64_t n, const void* from) {
  char* q = static_cast<char*>(to);
  const char* p = static_cast<const char*>(from);
  const int64_t bytes = s.inner * item_size;
  parallel_for(0, s.outer, grain_for(n * s.inner), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o)
      for (int64_t k = 0; k < n; ++k)
        std::memcpy(q + (o * s.rows + index[k]) * bytes, p + (o * n + k) * bytes, static_cast<size_t>(bytes));
  });
}

void add_rows(void* to, const RowBlock& shape, ScalarType type, const int64_t* index, int64_t n, const void* from) {
  dispatch<kAllTypes>(type, "add_rows", [&](auto tag) {
    using T = typename decltype(tag)::type;
    add_rows_of(static_cast<T*>(to), shape, index, n, static_cast<const T*>(from));
  });
}

}  // namespace argand::cpu
