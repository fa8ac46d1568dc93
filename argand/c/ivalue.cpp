#include "argand/c/ivalue.h"

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/c/value.h"

namespace argand::c {
namespace {

// A program, and a caller, can make containers that hold themselves.
constexpr size_t kMaxDepth = 100;

// Values that are freed unless they are released.
class Owned {
 public:
  ~Owned() { argand_values_free(values_.data(), values_.size()); }
  void add(const argand_value& v) {
    try {
      values_.push_back(v);
    } catch (...) {
      argand_value lost = v;
      argand_values_free(&lost, 1);
      throw;
    }
  }
  // The values as a list, which argand_values_free() frees.
  const argand_value* release() {
    const argand_value* const out = copy_of<argand_value>(values_);
    values_.clear();
    return out;
  }

 private:
  std::vector<argand_value> values_;
};
// Keys and values stand in turn, so a list of both is one of entries.
static_assert(sizeof(argand_entry) == 2 * sizeof(argand_value));

IValue from(const argand_value& value, const char* function, size_t depth);
std::vector<IValue> from_all(const argand_value& list, const char* function, size_t depth) {
  std::vector<IValue> out;
  for (const argand_value& v : list_of(list.as.values, list, function)) out.push_back(from(v, function, depth + 1));
  return out;
}

// A list without some of its tensors is one of optional tensors.
IValue from_tensors(const std::vector<Tensor>& tensors) {
  const auto absent = [](const Tensor& t) { return !t.defined(); };
  if (std::none_of(tensors.begin(), tensors.end(), absent)) return tensors;
  std::vector<IValue> out;
  for (const Tensor& t : tensors) out.push_back(t.defined() ? IValue(t) : IValue());
  return out;
}

struct FromArgument {
  const char* function;
  IValue operator()(std::monostate) const { return {}; }
  IValue operator()(ScalarType v) const { return int64_t{from_dtype(v)}; }
  IValue operator()(MemoryFormat v) const { return static_cast<int64_t>(v); }
  IValue operator()(const Dims& v) const { return std::vector<int64_t>(v.begin(), v.end()); }
  IValue operator()(const std::vector<Scalar>& v) const {
    std::vector<IValue> out;
    for (const Scalar& s : v) out.push_back((*this)(s));
    return out;
  }
  IValue operator()(const Scalar& v) const {
    if (v.isBoolean()) return v.toBool();
    if (v.isIntegral(false)) return v.toLong();
    if (v.isFloatingPoint()) return v.toDouble();
    return v;
  }
  IValue operator()(const std::vector<bool>& v) const { return v; }
  IValue operator()(const std::vector<Tensor>& v) const { return from_tensors(v); }
  IValue operator()(const TensorOptions&) const {
    ARGAND_THROW(ValueError, function, ": a method of TorchScript takes no options; it takes a dtype or a device");
  }
  template <class T>
  IValue operator()(const T& v) const {
    return v;
  }
};

IValue from(const argand_value& value, const char* function, size_t depth) {
  ARGAND_CHECK(ValueError, depth <= kMaxDepth, function, ": expected values nested at most ", kMaxDepth, " deep");
  switch (value.kind) {
    case ARGAND_KIND_LIST:
      return from_all(value, function, depth);
    case ARGAND_KIND_TUPLE:
      return ivalue::Tuple::create(from_all(value, function, depth));
    case ARGAND_KIND_DICT: {
      const Dict<IValue, IValue> out;
      for (const argand_entry& e : list_of(value.as.entries, value, function))
        out.insert_or_assign(from(e.key, function, depth + 1), from(e.value, function, depth + 1));
      return out;
    }
    default:
      return std::visit(FromArgument{function}, to_argument(value, function));
  }
}

argand_value to(const IValue& value, size_t depth);
const argand_value* to_all(const std::vector<IValue>& values, size_t depth) {
  Owned out;
  for (const IValue& v : values) out.add(to(v, depth + 1));
  return out.release();
}

argand_value to_list(const std::vector<IValue>& values, size_t depth) {
  const auto is_bool = [](const IValue& v) { return v.isBool(); };
  if (!values.empty() && std::all_of(values.begin(), values.end(), is_bool)) {
    std::vector<bool> bools;
    for (const IValue& v : values) bools.push_back(v.toBool());
    return to_value(ArgumentValue(bools));
  }
  return argand_value_list(to_all(values, depth), static_cast<int64_t>(values.size()));
}

argand_value to_dict(const ivalue::DictElements& dict, size_t depth) {
  std::vector<IValue> all;
  for (const auto& [key, value] : dict.entries) {
    all.push_back(key);
    all.push_back(value);
  }
  return argand_value_dict(reinterpret_cast<const argand_entry*>(to_all(all, depth)),
                           static_cast<int64_t>(dict.entries.size()));
}

argand_value to(const IValue& v, size_t depth) {
  ARGAND_CHECK(ValueError, depth <= kMaxDepth, "a program of TorchScript returned values nested deeper than ",
               kMaxDepth);
  switch (v.kind()) {
    case IValue::Kind::kNone:
      return argand_value_none();
    case IValue::Kind::kTensor:
      return to_value(ArgumentValue(v.toTensor()));
    case IValue::Kind::kBool:
    case IValue::Kind::kInt:
    case IValue::Kind::kDouble:
    case IValue::Kind::kScalar:
      return to_value(ArgumentValue(v.toScalar()));
    case IValue::Kind::kString:
      return to_value(ArgumentValue(v.toStringRef()));
    case IValue::Kind::kDevice:
      return to_value(ArgumentValue(v.toDevice()));
    case IValue::Kind::kGenerator:
      return to_value(ArgumentValue(v.toGenerator()));
    case IValue::Kind::kIntList:
      return to_value(ArgumentValue(Dims(v.toIntVector())));
    case IValue::Kind::kDoubleList:
      return to_value(ArgumentValue(v.toDoubleVector()));
    case IValue::Kind::kTensorList:
      return to_value(ArgumentValue(v.toTensorVector()));
    case IValue::Kind::kList:
      return to_list(v.toListRef(), depth);
    case IValue::Kind::kTuple: {
      const std::vector<IValue>& elements = v.toTupleRef().elements();
      return argand_value_tuple(to_all(elements, depth), static_cast<int64_t>(elements.size()));
    }
    case IValue::Kind::kDict:
      return to_dict(*v.dict_elements(), depth);
    case IValue::Kind::kObject:
      break;
  }
  ARGAND_THROW(NotImplementedError, "a value is an object of ", v.toObject()->type_name(),
               "; the C interface has no values that are objects",
               v.isModule() ? ", and argand_module_child() gives a module by its name" : "");
}

}  // namespace

IValue to_ivalue(const argand_value& value, const char* function) { return from(value, function, 0); }

std::vector<IValue> to_ivalues(const argand_value* values, size_t count, const char* function, const char* argument) {
  std::vector<IValue> out;
  for (const argand_value& v : needed(values, count, function, argument)) out.push_back(to_ivalue(v, function));
  return out;
}

argand_value to_value(const IValue& value) { return to(value, 0); }

}  // namespace argand::c
