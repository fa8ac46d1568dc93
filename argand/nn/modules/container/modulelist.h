// A list of registered modules, named by their positions.  It has no forward().
#pragma once
#include "argand/nn/modules/container/any.h"

namespace argand::nn {

class ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  template <class First, class... Rest,
            class = std::enable_if_t<!(std::is_same_v<std::decay_t<First>, ModuleListImpl> && sizeof...(Rest) == 0)>>
  explicit ModuleListImpl(First&& first, Rest&&... rest) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  void push_back(std::shared_ptr<Module> module);
  template <class M, class = std::enable_if_t<detail::kIsModule<M>>>
  void push_back(M&& module) {
    push_back(std::shared_ptr<Module>(std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& module) {
    push_back(std::shared_ptr<Module>(module.ptr()));
  }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  // Inserts before the module at `index`.  That module and its followers get new names.
  void insert(size_t index, std::shared_ptr<Module> module);
  template <class M>
  void insert(size_t index, const ModuleHolder<M>& module) {
    insert(index, std::shared_ptr<Module>(module.ptr()));
  }
  template <class M, class = std::enable_if_t<detail::kIsModule<M>>>
  void insert(size_t index, M&& module) {
    insert(index, std::shared_ptr<Module>(std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  // The module at `index`; IndexError if there is none, ValueError if it is not a T.
  template <class T>
  T& at(size_t index) const {
    static_assert(detail::kIsModule<T>, "Can only call ModuleList::at with an nn::Module type");
    T* module = checked(index)->template as<T>();
    ARGAND_CHECK(ValueError, module, "Unable to cast module[", index, "] to ", detail::type_name(typeid(T)));
    return *module;
  }
  std::shared_ptr<Module> ptr(size_t index) const { return checked(index); }
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    return std::dynamic_pointer_cast<T>(checked(index));
  }
  std::shared_ptr<Module> operator[](size_t index) const { return checked(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  const std::shared_ptr<Module>& checked(size_t index) const;
  std::vector<std::shared_ptr<Module>> modules_;
};
ARGAND_LIBRARY_MODULE(ModuleList);

}  // namespace argand::nn
