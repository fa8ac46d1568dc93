#include "argand/library/library.h"

#include <atomic>

#include "argand/library/registry.h"

namespace argand {

using library::Operator;
using library::Registered;
using library::Registry;

// The registrations that a Library removes at its end.
struct Library::Registrations {
  std::string owned_namespace;
  std::vector<Operator*> definitions;
  std::vector<std::pair<Operator*, std::list<Registered>::iterator>> kernels;
  std::vector<std::list<Registered>::iterator> fallbacks;

  Registrations() = default;
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;
  ~Registrations() {
    Registry& registry = Registry::get();
    std::list<Registered> gone;  // the program's functions, destroyed after the lock is released
    const std::lock_guard lock(registry.mutex);
    if (!owned_namespace.empty()) registry.namespaces.erase(owned_namespace);
    for (const auto& at : fallbacks) gone.splice(gone.end(), registry.fallbacks, at);
    for (auto& [op, at] : kernels) {
      gone.splice(gone.end(), op->kernels, at);
      registry.release(*op);
    }
    for (Operator* op : definitions) {
      op->schema.reset();
      registry.release(*op);
    }
  }
};

namespace {

// The kernel must match the schema; whichever is registered later checks it.
void check_kernel(const Operator& op, const KernelFunction& kernel) {
  if (!op.schema || !kernel.schema()) return;
  const std::string difference = op.schema->difference(*kernel.schema());
  ARGAND_CHECK(ValueError, difference.empty(),
               "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n"
               "  operator: ",
               op.name.str(), "\n  expected schema: ", op.schema->str(),
               "\n  inferred schema: ", kernel.schema()->str(), "\n  reason: ", difference);
}

const char* block(Library::Kind kind) {
  return kind == Library::DEF    ? "TORCH_LIBRARY"
         : kind == Library::IMPL ? "TORCH_LIBRARY_IMPL"
                                 : "TORCH_LIBRARY_FRAGMENT";
}

}  // namespace

Library::Library(Kind kind, std::string ns, std::optional<DispatchKey> key, const char* file, uint32_t line)
    : kind_(kind),
      namespace_(std::move(ns)),
      key_(key.value_or(DispatchKey::Undefined)),
      place_(str(file, ":", line)),
      registrations_(std::make_shared<Registrations>()) {
  if (kind != DEF) return;
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const auto [at, added] = registry.namespaces.emplace(namespace_, place_);
  ARGAND_CHECK(Error, added, "Only a single TORCH_LIBRARY can be used to register the namespace ", namespace_,
               "; please put all of your definitions in a single TORCH_LIBRARY block.  If you were trying to specify "
               "implementations, consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended "
               "to define operators for a single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to "
               "explicitly indicate this.  Previous registration of TORCH_LIBRARY was at ",
               at->second, "; this one is at ", place_);
  registrations().owned_namespace = namespace_;
}

Library::~Library() = default;
void Library::reset() { registrations_ = std::make_shared<Registrations>(); }

void Library::qualify(OperatorName& name) const {
  const size_t colons = name.name.find("::");
  if (colons == std::string::npos) {
    name.name = namespace_ + "::" + name.name;
    return;
  }
  ARGAND_CHECK(Error, name.name.substr(0, colons) == namespace_, "Explicitly provided namespace (",
               name.name.substr(0, colons), ") in the name ", name.str(), " does not match namespace of enclosing ",
               block(kind_), " block (", namespace_, ") at ", place_);
}

FunctionSchema schema(const char* text) { return parse_schema(text); }

Library& Library::define(const char* schema) { return define(parse_schema(schema)); }

Library& Library::define(const FunctionSchema& given) {
  FunctionSchema schema = given;
  ARGAND_CHECK(
      Error, kind_ != IMPL, "def(\"", schema.str(),
      "\"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All def()s should be placed in the "
      "(unique) TORCH_LIBRARY block for their namespace.  This block is at ",
      place_);
  OperatorName name = schema.operator_name();
  qualify(name);
  schema.set_name(name);
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  Operator& op = registry.entry(name);
  ++op.users;
  try {
    ARGAND_CHECK(Error, !op.schema, "Tried to register an operator (", schema.str(),
                 ") with the same name and overload name multiple times. Each overload's schema should only be "
                 "registered with a single call to def(). Duplicate registration: ",
                 place_, ". Original registration: ", op.defined_at);
    op.schema = std::move(schema);
    op.defined_at = place_;
    op.place = registry.definitions++;
    try {
      for (const Registered& r : op.kernels) check_kernel(op, r.kernel);
    } catch (...) {
      op.schema.reset();
      throw;
    }
  } catch (...) {
    registry.release(op);
    throw;
  }
  registrations().definitions.push_back(&op);
  return *this;
}

Library& Library::define(const char* name_or_schema, CppFunction f) {
  FunctionSchema schema;
  if (std::string_view(name_or_schema).find('(') != std::string_view::npos) {
    schema = parse_schema(name_or_schema);
  } else {
    ARGAND_CHECK(Error, f.kernel_.schema(), "def(\"", name_or_schema,
                 "\"): the function has no C++ type that the schema could be made of; write the schema");
    schema = *f.kernel_.schema();
    schema.set_name(parse_operator_name(name_or_schema));
  }
  const std::string name = schema.operator_name().str();
  define(schema);
  if (f.key_ == DispatchKey::Undefined) f.key_ = DispatchKey::CompositeImplicitAutograd;
  return implement(name.c_str(), std::move(f));
}

Library& Library::implement(const char* name, CppFunction f) {
  if (f.key_ == DispatchKey::Undefined)
    f.key_ = key_ == DispatchKey::Undefined ? DispatchKey::CompositeImplicitAutograd : key_;
  OperatorName qualified_name = parse_operator_name(name);
  qualify(qualified_name);
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  Operator& op = registry.entry(qualified_name);
  ++op.users;
  try {
    check_kernel(op, f.kernel_);
    op.kernels.push_front({f.key_, std::move(f.kernel_)});
  } catch (...) {
    registry.release(op);
    throw;
  }
  registrations().kernels.emplace_back(&op, op.kernels.begin());
  return *this;
}

Library& Library::add_fallback(CppFunction f) {
  ARGAND_CHECK(Error, kind_ == IMPL && namespace_ == "_" && key_ != DispatchKey::Undefined,
               "fallback(): stands in a block TORCH_LIBRARY_IMPL(_, KEY, m); this one is ", block(kind_), "(",
               namespace_, ") at ", place_);
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  registry.fallbacks.push_front({key_, std::move(f.kernel_)});
  registrations().fallbacks.push_back(registry.fallbacks.begin());
  return *this;
}

static std::atomic<FailedBlockHandler> failed_block_handler{nullptr};

void set_failed_block_handler(FailedBlockHandler handler) { failed_block_handler = handler; }

detail::TorchLibraryInit::TorchLibraryInit(Library::Kind kind, void (*block)(Library&), const char* ns,
                                           std::optional<DispatchKey> key, const char* file, uint32_t line) {
  try {
    library_.emplace(kind, ns, key, file, line);
    block(*library_);
  } catch (...) {
    library_.reset();
    const FailedBlockHandler handler = failed_block_handler;
    if (!handler) throw;
    handler(std::current_exception(), str(argand::block(kind), "(", ns, ") at ", file, ":", line));
  }
}

}  // namespace argand
