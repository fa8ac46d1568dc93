// A dictionary of registered modules, in the order of insertion.  It has no forward().
#pragma once
#include "argand/nn/modules/container/any.h"

namespace argand::nn {

class ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Entry = std::pair<std::string, std::shared_ptr<Module>>;
  using Dict = OrderedDict<std::string, std::shared_ptr<Module>>;
  using Iterator = Dict::Iterator;
  using ConstIterator = Dict::ConstIterator;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const std::vector<Entry>& modules) { update(modules); }
  explicit ModuleDictImpl(const Dict& modules) { update(modules); }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  std::vector<Entry> items() const { return children_.pairs(); }
  std::vector<std::string> keys() const { return children_.keys(); }
  std::vector<std::shared_ptr<Module>> values() const { return children_.values(); }
  Iterator begin() { return children_.begin(); }
  ConstIterator begin() const { return children_.begin(); }
  Iterator end() { return children_.end(); }
  ConstIterator end() const { return children_.end(); }
  size_t size() const noexcept { return children_.size(); }
  bool empty() const noexcept { return children_.is_empty(); }
  bool contains(const std::string& key) const { return children_.contains(key); }
  void clear() { children_.clear(); }
  // IndexError if there is no such key; ValueError if the module is not a T.
  std::shared_ptr<Module> operator[](const std::string& key) const { return children_[key]; }
  template <class T>
  T& at(const std::string& key) const {
    static_assert(detail::kIsModule<T>, "Can only call ModuleDict::at with an nn::Module type");
    T* module = children_[key]->template as<T>();
    ARGAND_CHECK(ValueError, module, "Unable to cast module[", key, "] to ", detail::type_name(typeid(T)));
    return *module;
  }
  // Removes the module and returns it.
  std::shared_ptr<Module> pop(const std::string& key);
  // Inserts; a key that is there already gets the new module.
  void update(const std::vector<Entry>& modules);
  void update(std::initializer_list<Entry> modules) { update(std::vector<Entry>(modules)); }
  void update(const Dict& modules);
  void update(const ModuleDictImpl& other) { update(other.children_); }
  void insert(const std::string& key, std::shared_ptr<Module> module);
};
ARGAND_LIBRARY_MODULE(ModuleDict);

}  // namespace argand::nn
