// Deformable convolution: a thread for each element of the matrix of columns, or for each tap's place.  The gradient of
// the input is gathered: for one image and group of offsets after the other, the corners of all taps are sorted by
// pixel, and each pixel adds up its own in that order.
#pragma once
#include "argand/kernels/cuda/plane_position.cuh"
#include "argand/kernels/deform_tap.h"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

template <class A, class T>
__device__ __forceinline__ DeformTap<A> deform_tap(const DeformShape& s, const T* offset, int64_t image, int64_t group,
                                                   int64_t tap, int64_t place) {
  const T* o = offset + deform_offset_at(s, image, group, tap, place);
  return DeformTap<A>(s, tap, place, convert<A>(o[0]), convert<A>(o[s.places()]));
}
template <class A, class T>
__device__ __forceinline__ A deform_factor(const DeformShape& s, const T* mask, int64_t image, int64_t group,
                                           int64_t tap, int64_t place) {
  return mask ? convert<A>(mask[deform_mask_at(s, image, group, tap, place)]) : A(1);
}

template <class T>
__global__ void deform_columns(const T* input, const T* offset, const T* mask, T* columns, DeformShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.batch * s.channels * s.taps() * s.places()) return;
  const int64_t row = quotient(i, s.places()), place = i - row * s.places();
  const int64_t plane = quotient(row, s.taps()), tap = row - plane * s.taps();
  const int64_t image = quotient(plane, s.channels);
  const int64_t group = quotient(plane - image * s.channels, s.channels_of_group());
  const T* pixels = input + plane * s.pixels();
  const A value =
      deform_tap<A>(s, offset, image, group, tap, place).value([&](int64_t n) { return convert<A>(pixels[n]); });
  columns[i] = convert<T>(deform_factor<A>(s, mask, image, group, tap, place) * value);
}

// A thread for each tap's place: sums over the channels of a group.
template <class T>
__global__ void deform_place_grads(const T* grad_columns, const T* input, const T* offset, const T* mask,
                                   T* grad_offset, T* grad_mask, DeformShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.batch * s.groups * s.taps() * s.places()) return;
  const int64_t row = quotient(i, s.places()), place = i - row * s.places();
  const int64_t all = quotient(row, s.taps()), tap = row - all * s.taps();
  const int64_t image = quotient(all, s.groups), group = all - image * s.groups;
  const DeformTap<A> t = deform_tap<A>(s, offset, image, group, tap, place);
  const A factor = deform_factor<A>(s, mask, image, group, tap, place);
  A sum_y = 0, sum_x = 0, sum_mask = 0;
  for (int64_t c = 0; c < s.channels_of_group(); ++c) {
    const int64_t plane = image * s.channels + group * s.channels_of_group() + c;
    const T* pixels = input + plane * s.pixels();
    const auto pixel_at = [&](int64_t n) { return convert<A>(pixels[n]); };
    const A g = convert<A>(grad_columns[(plane * s.taps() + tap) * s.places() + place]);
    A by_y, by_x;
    t.slopes(pixel_at, by_y, by_x);
    sum_y += g * factor * by_y;
    sum_x += g * factor * by_x;
    if (grad_mask) sum_mask += g * t.value(pixel_at);
  }
  T* to = grad_offset + deform_offset_at(s, image, group, tap, place);
  to[0] = convert<T>(sum_y);
  to[s.places()] = convert<T>(sum_x);
  if (grad_mask) grad_mask[i] = convert<T>(sum_mask);
}

// The pixels under the corners of all taps of one image and group, and their weights; what lies outside has the number
// after the last pixel.
template <class T>
__global__ void deform_corners(const T* offset, const T* mask, DeformShape s, int64_t image, int64_t group,
                               int64_t* pixels, op_math_t<T>* weights) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.taps() * s.places()) return;
  const int64_t tap = quotient(i, s.places()), place = i - tap * s.places();
  const DeformTap<A> t = deform_tap<A>(s, offset, image, group, tap, place);
  const A factor = deform_factor<A>(s, mask, image, group, tap, place);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int64_t n = t.inside() ? t.pixel(k) : -1;
    pixels[i * 4 + k] = n >= 0 ? n : s.pixels();
    weights[i * 4 + k] = t.weight(k) * factor;
  }
}

// starts[p]: how many of the sorted `keys` are below p, for p <= pixels.
__global__ void deform_starts(const unsigned* keys, int count, int64_t pixels, int* starts) {
  await_earlier_work();
  const int64_t p = thread_number();
  if (p > pixels) return;
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (int64_t{keys[middle]} < p)
      low = middle + 1;
    else
      high = middle;
  }
  starts[p] = low;
}

// A thread for each pixel of the channels of the group.
template <class T>
__global__ void deform_input_grad(const T* grad_columns, T* grad_input, DeformShape s, int64_t image, int64_t group,
                                  const int* starts, const unsigned* order, const op_math_t<T>* weights) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.channels_of_group() * s.pixels()) return;
  const int64_t c = quotient(i, s.pixels()), pixel = i - c * s.pixels();
  const int64_t plane = image * s.channels + group * s.channels_of_group() + c;
  const T* g = grad_columns + plane * s.taps() * s.places();
  A sum = 0;
  for (int k = starts[pixel], end = starts[pixel + 1]; k < end; ++k) {
    const unsigned corner = order[k];
    sum += weights[corner] * convert<A>(g[corner >> 2]);
  }
  grad_input[plane * s.pixels() + pixel] = convert<T>(sum);
}

}  // namespace argand
