#include <algorithm>

#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/regroup_shape.cuh"

namespace argand::cuda::own {
namespace {

constexpr int64_t kAtOnce = 8;  // channels that the engines read at once
constexpr int64_t kMost = int64_t{1} << 31;

bool is_flat(const ConvShape& s) {
  return s.in[0] == 1 && s.kernel[0] == 1 && s.padding[0] == 0 && s.out[0] == 1 && s.stride[1] == s.stride[2] &&
         s.dilation == decltype(s.dilation){1, 1, 1};
}
bool is_single_tap(const ConvShape& s) { return s.kernel_size() == 1 && s.padding[1] == 0 && s.padding[2] == 0; }

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Images of `in` pixels of c channels become `out` pixels.
struct Regrouping {
  int64_t n, c;
  std::array<int64_t, 3> in, out;
  int64_t channels, step, side, offset_h, offset_w;
};

void regroup(const Regrouping& r, ScalarType dtype, const void* x, void* to) {
  RegroupShape s{};
  s.pixels = r.n * r.out[1] * r.out[2];
  s.out_h = fast_div(static_cast<unsigned>(r.out[1]));
  s.out_w = fast_div(static_cast<unsigned>(r.out[2]));
  s.in_h = static_cast<int>(r.in[1]);
  s.in_w = static_cast<int>(r.in[2]);
  s.c = static_cast<int>(r.c);
  s.channels = static_cast<int>(r.channels);
  s.step = static_cast<int>(r.step);
  s.side = static_cast<int>(r.side);
  s.offset_h = static_cast<int>(r.offset_h);
  s.offset_w = static_cast<int>(r.offset_w);
  constexpr unsigned kThreads = 256;
  const bool whole = r.c % kAtOnce == 0 && reinterpret_cast<uintptr_t>(x) % 16 == 0;
  launch(kernel_instance("argand/kernels/cuda/regroup_pixels.cuh", "regroup_pixels", dtype, static_cast<int>(kAtOnce),
                         whole),
         {blocks_for(s.pixels * (r.channels / kAtOnce), kThreads), kThreads}, x, to, s);
}

// Result o of a row is the sum of x[o * stride + k - padding] * w[k]; with k = a * stride + d - lead it is that of
// X[o + a][d] * W[a][d], where X[r][d] = x[r * stride + d - padding - lead] and W[a][d] = w[a * stride + d - lead].
struct Taps {
  int64_t lead, count, padding;
  Taps(int64_t k, int64_t padding_before, int64_t stride)
      : lead((stride - padding_before % stride) % stride),
        count((k + lead + stride - 1) / stride),
        padding(padding_before + lead) {}
};

Regrouping image_of(const ConvShape& s) {
  const int64_t stride = s.stride[1];
  if (is_single_tap(s)) return {s.n, s.c, s.in, s.out, s.c, stride, 1, 0, 0};
  const Taps h(s.kernel[1], s.padding[1], stride), w(s.kernel[2], s.padding[2], stride);
  const std::array<int64_t, 3> out{1, s.out[1] + h.count - 1, s.out[2] + w.count - 1};
  return {s.n, s.c, s.in, out, round_up(s.c * stride * stride, kAtOnce), stride, stride, h.padding, w.padding};
}
Regrouping weight_of(const ConvShape& s) {
  const int64_t stride = s.stride[1];
  const Taps h(s.kernel[1], s.padding[1], stride), w(s.kernel[2], s.padding[2], stride);
  return {s.o,    s.c,    s.kernel, {1, h.count, w.count}, round_up(s.c * stride * stride, kAtOnce), stride,
          stride, h.lead, w.lead};
}

ConvShape shape_of(const ConvShape& s) {
  const Regrouping image = image_of(s);
  ConvShape to = s;
  to.c = image.channels;
  to.in = image.out;
  if (!is_single_tap(s)) to.kernel = weight_of(s).out;
  to.stride = {1, 1, 1};
  to.padding = {0, 0, 0};
  return to;
}

int64_t bytes_of(const Regrouping& r, ScalarType dtype) {
  return r.n * r.out[1] * r.out[2] * r.channels * element_size(dtype);
}

}  // namespace

bool gains_by_regrouping(const ConvShape& s, ScalarType dtype) {
  constexpr int64_t kFew = 4;
  if (!s.channels_last || s.groups != 1 || element_size(dtype) != 2 || !is_flat(s)) return false;
  if (is_single_tap(s)) {
    if (s.stride[1] == 1 || s.c % kAtOnce != 0) return false;
  } else if (s.c > kFew || s.stride[1] > 2) {
    return false;
  }
  const Regrouping r = image_of(s);
  return s.n * r.out[1] * r.out[2] < kMost && s.in[1] < kMost && s.in[2] < kMost && s.c < kMost;
}

Regrouped::Regrouped(const ConvShape& s, ScalarType dtype, const void* from, const void* weight)
    : shape(shape_of(s)), x(bytes_of(image_of(s), dtype)), w(weight) {
  regroup(image_of(s), dtype, from, x.data());
  if (is_single_tap(s)) return;
  const Regrouping taps = weight_of(s);
  own_w.emplace(bytes_of(taps, dtype));
  regroup(taps, dtype, weight, own_w->data());
  w = own_w->data();
}

}  // namespace argand::cuda::own
