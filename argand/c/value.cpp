#include "argand/c/value.h"

#include <cstdlib>

namespace argand::c {
namespace {

std::string text(const argand_value& value, const char* function) {
  const char* const p = &needed(value.as.text, function, "a text");
  return value.length < 0 ? std::string(p) : std::string(p, static_cast<size_t>(value.length));
}

Scalar number(const argand_value& value, const char* function) {
  switch (value.kind) {
    case ARGAND_KIND_BOOL:
      return value.as.boolean;
    case ARGAND_KIND_INT:
      return value.as.integer;
    case ARGAND_KIND_DOUBLE:
      return value.as.number;
    case ARGAND_KIND_COMPLEX:
      return std::complex<double>(value.as.complex_number[0], value.as.complex_number[1]);
    default:
      ARGAND_THROW(ValueError, function, ": a list of numbers has a value of kind ", value.kind);
  }
}

TensorOptions options(const argand_options* given, const char* function) {
  TensorOptions out;
  if (!given) return out;
  if (given->dtype != ARGAND_DTYPE_NONE) out = out.dtype(to_dtype(given->dtype, function));
  if (given->device.type != ARGAND_DEVICE_NONE) out = out.device(to_device(given->device, function));
  if (given->requires_grad) out = out.requires_grad(true);
  if (given->pin_memory) out = out.pinned_memory(true);
  return out;
}

argand_value of_kind(argand_kind kind, size_t length = 0) {
  return argand_value_of_kind(kind, static_cast<int64_t>(length));
}

struct ToValue {
  argand_value operator()(std::monostate) const { return argand_value_none(); }
  argand_value operator()(bool v) const { return argand_value_bool(v); }
  argand_value operator()(int64_t v) const { return argand_value_int(v); }
  argand_value operator()(double v) const { return argand_value_double(v); }
  argand_value operator()(const std::string& v) const {
    argand_value out = of_kind(ARGAND_KIND_STRING, v.size());
    out.as.text = new_text(v);
    return out;
  }
  argand_value operator()(const Scalar& v) const {
    if (v.isBoolean()) return argand_value_bool(v.toBool());
    if (v.isIntegral(false)) return argand_value_int(v.toLong());
    if (v.isFloatingPoint()) return argand_value_double(v.toDouble());
    const auto z = v.to<std::complex<double>>();
    return argand_value_complex(z.real(), z.imag());
  }
  argand_value operator()(ScalarType v) const { return argand_value_dtype(from_dtype(v)); }
  argand_value operator()(const Device& v) const { return argand_value_device(from_device(v)); }
  argand_value operator()(MemoryFormat v) const {
    return argand_value_memory_format(static_cast<argand_memory_format>(v));
  }
  argand_value operator()(const Dims& v) const {
    argand_value out = of_kind(ARGAND_KIND_INTS, v.size());
    out.as.integers = copy_of<int64_t>(v);
    return out;
  }
  argand_value operator()(const std::vector<double>& v) const {
    argand_value out = of_kind(ARGAND_KIND_DOUBLES, v.size());
    out.as.doubles = copy_of<double>(v);
    return out;
  }
  argand_value operator()(const std::vector<bool>& v) const {
    argand_value out = of_kind(ARGAND_KIND_BOOLS, v.size());
    out.as.booleans = copy_of<bool>(v);
    return out;
  }
  argand_value operator()(const std::vector<Scalar>& v) const {
    std::vector<argand_value> values;
    for (const Scalar& s : v) values.push_back((*this)(s));
    argand_value out = of_kind(ARGAND_KIND_NUMBERS, v.size());
    out.as.numbers = copy_of<argand_value>(values);
    return out;
  }
  argand_value operator()(const Tensor& v) const { return argand_value_tensor(new_handle(v)); }
  argand_value operator()(const std::vector<Tensor>& v) const {
    std::vector<std::unique_ptr<argand_tensor>> owned;
    std::vector<argand_tensor*> handles;
    for (const Tensor& t : v) handles.push_back(owned.emplace_back(new_handle(t)).get());
    argand_value out = of_kind(ARGAND_KIND_TENSORS, v.size());
    out.as.tensors = copy_of<argand_tensor*>(handles);
    for (auto& handle : owned) (void)handle.release();  // the list has them
    return out;
  }
  argand_value operator()(const Generator& v) const {
    return argand_value_generator(v.defined() ? new argand_generator{v} : nullptr);
  }
  argand_value operator()(const TensorOptions&) const {
    ARGAND_THROW(InternalError, "an operator returns TensorOptions, which no schema has");
  }
};

}  // namespace

ArgumentValue to_argument(const argand_value& value, const char* function) {
  switch (value.kind) {
    case ARGAND_KIND_NONE:
      return {};
    case ARGAND_KIND_BOOL:
      return value.as.boolean;
    case ARGAND_KIND_INT:
      return value.as.integer;
    case ARGAND_KIND_DOUBLE:
      return value.as.number;
    case ARGAND_KIND_COMPLEX:
      return number(value, function);
    case ARGAND_KIND_STRING:
      return text(value, function);
    case ARGAND_KIND_DTYPE:
      return to_dtype(value.as.dtype, function);
    case ARGAND_KIND_DEVICE:
      return to_device(value.as.device, function);
    case ARGAND_KIND_MEMORY_FORMAT:
      return to_memory_format(value.as.memory_format, function);
    case ARGAND_KIND_OPTIONS:
      return value.as.options ? ArgumentValue(options(value.as.options, function)) : ArgumentValue();
    case ARGAND_KIND_GENERATOR:
      return value.as.generator ? ArgumentValue(value.as.generator->generator) : ArgumentValue();
    case ARGAND_KIND_TENSOR:
      return value.as.tensor ? ArgumentValue(value.as.tensor->tensor) : ArgumentValue();
    case ARGAND_KIND_INTS:
      return Dims(list_of(value.as.integers, value, function));
    case ARGAND_KIND_DOUBLES:
      return list_of(value.as.doubles, value, function).vec();
    case ARGAND_KIND_BOOLS: {
      const auto flags = list_of(value.as.booleans, value, function);
      return std::vector<bool>(flags.begin(), flags.end());
    }
    case ARGAND_KIND_NUMBERS: {
      std::vector<Scalar> out;
      for (const argand_value& v : list_of(value.as.numbers, value, function)) out.push_back(number(v, function));
      return out;
    }
    case ARGAND_KIND_TENSORS: {
      std::vector<Tensor> out;
      for (argand_tensor* const handle : list_of(value.as.tensors, value, function))
        out.push_back(optional_tensor(handle));
      return out;
    }
    case ARGAND_KIND_LIST:
    case ARGAND_KIND_TUPLE:
    case ARGAND_KIND_DICT:
      ARGAND_THROW(ValueError, function,
                   ": lists of any values, tuples and dicts are for methods of TorchScript; a list ",
                   "for an operator has a kind that says what is in it, such as ARGAND_KIND_TENSORS");
    default:
      ARGAND_THROW(ValueError, function, ": there is no value of kind ", value.kind);
  }
}

std::vector<ArgumentValue> to_arguments(const argand_value* values, size_t count, const char* function,
                                        const char* argument) {
  std::vector<ArgumentValue> out;
  out.reserve(count);
  for (const argand_value& v : needed(values, count, function, argument)) out.push_back(to_argument(v, function));
  return out;
}

argand_value to_value(const ArgumentValue& value) { return std::visit(ToValue(), value); }

void write_results(std::span<const ArgumentValue> from, argand_value* results, size_t capacity, size_t* count,
                   const char* function) {
  needed(results, capacity, function, "results");
  const size_t written = std::min(capacity, from.size());
  size_t done = 0;
  try {
    for (; done < written; ++done) results[done] = to_value(from[done]);
  } catch (...) {
    argand_values_free(results, done);
    throw;
  }
  if (count) *count = from.size();
}

std::vector<Tensor> tensors_of(argand_tensor* const* handles, size_t count, const char* function,
                               const char* argument) {
  std::vector<Tensor> out;
  out.reserve(count);
  for (argand_tensor* const handle : needed(handles, count, function, argument))
    out.push_back(tensor_of(handle, function, argument));
  return out;
}

}  // namespace argand::c

