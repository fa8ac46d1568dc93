#include "argand/nn/modules/container/moduledict.h"

namespace argand::nn {

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>(*this);
  copy->children_.clear();
  for (const auto& item : children_) copy->insert(item.key(), item.value()->clone(device));
  return copy;
}

void ModuleDictImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleDict"; }

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = children_[key];
  children_.erase(key);
  return module;
}
void ModuleDictImpl::update(const std::vector<Entry>& modules) {
  for (const auto& [key, module] : modules) insert(key, module);
}
void ModuleDictImpl::update(const Dict& modules) { update(modules.pairs()); }
void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key))
    replace_module(key, std::move(module));
  else
    register_module(key, std::move(module));
}

}  // namespace argand::nn
