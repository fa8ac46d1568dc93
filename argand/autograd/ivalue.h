// A value of one of the few types that AutogradContext::saved_data keeps, with LibTorch's accessors.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "argand/core/tensor.h"

namespace argand {

class IValue {
 public:
  IValue() = default;
  IValue(Tensor v) : value_(std::move(v)) {}
  IValue(bool v) : value_(v) {}
  IValue(double v) : value_(v) {}
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  IValue(I v) : value_(static_cast<int64_t>(v)) {}
  IValue(const Scalar& v) : value_(v) {}
  IValue(std::string v) : value_(std::move(v)) {}
  IValue(const char* v) : value_(std::string(v)) {}
  IValue(IntArrayRef v) : value_(v.vec()) {}
  IValue(std::vector<int64_t> v) : value_(std::move(v)) {}
  IValue(std::vector<double> v) : value_(std::move(v)) {}
  IValue(std::vector<Tensor> v) : value_(std::move(v)) {}
  template <class T>
  IValue(std::optional<T> v) {
    if (v) *this = IValue(std::move(*v));
  }

  bool isNone() const { return is<std::monostate>(); }
  bool isTensor() const { return is<Tensor>(); }
  bool isBool() const { return is<bool>(); }
  bool isInt() const { return is<int64_t>(); }
  bool isDouble() const { return is<double>(); }
  bool isString() const { return is<std::string>(); }
  bool isIntList() const { return is<std::vector<int64_t>>(); }
  bool isDoubleList() const { return is<std::vector<double>>(); }
  bool isTensorList() const { return is<std::vector<Tensor>>(); }

  // ValueError if it holds another type.
  const Tensor& toTensor() const { return get<Tensor>("Tensor"); }
  bool toBool() const { return get<bool>("bool"); }
  int64_t toInt() const { return get<int64_t>("int"); }
  double toDouble() const { return get<double>("double"); }
  const std::string& toStringRef() const { return get<std::string>("string"); }
  Scalar toScalar() const {
    if (isInt()) return toInt();
    if (isDouble()) return toDouble();
    if (isBool()) return toBool();
    return get<Scalar>("Scalar");
  }
  const std::vector<int64_t>& toIntVector() const { return get<std::vector<int64_t>>("int[]"); }
  const std::vector<double>& toDoubleVector() const { return get<std::vector<double>>("double[]"); }
  const std::vector<Tensor>& toTensorVector() const { return get<std::vector<Tensor>>("Tensor[]"); }

 private:
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }
  template <class T>
  const T& get(const char* name) const {
    ARGAND_CHECK(ValueError, is<T>(), "IValue: expected ", name, ", but it holds another type");
    return std::get<T>(value_);
  }
  std::variant<std::monostate, Tensor, bool, int64_t, double, Scalar, std::string, std::vector<int64_t>,
               std::vector<double>, std::vector<Tensor>>
      value_;
};

}  // namespace argand
