// at::tensor, which keeps the type of its numbers where torch::tensor takes the default dtype or int64; and
// torch::detail::TensorDataContainer.
#pragma once
#include <ostream>

#include "argand/ops/create/literal.h"
#include "c10/namespaces.h"

namespace at {

template <class T, class = decltype(scalar_type_of<T>::value)>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options) {
  return ::argand::tensor(values, options);
}
template <class T, class = decltype(scalar_type_of<T>::value)>
Tensor tensor(ArrayRef<T> values) {
  return ::argand::tensor(values, scalar_type_v<T>);
}
template <class T, class = decltype(scalar_type_of<T>::value)>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options) {
  return ::argand::tensor(ArrayRef<T>(values), options);
}
template <class T, class = decltype(scalar_type_of<T>::value)>
Tensor tensor(std::initializer_list<T> values) {
  return at::tensor(ArrayRef<T>(values));
}
template <class T, class = decltype(scalar_type_of<T>::value)>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options) {
  return ::argand::tensor(values, options);
}
template <class T, class = decltype(scalar_type_of<T>::value)>
Tensor tensor(const std::vector<T>& values) {
  return ::argand::tensor(values, scalar_type_v<T>);
}
template <class T, class = decltype(scalar_type_of<T>::value)>
Tensor tensor(T value, const TensorOptions& options) {
  return at::tensor(ArrayRef<T>(value), options);
}
template <class T, class = decltype(scalar_type_of<T>::value)>
Tensor tensor(T value) {
  return at::tensor(ArrayRef<T>(value));
}

}  // namespace at

namespace torch::detail {

// The argument of torch::tensor, as it was written.
class TensorDataContainer : public TensorLiteral {
 public:
  using TensorLiteral::TensorLiteral;
  const Scalar& scalar() const {
    ARGAND_CHECK(ValueError, is_scalar(),
                 "Can only call `scalar()` on a TensorDataContainer that has `is_scalar() == true`");
    return values()[0];
  }
  const TensorLiteral& init_list() const {
    ARGAND_CHECK(ValueError, is_init_list(),
                 "Can only call `init_list()` on a TensorDataContainer that has `is_init_list() == true`");
    return *this;
  }
  Tensor tensor() const {
    ARGAND_CHECK(ValueError, is_tensor(),
                 "Can only call `tensor()` on a TensorDataContainer that has `is_tensor() == true`");
    return ::argand::tensor(*this, dtype());
  }
};

// "{{1, 2}, {3, 4}}"
inline std::ostream& operator<<(std::ostream& stream, const TensorDataContainer& data) {
  size_t next = 0;
  const auto print = [&](const auto& self, size_t dim) -> void {
    if (dim == data.sizes().size()) {
      const Scalar& value = data.values()[next++];
      if (value.isComplex())
        stream << value.to<std::complex<double>>();
      else if (value.isFloatingPoint())
        stream << value.toDouble();
      else
        stream << value.toLong();
      return;
    }
    stream << '{';
    for (int64_t i = 0; i < data.sizes()[dim]; ++i) {
      if (i) stream << ", ";
      self(self, dim + 1);
    }
    stream << '}';
  };
  print(print, 0);
  return stream;
}

}  // namespace torch::detail
