#include "argand/core/shape.h"

#include <algorithm>
#include <numeric>

namespace argand {

int64_t numel_of(IntArrayRef sizes) {
  int64_t n = 1;
  bool overflow = false, zero = false;
  for (const int64_t s : sizes) {
    ARGAND_CHECK(ShapeError, s >= 0, "sizes must be non-negative, got ", sizes);
    zero |= s == 0;
    overflow |= __builtin_mul_overflow(n, s, &n);
  }
  ARGAND_CHECK(
      ShapeError, !overflow || zero,
      "Storage size calculation overflowed: numel: integer multiplication overflow: the number of elements of ", sizes,
      " does not fit 64 bits");
  return zero ? 0 : n;
}

// The stride of the next outer dimension after one of this stride and size.  Checked, because sizes without elements
// may lead to any stride.
static int64_t outer_stride(int64_t stride, int64_t size, IntArrayRef sizes) {
  int64_t outer;
  ARGAND_CHECK(ShapeError, !__builtin_mul_overflow(stride, std::max<int64_t>(size, 1), &outer),
               "Stride calculation overflowed: the strides of ", sizes, " do not fit 64 bits");
  return outer;
}

Dims contiguous_strides(IntArrayRef sizes) {
  Dims strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = outer_stride(strides[i], sizes[i], sizes);
  return strides;
}

// The order in which dimensions are laid out, slowest first.
static Dims memory_order(size_t ndim, MemoryFormat format) {
  Dims order(ndim);
  std::iota(order.begin(), order.end(), 0);
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

static Dims strides_in_order(IntArrayRef sizes, const Dims& order) {
  Dims strides(sizes.size(), 1);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    if (i > 0) step = outer_stride(step, sizes[order[i]], sizes);
  }
  return strides;
}

Dims strides_of(IntArrayRef sizes, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return contiguous_strides(sizes);
  const size_t rank = format == MemoryFormat::ChannelsLast ? 4 : 5;
  ARGAND_CHECK(ShapeError, sizes.size() == rank, "required rank ", rank, " tensor to use ",
               rank == 4 ? "channels_last" : "channels_last_3d", " format, got sizes ", sizes);
  return strides_in_order(sizes, memory_order(sizes.size(), format));
}

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides, MemoryFormat format) {
  if (format == MemoryFormat::ChannelsLast && sizes.size() != 4) return false;
  if (format == MemoryFormat::ChannelsLast3d && sizes.size() != 5) return false;
  int64_t expected = 1;
  bool same = true;
  const auto check = [&](size_t d) {
    if (sizes[d] == 0) return same = true, false;
    if (sizes[d] != 1 && strides[d] != expected) same = false;
    expected *= sizes[d];
    return true;
  };
  for (const int64_t s : sizes)
    if (s == 0) return true;
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) {
    for (size_t i = sizes.size(); i-- > 0;) check(i);
  } else {
    const Dims order = memory_order(sizes.size(), format);
    for (size_t i = order.size(); i-- > 0;) check(static_cast<size_t>(order[i]));
  }
  return same;
}

// Dimensions of more than one element, fastest stride first.
static Dims by_stride(IntArrayRef sizes, IntArrayRef strides) {
  Dims dims;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) dims.push_back(static_cast<int64_t>(i));
  std::sort(dims.begin(), dims.end(), [&](int64_t a, int64_t b) { return strides[a] < strides[b]; });
  return dims;
}

bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides) {
  if (is_contiguous(sizes, strides)) return true;
  int64_t expected = 1;
  for (const int64_t d : by_stride(sizes, strides)) {
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

bool may_overlap_itself(IntArrayRef sizes, IntArrayRef strides) {
  for (const int64_t s : sizes)
    if (s == 0) return false;
  int64_t reach = 0;  // the largest offset of the faster dimensions
  for (const int64_t d : by_stride(sizes, strides)) {
    if (strides[d] <= reach) return true;
    reach += (sizes[d] - 1) * strides[d];
  }
  return false;
}

Dims strides_like(IntArrayRef sizes, IntArrayRef strides) {
  if (is_non_overlapping_and_dense(sizes, strides)) return Dims(strides);
  Dims order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  // Slowest first; equal strides (dimensions of size one, expanded ones) keep their order.
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (strides[a] == 0 || strides[b] == 0) return false;
    return strides[a] > strides[b];
  });
  return strides_in_order(sizes, order);
}

