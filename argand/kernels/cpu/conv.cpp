#include "argand/kernels/cpu/conv.h"

#include <algorithm>
#include <type_traits>

#include "argand/base/half_convert.h"
#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/conv_channels.h"
#include "argand/kernels/cpu/conv_direct.h"
#include "argand/kernels/cpu/conv_im2col.h"
#include "argand/kernels/cpu/gemm_simd.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr DtypeSet kConvTypes = kFloatingTypes | kComplexTypes;

template <class T>
inline constexpr bool is_float_v = std::is_same_v<T, float> || std::is_same_v<T, double>;

// Half and BFloat16 are convolved in float and rounded once.
template <class T>
class InFloat {
 public:
  InFloat(const T* data, int64_t n) : buffer_(data == nullptr ? 0 : n), used_(data != nullptr) {
    if (used_) copy(data, buffer_.data(), n);
  }
  explicit InFloat(int64_t n) : buffer_(n), used_(true) {}
  float* data() { return used_ ? buffer_.data() : nullptr; }
  void round_to(T* out, int64_t n) { copy(buffer_.data(), out, n); }

 private:
  template <class From, class To>
  static void copy(const From* from, To* to, int64_t n) {
    parallel_for(0, n, 64 << 10, [&](int64_t begin, int64_t end) { convert(from + begin, to + begin, end - begin); });
  }
  ScratchBuffer<float> buffer_;
  bool used_;
};

// [n, channels, size] of [n, size, channels], to read or to write.
template <class T>
class ChannelsFirst {
 public:
  ChannelsFirst(int64_t n, int64_t channels, int64_t size)
      : n_(n), channels_(channels), size_(size), buffer_(n * channels * size) {}
  ChannelsFirst(const T* data, int64_t n, int64_t channels, int64_t size) : ChannelsFirst(n, channels, size) {
    turn(data, size_, channels_, buffer_.data());
  }
  T* data() { return buffer_.data(); }
  void put(T* out) { turn(buffer_.data(), channels_, size_, out); }

 private:
  // [n, rows, columns] to [n, columns, rows].
  void turn(const T* from, int64_t rows, int64_t columns, T* to) const {
    const int64_t size = rows * columns;
    parallel_for(0, n_, std::max<int64_t>(1, (64 << 10) / std::max<int64_t>(1, size)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        detail::gemm_kernels<T>(vector_unit()).turn({from + i * size, columns, 1, rows, columns}, to + i * size, rows);
    });
  }

  const int64_t n_, channels_, size_;
  ScratchBuffer<T> buffer_;
};

ConvShape channels_first(const ConvShape& s) {
  ConvShape first = s;
  first.channels_last = false;
  return first;
}

int64_t x_size(const ConvShape& s) { return s.n * s.c * s.in_size(); }
int64_t y_size(const ConvShape& s) { return s.n * s.o * s.out_size(); }
int64_t w_size(const ConvShape& s) { return s.o * (s.c / s.groups) * s.kernel_size(); }

template <class T>
void forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  if constexpr (ReducedFloat<T>) {
    InFloat<T> fx(x, x_size(s)), fw(w, w_size(s)), fb(bias, s.o), fy(y_size(s));
    forward<float>(s, fx.data(), fw.data(), fb.data(), fy.data());
    fy.round_to(y, y_size(s));
  } else {
    if constexpr (is_float_v<T>) {
      if (are_channel_planes(s)) return channel_planes_forward(s, x, w, bias, y);
      if (s.channels_last && im2col::is_plain(s))
        return gemm(GemmArgs<T>{s.n * s.out_size(), s.o, s.c, {x, s.c, 1}, {w, 1, s.c}, y, s.o, 1, 0, bias});
      if (direct_forward_suits(s)) return direct_forward(s, x, w, bias, y);
      if (s.channels_last) {
        ChannelsFirst<T> fx(x, s.n, s.c, s.in_size()), fw(w, s.o, s.c, s.kernel_size()), fy(s.n, s.o, s.out_size());
        forward(channels_first(s), fx.data(), fw.data(), bias, fy.data());
        return fy.put(y);
      }
    }
    im2col::forward(s, x, w, bias, y);
  }
}

