#include "argand/nn/modules/container/modulelist.h"

namespace argand::nn {

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>(*this);
  copy->modules_.clear();
  copy->children_.clear();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  return copy;
}

void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(size()), module);
  modules_.push_back(std::move(module));
}

void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  ARGAND_CHECK(IndexError, index <= size(), "Index out of range");
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  children_.clear();
  for (size_t i = 0; i < size(); ++i) register_module(std::to_string(i), modules_[i]);
}

const std::shared_ptr<Module>& ModuleListImpl::checked(size_t index) const {
  ARGAND_CHECK(IndexError, index < size(), "Index out of range");
  return modules_[index];
}

}  // namespace argand::nn
