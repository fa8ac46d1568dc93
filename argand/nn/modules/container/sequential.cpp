#include "argand/nn/modules/container/sequential.h"

namespace argand::nn {

SequentialImpl::SequentialImpl(const OrderedDict<std::string, AnyModule>& modules) {
  for (const auto& item : modules) push_back(item.key(), item.value());
}
SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  for (const NamedAnyModule& named : modules) push_back(named.name(), named.module());
}

// The modules come from outside, so reset() cannot make them anew as Cloneable expects.
std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>(*this);
  copy->modules_.clear();
  copy->children_.clear();
  for (size_t i = 0; i < size(); ++i) copy->push_back(children_[i].key(), modules_[i].clone(device));
  return copy;
}

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

void SequentialImpl::push_back(AnyModule module) { push_back(std::to_string(modules_.size()), std::move(module)); }
void SequentialImpl::push_back(const std::string& name, AnyModule module) {
  register_module(name, module.ptr());
  modules_.push_back(std::move(module));
}

void SequentialImpl::run_rest(AnyValue& value) {
  for (size_t i = 1; i < modules_.size(); ++i) value = modules_[i].any_forward(std::move(value));
}

const AnyModule& SequentialImpl::checked(size_t index) const {
  ARGAND_CHECK(IndexError, index < size(), "Index out of range");
  return modules_[index];
}

void SequentialImpl::wrong_result(const std::type_info& actual, const std::type_info& wanted) {
  ARGAND_THROW(ValueError, "The type of the return value is ", detail::type_name(actual), ", but you asked for type ",
               detail::type_name(wanted));
}

}  // namespace argand::nn