template <class T>
void input_grad(const ConvShape& s, const T* gy, const T* w, T* gx) {
  if constexpr (ReducedFloat<T>) {
    InFloat<T> fy(gy, y_size(s)), fw(w, w_size(s)), fx(x_size(s));
    input_grad<float>(s, fy.data(), fw.data(), fx.data());
    fx.round_to(gx, x_size(s));
  } else {
    if constexpr (is_float_v<T>) {
      if (are_channel_planes(s)) return channel_planes_input_grad(s, gy, w, gx);
      if (s.channels_last && im2col::is_plain(s))
        return gemm(GemmArgs<T>{s.n * s.out_size(), s.c, s.o, {gy, s.o, 1}, {w, s.c, 1}, gx, s.c});
      if (direct_input_grad_suits(s)) return direct_input_grad(s, gy, w, gx);
      if (s.channels_last) {
        ChannelsFirst<T> fy(gy, s.n, s.o, s.out_size()), fw(w, s.o, s.c, s.kernel_size()), fx(s.n, s.c, s.in_size());
        input_grad(channels_first(s), fy.data(), fw.data(), fx.data());
        return fx.put(gx);
      }
    }
    im2col::input_grad(s, gy, w, gx);
  }
}

template <class T>
void weight_grad(const ConvShape& s, const T* gy, const T* x, T* gw) {
  if constexpr (ReducedFloat<T>) {
    InFloat<T> fy(gy, y_size(s)), fx(x, x_size(s)), fw(w_size(s));
    weight_grad<float>(s, fy.data(), fx.data(), fw.data());
    fw.round_to(gw, w_size(s));
  } else {
    if constexpr (is_float_v<T>) {
      if (are_channel_planes(s)) return channel_planes_weight_grad(s, gy, x, gw);
      if (direct_weight_grad_suits(s)) return direct_weight_grad(s, gy, x, gw);
      if (s.channels_last) {
        ChannelsFirst<T> fy(gy, s.n, s.o, s.out_size()), fx(x, s.n, s.c, s.in_size()), fw(s.o, s.c, s.kernel_size());
        weight_grad(channels_first(s), fy.data(), fx.data(), fw.data());
        return fw.put(gw);
      }
    }
    im2col::weight_grad(s, gy, x, gw);
  }
}

}  // namespace

bool conv_takes_channels_last(const ConvShape& s, ScalarType dtype, bool given) {
  ConvShape last = s;
  last.channels_last = true;
  return given && (s.groups == 1 || are_channel_planes(last)) && (dtype == kFloat || dtype == kDouble);
}

void conv_forward(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias, void* y) {
  if (y_size(s) == 0) return;
  dispatch<kConvTypes>(dtype, "convolution", [&](auto tag) {
    using T = typename decltype(tag)::type;
    forward(s, static_cast<const T*>(x), static_cast<const T*>(w), static_cast<const T*>(bias), static_cast<T*>(y));
  });
}

void conv_input_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx) {
  if (x_size(s) == 0) return;
  dispatch<kConvTypes>(dtype, "convolution", [&](auto tag) {
    using T = typename decltype(tag)::type;
    input_grad(s, static_cast<const T*>(gy), static_cast<const T*>(w), static_cast<T*>(gx));
  });
}

void conv_weight_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw) {
  if (w_size(s) == 0) return;
  dispatch<kConvTypes>(dtype, "convolution", [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (y_size(s) == 0) return (void)std::fill_n(static_cast<T*>(gw), w_size(s), T(0));
    weight_grad(s, static_cast<const T*>(gy), static_cast<const T*>(x), static_cast<T*>(gw));
  });
}

}  // namespace argand::cpu
