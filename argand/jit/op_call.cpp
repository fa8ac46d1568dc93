#include "argand/jit/op_call.h"

#include <algorithm>
#include <array>

#include "argand/jit/dtype_numbers.h"
#include "argand/jit/op_arguments.h"
#include "argand/library/dispatcher.h"
#include "argand/library/schema.h"
#include "argand/ops/boxed.h"

namespace argand::jit {

namespace {

constexpr size_t kMaxPlans = 16;  // that one call remembers
constexpr size_t kOptionParts = 4;
constexpr std::array<const char*, kOptionParts> kOptionNames = {"dtype", "layout", "device", "pin_memory"};
const std::array<ParameterType, kOptionParts> kOptionTypes = {ParameterType("ScalarType?"), ParameterType("Layout?"),
                                                              ParameterType("Device?"), ParameterType("bool?")};

// A parameter as a caller sees it: the parts of options are parameters of their own.
struct Slot {
  const char* name;
  ParameterType type;
  bool keyword_only, has_default;
};

// Which argument each slot gets; -1 for its default.  False if the arguments do not fit.  `all_positional`: parameters
// that have to be named in Python may be given by position, as older schemas have some of them.
bool place_arguments(const std::vector<Slot>& slots, std::span<const IValue> arguments,
                     const std::vector<std::string>& keywords, bool all_positional, std::vector<int>& places) {
  places.assign(slots.size(), -1);
  const size_t positional = arguments.size() - keywords.size();
  size_t slot = 0;
  for (size_t i = 0; i < positional; ++i, ++slot) {
    if (slot == slots.size() || (slots[slot].keyword_only && !all_positional)) return false;
    places[slot] = static_cast<int>(i);
  }
  for (size_t k = 0; k < keywords.size(); ++k) {
    const auto named = std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return keywords[k] == s.name; });
    if (named == slots.end()) {
      if (arguments[positional + k].isNone()) continue;  // which says nothing
      return false;
    }
    int& place = places[static_cast<size_t>(named - slots.begin())];
    if (place >= 0) return false;
    place = static_cast<int>(positional + k);
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (places[i] < 0) {
      if (!slots[i].has_default && !slots[i].type.optional) return false;
      continue;
    }
    const IValue& v = arguments[static_cast<size_t>(places[i])];
    if (v.isNone() && slots[i].has_default)
      places[i] = -1;  // optional or not, None is the default
    else if (!accepts(slots[i].type, v))
      return false;
  }
  return true;
}

TensorOptions options_of(const std::array<int, kOptionParts>& places, std::span<const IValue> arguments) {
  TensorOptions out;
  const auto given = [&](size_t part) -> const IValue* {
    if (places[part] < 0) return nullptr;
    const IValue& v = arguments[static_cast<size_t>(places[part])];
    return v.isNone() ? nullptr : &v;
  };
  if (const IValue* v = given(0)) out = out.dtype(dtype_of_number(v->toInt()));
  if (const IValue* v = given(1))
    ARGAND_CHECK(NotImplementedError, v->toInt() == 0, "the layout of number ", v->toInt(),
                 " is not supported: tensors are strided");
  if (const IValue* v = given(2)) out = out.device(v->isString() ? Device(v->toStringRef()) : v->toDevice());
  if (const IValue* v = given(3)) out = out.pinned_memory(v->toBool());
  return out;
}

std::string kinds_of(std::span<const IValue> arguments, const std::vector<std::string>& keywords) {
  std::string out = "(";
  const size_t positional = arguments.size() - keywords.size();
  for (size_t i = 0; i < arguments.size(); ++i)
    out += (i > 0 ? ", " : "") + (i < positional ? "" : keywords[i - positional] + "=") + arguments[i].tagKind();
  return out + ")";
}

}  // namespace

struct OpCall::Plan {
  std::vector<IValue::Kind> kinds;  // of the arguments
  // An op of the library: for each parameter what it gets.
  const boxed::Function* function = nullptr;
  struct Source {
    ParameterType type;
    int place = -1;
    std::array<int, kOptionParts> parts = {};  // of options
  };
  std::vector<Source> sources;
  // An op that a program defined.
  std::optional<OperatorHandle> op;
  const Plan* next = nullptr;

