#include "argand/kernels/cpu/sequence.h"

#include <cmath>

#include "argand/core/dispatch.h"

namespace argand::cpu {
namespace {

// Writes value(i), a double or an int64, to out[i].
template <class T, class F>
void fill(T* out, int64_t n, F value) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      out[i] = T(static_cast<float>(value(i)));
    else if constexpr (is_complex_v<T>)
      out[i] = T(static_cast<typename T::value_type>(value(i)));
    else
      out[i] = static_cast<T>(value(i));
  }
}

template <class T>
void fill_with(const Sequence& s, T* out, int64_t n) {
  const auto line = [&s, n](int64_t i) {
    return i < n / 2 || n == 1 ? s.start + s.by * static_cast<double>(i)
                               : s.end - s.by * static_cast<double>(n - 1 - i);
  };
  switch (s.kind) {
    case Sequence::kIntegers:
      return fill(out, n, [&s](int64_t i) { return s.first + i * s.step; });
    case Sequence::kNumbers:
      return fill(out, n, [&s](int64_t i) { return s.start + static_cast<double>(i) * s.by; });
    case Sequence::kLine:
      return fill(out, n, line);
    case Sequence::kPowers:
      return fill(out, n, [&s, &line](int64_t i) { return std::pow(s.base, line(i)); });
  }
}

}  // namespace

void fill_sequence(const Sequence& s, ScalarType type, void* out, int64_t n) {
  dispatch<kAllTypes>(type, "fill_sequence",
                      [&](auto tag) { fill_with(s, static_cast<typename decltype(tag)::type*>(out), n); });
}

}  // namespace argand::cpu
