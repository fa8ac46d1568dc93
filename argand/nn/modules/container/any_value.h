// A value of any copyable type, which knows its type: arguments and results of AnyModule::forward.
#pragma once
#include <any>

#include "argand/base/error.h"
#include "argand/nn/type_name.h"

namespace argand::nn {

class AnyValue {
 public:
  template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>>>
  explicit AnyValue(T&& value) : value_(std::in_place_type<std::decay_t<T>>, std::forward<T>(value)) {}

  // The value if it is exactly a T, else null.
  template <class T>
  T* try_get() {
    return std::any_cast<T>(&value_);
  }
  // The value; ValueError if it is not exactly a T.
  template <class T>
  T get() {
    T* value = try_get<T>();
    ARGAND_CHECK(ValueError, value, "Attempted to cast AnyValue to ", detail::type_name(typeid(T)),
                 ", but its actual type is ", detail::type_name(type_info()));
    return *value;
  }
  const std::type_info& type_info() const noexcept { return value_.type(); }

 private:
  std::any value_;
};

}  // namespace argand::nn