  bool is_for(std::span<const IValue> arguments) const {
    if (arguments.size() != kinds.size()) return false;
    for (size_t i = 0; i < kinds.size(); ++i)
      if (arguments[i].kind() != kinds[i]) return false;
    return true;
  }

  bool fit(const boxed::Function& f, std::span<const IValue> arguments, const std::vector<std::string>& keywords,
           bool all_positional) {
    std::vector<Slot> slots;
    for (const boxed::Parameter& p : f.parameters) {
      const ParameterType type(p.type);
      if (type.base == ParameterType::Base::kOptions)
        for (size_t i = 0; i < kOptionParts; ++i)
          slots.push_back({kOptionNames[i], kOptionTypes[i], p.keyword_only, true});
      else
        slots.push_back({p.name, type, p.keyword_only, p.has_default});
    }
    std::vector<int> places;
    if (!place_arguments(slots, arguments, keywords, all_positional, places)) return false;
    function = &f;
    sources.clear();
    size_t slot = 0;
    for (const boxed::Parameter& p : f.parameters) {
      Source& source = sources.emplace_back(Source{ParameterType(p.type)});
      if (source.type.base == ParameterType::Base::kOptions)
        for (int& part : source.parts) part = places[slot++];
      else
        source.place = places[slot++];
    }
    return true;
  }

  bool fit(const OperatorHandle& handle, std::span<const IValue> arguments, const std::vector<std::string>& keywords) {
    std::vector<Slot> slots;
    for (const Argument& a : handle.schema().arguments())
      slots.push_back({a.name().c_str(), ParameterType(a.type().str()), a.kwarg_only(), a.default_value().has_value()});
    std::vector<int> places;
    const size_t positional = arguments.size() - keywords.size();
    if (positional > slots.size()) return false;
    // Types that no op of the library has, such as dicts, are left to the kernel.
    for (Slot& s : slots)
      if (s.type.base == ParameterType::Base::kOther) return false;
    if (!place_arguments(slots, arguments, keywords, true, places)) return false;
    op = handle;
    sources.clear();
    for (size_t i = 0; i < slots.size(); ++i) sources.push_back({slots[i].type, places[i], {}});
    return true;
  }

  IValue run(std::span<IValue> arguments) const { return function ? run_own(arguments) : run_defined(arguments); }

  IValue run_own(std::span<IValue> arguments) const {
    constexpr size_t kInside = 16;
    std::array<ArgumentValue, kInside> inside;
    std::vector<ArgumentValue> beyond;
    if (sources.size() > kInside) beyond.resize(sources.size());
    ArgumentValue* values = beyond.empty() ? inside.data() : beyond.data();
    for (size_t i = 0; i < sources.size(); ++i) {
      const Source& s = sources[i];
      if (s.type.base == ParameterType::Base::kOptions)
        values[i] = options_of(s.parts, arguments);
      else if (s.place >= 0)
        values[i] = to_argument(s.type, arguments[static_cast<size_t>(s.place)]);
    }
    // Nobody else holds the arguments while the op runs, if the program no longer needs them.
    for (IValue& v : arguments) v = IValue();
    std::vector<ArgumentValue> results;
    function->call(std::span<const ArgumentValue>(values, sources.size()), results);
    if (results.empty()) return {};
    if (results.size() == 1) return from_result(std::move(results[0]));
    std::vector<IValue> elements;
    elements.reserve(results.size());
    for (ArgumentValue& r : results) elements.push_back(from_result(std::move(r)));
    return ivalue::Tuple::create(std::move(elements));
  }

