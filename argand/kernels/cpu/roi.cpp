#include "argand/kernels/cpu/roi.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "argand/core/dispatch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kGrain = 4096;  // multiplications that a thread does at least

// The memory of a call's tables, filled.
template <class A>
class Tables {
 public:
  explicit Tables(const RoiPooling& call) {
    const RoiShape& s = call.shape;
    for (size_t d = 0; d < 2; ++d) {
      const auto bins = static_cast<size_t>(s.rois * s.out[d]), rois = static_cast<size_t>(s.rois);
      integers_[d].resize(3 * bins + 2 * rois);
      numbers_[d].resize(static_cast<size_t>(RoiBins<A>::capacity(s.out[d], s.in[d])) * rois + rois);
      int* at = integers_[d].data();
      const auto take = [&](size_t n) { return (at += n) - n; };
      t_.first[d] = take(bins);
      t_.count[d] = take(bins);
      t_.at[d] = take(bins);
      t_.hull_begin[d] = take(rois);
      t_.hull_end[d] = take(rois);
      t_.grid[d] = numbers_[d].data();
      t_.weight[d] = numbers_[d].data() + rois;
    }
    const A* rois = static_cast<const A*>(call.rois);
    const int64_t work = 1 + s.in[0] + s.in[1];
    parallel_for(0, s.rois, kGrain / work + 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        tabulate_roi(s, t_, r, 0, rois[r * 5 + 2], rois[r * 5 + 4]);
        tabulate_roi(s, t_, r, 1, rois[r * 5 + 1], rois[r * 5 + 3]);
      }
    });
  }
  const RoiTables& get() const { return t_; }

 private:
  RoiTables t_{};
  std::vector<int> integers_[2];
  std::vector<A> numbers_[2];
};

template <class A>
A mean_of(const RoiShape& s, const RoiTables& t, int64_t roi, const RoiBin<A>& y, const RoiBin<A>& x, const A* plane) {
  A sum = 0;
  for (int i = 0; i < y.count; ++i) {
    const A* row = plane + (y.first + i) * s.in[1] + x.first;
    A along = 0;
    for (int j = 0; j < x.count; ++j) along += x.weight[j] * row[j];
    sum += y.weight[i] * along;
  }
  return sum / roi_divisor(s, t, roi, y, x);
}

template <class A>
void average(const RoiPooling& call, const A* images, A* out) {
  const RoiShape& s = call.shape;
  const Tables<A> tables(call);
  const RoiTables& t = tables.get();
  const int64_t channels = s.out_channels(), bins = s.bins();
  parallel_for(0, s.rois * channels, kGrain / (4 * bins) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t r = i / channels, c = i % channels;
      const A* image = images + call.batch[r] * s.channels * s.in[0] * s.in[1];
      for (int64_t b = 0; b < bins; ++b) {
        const RoiBin<A> y(s, t, r, 0, b / s.out[1]), x(s, t, r, 1, b % s.out[1]);
        out[i * bins + b] = mean_of(s, t, r, y, x, image + (s.by_position ? c * bins + b : c) * s.in[0] * s.in[1]);
      }
    }
  });
}

// Adds to one plane what a bin gives back.
template <class A>
void spread(const RoiShape& s, const RoiTables& t, int64_t roi, int64_t bin, const A* grad, A* plane) {
  const RoiBin<A> y(s, t, roi, 0, bin / s.out[1]), x(s, t, roi, 1, bin % s.out[1]);
  if (y.count == 0 || x.count == 0) return;
  const A g = grad[bin] / roi_divisor(s, t, roi, y, x);
  for (int i = 0; i < y.count; ++i) {
    A* row = plane + (y.first + i) * s.in[1] + x.first;
    for (int j = 0; j < x.count; ++j) row[j] += y.weight[i] * x.weight[j] * g;
  }
}

template <class A>
void average_backward(const RoiPooling& call, const A* grad_out, A* grad_images) {
  const RoiShape& s = call.shape;
  const Tables<A> tables(call);
  const RoiTables& t = tables.get();
  const int64_t channels = s.out_channels(), bins = s.bins(), pixels = s.in[0] * s.in[1];
  const int64_t work = pixels + 4 * s.rois * (s.by_position ? 1 : bins) / std::max<int64_t>(s.batch, 1);
  // A plane is one thread's.
  parallel_for(0, s.batch * s.channels, kGrain / (work + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t image = p / s.channels, c = p % s.channels;
      A* plane = grad_images + p * pixels;
      std::fill(plane, plane + pixels, A(0));
      for (int64_t r = 0; r < s.rois; ++r) {
        if (call.batch[r] != image) continue;
        if (s.by_position) {
          spread(s, t, r, c % bins, grad_out + (r * channels + c / bins) * bins, plane);
        } else {
          for (int64_t b = 0; b < bins; ++b) spread(s, t, r, b, grad_out + (r * channels + c) * bins, plane);
        }
      }
    }
  });
}

template <class A>
void largest(const RoiPooling& call, const A* images, A* out, int32_t* at) {
  const RoiShape& s = call.shape;
  const A* rois = static_cast<const A*>(call.rois);
  const int64_t bins = s.bins(), pixels = s.in[0] * s.in[1];
  parallel_for(0, s.rois * s.channels, kGrain / (4 * bins) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t r = i / s.channels;
      const A* plane = images + (call.batch[r] * s.channels + i % s.channels) * pixels;
      const RoiBins<A> down(s.rule, rois[r * 5 + 2], rois[r * 5 + 4], s.out[0], s.in[0]),
          across(s.rule, rois[r * 5 + 1], rois[r * 5 + 3], s.out[1], s.in[1]);
      for (int64_t b = 0; b < bins; ++b) {
        int64_t top, bottom, left, right;
        down.pixels_of(b / s.out[1], top, bottom);
        across.pixels_of(b % s.out[1], left, right);
        const bool empty = top == bottom || left == right;
        A best = empty ? A(0) : A(std::numeric_limits<float>::lowest());
        int64_t where = -1;
        for (int64_t y = top; y < bottom; ++y)
          for (int64_t x = left; x < right; ++x)
            if (plane[y * s.in[1] + x] > best) where = y * s.in[1] + x, best = plane[where];
        out[i * bins + b] = best;
        at[i * bins + b] = static_cast<int32_t>(where);
      }
    }
  });
}

}  // namespace

void roi_average(const RoiPooling& call, const void* images, void* out) {
  dispatch<kFloatTypes>(call.type, "roi_average", [&](auto tag) {
    using A = typename decltype(tag)::type;
    average(call, static_cast<const A*>(images), static_cast<A*>(out));
  });
}

void roi_average_backward(const RoiPooling& call, const void* grad_out, void* grad_images) {
  dispatch<kFloatTypes>(call.type, "roi_average_backward", [&](auto tag) {
    using A = typename decltype(tag)::type;
    average_backward(call, static_cast<const A*>(grad_out), static_cast<A*>(grad_images));
  });
}

void roi_max(const RoiPooling& call, const void* images, void* out, int32_t* at) {
  dispatch<kFloatTypes>(call.type, "roi_max", [&](auto tag) {
    using A = typename decltype(tag)::type;
    largest(call, static_cast<const A*>(images), static_cast<A*>(out), at);
  });
}

}  // namespace argand::cpu
