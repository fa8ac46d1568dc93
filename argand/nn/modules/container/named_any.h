// A module of any type with a name: the elements of Sequential({{"conv", Conv2d(1, 8, 3)}, {"relu", ReLU()}}).
#pragma once
#include "argand/nn/modules/container/any.h"

namespace argand::nn {

class NamedAnyModule {
 public:
  template <class M>
  NamedAnyModule(std::string name, std::shared_ptr<M> module)
      : NamedAnyModule(std::move(name), AnyModule(std::move(module))) {}
  template <class M, class = std::enable_if_t<detail::kIsModule<M>>>
  NamedAnyModule(std::string name, M&& module) : NamedAnyModule(std::move(name), AnyModule(std::forward<M>(module))) {}
  template <class M>
  NamedAnyModule(std::string name, const ModuleHolder<M>& module)
      : NamedAnyModule(std::move(name), AnyModule(module)) {}
  NamedAnyModule(std::string name, AnyModule module) : name_(std::move(name)), module_(std::move(module)) {}

  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace argand::nn
