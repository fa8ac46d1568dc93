// A module of any type whose forward() is called with arguments of types known at run time only.
//
// The argument types of forward() are taken exactly: a forward(float) called with a double throws.  A module whose
// forward() is a template (Sequential) is taken as a function from Tensor to Tensor.
#pragma once
#include <tuple>

#include "argand/nn/modules/container/any_value.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {
namespace detail {

template <class M>
inline constexpr bool kIsModule = std::is_base_of_v<Module, std::decay_t<M>>;
template <class M>
inline constexpr bool kIsHolder = std::is_base_of_v<ModuleHolderIndicator, std::decay_t<M>>;

using DefaultArguments = std::vector<std::pair<unsigned, AnyValue>>;

// A module with its type erased.
class AnyModuleBase {
 public:
  virtual ~AnyModuleBase() = default;
  virtual AnyValue forward(std::vector<AnyValue> arguments) = 0;
  virtual std::shared_ptr<Module> ptr() const = 0;
  virtual std::unique_ptr<AnyModuleBase> copy() const = 0;
  virtual std::unique_ptr<AnyModuleBase> clone(const std::optional<Device>& device) const = 0;
  virtual const std::type_info& type() const noexcept = 0;

 protected:
  // Appends default arguments until there are `wanted`; throws if the count cannot be right.
  static void complete(std::vector<AnyValue>& arguments, size_t wanted, const DefaultArguments* defaults,
                       const Module& module);
  [[noreturn]] static void wrong_type(size_t index, const std::type_info& wanted, const std::type_info& got);
};

template <class M, class R, class... Arguments>
class AnyModuleHolder final : public AnyModuleBase {
 public:
  static_assert((!(std::is_lvalue_reference_v<Arguments> && !std::is_const_v<std::remove_reference_t<Arguments>>)&&...),
                "Modules stored inside AnyModule must not take references. Use pointers instead.");
  static_assert(!std::is_void_v<R>, "AnyModule cannot store modules that return void (you can return a dummy value).");

  explicit AnyModuleHolder(std::shared_ptr<M> module) : module_(std::move(module)) {}

  AnyValue forward(std::vector<AnyValue> arguments) override {
    if constexpr (requires { M::forward_default_arguments(); }) {
      const DefaultArguments defaults = M::forward_default_arguments();
      complete(arguments, sizeof...(Arguments), &defaults, *module_);
    } else {
      complete(arguments, sizeof...(Arguments), nullptr, *module_);
    }
    return call(arguments, std::index_sequence_for<Arguments...>{});
  }
  std::shared_ptr<Module> ptr() const override { return module_; }
  std::unique_ptr<AnyModuleBase> copy() const override { return std::make_unique<AnyModuleHolder>(*this); }
  std::unique_ptr<AnyModuleBase> clone(const std::optional<Device>& device) const override {
    return std::make_unique<AnyModuleHolder>(std::dynamic_pointer_cast<M>(module_->clone(device)));
  }
  const std::type_info& type() const noexcept override { return typeid(M); }

 private:
  template <class T>
  static T&& take(std::vector<AnyValue>& arguments, size_t i) {
    T* value = arguments[i].try_get<T>();
    if (!value) wrong_type(i, typeid(T), arguments[i].type_info());
    return std::move(*value);
  }
  template <size_t... I>
  AnyValue call(std::vector<AnyValue>& arguments, std::index_sequence<I...>) {
    return AnyValue(module_->forward(take<std::decay_t<Arguments>>(arguments, I)...));
  }
  std::shared_ptr<M> module_;
};

template <class M, class C, class R, class... Arguments>
std::unique_ptr<AnyModuleBase> hold(std::shared_ptr<M> module, R (C::*)(Arguments...)) {
  return std::make_unique<AnyModuleHolder<M, R, Arguments...>>(std::move(module));
}
template <class M, class C, class R, class... Arguments>
std::unique_ptr<AnyModuleBase> hold(std::shared_ptr<M> module, R (C::*)(Arguments...) const) {
  return std::make_unique<AnyModuleHolder<M, R, Arguments...>>(std::move(module));
}
template <class M>
std::unique_ptr<AnyModuleBase> hold(std::shared_ptr<M> module) {
  if constexpr (requires { &M::forward; })
    return hold(std::move(module), &M::forward);
  else
    return std::make_unique<AnyModuleHolder<M, Tensor, const Tensor&>>(std::move(module));
}

}  // namespace detail

class AnyModule {
 public:
  AnyModule() = default;  // empty
  template <class M>
  explicit AnyModule(std::shared_ptr<M> module) : content_(detail::hold(std::move(module))) {}
  template <class M, class = std::enable_if_t<detail::kIsModule<M>>>
  explicit AnyModule(M&& module) : AnyModule(std::make_shared<std::decay_t<M>>(std::forward<M>(module))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& module) : AnyModule(module.ptr()) {}
  AnyModule(AnyModule&&) = default;
  AnyModule& operator=(AnyModule&&) = default;
  // Copies share the module.
  AnyModule(const AnyModule& other) : content_(other.content_ ? other.content_->copy() : nullptr) {}
  AnyModule& operator=(const AnyModule& other) { return *this = AnyModule(other); }
  template <class M>
  AnyModule& operator=(std::shared_ptr<M> module) {
    return *this = AnyModule(std::move(module));
  }
  // A deep copy.
  AnyModule clone(std::optional<Device> device = std::nullopt) const;

  template <class... Arguments>
  AnyValue any_forward(Arguments&&... arguments) {
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Arguments));
    (values.push_back(AnyValue(std::forward<Arguments>(arguments))), ...);
    return content("forward").forward(std::move(values));
  }
  template <class R = Tensor, class... Arguments>
  R forward(Arguments&&... arguments) {
    return any_forward(std::forward<Arguments>(arguments)...).template get<R>();
  }

  // The module as a T, which must be exactly its type.
  template <class T, class = std::enable_if_t<detail::kIsModule<T>>>
  T& get() const {
    check_type("get", typeid(T));
    return static_cast<T&>(*content("get").ptr());
  }
  template <class Holder, class Contained = typename Holder::ContainedType>
  Holder get() const {
    return Holder(ptr<Contained>());
  }
  std::shared_ptr<Module> ptr() const { return content("ptr").ptr(); }
  template <class T, class = std::enable_if_t<detail::kIsModule<T>>>
  std::shared_ptr<T> ptr() const {
    check_type("ptr", typeid(T));
    return std::static_pointer_cast<T>(ptr());
  }
  const std::type_info& type_info() const { return content("type_info").type(); }
  bool is_empty() const noexcept { return content_ == nullptr; }

 private:
  detail::AnyModuleBase& content(const char* caller) const;
  void check_type(const char* caller, const std::type_info& wanted) const;
  std::unique_ptr<detail::AnyModuleBase> content_;
};

}  // namespace argand::nn

// In a module whose forward() has default arguments: which arguments (by number, from 0) may be left out in calls
// through AnyModule and Sequential, and their values.  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2)}, {2,
// AnyValue(3.0)})
#define ARGAND_FORWARD_HAS_DEFAULT_ARGS(...)          \
  template <class, class, class...>                   \
  friend class ::argand::nn::detail::AnyModuleHolder; \
  static ::argand::nn::detail::DefaultArguments forward_default_arguments() { return {__VA_ARGS__}; }
