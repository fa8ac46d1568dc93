#include "argand/autograd/ivalue.h"

#include <new>
#include <variant>

namespace argand {

struct IValue::Value
    : std::variant<std::monostate, Tensor, bool, int64_t, double, Scalar, std::string, std::vector<int64_t>,
                   std::vector<double>, std::vector<Tensor>, Device, Generator, std::vector<IValue>> {
  using variant::variant;
};

IValue::Value& IValue::value() { return *std::launder(reinterpret_cast<Value*>(bytes_)); }
const IValue::Value& IValue::value() const { return *std::launder(reinterpret_cast<const Value*>(bytes_)); }

template <class T>
IValue::IValue(std::in_place_type_t<T>, T v) {
  static_assert(sizeof(Value) <= sizeof(bytes_) && alignof(Value) <= alignof(void*));
  new (bytes_) Value(std::in_place_type<T>, std::move(v));
}

template <class T>
bool IValue::is() const {
  return std::holds_alternative<T>(value());
}

template <class T>
const T& IValue::get(const char* name) const {
  ARGAND_CHECK(ValueError, is<T>(), "IValue: expected ", name, ", but it holds another type");
  return std::get<T>(value());
}

IValue::IValue() { new (bytes_) Value; }
IValue::IValue(const IValue& o) { new (bytes_) Value(o.value()); }
IValue::IValue(IValue&& o) noexcept { new (bytes_) Value(std::move(o.value())); }
IValue& IValue::operator=(const IValue& o) {
  value() = o.value();
  return *this;
}
IValue& IValue::operator=(IValue&& o) noexcept {
  value() = std::move(o.value());
  return *this;
}
IValue::~IValue() { value().~Value(); }

template <class T>
using Is = std::in_place_type_t<T>;
IValue::IValue(Tensor v) : IValue(Is<Tensor>(), std::move(v)) {}
IValue::IValue(bool v) : IValue(Is<bool>(), v) {}
IValue::IValue(double v) : IValue(Is<double>(), v) {}
IValue::IValue(int64_t v) : IValue(Is<int64_t>(), v) {}
IValue::IValue(const Scalar& v) : IValue(Is<Scalar>(), Scalar(v)) {}
IValue::IValue(std::string v) : IValue(Is<std::string>(), std::move(v)) {}
IValue::IValue(const char* v) : IValue(std::string(v)) {}
IValue::IValue(IntArrayRef v) : IValue(v.vec()) {}
IValue::IValue(std::vector<int64_t> v) : IValue(Is<std::vector<int64_t>>(), std::move(v)) {}
IValue::IValue(std::vector<double> v) : IValue(Is<std::vector<double>>(), std::move(v)) {}
IValue::IValue(std::vector<Tensor> v) : IValue(Is<std::vector<Tensor>>(), std::move(v)) {}
IValue::IValue(const Device& v) : IValue(Is<Device>(), Device(v)) {}
IValue::IValue(Generator v) : IValue(Is<Generator>(), std::move(v)) {}
IValue::IValue(std::vector<IValue> v) : IValue(Is<std::vector<IValue>>(), std::move(v)) {}

bool IValue::isNone() const { return is<std::monostate>(); }
bool IValue::isTensor() const { return is<Tensor>(); }
bool IValue::isBool() const { return is<bool>(); }
bool IValue::isInt() const { return is<int64_t>(); }
bool IValue::isDouble() const { return is<double>(); }
bool IValue::isString() const { return is<std::string>(); }
bool IValue::isIntList() const { return is<std::vector<int64_t>>(); }
bool IValue::isDoubleList() const { return is<std::vector<double>>(); }
bool IValue::isTensorList() const { return is<std::vector<Tensor>>(); }
bool IValue::isDevice() const { return is<Device>(); }
bool IValue::isGenerator() const { return is<Generator>(); }
bool IValue::isList() const { return is<std::vector<IValue>>(); }
bool IValue::isScalar() const { return isInt() || isDouble() || isBool() || is<Scalar>(); }

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
const Device& IValue::toDevice() const { return get<Device>("Device"); }
const Generator& IValue::toGenerator() const { return get<Generator>("Generator"); }
const std::vector<IValue>& IValue::toListRef() const { return get<std::vector<IValue>>("list"); }

}  // namespace argand
