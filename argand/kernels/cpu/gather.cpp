#include "argand/kernels/cpu/gather.h"

#include <cstring>

#include "argand/kernels/cpu/runs.h"

namespace argand::cpu {
namespace {

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

}  // namespace

void gather(const void* memory, IntArrayRef sizes, IntArrayRef strides, int64_t item_size, int64_t first, int64_t n,
            void* to) {
  with_block_type(item_size, [&](auto block) { gather_as<decltype(block)>(memory, sizes, strides, first, n, to); });
}

void scatter(void* memory, IntArrayRef sizes, IntArrayRef strides, int64_t item_size, int64_t first, int64_t n,
             const void* from) {
  with_block_type(item_size, [&](auto block) { scatter_as<decltype(block)>(memory, sizes, strides, first, n, from); });
}

}  // namespace argand::cpu
