// Where a deformable convolution (Dai et al. 2017; with modulation, Zhu et al. 2018) reads its input.  Compiled for the
// CPU and, by NVRTC, for GPUs.
#pragma once
#include "argand/kernels/math.h"
#ifdef __CUDACC_RTC__
#include "argand/kernels/cuda/types.cuh"
#else
#include <cstdint>
#endif

namespace argand {

// input [batch, channels, in...], offset [batch, groups, taps, 2, out...] (y before x) and mask [batch, groups, taps,
// out...] where taps = kernel[0] * kernel[1]; columns [batch, channels, taps, out...].  Neighbouring channels share the
// offsets of a group.
struct DeformShape {
  int64_t batch, channels, groups, in[2], out[2], kernel[2], stride[2], padding[2], dilation[2];

  ARGAND_MATH int64_t taps() const { return kernel[0] * kernel[1]; }
  ARGAND_MATH int64_t places() const { return out[0] * out[1]; }
  ARGAND_MATH int64_t pixels() const { return in[0] * in[1]; }
  ARGAND_MATH int64_t channels_of_group() const { return channels / groups; }
};

// The four pixels around a point, and their weights.
template <class A>
class DeformTap {
 public:
  // Tap `tap` of the window at output place `place`, moved by an offset.
  ARGAND_MATH DeformTap(const DeformShape& s, int64_t tap, int64_t place, A offset_y, A offset_x)
      : height_(s.in[0]), width_(s.in[1]) {
    const int64_t row = place / s.out[1], column = place - row * s.out[1];
    const int64_t i = tap / s.kernel[1], j = tap - i * s.kernel[1];
    const A y = static_cast<A>(row * s.stride[0] - s.padding[0] + i * s.dilation[0]) + offset_y;
    const A x = static_cast<A>(column * s.stride[1] - s.padding[1] + j * s.dilation[1]) + offset_x;
    inside_ = !(y <= A(-1) || y >= static_cast<A>(height_) || x <= A(-1) || x >= static_cast<A>(width_));
    const A below_y = math::floor(y), below_x = math::floor(x);
    y_ = whole(below_y, height_);
    x_ = whole(below_x, width_);
    part_y_ = y - below_y;
    part_x_ = x - below_x;
  }

  // The number of corner k = 2 * down + right in its plane, -1 outside.
  ARGAND_MATH int64_t pixel(int k) const {
    const int64_t y = y_ + (k >> 1), x = x_ + (k & 1);
    return y >= 0 && y < height_ && x >= 0 && x < width_ ? y * width_ + x : -1;
  }
  ARGAND_MATH A weight(int k) const {
    return ((k & 2) != 0 ? part_y_ : A(1) - part_y_) * ((k & 1) != 0 ? part_x_ : A(1) - part_x_);
  }
  // Points that are a pixel or more outside have the value 0.
  ARGAND_MATH bool inside() const { return inside_; }

  // pixel_at(n): element n of the plane.
  template <class F>
  ARGAND_MATH A value(F pixel_at) const {
    if (!inside_) return A(0);
    A sum = A(0);
    for (int k = 0; k < 4; ++k) {
      const int64_t n = pixel(k);
      sum += weight(k) * (n >= 0 ? static_cast<A>(pixel_at(n)) : A(0));
    }
    return sum;
  }
  // The derivatives of the value by y and by x.
  template <class F>
  ARGAND_MATH void slopes(F pixel_at, A& by_y, A& by_x) const {
    A v[4];
    for (int k = 0; k < 4; ++k) {
      const int64_t n = pixel(k);
      v[k] = n >= 0 ? static_cast<A>(pixel_at(n)) : A(0);
    }
    by_y = part_x_ * (v[3] - v[1]) + (A(1) - part_x_) * (v[2] - v[0]);
    by_x = part_y_ * (v[3] - v[2]) + (A(1) - part_y_) * (v[1] - v[0]);
  }

 private:
  // -2, whose neighbour is outside, too, for what is far away or NaN.
  ARGAND_MATH static int64_t whole(A x, int64_t size) {
    return x >= A(-2) && x <= static_cast<A>(size) ? static_cast<int64_t>(x) : -2;
  }
  int64_t height_, width_, y_ = 0, x_ = 0;
  A part_y_ = A(0), part_x_ = A(0);
  bool inside_ = false;
};

// The index of the offset in y of a tap at a place (that in x is `places` further on), and of its mask.
ARGAND_MATH int64_t deform_offset_at(const DeformShape& s, int64_t image, int64_t group, int64_t tap, int64_t place) {
  return ((image * s.groups + group) * s.taps() + tap) * 2 * s.places() + place;
}
ARGAND_MATH int64_t deform_mask_at(const DeformShape& s, int64_t image, int64_t group, int64_t tap, int64_t place) {
  return ((image * s.groups + group) * s.taps() + tap) * s.places() + place;
}

}  // namespace argand
