#include <cstring>
#include <limits>
#include <type_traits>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/tile.h"

namespace argand::cpu {
namespace {

template <class To, class From>
To convert_one(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>)
      return To(static_cast<typename To::value_type>(v.real()), static_cast<typename To::value_type>(v.imag()));
    else if constexpr (std::is_same_v<To, bool>)
      return v.real() != 0 || v.imag() != 0;
    else
      return convert_one<To>(v.real());
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(convert_one<double>(v)), 0);
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<op_math_t<From>>(v) != 0;
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_floating_point_v<op_math_t<From>> && std::is_integral_v<To>) {
    // C++ does not define what numbers out of range, and NaN, become.  As PyTorch on x86: the smallest number of int64,
    // or of int32, whose low bits the smaller types take.
    using Wide = std::conditional_t<sizeof(To) == sizeof(int64_t), int64_t, int32_t>;
    constexpr Wide kSmallest = std::numeric_limits<Wide>::min();
    constexpr double kLimit = -static_cast<double>(kSmallest);
    const double d = static_cast<double>(static_cast<op_math_t<From>>(v));
    const Wide i = d > -kLimit - 1 && d < kLimit ? static_cast<Wide>(d) : kSmallest;
    return static_cast<To>(i);
  } else {
    return static_cast<To>(static_cast<op_math_t<From>>(v));
  }
}

template <class To, class From>
void convert_loop(const void* from, void* to, int64_t n) {
  const From* a = static_cast<const From*>(from);
  To* b = static_cast<To*>(to);
  if constexpr (std::is_same_v<From, bool>) {
    // A byte of a bool tensor that came from outside may hold more than 0 and 1.
    const uint8_t* bytes = static_cast<const uint8_t*>(from);
    for (int64_t i = 0; i < n; ++i) b[i] = convert_one<To>(static_cast<uint8_t>(bytes[i] != 0));
  } else {
    for (int64_t i = 0; i < n; ++i) b[i] = convert_one<To>(a[i]);
  }
}

}  // namespace

void convert_elements(const void* from, ScalarType from_type, void* to, ScalarType to_type, int64_t n) {
  if (from_type == to_type) {
    if (from != to) std::memmove(to, from, static_cast<size_t>(n * element_size(from_type)));
    return;
  }
  dispatch<kAllTypes>(from_type, "convert", [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    dispatch<kAllTypes>(to_type, "convert",
                        [&](auto to_tag) { convert_loop<typename decltype(to_tag)::type, From>(from, to, n); });
  });
}

}  // namespace argand::cpu
