// A borrowed callable: two words, no allocation.  A parameter type only: it must not outlive the callable it refers to.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

namespace argand {

template <class Signature>
class function_ref;

template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  template <class F, std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, function_ref> &&
                                          !std::is_function_v<std::remove_reference_t<F>> &&
                                          std::is_invocable_r_v<R, F&, Args...>,
                                      int> = 0>
  function_ref(F&& f) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace argand
