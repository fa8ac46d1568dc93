#include "argand/nn/modules/container/parameterlist.h"

#include "argand/ops/functions.h"

namespace argand::nn {
namespace {

Tensor copy_parameter(const Tensor& p, const std::optional<Device>& device) {
  Tensor copy = p.detach().clone();
  if (device) copy = copy.to(*device);
  return copy.set_requires_grad(p.requires_grad());
}

void print(std::ostream& stream, const char* name, const OrderedDict<std::string, Tensor>& parameters) {
  stream << name << "(\n";
  for (const auto& p : parameters)
    stream << "(" << p.key() << "): Parameter containing: [" << dtype_cpp_name(p.value().scalar_type()) << " of size "
           << str(p.value().sizes()) << "]\n";
  stream << ")";
}

}  // namespace

std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>(*this);
  copy->parameters_.clear();
  for (const auto& p : parameters_) copy->append(Dict::Item(p.key(), copy_parameter(p.value(), device)));
  return copy;
}
void ParameterListImpl::pretty_print(std::ostream& stream) const {
  print(stream, "torch::nn::ParameterList", parameters_);
}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>(*this);
  copy->parameters_.clear();
  for (const auto& p : parameters_) copy->insert(p.key(), copy_parameter(p.value(), device));
  return copy;
}
void ParameterDictImpl::pretty_print(std::ostream& stream) const {
  print(stream, "torch::nn::ParameterDict", parameters_);
}

Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor p = parameters_[key];
  parameters_.erase(key);
  return p;
}
void ParameterDictImpl::update(const Dict& parameters) {
  for (const auto& p : parameters) {
    if (contains(p.key()))
      parameters_[p.key()] = p.value();
    else
      insert(p.key(), p.value());
  }
}

void ParameterDictImpl::update(const ParameterDictImpl& other) {
  for (const auto& p : other.parameters_) get(p.key());
  update(other.parameters_);
}

}  // namespace argand::nn
