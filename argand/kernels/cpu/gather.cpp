#include "argand/kernels/cpu/gather.h"

#include <complex>
#include <cstring>

namespace argand::cpu {
namespace {

// Walks the range run by run along the innermost dimension: run(offset of its first element, stride, length).
template <class Run>
void for_each_run(IntArrayRef sizes, IntArrayRef strides, int64_t first, int64_t n, Run run) {
  const size_t ndim = sizes.size();
  if (ndim == 0) return run(int64_t{0}, int64_t{0}, n);
  Dims index(ndim, 0);
  int64_t offset = 0;
  for (size_t d = ndim; d-- > 0;) {
    index[d] = first % sizes[d];
    first /= sizes[d];
    offset += index[d] * strides[d];
  }
  const size_t inner = ndim - 1;
  while (n > 0) {
    const int64_t length = std::min(n, sizes[inner] - index[inner]);
    run(offset, strides[inner], length);
    n -= length;
    index[inner] += length;
    offset += length * strides[inner];
    for (size_t d = inner; d > 0 && index[d] == sizes[d]; --d) {
      offset += strides[d - 1] - sizes[d] * strides[d];
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

template <class T>
void gather_as(const void* memory, IntArrayRef sizes, IntArrayRef strides, int64_t first, int64_t n, void* to) {
  const T* base = static_cast<const T*>(memory);
  T* out = static_cast<T*>(to);
  for_each_run(sizes, strides, first, n, [&](int64_t offset, int64_t stride, int64_t length) {
    const T* p = base + offset;
    if (stride == 1) {
      std::memcpy(out, p, static_cast<size_t>(length) * sizeof(T));
    } else if (stride == 0) {
      std::fill(out, out + length, *p);
    } else {
      for (int64_t i = 0; i < length; ++i) out[i] = p[i * stride];
    }
    out += length;
  });
}

template <class T>
void scatter_as(void* memory, IntArrayRef sizes, IntArrayRef strides, int64_t first, int64_t n, const void* from) {
  T* base = static_cast<T*>(memory);
  const T* in = static_cast<const T*>(from);
  for_each_run(sizes, strides, first, n, [&](int64_t offset, int64_t stride, int64_t length) {
    T* p = base + offset;
    if (stride == 1) {
      std::memcpy(p, in, static_cast<size_t>(length) * sizeof(T));
    } else {
      for (int64_t i = 0; i < length; ++i) p[i * stride] = in[i];
    }
    in += length;
  });
}

// Elements are moved as opaque blocks: only their size matters.
template <class F>
void with_block_type(int64_t item_size, F f) {
  switch (item_size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(std::complex<double>{});
  }
}

}  // namespace

void gather(const void* memory, IntArrayRef sizes, IntArrayRef strides, int64_t item_size, int64_t first, int64_t n, void* to) {
  with_block_type(item_size, [&](auto block) { gather_as<decltype(block)>(memory, sizes, strides, first, n, to); });
}

void scatter(void* memory, IntArrayRef sizes, IntArrayRef strides, int64_t item_size, int64_t first, int64_t n,
             const void* from) {
  with_block_type(item_size, [&](auto block) { scatter_as<decltype(block)>(memory, sizes, strides, first, n, from); });
}

}  // namespace argand::cpu