  IValue run_defined(std::span<IValue> arguments) const {
    Stack stack;
    const std::vector<Argument>& schema = op->schema().arguments();
    for (size_t i = 0; i < sources.size(); ++i) {
      const int place = sources[i].place;
      if (place < 0) {
        stack.push_back(schema[i].default_value().value_or(IValue()));
        continue;
      }
      IValue v = std::move(arguments[static_cast<size_t>(place)]);
      // Kernels see our own numbers of dtypes.
      if (v.isInt() && sources[i].type.base == ParameterType::Base::kDtype)
        v = static_cast<int64_t>(dtype_of_number(v.toInt()));
      if (v.isInt() && sources[i].type.base == ParameterType::Base::kFloat) v = static_cast<double>(v.toInt());
      stack.push_back(std::move(v));
    }
    op->callBoxed(stack);
    if (stack.empty()) return {};
    if (stack.size() == 1) return std::move(stack[0]);
    return ivalue::Tuple::create(std::move(stack));
  }
};

OpCall::OpCall(std::string space, std::string name, std::vector<std::string> keywords)
    : space_(std::move(space)), name_(std::move(name)), keywords_(std::move(keywords)) {}
OpCall::~OpCall() = default;

IValue OpCall::run(std::span<IValue> arguments) const {
  for (const Plan* p = plans_.load(std::memory_order_acquire); p; p = p->next)
    if (p->is_for(arguments)) return p->run(arguments);
  std::unique_ptr<Plan> temporary;
  return plan_for(arguments, temporary).run(arguments);
}

const OpCall::Plan& OpCall::plan_for(std::span<const IValue> arguments, std::unique_ptr<Plan>& temporary) const {
  temporary = make_plan(arguments);
  // The kind of a list does not tell the kinds of its elements, so such a plan is not kept.
  for (const IValue& v : arguments)
    if (v.isGenericList()) return *temporary;
  const std::lock_guard lock(mutex_);
  if (owned_.size() >= kMaxPlans) return *temporary;
  temporary->next = plans_.load(std::memory_order_relaxed);
  owned_.push_back(std::move(temporary));
  plans_.store(owned_.back().get(), std::memory_order_release);
  return *owned_.back();
}

std::unique_ptr<OpCall::Plan> OpCall::make_plan(std::span<const IValue> arguments) const {
  auto plan = std::make_unique<Plan>();
  for (const IValue& v : arguments) plan->kinds.push_back(v.kind());
  const bool own = space_ == "aten";
  const bool writes_out = std::find(keywords_.begin(), keywords_.end(), "out") != keywords_.end();
  const std::string name = own ? name_ + (writes_out ? "_out" : "") : space_ + "::" + name_;
  for (const bool all_positional : {false, true})
    for (const boxed::Function& f : boxed::find(name))
      if (plan->fit(f, arguments, keywords_, all_positional)) return plan;
  if (!own)
    for (const OperatorName& defined : Dispatcher::singleton().getAllOpNames()) {
      if (defined.name != name) continue;
      const auto handle = Dispatcher::singleton().findSchema(defined);
      if (handle && plan->fit(*handle, arguments, keywords_)) return plan;
    }
  fail(arguments);
}

void OpCall::fail(std::span<const IValue> arguments) const {
  const bool own = space_ == "aten";
  const std::string name = own ? name_ : space_ + "::" + name_;
  std::string signatures;
  for (const boxed::Function& f : boxed::find(name)) {
    signatures += "\n  " + std::string(f.name) + (f.overload.empty() ? "" : "." + std::string(f.overload)) + "(";
    const char* before = "";
    for (const boxed::Parameter& p : f.parameters) {
      signatures += before + std::string(p.type) + " " + p.name;
      before = ", ";
    }
    signatures += ")";
  }
  if (!own)
    for (const OperatorName& defined : Dispatcher::singleton().getAllOpNames())
      if (defined.name == name)
        if (const auto handle = Dispatcher::singleton().findSchema(defined))
          signatures += "\n  " + handle->schema().str();
  ARGAND_CHECK(NotImplementedError, !signatures.empty(), "TorchScript: the op ", space_, "::", name_,
               " is called with ", kinds_of(arguments, keywords_), ", and there is no such op");
  ARGAND_THROW(ValueError, name, ": expected arguments of one of the following, got ", kinds_of(arguments, keywords_),
               signatures);
}

}  // namespace argand::jit
