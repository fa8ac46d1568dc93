#include "argand/ops/boxed_values.h"

#include <algorithm>

#include "argand/base/str.h"
#include "argand/core/dtype_number.h"
#include "argand/exec/invoke.h"
#include "argand/exec/out_dtype.h"

namespace argand::boxed {
namespace {

template <class T>
bool is(const ArgumentValue& v) {
  return std::holds_alternative<T>(v);
}

bool is_number(const ArgumentValue& v) { return is<bool>(v) || is<int64_t>(v) || is<double>(v) || is<Scalar>(v); }
bool is_integer(const ArgumentValue& v) {
  const Scalar* s = std::get_if<Scalar>(&v);
  return is<int64_t>(v) || (s && s->isIntegral(false));
}
bool is_real(const ArgumentValue& v) {
  const Scalar* s = std::get_if<Scalar>(&v);
  return is_integer(v) || is<double>(v) || (s && s->isFloatingPoint());
}

struct IsEmptyList {
  template <class T>
  bool operator()(const std::vector<T>& list) const {
    return list.empty();
  }
  bool operator()(const Dims& list) const { return list.empty(); }
  template <class T>
  bool operator()(const T&) const {
    return false;
  }
};
bool is_empty_list(const ArgumentValue& v) { return std::visit(IsEmptyList(), v); }

Scalar to_scalar(const ArgumentValue& v) {
  if (const bool* b = std::get_if<bool>(&v)) return *b;
  if (const int64_t* i = std::get_if<int64_t>(&v)) return *i;
  if (const double* d = std::get_if<double>(&v)) return *d;
  return std::get<Scalar>(v);
}

bool takes_kind(const Parameter& p, const ArgumentValue& v) {
  switch (p.kind) {
    case Kind::kTensor:
      return is<Tensor>(v);
    case Kind::kTensorOrNumber:
      return is<Tensor>(v) || is_number(v);
    case Kind::kTensorList:
      return is<std::vector<Tensor>>(v) || is_empty_list(v);
    case Kind::kInt:
      return is_integer(v);
    case Kind::kIntList:
      return is<Dims>(v) || is_empty_list(v) || (is_integer(v) && (p.length > 0 || p.optional));
    case Kind::kFloat:
      return is_real(v);
    case Kind::kFloatList:
      return is<std::vector<double>>(v) || is<Dims>(v) || is_empty_list(v);
    case Kind::kBool:
      return is<bool>(v);
    case Kind::kBoolList: {
      const auto* list = std::get_if<std::vector<bool>>(&v);
      return list && (!p.length || list->size() == p.length);
    }
    case Kind::kText:
      return is<std::string>(v);
    case Kind::kScalar:
      return is_number(v);
    case Kind::kScalarList:
      return is<std::vector<Scalar>>(v) || is<std::vector<double>>(v) || is<Dims>(v) || is_empty_list(v);
    case Kind::kDtype:
      return is<ScalarType>(v) || (is<int64_t>(v) && dtype_of_pytorch_number(std::get<int64_t>(v)));
    case Kind::kDevice:
      return is<Device>(v) || is<std::string>(v);
    case Kind::kMemoryFormat:
      return is<MemoryFormat>(v) || (is<int64_t>(v) && memory_format_of_pytorch_number(std::get<int64_t>(v)));
    case Kind::kGenerator:
      return is<Generator>(v);
    case Kind::kOptions:
      return is<TensorOptions>(v);
  }
  return false;
}

// Splits what exec::call returns into the results that the schema names.
void add_results(const Function& f, std::vector<Tensor> made, std::vector<ArgumentValue>& results) {
  size_t at = 0;
  for (const SignatureResult& result : f.results) {
    if (result.is_list()) {  // there is one at most, and it is the last
      results.emplace_back(std::vector<Tensor>(made.begin() + static_cast<ptrdiff_t>(at), made.end()));
      return;
    }
    Tensor& t = made.at(at++);
    if (result.type == "Tensor")
      results.emplace_back(std::move(t));
    else if (result.type == "bool")
      results.emplace_back(t.item().toBool());
    else if (result.type == "int")
      results.emplace_back(t.item().toLong());
    else if (result.type == "float")
      results.emplace_back(t.item().toDouble());
    else
      results.emplace_back(t.item());
  }
}

}  // namespace

const char* kind_name(const ArgumentValue& value) {
  static constexpr const char* kNames[] = {"None",
                                           "bool",
                                           "int",
                                           "float",
                                           "str",
                                           "Scalar",
                                           "ScalarType",
                                           "Device",
                                           "MemoryFormat",
                                           "list of ints",
                                           "list of floats",
                                           "list of numbers",
                                           "list of bools",
                                           "Tensor",
                                           "list of Tensors",
                                           "TensorOptions",
                                           "Generator"};
  static_assert(std::size(kNames) == std::variant_size_v<ArgumentValue>);
  return kNames[value.index()];
}

ScalarType to_dtype(const ArgumentValue& value) {
  return is<ScalarType>(value) ? std::get<ScalarType>(value) : *dtype_of_pytorch_number(std::get<int64_t>(value));
}

bool takes(const Parameter& parameter, const ArgumentValue& value) {
  if (is<std::monostate>(value)) return parameter.optional || parameter.has_default;
  return takes_kind(parameter, value);
}

// ---- one value

const ArgumentValue* Call::given(int field, const Parameter** parameter) const {
  for (size_t i = 0; i < values_.size(); ++i) {
    const Parameter& p = function_.parameters[i];
    if (p.field != field) continue;
    *parameter = &p;
    if (!takes(p, values_[i])) refuse(p, values_[i]);
    return is<std::monostate>(values_[i]) ? nullptr : &values_[i];
  }
  return nullptr;
}

void Call::refuse(const Parameter& parameter, const ArgumentValue& value) const {
  ARGAND_THROW(ValueError, function_.name, "(): argument '", parameter.name, "' must be ", parameter.type, ", not ",
               kind_name(value));
}

void Call::read(const Parameter&, const ArgumentValue& v, Tensor& field) const {
  const Tensor* const tensor = std::get_if<Tensor>(&v);
  if (!tensor)
    field = exec::wrapped_number(to_scalar(v));
  else if (takes_)
    field = std::move(const_cast<Tensor&>(*tensor));  // the caller's span is one of values that may change
  else
    field = *tensor;
}
void Call::read(const Parameter&, const ArgumentValue& v, std::vector<Tensor>& field) const {
  field.clear();
  if (is<std::vector<Tensor>>(v)) field = std::get<std::vector<Tensor>>(v);
}
void Call::read(const Parameter&, const ArgumentValue& v, int64_t& field) const { field = to_scalar(v).toLong(); }
void Call::read(const Parameter&, const ArgumentValue& v, double& field) const { field = to_scalar(v).toDouble(); }
void Call::read(const Parameter&, const ArgumentValue& v, bool& field) const { field = std::get<bool>(v); }
void Call::read(const Parameter&, const ArgumentValue& v, std::string& field) const {
  field = std::get<std::string>(v);
}
void Call::read(const Parameter&, const ArgumentValue& v, Scalar& field) const { field = to_scalar(v); }
void Call::read(const Parameter&, const ArgumentValue& v, ScalarType& field) const { field = to_dtype(v); }
void Call::read(const Parameter&, const ArgumentValue& v, Device& field) const {
  field = is<Device>(v) ? std::get<Device>(v) : Device(std::get<std::string>(v));
}
void Call::read(const Parameter&, const ArgumentValue& v, MemoryFormat& field) const {
  field = is<MemoryFormat>(v) ? std::get<MemoryFormat>(v) : *memory_format_of_pytorch_number(std::get<int64_t>(v));
}
void Call::read(const Parameter&, const ArgumentValue& v, Generator& field) const { field = std::get<Generator>(v); }
void Call::read(const Parameter&, const ArgumentValue& v, TensorOptions& field) const {
  field = std::get<TensorOptions>(v);
}
void Call::read(const Parameter& p, const ArgumentValue& v, Dims& field) const {
  const size_t length = std::max<size_t>(1, p.length);
  if (is_integer(v))
    field = Dims(length, to_scalar(v).toLong());
  else if (is<Dims>(v) && std::get<Dims>(v).size() == 1)
    field = Dims(length, std::get<Dims>(v)[0]);
  else
    field = is<Dims>(v) ? std::get<Dims>(v) : Dims();
}
void Call::read(const Parameter&, const ArgumentValue& v, std::vector<double>& field) const {
  field.clear();
  if (const Dims* list = std::get_if<Dims>(&v))
    for (const int64_t i : *list) field.push_back(static_cast<double>(i));
  else if (const auto* numbers = std::get_if<std::vector<double>>(&v))
    field = *numbers;
}
void Call::read(const Parameter&, const ArgumentValue& v, std::vector<Scalar>& field) const {
  field.clear();
  if (const Dims* list = std::get_if<Dims>(&v))
    field.assign(list->begin(), list->end());
  else if (const auto* numbers = std::get_if<std::vector<double>>(&v))
    field.assign(numbers->begin(), numbers->end());
  else if (const auto* scalars = std::get_if<std::vector<Scalar>>(&v))
    field = *scalars;
}
void Call::read_flags(const Parameter&, const ArgumentValue& v, std::span<bool> field) const {
  const auto& list = std::get<std::vector<bool>>(v);
  std::copy(list.begin(), list.end(), field.begin());
}

// ---- the call

std::vector<Tensor> Call::outs() const {
  std::vector<Tensor> found;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (function_.parameters[i].field >= 0) continue;
    if (!is<Tensor>(values_[i])) refuse(function_.parameters[i], values_[i]);
    found.push_back(std::get<Tensor>(values_[i]));
  }
  return found;
}

