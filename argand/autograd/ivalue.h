// A value of one of the few types that AutogradContext::saved_data keeps, with LibTorch's accessors.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "argand/core/tensor.h"

namespace argand {

// What needs the variant stands in the .cpp: its members would cost every user's compiler.
class IValue {
 public:
  IValue();
  IValue(const IValue&);
  IValue(IValue&&) noexcept;
  IValue& operator=(const IValue&);
  IValue& operator=(IValue&&) noexcept;
  ~IValue();
  IValue(Tensor v);
  IValue(bool v);
  IValue(double v);
  IValue(int64_t v);
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  IValue(I v) : IValue(static_cast<int64_t>(v)) {}
  IValue(const Scalar& v);
  IValue(std::string v);
  IValue(const char* v);
  IValue(IntArrayRef v);
  IValue(std::vector<int64_t> v);
  IValue(std::vector<double> v);
  IValue(std::vector<Tensor> v);
  template <class T>
  IValue(std::optional<T> v) {
    if (v) *this = IValue(std::move(*v));
  }

  bool isNone() const;
  bool isTensor() const;
  bool isBool() const;
  bool isInt() const;
  bool isDouble() const;
  bool isString() const;
  bool isIntList() const;
  bool isDoubleList() const;
  bool isTensorList() const;

  // ValueError if it holds another type.
  const Tensor& toTensor() const;
  bool toBool() const;
  int64_t toInt() const;
  double toDouble() const;
  const std::string& toStringRef() const;
  Scalar toScalar() const;
  const std::vector<int64_t>& toIntVector() const;
  const std::vector<double>& toDoubleVector() const;
  const std::vector<Tensor>& toTensorVector() const;

 private:
  template <class T>
  bool is() const;
  template <class T>
  const T& get(const char* name) const;
  std::variant<std::monostate, Tensor, bool, int64_t, double, Scalar, std::string, std::vector<int64_t>,
               std::vector<double>, std::vector<Tensor>>
      value_;
};

}  // namespace argand
