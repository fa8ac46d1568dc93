// Modules as values: ARGAND_MODULE(Linear) makes `Linear` a counted handle to a `LinearImpl`, as LibTorch's
// TORCH_MODULE.
#pragma once
#include <memory>
#include <type_traits>

#include "argand/nn/module.h"

namespace argand::nn {

struct ModuleHolderIndicator {};

namespace detail {
template <class Holder, class Contained>
constexpr bool is_holder_of() {
  if constexpr (std::is_base_of_v<ModuleHolderIndicator, Holder>)
    return std::is_same_v<typename Holder::ContainedType, Contained>;
  else
    return false;
}
}  // namespace detail

template <class Contained>
class ModuleHolder : ModuleHolderIndicator {
 public:
  using ContainedType = Contained;

  // A module made without arguments, where it can be.
  ModuleHolder() : impl_(make_default()) {}
  ModuleHolder(std::nullptr_t) : impl_(nullptr) {}  // empty
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}
  template <class Head, class... Tail,
            class = std::enable_if_t<!(detail::is_holder_of<std::decay_t<Head>, Contained>() && sizeof...(Tail) == 0) &&
                                     !std::is_same_v<std::decay_t<Head>, std::shared_ptr<Contained>> &&
                                     !std::is_same_v<std::decay_t<Head>, std::nullptr_t>>>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}

  explicit operator bool() const noexcept { return impl_ != nullptr; }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  // ValueError if empty, as for all that reach the module.
  std::shared_ptr<Contained> ptr() const { return {impl_, const_cast<Contained*>(get())}; }
  Contained* get() { return static_cast<Contained*>(full()); }
  const Contained* get() const { return static_cast<Contained*>(full()); }
  bool is_empty() const noexcept { return impl_ == nullptr; }

  // The module's forward().
  template <class... Args, class C = Contained>  // C: containers have no forward()
  auto operator()(Args&&... args) -> decltype(std::declval<C&>().forward(std::forward<Args>(args)...)) {
    return get()->forward(std::forward<Args>(args)...);
  }
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 private:
  static std::shared_ptr<void> make_default() {
    if constexpr (std::is_default_constructible_v<Contained>)
      return std::shared_ptr<void>(new Contained());
    else
      return nullptr;
  }
  void* full() const {
    ARGAND_CHECK(ValueError, impl_, "Accessing empty ModuleHolder");
    return impl_.get();
  }
  // Untyped, because a shared_ptr type for every type of module would cost each user's compiler 0.4 MB a type.  It
  // holds the address of a Contained, which need not be a Module.
  std::shared_ptr<void> impl_;
};

template <class Contained>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<Contained>& module) {
  return stream << *module;
}
template <class Contained>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const ModuleHolder<Contained>& module) {
  return archive << static_cast<const Module&>(*module);
}
template <class Contained>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<Contained>& module) {
  return archive >> static_cast<Module&>(*module);
}

}  // namespace argand::nn

#define ARGAND_MODULE_IMPL(Name, ImplType)                                \
  class Name : public ::argand::nn::ModuleHolder<ImplType> { /* NOLINT */ \
   public:                                                                \
    using ::argand::nn::ModuleHolder<ImplType>::ModuleHolder;             \
    using Impl = ImplType;                                                \
  }
#define ARGAND_MODULE(Name) ARGAND_MODULE_IMPL(Name, Name##Impl)

// A module of the library, whose clone() stands there (modules/cloneable.cpp): making it anew would cost every user's
// compiler 0.1 MB a module.
#ifdef ARGAND_DEFINE_CLONEABLES  // by modules/cloneable.cpp
#define ARGAND_CLONEABLE
#else
#define ARGAND_CLONEABLE extern
#endif
#define ARGAND_LIBRARY_MODULE(Name)                      \
  ARGAND_CLONEABLE template class Cloneable<Name##Impl>; \
  ARGAND_MODULE(Name)
