#include "bindings/argument_object.h"

#include "bindings/constants.h"
#include "bindings/numbers.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

template <class T>
nb::object list_of(const std::vector<T>& values) {
  nb::list list;
  for (const auto& v : values) {
    if constexpr (std::is_same_v<T, Tensor>)
      list.append(to_object(v));
    else if constexpr (std::is_same_v<T, Scalar>)
      list.append(nb::steal(wrap(v)));
    else
      list.append(nb::cast(static_cast<T>(v)));
  }
  return list;
}

struct ToObject {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(bool v) const { return nb::bool_(v); }
  nb::object operator()(int64_t v) const { return nb::int_(v); }
  nb::object operator()(double v) const { return nb::float_(v); }
  nb::object operator()(const std::string& v) const { return nb::str(v.c_str(), v.size()); }
  nb::object operator()(const Scalar& v) const { return nb::steal(wrap(v)); }
  nb::object operator()(ScalarType v) const { return nb::steal(wrap(v)); }
  nb::object operator()(const Device& v) const { return nb::steal(wrap(v)); }
  nb::object operator()(MemoryFormat v) const { return nb::cast(v); }
  nb::object operator()(const Dims& v) const {
    nb::list list;
    for (const int64_t n : v) list.append(n);
    return list;
  }
  template <class T>
  nb::object operator()(const std::vector<T>& v) const {
    return list_of(v);
  }
  nb::object operator()(const Tensor& v) const { return to_object(v); }
  nb::object operator()(const TensorOptions& v) const {
    nb::dict options;
    if (const auto t = v.dtype_opt()) options["dtype"] = nb::steal(wrap(*t));
    if (v.layout_opt()) options["layout"] = nb::borrow(strided_layout());
    if (const auto d = v.device_opt()) options["device"] = nb::steal(wrap(*d));
    if (const auto p = v.pinned_memory_opt()) options["pin_memory"] = nb::bool_(*p);
    if (const auto f = v.memory_format_opt()) options["memory_format"] = nb::cast(*f);
    return options;
  }
  nb::object operator()(const Generator& v) const { return nb::cast(v); }
};

}  // namespace

nb::object to_object(const Tensor& t) {
  return nb::steal(t.defined() && t.impl().wrapped_number ? wrap(t.item()) : wrap(t));
}
nb::object to_object(const ArgumentValue& value) { return std::visit(ToObject(), value); }

}  // namespace argand::python
