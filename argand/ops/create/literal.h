// Tensors from numbers in the program text: tensor(1.5), tensor({1, 2, 3}), tensor({{1., 2.}, {3., 4.}}, options).
#pragma once
#include <initializer_list>
#include <vector>

#include "argand/core/tensor.h"

namespace argand {

// A number, a flat array or nested braces; converts from each.  Made only to be passed to tensor().
class TensorLiteral {
 public:
  TensorLiteral() : sizes_({0}), dtype_(get_default_dtype()), braces_(true) {}  // {}: no elements
  template <class T, class = decltype(scalar_type_of<T>::value)>
  TensorLiteral(T number) : dtype_(scalar_type_v<T>), values_{Scalar(number)} {}
  TensorLiteral(unsigned number) : TensorLiteral(static_cast<int64_t>(number)) {}
  TensorLiteral(long long number) : TensorLiteral(static_cast<int64_t>(number)) {}
  TensorLiteral(std::initializer_list<TensorLiteral> parts);
  template <class T, class = decltype(scalar_type_of<T>::value)>
  TensorLiteral(ArrayRef<T> values) : sizes_({static_cast<int64_t>(values.size())}), dtype_(scalar_type_v<T>) {
    values_.reserve(values.size());
    for (const T& v : values) values_.emplace_back(v);
  }
  template <class T, class = decltype(scalar_type_of<T>::value)>
  TensorLiteral(const std::vector<T>& values)
      : sizes_({static_cast<int64_t>(values.size())}), dtype_(scalar_type_v<T>) {
    values_.reserve(values.size());
    for (const T v : values) values_.emplace_back(v);
  }

  const Dims& sizes() const { return sizes_; }
  ScalarType dtype() const { return dtype_; }  // the dtype of the numbers as written
  const std::vector<Scalar>& values() const { return values_; }
  bool is_scalar() const { return sizes_.empty(); }
  bool is_init_list() const { return braces_; }
  bool is_tensor() const { return !is_scalar() && !braces_; }  // for an array

 private:
  Dims sizes_;
  ScalarType dtype_;
  std::vector<Scalar> values_;  // row-major
  bool braces_ = false;
};

// Without a dtype, floats give the default float dtype, integers int64, and bool and complex numbers their own dtype.
// ShapeError if nested braces differ in length.
Tensor tensor(const TensorLiteral& literal, const TensorOptions& options = {});

}  // namespace argand
