// A value of one of the few types that AutogradContext::saved_data keeps and that ops of a program's own take and
// return, with LibTorch's accessors.
#pragma once
#include <string>
#include <vector>

#include "argand/core/tensor.h"

namespace argand {

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
  IValue(const Device& v);
  IValue(Generator v);
  IValue(std::vector<IValue> v);  // a list of anything
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
  bool isDevice() const;
  bool isGenerator() const;
  bool isList() const;    // of anything
  bool isScalar() const;  // a number or a bool

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
  const Device& toDevice() const;
  const Generator& toGenerator() const;
  const std::vector<IValue>& toListRef() const;
  // As the C++ type T of an argument or result of an op (argand/library/boxing.h).
  template <class T>
  T to() const;

 private:
  struct Value;
  template <class T>
  explicit IValue(std::in_place_type_t<T>, T v);
  Value& value();
  const Value& value() const;
  template <class T>
  bool is() const;
  template <class T>
  const T& get(const char* name) const;
  alignas(void*) unsigned char bytes_[40];  // a Value; a variant here would cost every user's compiler
};

}  // namespace argand
