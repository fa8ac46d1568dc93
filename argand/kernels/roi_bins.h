// How a region of interest is cut into bins along one dimension of an image, and the weights of pixels in each bin. The
// weight of a pixel in a bin of two dimensions is the product of its weights in both: this holds for bilinear samples
// on a grid and for windows of whole pixels.  Compiled for the CPU and, by NVRTC, for GPUs.
#pragma once
#include "argand/kernels/math.h"
#ifdef __CUDACC_RTC__
#include "argand/kernels/cuda/types.cuh"
#else
#include <cstdint>
#endif

namespace argand {

enum class RoiWindow {
  kSamples,         // bilinear interpolation at points spread over the bin: RoIAlign (Mask R-CNN, He et al. 2017)
  kPixels,          // the pixels that the bin touches, of a region rounded to pixels: R-FCN (Dai et al. 2016)
  kInnerPixels,     // the same without the last pixel of the image
  kPixelsWithLast,  // the same, the region's last pixel being a part of it: Fast R-CNN (Girshick 2015)
};

struct RoiRule {
  RoiWindow window;
  int64_t samples;  // of each dimension of a bin; <= 0: one for each pixel or part of it
  double scale;     // from coordinates of regions to pixels
  bool aligned;     // pixel 0 has its middle at coordinate 0.5 instead of 0, and regions may be smaller than a pixel
};

struct RoiShape {
  RoiRule rule;
  bool by_position;  // each bin has its own channels: input channel c * bins + bin goes to bin `bin` of channel c
  int64_t rois, batch, channels, in[2], out[2];  // `channels`: of the input

  ARGAND_MATH int64_t bins() const { return out[0] * out[1]; }
  ARGAND_MATH int64_t out_channels() const { return by_position ? channels / bins() : channels; }
};

// A: the type of the computation, float or double.
template <class A>
class RoiBins {
 public:
  ARGAND_MATH RoiBins(const RoiRule& rule, A low, A high, int64_t bins, int64_t pixels)
      : samples_(rule.window == RoiWindow::kSamples),
        bins_(bins),
        pixels_(pixels),
        counted_(rule.window == RoiWindow::kInnerPixels && pixels > 0 ? pixels - 1 : pixels) {
    const A scale = static_cast<A>(rule.scale);
    if (samples_) {
      const A offset = rule.aligned ? A(0.5) : A(0);
      start_ = low * scale - offset;
      A size = high * scale - offset - start_;
      if (!rule.aligned && size < A(1)) size = A(1);
      bin_ = size / static_cast<A>(bins);
      all_samples_ = rule.samples <= 0;
      grid_ = all_samples_ ? math::ceil(bin_) : static_cast<A>(rule.samples);
    } else {
      const A from = rounded(low * scale), to = rounded(high * scale);
      start_ = from;
      A size = to - from + (rule.window == RoiWindow::kPixelsWithLast ? A(1) : A(0));
      if (size < A(1)) size = A(1);
      bin_ = size / static_cast<A>(bins);
      grid_ = A(1);
    }
  }

  // Samples along the dimension in each bin; not a whole number where the region is not finite.
  ARGAND_MATH A grid() const { return grid_; }

  // The pixels [begin, end) of bin b of a window of pixels.
  ARGAND_MATH void pixels_of(int64_t b, int64_t& begin, int64_t& end) const {
    begin = within(math::floor(static_cast<A>(b) * bin_) + start_);
    end = within(math::ceil(static_cast<A>(b + 1) * bin_) + start_);
    if (end < begin) end = begin;
  }

  // Calls f(pixel, weight) for what bin b sums, a pixel perhaps several times.  What lies more than a pixel outside of
  // the image, or nowhere (NaN), counts nothing.
  template <class F>
  ARGAND_MATH void visit(int64_t b, F f) const {
    if (!samples_) {
      int64_t begin, end;
      pixels_of(b, begin, end);
      for (int64_t p = begin; p < end; ++p) f(p, A(1));
      return;
    }
    int64_t begin = 0, end = 0;
    samples_near(b, begin, end);
    for (int64_t i = begin; i < end; ++i) {
      A p = start_ + static_cast<A>(b) * bin_ + (static_cast<A>(i) + A(0.5)) * bin_ / grid_;
      if (!(p >= A(-1) && p <= static_cast<A>(pixels_))) continue;
      if (p < A(0)) p = A(0);
      const int64_t below = static_cast<int64_t>(p);
      if (below >= pixels_ - 1) {
        f(pixels_ - 1, A(1));
      } else {
        const A part = p - static_cast<A>(below);
        f(below, A(1) - part);
        f(below + 1, part);
      }
    }
  }

  // The most weights that tabulate() stores for all bins of a region.
  ARGAND_MATH static int64_t capacity(int64_t bins, int64_t pixels) { return pixels + 3 * bins + 4; }

