#include "argand/autograd/ivalue.h"

namespace argand {

template <class T>
bool IValue::is() const {
  return std::holds_alternative<T>(value_);
}

template <class T>
const T& IValue::get(const char* name) const {
  ARGAND_CHECK(ValueError, is<T>(), "IValue: expected ", name, ", but it holds another type");
  return std::get<T>(value_);
}

IValue::IValue() = default;
IValue::IValue(const IValue&) = default;
IValue::IValue(IValue&&) noexcept = default;
IValue& IValue::operator=(const IValue&) = default;
IValue& IValue::operator=(IValue&&) noexcept = default;
IValue::~IValue() = default;

IValue::IValue(Tensor v) : value_(std::move(v)) {}
IValue::IValue(bool v) : value_(v) {}
IValue::IValue(double v) : value_(v) {}
IValue::IValue(int64_t v) : value_(v) {}
IValue::IValue(const Scalar& v) : value_(v) {}
IValue::IValue(std::string v) : value_(std::move(v)) {}
IValue::IValue(const char* v) : value_(std::string(v)) {}
IValue::IValue(IntArrayRef v) : value_(v.vec()) {}
IValue::IValue(std::vector<int64_t> v) : value_(std::move(v)) {}
IValue::IValue(std::vector<double> v) : value_(std::move(v)) {}
IValue::IValue(std::vector<Tensor> v) : value_(std::move(v)) {}

bool IValue::isNone() const { return is<std::monostate>(); }
bool IValue::isTensor() const { return is<Tensor>(); }
bool IValue::isBool() const { return is<bool>(); }
bool IValue::isInt() const { return is<int64_t>(); }
bool IValue::isDouble() const { return is<double>(); }
bool IValue::isString() const { return is<std::string>(); }
bool IValue::isIntList() const { return is<std::vector<int64_t>>(); }
bool IValue::isDoubleList() const { return is<std::vector<double>>(); }
bool IValue::isTensorList() const { return is<std::vector<Tensor>>(); }

const Tensor& IValue::toTensor() const { return get<Tensor>("Tensor"); }
bool IValue::toBool() const { return get<bool>("bool"); }
int64_t IValue::toInt() const { return get<int64_t>("int"); }
double IValue::toDouble() const { return get<double>("double"); }
const std::string& IValue::toStringRef() const { return get<std::string>("string"); }
Scalar IValue::toScalar() const {
  if (isInt()) return toInt();
  if (isDouble()) return toDouble();
  if (isBool()) return toBool();
  return get<Scalar>("Scalar");
}
const std::vector<int64_t>& IValue::toIntVector() const { return get<std::vector<int64_t>>("int[]"); }
const std::vector<double>& IValue::toDoubleVector() const { return get<std::vector<double>>("double[]"); }
const std::vector<Tensor>& IValue::toTensorVector() const { return get<std::vector<Tensor>>("Tensor[]"); }

}  // namespace argand
