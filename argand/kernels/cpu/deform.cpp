#include "argand/kernels/cpu/deform.h"

#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kGrain = 2048;  // the least number of taps for a thread

// The taps of a call, and what they are multiplied by.
template <class A>
struct Taps {
  const DeformShape& s;
  const A *offset, *mask;
  explicit Taps(const DeformCall& call)
      : s(call.shape), offset(static_cast<const A*>(call.offset)), mask(static_cast<const A*>(call.mask)) {}
  DeformTap<A> at(int64_t image, int64_t group, int64_t tap, int64_t place) const {
    const A* o = offset + deform_offset_at(s, image, group, tap, place);
    return DeformTap<A>(s, tap, place, o[0], o[s.places()]);
  }
  A factor(int64_t image, int64_t group, int64_t tap, int64_t place) const {
    return mask ? mask[deform_mask_at(s, image, group, tap, place)] : A(1);
  }
};

// body(plane, image, channel) for the planes of images; each is one thread's.
template <class F>
void each_plane(const DeformShape& s, F body) {
  parallel_for(0, s.batch * s.channels, kGrain / (s.taps() * s.places() + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) body(p, p / s.channels, p % s.channels);
  });
}

template <class A>
void columns_of(const DeformCall& call, const A* input, A* columns) {
  const DeformShape& s = call.shape;
  const Taps<A> taps(call);
  each_plane(s, [&](int64_t p, int64_t image, int64_t channel) {
    const A* plane = input + p * s.pixels();
    const int64_t group = channel / s.channels_of_group();
    A* out = columns + p * s.taps() * s.places();
    for (int64_t tap = 0; tap < s.taps(); ++tap)
      for (int64_t place = 0; place < s.places(); ++place) {
        const A value = taps.at(image, group, tap, place).value([&](int64_t n) { return plane[n]; });
        *out++ = taps.factor(image, group, tap, place) * value;
      }
  });
}

template <class A>
void input_grad(const DeformCall& call, const A* grad_columns, A* grad_input) {
  const DeformShape& s = call.shape;
  const Taps<A> taps(call);
  each_plane(s, [&](int64_t p, int64_t image, int64_t channel) {
    A* plane = grad_input + p * s.pixels();
    std::fill(plane, plane + s.pixels(), A(0));
    const int64_t group = channel / s.channels_of_group();
    const A* g = grad_columns + p * s.taps() * s.places();
    for (int64_t tap = 0; tap < s.taps(); ++tap)
      for (int64_t place = 0; place < s.places(); ++place, ++g) {
        const DeformTap<A> t = taps.at(image, group, tap, place);
        if (!t.inside()) continue;
        const A from = *g * taps.factor(image, group, tap, place);
        for (int k = 0; k < 4; ++k)
          if (const int64_t n = t.pixel(k); n >= 0) plane[n] += t.weight(k) * from;
      }
  });
}

template <class A>
void place_grads(const DeformCall& call, const A* grad_columns, const A* input, A* grad_offset, A* grad_mask) {
  const DeformShape& s = call.shape;
  const Taps<A> taps(call);
  const int64_t share = s.channels_of_group(), rows = s.batch * s.groups * s.taps();
  parallel_for(0, rows, kGrain / (share * s.places() + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t tap = row % s.taps(), group = row / s.taps() % s.groups, image = row / s.taps() / s.groups;
      for (int64_t place = 0; place < s.places(); ++place) {
        const DeformTap<A> t = taps.at(image, group, tap, place);
        const A factor = taps.factor(image, group, tap, place);
        A sum_y = 0, sum_x = 0, sum_mask = 0;
        for (int64_t c = 0; c < share; ++c) {
          const int64_t p = image * s.channels + group * share + c;
          const A* plane = input + p * s.pixels();
          const auto pixel_at = [&](int64_t n) { return plane[n]; };
          const A g = grad_columns[(p * s.taps() + tap) * s.places() + place];
          A by_y, by_x;
          t.slopes(pixel_at, by_y, by_x);
          sum_y += g * factor * by_y;
          sum_x += g * factor * by_x;
          if (grad_mask) sum_mask += g * t.value(pixel_at);
        }
        A* to = grad_offset + deform_offset_at(s, image, group, tap, place);
        to[0] = sum_y;
        to[s.places()] = sum_x;
        if (grad_mask) grad_mask[deform_mask_at(s, image, group, tap, place)] = sum_mask;
      }
    }
  });
}

}  // namespace

void deform_columns(const DeformCall& call, const void* input, void* columns) {
  dispatch<kFloatTypes>(call.type, "deform_columns", [&](auto tag) {
    using A = typename decltype(tag)::type;
    columns_of(call, static_cast<const A*>(input), static_cast<A*>(columns));
  });
}

void deform_input_grad(const DeformCall& call, const void* grad_columns, void* grad_input) {
  dispatch<kFloatTypes>(call.type, "deform_input_grad", [&](auto tag) {
    using A = typename decltype(tag)::type;
    input_grad(call, static_cast<const A*>(grad_columns), static_cast<A*>(grad_input));
  });
}

void deform_place_grads(const DeformCall& call, const void* grad_columns, const void* input, void* grad_offset,
                        void* grad_mask) {
  dispatch<kFloatTypes>(call.type, "deform_place_grads", [&](auto tag) {
    using A = typename decltype(tag)::type;
    place_grads(call, static_cast<const A*>(grad_columns), static_cast<const A*>(input), static_cast<A*>(grad_offset),
                static_cast<A*>(grad_mask));
  });
}

}  // namespace argand::cpu
