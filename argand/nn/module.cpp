#include "argand/nn/module.h"

#include "argand/autograd/engine.h"
#include "argand/base/log.h"
#include "argand/exec/invoke.h"
#include "argand/nn/load_state.h"
#include "argand/nn/type_name.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/serialize/archive.h"

namespace argand::nn {
namespace {

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

void check_name(const char* what, const std::string& name) {
  ARGAND_CHECK(ValueError, !name.empty(), what, " name must not be empty");
  ARGAND_CHECK(ValueError, name.find('.') == std::string::npos, what, " name must not contain a dot (got '", name,
               "')");
}

}  // namespace

Module::Module(std::string name) : name_(std::move(name)) {}
Module::Module() = default;
Module::Module(const Module&) = default;
Module& Module::operator=(const Module&) = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

const std::string& Module::name() const {
  if (!name_) name_ = detail::type_name(typeid(*this));
  return *name_;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  ARGAND_THROW(NotImplementedError, "clone() has not been implemented for ", name(),
               ". Subclass argand::nn::Cloneable<", name(),
               "> instead of argand::nn::Module to inherit the ability to clone.");
}

void Module::clone_(Module&, const std::optional<Device>&) {}

std::shared_ptr<Module> Module::cleared(Module* copy) {
  std::shared_ptr<Module> out(copy);
  out->parameters_.clear();
  out->buffers_.clear();
  out->children_.clear();
  return out;
}

// Both trees must match: reset() has to register what the constructor of the original did.
void Module::take_values_of(const Module& from, const std::optional<Device>& device) {
  const auto check = [](size_t mine, size_t theirs, const char* what, const char* function) {
    ARGAND_CHECK(ValueError, mine == theirs, "The cloned module does not have the same number of ", what,
                 " as the original module after calling reset(). Are you sure you called ", function,
                 "() inside reset() and not the constructor?");
  };
  check(parameters_.size(), from.parameters_.size(), "parameters", "register_parameter");
  check(buffers_.size(), from.buffers_.size(), "buffers", "register_buffer");
  check(children_.size(), from.children_.size(), "child modules", "register_module");
  const NoGradGuard no_grad;
  const auto copy = [&](const OrderedDict<std::string, Tensor>& source, OrderedDict<std::string, Tensor>& target) {
    for (const auto& item : source) {
      if (!item.value().defined()) continue;
      const Tensor value = item.value().detach().clone();
      Tensor& tensor = target[item.key()];
      tensor.set_data(device ? value.to(*device) : value);
      tensor.set_requires_grad(item.value().requires_grad());
    }
  };
  copy(from.parameters_, parameters_);
  copy(from.buffers_, buffers_);
  for (const auto& child : from.children_) children_[child.key()]->clone_(*child.value(), device);
}

// ---- walking the tree

void Module::apply(const ModuleApplyFunction& f) {
  f(*this);
  for (auto& child : children_) child.value()->apply(f);
}

void Module::apply(const ConstModuleApplyFunction& f) const {
  f(*this);
  for (const auto& child : children_) std::as_const(*child.value()).apply(f);
}

void Module::apply(const NamedModuleApplyFunction& f, const std::string& prefix) {
  f(prefix, *this);
  for (auto& child : children_) child.value()->apply(f, join(prefix, child.key()));
}

void Module::apply(const ConstNamedModuleApplyFunction& f, const std::string& prefix) const {
  f(prefix, *this);
  for (const auto& child : children_) std::as_const(*child.value()).apply(f, join(prefix, child.key()));
}

void Module::apply(const ModulePointerApplyFunction& f) const {
  for (const auto& module : modules()) f(module);
}

void Module::apply(const NamedModulePointerApplyFunction& f, const std::string& prefix) const {
  for (const auto& module : named_modules(prefix)) f(module.key(), module.value());
}

void Module::each_tensor(const std::string& prefix,
                         const std::function<void(const std::string&, Tensor&, bool)>& f) const {
  auto& self = const_cast<Module&>(*this);
  for (auto& p : self.parameters_)
    if (p.value().defined()) f(join(prefix, p.key()), p.value(), true);
  for (auto& b : self.buffers_)
    if (b.value().defined()) f(join(prefix, b.key()), b.value(), false);
  for (auto& child : self.children_) child.value()->each_tensor(join(prefix, child.key()), f);
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, Tensor> out("Parameter");
  if (!recurse) {
    for (const auto& p : parameters_)
      if (p.value().defined()) out.insert(p.key(), p.value());
    return out;
  }
  each_tensor("", [&](const std::string& name, Tensor& t, bool is_parameter) {
    if (is_parameter) out.insert(name, t);
  });
  return out;
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, Tensor> out("Buffer");
  if (!recurse) {
    for (const auto& b : buffers_)
      if (b.value().defined()) out.insert(b.key(), b.value());
    return out;
  }
  each_tensor("", [&](const std::string& name, Tensor& t, bool is_parameter) {
    if (!is_parameter) out.insert(name, t);
  });
  return out;
}

std::vector<Tensor> Module::parameters(bool recurse) const { return named_parameters(recurse).values(); }
std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> out;
  if (include_self) {
    auto self = const_cast<Module*>(this)->weak_from_this().lock();
    ARGAND_CHECK(ValueError, self,
                 "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not held by "
                 "one; use std::make_shared or include_self = false");
    out.insert(prefix, std::move(self));
  }
  for (const auto& child : children_)
    for (const auto& below : child.value()->named_modules(join(prefix, child.key()), true))
      out.insert(below.key(), below.value());
  return out;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules("", include_self).values();
}
std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const { return children_; }