void argand_values_free(argand_value* values, size_t count) {
  if (!values) return;
  for (argand_value* v = values; v != values + count; ++v) {
    switch (v->kind) {
      case ARGAND_KIND_STRING:
        argand_text_free(const_cast<char*>(v->as.text));
        break;
      case ARGAND_KIND_GENERATOR:
        argand_generator_free(v->as.generator);
        break;
      case ARGAND_KIND_TENSOR:
        argand_tensor_free(v->as.tensor);
        break;
      case ARGAND_KIND_INTS:
        std::free(const_cast<int64_t*>(v->as.integers));
        break;
      case ARGAND_KIND_DOUBLES:
        std::free(const_cast<double*>(v->as.doubles));
        break;
      case ARGAND_KIND_BOOLS:
        std::free(const_cast<bool*>(v->as.booleans));
        break;
      case ARGAND_KIND_NUMBERS:
        std::free(const_cast<argand_value*>(v->as.numbers));
        break;
      case ARGAND_KIND_TENSORS:
        for (int64_t i = 0; i < v->length; ++i) argand_tensor_free(v->as.tensors[i]);
        std::free(const_cast<argand_tensor**>(v->as.tensors));
        break;
      case ARGAND_KIND_LIST:
      case ARGAND_KIND_TUPLE:
        argand_values_free(const_cast<argand_value*>(v->as.values), static_cast<size_t>(v->length));
        std::free(const_cast<argand_value*>(v->as.values));
        break;
      case ARGAND_KIND_DICT:
        for (int64_t i = 0; i < v->length; ++i) {
          auto& entry = const_cast<argand_entry&>(v->as.entries[i]);
          argand_values_free(&entry.key, 1);
          argand_values_free(&entry.value, 1);
        }
        std::free(const_cast<argand_entry*>(v->as.entries));
        break;
      default:
        break;
    }
    *v = argand_value_none();
  }
}
