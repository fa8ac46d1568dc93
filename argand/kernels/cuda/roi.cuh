// Regions of interest: tables of the pixels' weights in each dimension are made first, then a thread computes each
// element of the result.  Gradients are gathered: a pixel searches the bins of all regions, in their order.
#pragma once
#include "argand/kernels/cuda/plane_position.cuh"
#include "argand/kernels/roi_bins.h"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// A thread for each region; blockIdx.y is the dimension.
template <class T>
__global__ void roi_tables(const T* rois, RoiShape s, RoiTables t) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t r = thread_number();
  const int d = int(blockIdx.y);
  if (r >= s.rois) return;
  const int low = d == 0 ? 2 : 1;
  tabulate_roi(s, t, r, d, convert<A>(rois[r * 5 + low]), convert<A>(rois[r * 5 + low + 2]));
}

// Element i of [rois, out_channels, out...].
struct RoiPlace {
  int64_t roi, channel, y, x;
  __device__ __forceinline__ RoiPlace(const RoiShape& s, int64_t i) {
    int64_t q = quotient(i, s.out[1]);
    x = i - q * s.out[1];
    const int64_t plane = quotient(q, s.out[0]);
    y = q - plane * s.out[0];
    roi = quotient(plane, s.out_channels());
    channel = plane - roi * s.out_channels();
  }
};

template <class T>
__global__ void roi_average(const T* images, const int64_t* batch, T* out, RoiShape s, RoiTables t) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.rois * s.out_channels() * s.bins()) return;
  const RoiPlace p(s, i);
  const RoiBin<A> y(s, t, p.roi, 0, p.y), x(s, t, p.roi, 1, p.x);
  const int64_t channel = s.by_position ? p.channel * s.bins() + p.y * s.out[1] + p.x : p.channel;
  const T* row = images + ((batch[p.roi] * s.channels + channel) * s.in[0] + y.first) * s.in[1] + x.first;
  A sum = 0;
  for (int k = 0; k < y.count; ++k, row += s.in[1]) {
    A along = 0;
    for (int j = 0; j < x.count; ++j) along += x.weight[j] * convert<A>(row[j]);
    sum += y.weight[k] * along;
  }
  out[i] = convert<T>(sum / roi_divisor(s, t, p.roi, y, x));
}

// A thread for kChannels neighbouring channels of a pixel; one where bins have channels of their own.
template <class T, int kChannels>
__global__ void roi_average_backward(const T* grad_out, const int64_t* batch, T* grad_images, RoiShape s, RoiTables t) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t pixels = s.in[0] * s.in[1], groups = quotient_up(s.channels, kChannels), i = thread_number();
  if (i >= s.batch * groups * pixels) return;
  const int64_t plane = quotient(i, pixels), at = i - plane * pixels, image = quotient(plane, groups);
  const int64_t channel = (plane - image * groups) * kChannels;
  const int row = int(quotient(at, s.in[1])), column = int(at - row * s.in[1]);
  const int64_t bins = s.bins(), out_channels = s.out_channels();
  // Where bins have channels of their own, this channel's.
  const int64_t own = s.by_position ? channel % bins : 0;
  const int64_t own_y = own / s.out[1], own_x = own - own_y * s.out[1];
  const int64_t y_begin = s.by_position ? own_y : 0, y_end = s.by_position ? own_y + 1 : s.out[0];
  const int64_t x_begin = s.by_position ? own_x : 0, x_end = s.by_position ? own_x + 1 : s.out[1];
  const int64_t from = s.by_position ? channel / bins : channel;
  A sums[kChannels] = {};
  for (int64_t r = 0; r < s.rois; ++r) {
    if (row < t.hull_begin[0][r] || row >= t.hull_end[0][r] || column < t.hull_begin[1][r] ||
        column >= t.hull_end[1][r] || batch[r] != image)
      continue;
    for (int64_t by = y_begin; by < y_end; ++by) {
      const RoiBin<A> y(s, t, r, 0, by);
      if (!y.has(row)) continue;
      for (int64_t bx = x_begin; bx < x_end; ++bx) {
        const RoiBin<A> x(s, t, r, 1, bx);
        if (!x.has(column)) continue;
        const A weight = y.of(row) * x.of(column), divisor = roi_divisor(s, t, r, y, x);
        const T* g = grad_out + (r * out_channels + from) * bins + by * s.out[1] + bx;
#pragma unroll
        for (int k = 0; k < kChannels; ++k)
          if (channel + k < s.channels) sums[k] += weight * (convert<A>(g[k * bins]) / divisor);
      }
    }
  }
  T* to = grad_images + (image * s.channels + channel) * pixels + at;
#pragma unroll
  for (int k = 0; k < kChannels; ++k)
    if (channel + k < s.channels) to[k * pixels] = convert<T>(sums[k]);
}

template <class T>
__global__ void roi_max(const T* images, const T* rois, const int64_t* batch, T* out, int* at, RoiShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.rois * s.channels * s.bins()) return;
  const RoiPlace p(s, i);
  const T* roi = rois + p.roi * 5;
  int64_t top, bottom, left, right;
  RoiBins<A>(s.rule, convert<A>(roi[2]), convert<A>(roi[4]), s.out[0], s.in[0]).pixels_of(p.y, top, bottom);
  RoiBins<A>(s.rule, convert<A>(roi[1]), convert<A>(roi[3]), s.out[1], s.in[1]).pixels_of(p.x, left, right);
  const T* plane = images + (batch[p.roi] * s.channels + p.channel) * s.in[0] * s.in[1];
  A best = top == bottom || left == right ? A(0) : A(-0x1.fffffep+127f);  // float's lowest
  int64_t where = -1;
  for (int64_t y = top; y < bottom; ++y)
    for (int64_t x = left; x < right; ++x) {
      const A value = convert<A>(plane[y * s.in[1] + x]);
      if (value > best) {
        best = value;
        where = y * s.in[1] + x;
      }
    }
  out[i] = convert<T>(best);
  at[i] = int(where);
}

}  // namespace argand
