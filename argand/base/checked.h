// Size arithmetic that cannot wrap: every number of elements, bytes or strides made from a user's sizes goes through
// here.
#pragma once
#include <cstdint>

#include "argand/base/array_ref.h"
#include "argand/base/error.h"

namespace argand {

// A 64-bit signed size.  An operation whose exact result does not fit throws ValueError "<what>: ... 64 bits"; `what`
// names the op or the argument and must outlive the object.
class CheckedSize {
 public:
  explicit constexpr CheckedSize(int64_t value, const char* what) : value_(value), what_(what) {}

  CheckedSize& add(int64_t other) {
    if (int64_t result; !__builtin_add_overflow(value_, other, &result)) return set(result);
    overflow('+', other);
  }
  CheckedSize& sub(int64_t other) {
    if (int64_t result; !__builtin_sub_overflow(value_, other, &result)) return set(result);
    overflow('-', other);
  }
  CheckedSize& mul(int64_t other) {
    if (int64_t result; !__builtin_mul_overflow(value_, other, &result)) return set(result);
    overflow('*', other);
  }
  constexpr int64_t value() const { return value_; }

 private:
  CheckedSize& set(int64_t value) {
    value_ = value;
    return *this;
  }
  [[noreturn]] void overflow(char op, int64_t other) const {
    ARGAND_THROW(ValueError, what_, ": size ", value_, " ", op, " ", other, " does not fit in 64 bits");
  }

  int64_t value_;
  const char* what_;
};

// The product of sizes: 1 for none, 0 if any is 0.  Throws ValueError "<what>: ..." for a negative size and for a
// product beyond 64 bits.  (Sizes with a 0 may still have strides that overflow: those need a CheckedSize of their
// own.)
inline int64_t checked_numel(IntArrayRef sizes, const char* what) {
  bool empty = false;
  for (int64_t size : sizes) {
    ARGAND_CHECK(ValueError, size >= 0, what, ": expected sizes of at least 0, got ", sizes);
    empty |= size == 0;
  }
  if (empty) return 0;
  int64_t numel = 1;
  for (int64_t size : sizes)
    ARGAND_CHECK(ValueError, !__builtin_mul_overflow(numel, size, &numel), what, ": the number of elements of sizes ",
                 sizes, " does not fit in 64 bits");
  return numel;
}

}  // namespace argand