  // For each bin the first pixel, their number, and where their weights begin in `weight`; the hull of all pixels.
  ARGAND_MATH void tabulate(int* first, int* count, int* at, A* weight, int& hull_begin, int& hull_end) const {
    const int64_t room = capacity(bins_, pixels_);
    int64_t used = 0, least = pixels_, most = 0;
    for (int64_t b = 0; b < bins_; ++b) {
      int64_t low = pixels_, high = 0;
      visit(b, [&](int64_t p, A) {
        low = p < low ? p : low;
        high = p + 1 > high ? p + 1 : high;
      });
      if (high < low) high = low;
      // Bins follow one another, but where a region is so far away that neighbouring numbers are pixels apart.
      if (high - low > room - used) high = low + room - used;
      for (int64_t k = 0; k < high - low; ++k) weight[used + k] = A(0);
      visit(b, [&](int64_t p, A w) {
        if (p >= low && p < high) weight[used + p - low] += w;
      });
      first[b] = static_cast<int>(low);
      count[b] = static_cast<int>(high - low);
      at[b] = static_cast<int>(used);
      used += high - low;
      if (high == low) continue;
      least = low < least ? low : least;
      most = high > most ? high : most;
    }
    hull_begin = static_cast<int>(least);
    hull_end = static_cast<int>(most);
  }

 private:
  // Halves away from zero.
  ARGAND_MATH static A rounded(A x) {
    const A size = math::abs(x), whole = math::floor(size), up = size - whole >= A(0.5) ? whole + A(1) : whole;
    return x < A(0) ? -up : up;
  }
  ARGAND_MATH int64_t within(A x) const {
    if (!(x > A(0))) return 0;
    return x < static_cast<A>(counted_) ? static_cast<int64_t>(x) : counted_;
  }

  // Which samples of bin b may lie in the image: all of a given number; of those that a region's size asks for, no more
  // than an image has room for, as a region may be much larger than any image.  None for a region without a size.
  ARGAND_MATH void samples_near(int64_t b, int64_t& begin, int64_t& end) const {
    constexpr A kMost = A(2147483648.0);
    if (!(grid_ > A(0) && grid_ < kMost) || pixels_ == 0) return;
    end = static_cast<int64_t>(grid_);
    const int64_t room = 4 * (pixels_ + 4);
    if (!all_samples_ || end <= room) return;
    const A base = start_ + static_cast<A>(b) * bin_, first = math::floor((A(-1) - base) * grid_ / bin_) - A(2);
    if (!(first < grid_)) {
      end = 0;
      return;
    }
    begin = first > A(0) ? static_cast<int64_t>(first) : 0;
    end = end - begin < room ? end : begin + room;
  }

  bool samples_, all_samples_ = false;
  int64_t bins_, pixels_, counted_;
  A start_, bin_, grid_;
};

// The results of tabulate() and RoiBins::grid() for all regions and both dimensions.
struct RoiTables {
  int *first[2], *count[2], *at[2];  // [rois, bins]
  int *hull_begin[2], *hull_end[2];  // [rois]
  void *weight[2], *grid[2];         // [rois, capacity] and [rois], of the arithmetic type
};

// One region of one dimension; rois: [rois, 5] of batch index, x1, y1, x2, y2.
template <class A>
ARGAND_MATH void tabulate_roi(const RoiShape& s, const RoiTables& t, int64_t roi, int d, A low, A high) {
  const RoiBins<A> bins(s.rule, low, high, s.out[d], s.in[d]);
  const int64_t row = roi * s.out[d];
  static_cast<A*>(t.grid[d])[roi] = bins.grid();
  bins.tabulate(t.first[d] + row, t.count[d] + row, t.at[d] + row,
                static_cast<A*>(t.weight[d]) + roi * RoiBins<A>::capacity(s.out[d], s.in[d]), t.hull_begin[d][roi],
                t.hull_end[d][roi]);
}

// One bin of one dimension.
template <class A>
struct RoiBin {
  int first, count;
  const A* weight;
  ARGAND_MATH RoiBin(const RoiShape& s, const RoiTables& t, int64_t roi, int d, int64_t b)
      : first(t.first[d][roi * s.out[d] + b]),
        count(t.count[d][roi * s.out[d] + b]),
        weight(static_cast<const A*>(t.weight[d]) + roi * RoiBins<A>::capacity(s.out[d], s.in[d]) +
               t.at[d][roi * s.out[d] + b]) {}
  ARGAND_MATH bool has(int pixel) const { return pixel >= first && pixel < first + count; }
  ARGAND_MATH A of(int pixel) const { return weight[pixel - first]; }
};

// The divisor of the sum over a bin.  Without any sample it is 0 for bins with channels of their own, and 1 for others;
// without any pixel it is 1.
template <class A>
ARGAND_MATH A roi_divisor(const RoiShape& s, const RoiTables& t, int64_t roi, const RoiBin<A>& y, const RoiBin<A>& x) {
  if (s.rule.window != RoiWindow::kSamples) {
    const int64_t pixels = int64_t{y.count} * x.count;
    return pixels > 0 ? static_cast<A>(pixels) : A(1);
  }
  const A samples = static_cast<const A*>(t.grid[0])[roi] * static_cast<const A*>(t.grid[1])[roi];
  return s.by_position || samples > A(1) ? samples : A(1);
}

}  // namespace argand