// ---- modes and conversions

void Module::train(bool on) {
  for (auto& child : children_) child.value()->train(on);
  is_training_ = on;
}

void Module::convert(std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking) {
  const NoGradGuard no_grad;
  each_tensor("", [&](const std::string&, Tensor& t, bool is_parameter) {
    TensorOptions options;
    if (device) options = options.device(*device);
    if (dtype && (is_parameter || t.is_floating_point())) options = options.dtype(*dtype);
    t.set_data(t.detach().to(options, non_blocking));
    if (t.grad().defined()) t.mutable_grad() = t.grad().to(options, non_blocking);
  });
}

void Module::to(Device device, ScalarType dtype, bool non_blocking) { convert(device, dtype, non_blocking); }
void Module::to(ScalarType dtype, bool non_blocking) { convert(std::nullopt, dtype, non_blocking); }
void Module::to(Device device, bool non_blocking) { convert(device, std::nullopt, non_blocking); }

void Module::zero_grad(bool set_to_none) {
  for (Tensor& p : parameters()) {
    if (!p.grad().defined()) continue;
    if (set_to_none) {
      p.mutable_grad() = Tensor();
    } else {
      p.mutable_grad() = p.grad().detach();
      p.mutable_grad().zero_();
    }
  }
}

// ---- registration

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  ARGAND_CHECK(GradError, !tensor.defined() || tensor.is_leaf(), "register_parameter: '", name,
               "' must be a leaf, got a tensor with a grad_fn");
  if (!tensor.defined() && requires_grad) {
    warn("register_parameter: an undefined tensor was registered as '", name,
         "'. Ignoring the `requires_grad=true` function parameter.");
  }
  if (tensor.defined() && is_differentiable(tensor.dtype())) tensor.set_requires_grad(requires_grad);
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name("Buffer", name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_module(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  children_.insert(std::move(name), std::move(module));
}

void Module::set_module(const std::string& name, std::shared_ptr<Module> module) {
  children_[name] = std::move(module);
}
void Module::unregister_module(const std::string& name) {
  ARGAND_CHECK(ValueError, children_.contains(name), "No Module with name `", name, "` is registered");
  children_.erase(name);
}

// ---- state

StateDict Module::state_dict() const {
  StateDict out;
  each_tensor("", [&](const std::string& name, Tensor& t, bool) { out.insert(name, t.detach()); });
  return out;
}

void Module::load_state_dict(const StateDict& state, bool strict) {
  StateDict own;
  each_tensor("", [&](const std::string& name, Tensor& t, bool) { own.insert(name, t); });
  load_state(own, state, strict, name());
}

// ---- archives

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& parameter : named_parameters(/*recurse=*/false)) archive.write(parameter.key(), parameter.value());
  for (const auto& buffer : named_buffers(/*recurse=*/false))
    archive.write(buffer.key(), buffer.value(), /*is_buffer=*/true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}

void Module::load(serialize::InputArchive& archive) {
  const NoGradGuard no_grad;
  const auto read = [&](const std::string& name, const Tensor& tensor) {
    Tensor value;
    archive.read(name, value);
    ARGAND_CHECK(ValueError, value.defined() && value.sizes() == tensor.sizes(), "load: shape of ", name, " of ",
                 this->name(), ": expected ", tensor.sizes(), ", got ",
                 value.defined() ? str(value.sizes()) : "an undefined tensor");
    // Tensors saved on a GPU return there; others go to the module's device.
    tensor.set_data(archive.device() || value.is_accelerator() ? value.detach() : value.detach().to(tensor.device()));
  };
  for (const auto& parameter : named_parameters(/*recurse=*/false)) read(parameter.key(), parameter.value());
  for (const auto& buffer : named_buffers(/*recurse=*/false)) read(buffer.key(), buffer.value());
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    // One that has no tensors left no trace.
    serialize::InputArchive nested;
    if (!archive.try_read(child.key(), nested) && child.value()->state_dict().is_empty()) continue;
    archive.read(child.key(), nested);
    child.value()->load(nested);
  }
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Module& module) {
  module.save(archive);
  return archive;
}
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module) {
  ARGAND_CHECK(ValueError, module, "save: the module is null");
  return archive << *module;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Module& module) {
  module.load(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module) {
  ARGAND_CHECK(ValueError, module, "load: the module is null; make it first, its structure is not saved");
  return archive >> *module;
}

// ---- printing

void Module::pretty_print(std::ostream& stream) const { stream << name(); }

namespace {

void print_tree(std::ostream& stream, const Module& module, const std::string& indent) {
  module.pretty_print(stream);
  const auto children = module.named_children();
  if (children.is_empty()) return;
  stream << "(\n";
  for (const auto& child : children) {
    stream << indent << "  (" << child.key() << "): ";
    print_tree(stream, *child.value(), indent + "  ");
    stream << "\n";
  }
  stream << indent << ")";
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  print_tree(stream, module, "");
  return stream;
}

}  // namespace argand::nn
