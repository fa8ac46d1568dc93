// Resampling of contiguous planes: a thread for each element of the result, which reads the positions and weights of
// its input elements from small tables that are made on the device.  Gradients are gathered, in the order of the output
// elements.
#pragma once
#include "argand/kernels/cuda/plane_position.cuh"
#include "argand/kernels/cuda/resample_tables.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/kernels/resample_taps.h"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

__device__ __forceinline__ int64_t clamped(int64_t i, int64_t size) { return i < 0 ? 0 : i < size ? i : size - 1; }

// A thread for each output element; blockIdx.y counts dimensions from `begin`.
template <class A, int kFilter>
__global__ void resample_taps(ResampledDims dims, ResampleTables t, int begin) {
  await_earlier_work();
  const int d = begin + int(blockIdx.y);
  const int64_t o = thread_number(), out = dims.dims[d].out;
  if (o >= out) return;
  const Taps<A, static_cast<Filter>(kFilter)> taps(dims.dims[d]);
  A* weight = static_cast<A*>(t.weight[d]);
  taps.visit(
      o,
      [&](int64_t first, int64_t count) {
        t.first[d][o] = first;
        t.count[d][o] = count;
      },
      [&](int64_t k, A w) { weight[k * out + o] = w; });
}

// The first output element for which `reaches` holds, which then holds for all later ones.
template <class F>
__device__ __forceinline__ int64_t first_output(int64_t out, F reaches) {
  int64_t low = 0, high = out;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (reaches(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// A thread for each input element.
__global__ void resample_ranges(ResampleShape s, ResampleTables t, int begin) {
  await_earlier_work();
  const int d = begin + int(blockIdx.y);
  const int64_t i = thread_number(), in = s.in[d];
  if (i >= in) return;
  const int64_t *first = t.first[d], *count = t.count[d];
  t.begins[d][i] = first_output(s.out[d], [&](int64_t o) { return clamped(first[o] + count[o] - 1, in) >= i; });
  t.ends[d][i] = first_output(s.out[d], [&](int64_t o) { return clamped(first[o], in) > i; });
}

// U: any type of the element's size.
template <class U>
__global__ void resample_nearest(const U* in, U* out, ResampleShape s, ResampleTables t, int begin) {
  await_earlier_work();
  const int64_t i = thread_number();
  if (i >= s.planes * s.out[0] * s.out[1] * s.out[2]) return;
  const PlanePosition p(i, s.out);
  int64_t at = p.plane;
  for (int d = 0; d < 3; ++d) at = at * s.in[d] + (d < begin ? 0 : t.first[d][p.at[d]]);
  out[i] = in[at];
}

// The sum over dimensions kDim, ..., 2, innermost first.  kTaps: of each element, if all have so many; else 0.
template <class A, int kTaps, int kDim, class T>
__device__ __forceinline__ A weighted_sum(const T* in, const ResampleShape& s, const ResampleTables& t,
                                          const int64_t (&o)[3], int64_t at) {
  if constexpr (kDim == 3) {
    return convert<A>(in[at]);
  } else {
    const int64_t first = t.first[kDim][o[kDim]];
    const int count = kTaps > 0 ? kTaps : static_cast<int>(t.count[kDim][o[kDim]]);
    const A* weight = static_cast<const A*>(t.weight[kDim]) + o[kDim];
    A sum = 0;
#pragma unroll
    for (int k = 0; k < count; ++k)
      sum += weight[k * s.out[kDim]] *
             weighted_sum<A, kTaps, kDim + 1>(in, s, t, o, at * s.in[kDim] + clamped(first + k, s.in[kDim]));
    return sum;
  }
}

// kBegin: the first dimension that is resampled.
template <class T, int kTaps, int kBegin>
__global__ void resample(const T* in, T* out, ResampleShape s, ResampleTables t) {
  await_earlier_work();
  const int64_t i = thread_number();
  if (i >= s.planes * s.out[0] * s.out[1] * s.out[2]) return;
  const PlanePosition p(i, s.out);
  out[i] = convert<T>(weighted_sum<op_math_t<T>, kTaps, kBegin>(in, s, t, p.at, p.plane));
}

// The weight of input element i of dimension d in output element o.
template <class A>
__device__ __forceinline__ A weight_in(const ResampleShape& s, const ResampleTables& t, int d, int64_t o, int64_t i) {
  const int64_t first = t.first[d][o], count = t.count[d][o];
  const A* weight = static_cast<const A*>(t.weight[d]) + o;
  A sum = 0;
  if (i > 0 && i < s.in[d] - 1) {
    const int64_t k = i - first;
    return k >= 0 && k < count ? weight[k * s.out[d]] : sum;
  }
  for (int64_t k = 0; k < count; ++k)  // an outermost one stands for those beyond it, too
    if (clamped(first + k, s.in[d]) == i) sum += weight[k * s.out[d]];
  return sum;
}

template <class A, bool kWeighted, int kDim, class T>
__device__ __forceinline__ A gathered_sum(const T* grad_out, const ResampleShape& s, const ResampleTables& t,
                                          const int64_t (&i)[3], int64_t at) {
  if constexpr (kDim == 3) {
    return convert<A>(grad_out[at]);
  } else {
    A sum = 0;
    for (int64_t o = t.begins[kDim][i[kDim]], end = t.ends[kDim][i[kDim]]; o < end; ++o) {
      const A inner = gathered_sum<A, kWeighted, kDim + 1>(grad_out, s, t, i, at * s.out[kDim] + o);
      sum += kWeighted ? weight_in<A>(s, t, kDim, o, i[kDim]) * inner : inner;
    }
    return sum;
  }
}

template <class T, bool kWeighted, int kBegin>
__global__ void resample_backward(const T* grad_out, T* grad_in, ResampleShape s, ResampleTables t) {
  await_earlier_work();
  const int64_t i = thread_number();
  if (i >= s.planes * s.in[0] * s.in[1] * s.in[2]) return;
  const PlanePosition p(i, s.in);
  grad_in[i] = convert<T>(gathered_sum<op_math_t<T>, kWeighted, kBegin>(grad_out, s, t, p.at, p.plane));
}

}  // namespace argand
