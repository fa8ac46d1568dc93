// D numbers, or one that stands for all: the kernel sizes, strides and paddings of options.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include "argand/base/array_ref.h"

namespace argand {

template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(ArrayRef<T>(values)) {}
  ExpandingArray(ArrayRef<T> values) {
    ARGAND_CHECK(ValueError, values.size() == D, "Expected ", D, " values, but instead got ", values.size());
    std::copy(values.begin(), values.end(), values_.begin());
  }
  ExpandingArray(T one) { values_.fill(one); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }
  T& operator[](size_t i) { return values_[i]; }
  const T& operator[](size_t i) const { return values_[i]; }
  size_t size() const noexcept { return D; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + D; }

 private:
  std::array<T, D> values_;
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& stream, const ExpandingArray<D, T>& a) {
  if (D == 1) return stream << a[0];
  stream << "[";
  for (size_t i = 0; i < D; ++i) stream << (i ? ", " : "") << a[i];
  return stream << "]";
}

// The same where some may be left open: AdaptiveAvgPool2dOptions({5, std::nullopt}).
template <size_t D, class T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using Base = ExpandingArray<D, std::optional<T>>;
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : Base(std::vector<std::optional<T>>(list.begin(), list.end())) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& values)
      : Base(std::vector<std::optional<T>>(values.begin(), values.end())) {}
  ExpandingArrayWithOptionalElem(T one) : Base(std::optional<T>(one)) {}
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& stream, const ExpandingArrayWithOptionalElem<D, T>& a) {
  stream << (D == 1 ? "" : "[");
  for (size_t i = 0; i < D; ++i) {
    stream << (i ? ", " : "");
    if (a[i])
      stream << *a[i];
    else
      stream << "None";
  }
  return stream << (D == 1 ? "" : "]");
}

}  // namespace argand