Dims broadcast_shapes(IntArrayRef a, IntArrayRef b, const char* op) {
  const bool swapped = a.size() < b.size();
  if (swapped) std::swap(a, b);
  Dims out(a);
  const size_t lead = a.size() - b.size();
  for (size_t i = b.size(); i-- > 0;) {  // errors name the last dimension that does not fit
    int64_t& d = out[lead + i];
    if (d == b[i] || b[i] == 1) continue;
    ARGAND_CHECK(ShapeError, d == 1, op, ": shapes ", swapped ? b : a, " and ", swapped ? a : b,
                 " do not broadcast: The size of tensor a (", swapped ? b[i] : d, ") must match the size of tensor b (",
                 swapped ? d : b[i], ") at non-singleton dimension ", lead + i);
    d = b[i];
  }
  return out;
}

Dims expanded_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef to) {
  Dims out(to.size(), 0);
  const size_t lead = to.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) out[lead + i] = sizes[i] == 1 && to[lead + i] != 1 ? 0 : strides[i];
  return out;
}

std::optional<Dims> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef to) {
  if (numel_of(sizes) == 0) return contiguous_strides(to);
  Dims out(to.size(), 1);
  if (sizes.empty()) return out;
  // Walk both shapes from the back: each run of old dimensions that is laid out as one block must be filled exactly by
  // a run of new ones.
  size_t v = to.size();
  int64_t step = strides.back();
  int64_t block = 1, covered = 1;
  for (size_t t = sizes.size(); t-- > 0;) {
    block *= sizes[t];
    const bool block_ends = t == 0 || (sizes[t - 1] != 1 && strides[t - 1] != block * step);
    if (!block_ends) continue;
    while (v > 0 && (covered < block || to[v - 1] == 1)) {
      out[v - 1] = covered * step;
      covered *= to[v - 1];
      --v;
    }
    if (covered != block) return std::nullopt;
    if (t > 0) {
      step = strides[t - 1];
      block = covered = 1;
    }
  }
  if (v != 0) return std::nullopt;
  return out;
}

Dims infer_size(IntArrayRef to, int64_t numel, const char* op) {
  Dims out(to);
  int64_t known = 1;
  std::optional<size_t> unknown;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == -1) {
      ARGAND_CHECK(ShapeError, !unknown, op, ": only one dimension can be inferred, got ", to);
      unknown = i;
    } else {
      ARGAND_CHECK(ShapeError, to[i] >= 0, op, ": invalid shape dimension ", to[i], " in ", to);
      ARGAND_CHECK(ShapeError, !__builtin_mul_overflow(known, to[i], &known), op, ": the shape ", to, " is too large");
    }
  }
  if (unknown) {
    ARGAND_CHECK(ShapeError, known != 0, op, ": cannot reshape a tensor of ", numel, " elements into shape ", to,
                 " because the unspecified dimension size -1 can be any value and is ambiguous");
    out[*unknown] = numel / known;
    known *= out[*unknown];
  }
  ARGAND_CHECK(ShapeError, known == numel, op, ": shape '", to, "' is invalid for input of size ", numel);
  return out;
}

int64_t wrap_dim(int64_t dim, int64_t ndim, const char* op) {
  const int64_t n = std::max<int64_t>(ndim, 1);
  ARGAND_CHECK(IndexError, dim >= -n && dim < n, op, ": Dimension out of range (expected to be in range of [", -n, ", ",
               n - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}

Dims wrap_dims(IntArrayRef dims, int64_t ndim, const char* op, bool empty_is_all) {
  Dims out;
  if (dims.empty() && empty_is_all) {
    for (int64_t i = 0; i < ndim; ++i) out.push_back(i);
    return out;
  }
  for (const int64_t d : dims) {
    const int64_t w = wrap_dim(d, ndim, op);
    ARGAND_CHECK(ValueError, std::find(out.begin(), out.end(), w) == out.end(), op, ": dim ", w,
                 " appears multiple times in the list of dims");
    out.push_back(w);
  }
  return out;
}

Dims reduced_sizes(IntArrayRef sizes, IntArrayRef dims, bool keepdim) {
  Dims out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool reduced = std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    if (!reduced)
      out.push_back(sizes[i]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

}  // namespace argand
