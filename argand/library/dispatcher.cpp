#include "argand/library/dispatcher.h"

#include "argand/exec/autocast.h"
#include "argand/library/registry.h"
#include "argand/library/schema.h"

namespace argand {

using library::Operator;
using library::Registered;
using library::Registry;

namespace library {

std::shared_ptr<void> schema_of_types(const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& returns) {
  std::vector<Argument> in, out;
  for (size_t i = 0; i < arguments.size(); ++i) in.emplace_back(str("_", i), parse_schema_type(arguments[i]));
  for (size_t i = 0; i < returns.size(); ++i) out.emplace_back(str("_", i), parse_schema_type(returns[i]));
  return std::make_shared<FunctionSchema>(OperatorName(), std::move(in), std::move(out));
}

const KernelFunction* Operator::find(DispatchKey key) const {
  for (const Registered& r : kernels)
    if (r.key == key) return &r.kernel;
  return nullptr;
}

Registry& Registry::get() {
  static Registry* const registry = new Registry;
  return *registry;
}

}  // namespace library

KernelFunction KernelFunction::from_boxed(Boxed* f) {
  KernelFunction out;
  out.typed_ = reinterpret_cast<void (*)()>(f);  // without a signature, so it is only called as a boxed kernel
  out.boxed_ = [](const KernelFunction& k, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
    reinterpret_cast<Boxed*>(k.typed_)(op, keys, stack);
  };
  return out;
}

KernelFunction KernelFunction::fallthrough() {
  KernelFunction out;
  out.fallthrough_ = true;
  return out;
}

// ---- keys of a call

void CallKeys::add(const Tensor& t) {
  if (!t.defined()) return;
  const DeviceType device = t.device().type();
  keys_ = keys_ | key_of(DispatchKey::CPU, device) | DispatchKey::BackendSelect;
  if (!t.is_inference()) {
    keys_ = keys_ | key_of(DispatchKey::AutogradCPU, device) | DispatchKey::ADInplaceOrView;
    requires_grad_ |= t.requires_grad();
  }
  if (device != kMeta && autocast::is_autocast_enabled(device))
    keys_ = keys_ | key_of(DispatchKey::AutocastCPU, device);
}

void CallKeys::add(const IValue& v) {
  library::each_tensor(v, [this](const Tensor& t) { add(t); });
}

// ---- the kernel of a call

namespace {

// The keys that a call may have, in order of priority.
constexpr DispatchKey kOrder[] = {DispatchKey::AutocastCUDA,  DispatchKey::AutocastCPU,  DispatchKey::AutogradCUDA,
                                  DispatchKey::AutogradCPU,   DispatchKey::AutogradMeta, DispatchKey::ADInplaceOrView,
                                  DispatchKey::BackendSelect, DispatchKey::CUDA,         DispatchKey::CPU,
                                  DispatchKey::Meta};

bool is_autograd(DispatchKey key) { return autograd_dispatch_keyset.has(key); }
bool is_device(DispatchKey key) {
  return key == DispatchKey::CPU || key == DispatchKey::CUDA || key == DispatchKey::Meta;
}

const KernelFunction* explicit_kernel(const Operator& op) {
  const KernelFunction* k = op.find(DispatchKey::CompositeExplicitAutograd);
  return k ? k : op.find(DispatchKey::CompositeExplicitAutogradNonFunctional);
}

const KernelFunction* fallback_of(DispatchKey key) {
  for (const Registered& r : Registry::get().fallbacks)
    if (r.key == key || (r.key == DispatchKey::Autograd && is_autograd(key))) return &r.kernel;
  return nullptr;
}

// Whether a kernel for one of the devices computes this call.
bool has_device_kernel(const Operator& op, DispatchKeySet keys) {
  for (const DispatchKey key : {DispatchKey::CUDA, DispatchKey::CPU, DispatchKey::Meta})
    if (keys.has(key)) {
      const KernelFunction* k = op.find(key);
      if (k && !k->is_fallthrough()) return true;
    }
  return explicit_kernel(op) != nullptr;
}

const KernelFunction* kernel_for(const Operator& op, DispatchKeySet keys, DispatchKey key, bool requires_grad) {
  if (const KernelFunction* k = op.find(key)) return k;
  if (is_autograd(key)) {
    if (const KernelFunction* k = op.find(DispatchKey::Autograd)) return k;
    if (has_device_kernel(op, keys)) {
      if (const KernelFunction* k = fallback_of(key)) return k;
      return requires_grad && GradMode::is_enabled() ? &library::autograd_not_registered() : nullptr;
    }
    return op.find(DispatchKey::CompositeImplicitAutograd);
  }
  if (is_device(key)) {
    if (const KernelFunction* k = explicit_kernel(op)) return k;
    if (const KernelFunction* k = op.find(DispatchKey::CompositeImplicitAutograd)) return k;
  }
  return fallback_of(key);
}

std::string keys_with_kernels(const Operator& op) {
  std::string out;
  for (const Registered& r : op.kernels) out += (out.empty() ? "" : ", ") + std::string(toString(r.key));
  return "[" + out + "]";
}

}  // namespace

const KernelFunction& OperatorHandle::kernel(DispatchKeySet keys, bool requires_grad) const {
  DispatchKey device = DispatchKey::Undefined;
  for (const DispatchKey key : kOrder) {
    if (!keys.has(key)) continue;
    if (is_device(key) && device == DispatchKey::Undefined) device = key;
    const KernelFunction* k = kernel_for(*op_, keys, key, requires_grad);
    if (k && !k->is_fallthrough()) return *k;
  }
  // A call without tensors: a factory op.
  if (device == DispatchKey::Undefined) {
    for (const DispatchKey key :
         {DispatchKey::BackendSelect, DispatchKey::CompositeExplicitAutograd, DispatchKey::CompositeImplicitAutograd})
      if (const KernelFunction* k = op_->find(key)) return *k;
    ARGAND_THROW(NotImplementedError,
                 "There were no tensor arguments to this function (e.g., you passed an empty list "
                 "of Tensors), but no fallback function is registered for schema ",
                 op_->name.str(),
                 ".  This usually means that this function requires a non-empty list of Tensors, or that you (the "
                 "operator writer) forgot to register a fallback function.  Available functions are ",
                 keys_with_kernels(*op_), ".");
  }
  ARGAND_THROW(NotImplementedError, "Could not run '", op_->name.str(), "' with arguments from the '", toString(device),
               "' backend. This could be because the operator doesn't exist for this backend. '", op_->name.str(),
               "' is only available for these backends: ", keys_with_kernels(*op_), ".");
}

const FunctionSchema& OperatorHandle::schema() const {
  ARGAND_CHECK(Error, op_->schema, "Tried to access the schema for ", op_->name.str(),
               " which doesn't have a schema registered yet");
  return *op_->schema;
}
const OperatorName& OperatorHandle::operator_name() const { return op_->name; }
bool OperatorHandle::hasSchema() const { return op_->schema.has_value(); }
bool OperatorHandle::hasKernelForDispatchKey(DispatchKey key) const { return op_->find(key) != nullptr; }

void OperatorHandle::check_signature(const FunctionSchema& called) const {
  const std::string difference = schema().difference(called);
  ARGAND_CHECK(Error, difference.empty(),
               "Tried to access or call an operator with a wrong signature.\n  operator: ", schema().str(),
               "\n  called as: ", called.str(), "\n  reason: ", difference);
}

void OperatorHandle::begin(profiler::Range& range) const { range.begin(op_->name.name, 0); }

void OperatorHandle::callBoxed(Stack* stack) const {
  profiler::Range range;
  begin(range);
  const size_t count = schema().arguments().size();
  ARGAND_CHECK(ValueError, stack->size() >= count, op_->name.str(), ": expected ", count,
               " arguments on the stack, got ", stack->size());
  CallKeys keys;
  for (size_t i = stack->size() - count; i < stack->size(); ++i) keys.add((*stack)[i]);
  kernel(keys.keys(), keys.requires_grad()).call_boxed(*this, keys.keys(), stack);
}

void OperatorHandle::redispatchBoxed(DispatchKeySet keys, Stack* stack) const {
  kernel(keys - excluded_dispatch_keys(), false).call_boxed(*this, keys, stack);
}

// ---- the dispatcher

Dispatcher& Dispatcher::singleton() {
  static Dispatcher dispatcher;
  return dispatcher;
}

std::optional<OperatorHandle> Dispatcher::findOp(const OperatorName& name) const {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const auto at = registry.operators.find({name.name, name.overload_name});
  if (at == registry.operators.end()) return std::nullopt;
  return OperatorHandle(at->second);
}

std::optional<OperatorHandle> Dispatcher::findSchema(const OperatorName& name) const {
  auto op = findOp(name);
  return op && op->hasSchema() ? op : std::nullopt;
}

OperatorHandle Dispatcher::findSchemaOrThrow(const char* name, const char* overload_name) const {
  const OperatorName wanted{name, overload_name};
  const auto op = findOp(wanted);
  ARGAND_CHECK(NotImplementedError, op, "Could not find schema for ", wanted.str(), ".");
  ARGAND_CHECK(NotImplementedError, op->hasSchema(), "Could not find schema for ", wanted.str(),
               " but we found an implementation; did you forget to def() the operator?");
  return *op;
}

std::vector<OperatorName> Dispatcher::getAllOpNames() const {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  std::vector<OperatorName> out;
  for (const auto& [key, op] : registry.operators) out.push_back(op.name);
  return out;
}

std::vector<std::string> Dispatcher::overloads_of(const std::string& name) const {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  std::map<uint64_t, std::string> found;
  for (auto at = registry.operators.lower_bound({name, ""}); at != registry.operators.end(); ++at) {
    const Operator& op = at->second;
    if (op.name.name != name) break;
    if (op.schema) found.emplace(op.place, op.name.overload_name);
  }
  std::vector<std::string> out;
  for (auto& [place, overload] : found) out.push_back(std::move(overload));
  return out;
}

}  // namespace argand