void Call::choose_dtype(std::optional<ScalarType>& dtype) const {
  if (function_.has_outs) exec::dtype_by_out(function_.op->name, dtype, outs()[0]);
}

void Call::run(const OpInfo& op, void* args) const {
  if (function_.has_outs) {
    std::vector<Tensor> written = outs();
    exec::invoke_out(op, args, written);
    for (Tensor& t : written) results_.emplace_back(std::move(t));
    return;
  }
  // Most calls: one tensor, without a list of results.
  const bool gives_tensor =
      op.num_outputs == 1 && function_.results.size() == 1 && function_.results[0].type == "Tensor";
  if (gives_tensor && !function_.writes_first && !op.inplace_only && op.kind != OpKind::kComposite) {
    results_.emplace_back(exec::invoke(op, args));
    return;
  }
  if (!function_.writes_first) return add_results(function_, exec::call(op, args), results_);
  const Tensor self = std::get<Tensor>(values_[0]);
  if (op.kind == OpKind::kComposite) {
    Tensor result;
    exec::invoke_composite(op, args, &result);
  } else {
    exec::invoke_inplace(op, args, self);
  }
  results_.emplace_back(self);
}

void Function::call(std::span<const ArgumentValue> arguments, std::vector<ArgumentValue>& results_) const {
  run_call(arguments, false, results_);
}
void Function::call_taking(std::span<ArgumentValue> arguments, std::vector<ArgumentValue>& results_) const {
  run_call(arguments, true, results_);
}

void Function::run_call(std::span<const ArgumentValue> arguments, bool may_take,
                        std::vector<ArgumentValue>& results_) const {
  ARGAND_CHECK(ValueError, arguments.size() == parameters.size(), name, "(): expected ", parameters.size(),
               " arguments, got ", arguments.size());
  // `2 ** 3`: an op computes with tensors.
  const auto has = [&](Kind kind) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.kind == kind; });
  };
  const bool has_tensor = std::any_of(arguments.begin(), arguments.end(), is<Tensor>);
  ARGAND_CHECK(ValueError, has_tensor || !has(Kind::kTensorOrNumber) || has(Kind::kTensorList), name,
               "(): expected a Tensor among the arguments, got numbers alone");
  const size_t before = results_.size();
  Call under_way(*this, arguments, may_take, results_);
  run(under_way);
  if (!makes_leaf) return;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto* options = std::get_if<TensorOptions>(&arguments[i]))
      if (options->requires_grad()) std::get<Tensor>(results_.at(before)).set_requires_grad(true);
}

}  // namespace argand::boxed
