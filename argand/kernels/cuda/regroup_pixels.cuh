// Makes squares of pixels the channels of one pixel: the input of a convolution with a stride, for one without.
#pragma once
#include "argand/kernels/cuda/regroup_shape.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// Result (y, x) has, one after the other, the channels of the `side` x `side` pixels that begin at pixel
// (y * step - offset_h, x * step - offset_w), then zeros; pixels outside are zeros.  A thread makes V channels; kWhole:
// all of them belong to one pixel, and are aligned.
template <class T, int V, bool kWhole>
__global__ void __launch_bounds__(256)
    regroup_pixels(const T* x, Vec<T, V>* out, const __grid_constant__ RegroupShape s) {
  await_earlier_work();
  const int vectors = s.channels / V;
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long at = i / vectors;
  if (at >= s.pixels) return;
  int channel = static_cast<int>(i - at * vectors) * V;
  unsigned column = static_cast<unsigned>(at), row = split(column, s.out_w);
  const unsigned image = split(row, s.out_h);
  const int y0 = static_cast<int>(row) * s.step - s.offset_h, x0 = static_cast<int>(column) * s.step - s.offset_w;
  x += static_cast<long long>(image) * s.in_h * s.in_w * s.c;
  const auto place = [&](int k) -> long long {  // of channel k of the result, or -1
    const int pixel = k / s.c, py = y0 + pixel / s.side, px = x0 + pixel % s.side;
    const bool inside = pixel < s.side * s.side && static_cast<unsigned>(py) < static_cast<unsigned>(s.in_h) &&
                        static_cast<unsigned>(px) < static_cast<unsigned>(s.in_w);
    return inside ? (static_cast<long long>(py) * s.in_w + px) * s.c + k % s.c : -1;
  };
  Vec<T, V> all{};
  if (kWhole) {
    const long long from = place(channel);
    if (from >= 0) all = *reinterpret_cast<const Vec<T, V>*>(x + from);
  } else {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const long long from = place(channel + v);
      if (from >= 0) all[v] = x[from];
    }
  }
  out[i] = all;
}

}  // namespace argand
