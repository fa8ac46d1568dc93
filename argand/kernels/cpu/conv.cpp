#include "argand/kernels/cpu/conv.h"

#include <algorithm>
#include <type_traits>

#include "argand/base/half_convert.h"
#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/conv_direct.h"
#include "argand/kernels/cpu/conv_im2col.h"
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
    if constexpr (is_float_v<T>)
      if (direct_forward_suits(s)) return direct_forward(s, x, w, bias, y);
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
    if constexpr (is_float_v<T>)
      if (direct_input_grad_suits(s)) return direct_input_grad(s, gy, w, gx);
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
    if constexpr (is_float_v<T>)
      if (direct_weight_grad_suits(s)) return direct_weight_grad(s, gy, x, gw);
    im2col::weight_grad(s, gy, x, gw);
  }
}

}  // namespace

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
