// The ops that programs define by their schemas, and their kernels: found by name, called with C++ types or with a
// stack of values.  A call looks at the keys of its tensors and takes the first kernel there is, in this order:
// autocast, autograd, ADInplaceOrView, the device, CompositeExplicitAutograd, CompositeImplicitAutograd.
//
// An op with device kernels but none for Autograd: ops that the kernel calls are recorded as usual.  A result without
// history gets a node that warns when backward reaches it, and passes no gradient on.
//
// Thread safety: any thread may define and look up ops, but a program must not call an op while kernels of that op are
// added or removed.
#pragma once
#include <memory>
#include <typeinfo>

#include "argand/exec/profiler_range.h"
#include "argand/library/boxing.h"

namespace argand {

class FunctionSchema;  // argand/library/schema.h
struct OperatorName;
class OperatorHandle;
template <class Signature>
class TypedOperatorHandle;
namespace library {
struct Operator;
}

// A function that computes an op, whatever its C++ type.
class KernelFunction {
 public:
  using Boxed = void(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);
  KernelFunction() = default;
  static KernelFunction from_boxed(Boxed* f);
  static KernelFunction fallthrough();
  // Wraps a function, or an object with one operator().
  template <class F>
  static KernelFunction from(F f);

  bool is_fallthrough() const { return fallthrough_; }
  // The schema of the C++ type; null for a boxed kernel.
  const FunctionSchema* schema() const { return static_cast<const FunctionSchema*>(schema_.get()); }
  void call_boxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const { boxed_(*this, op, keys, stack); }

 private:
  template <class Signature>
  friend class TypedOperatorHandle;
  template <class F, class Signature>
  friend struct KernelOf;
  std::shared_ptr<void> functor_;
  void (*boxed_)(const KernelFunction&, const OperatorHandle&, DispatchKeySet, Stack*) = nullptr;
  void (*typed_)() = nullptr;  // R(const KernelFunction&, DispatchKeySet, Args...), if `signature_` is R(Args...)
  const std::type_info* signature_ = nullptr;
  std::shared_ptr<void> schema_;  // a FunctionSchema
  bool fallthrough_ = false;
};

// Collects the keys of a call's arguments.
class CallKeys {
 public:
  void add(const Tensor& t);
  template <class T>
  void add(const T& argument) {
    if constexpr (std::is_convertible_v<const T&, TensorList>) {
      for (const Tensor& t : TensorList(argument)) add(t);
    } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
      if (argument) add(*argument);
    } else if constexpr (std::is_same_v<T, std::vector<std::optional<Tensor>>> ||
                         std::is_same_v<T, std::vector<IValue>>) {
      for (const auto& t : argument) add(t);
    } else if constexpr (requires { argument.elements(); }) {  // List and Dict
      add(IValue(argument));
    }
  }
  void add(const IValue& v);
  DispatchKeySet keys() const { return keys_ - excluded_dispatch_keys(); }
  bool requires_grad() const { return requires_grad_; }

 private:
  DispatchKeySet keys_;
  bool requires_grad_ = false;
};

// A handle to an op, valid as long as the library that defined it.
class OperatorHandle {
 public:
  explicit OperatorHandle(const library::Operator& op) : op_(&op) {}
  const FunctionSchema& schema() const;
  const OperatorName& operator_name() const;
  bool hasSchema() const;
  bool hasKernelForDispatchKey(DispatchKey key) const;
  // DtypeError if the op's schema is not that of `Signature`.
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const;
  // Takes the arguments off the end of the stack, and leaves the results there.
  void callBoxed(Stack* stack) const;
  void callBoxed(Stack& stack) const { callBoxed(&stack); }
  // Continues a call with only `keys` left to consider.
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const;

 protected:
  // The kernel for a call with these keys; NotImplementedError if there is none.  `requires_grad`: any argument does.
  const KernelFunction& kernel(DispatchKeySet keys, bool requires_grad) const;
  void check_signature(const FunctionSchema& called) const;
  void begin(profiler::Range& range) const;  // around a call of the op
  const library::Operator* op_;
};

template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> : public OperatorHandle {
 public:
  explicit TypedOperatorHandle(const OperatorHandle& op) : OperatorHandle(op) {}
  R call(Args... args) const {
    profiler::Range range;
    begin(range);
    CallKeys keys;
    (keys.add(args), ...);
    return run(kernel(keys.keys(), keys.requires_grad()), keys.keys(), static_cast<Args>(args)...);
  }
  R redispatch(DispatchKeySet keys, Args... args) const {
    return run(kernel(keys - excluded_dispatch_keys(), false), keys, static_cast<Args>(args)...);
  }

 private:
  R run(const KernelFunction& kernel, DispatchKeySet keys, Args... args) const {
    if (kernel.signature_ && *kernel.signature_ == typeid(R(Args...)))
      return reinterpret_cast<R (*)(const KernelFunction&, DispatchKeySet, Args...)>(kernel.typed_)(
          kernel, keys, static_cast<Args>(args)...);
    Stack stack{library::TypeOfArgument<Args>::box(args)...};
    kernel.call_boxed(*this, keys, &stack);
    if constexpr (std::is_lvalue_reference_v<R>)
      return first_written(args...);
    else
      return library::Results<R>::pop(stack);
  }
  // An op that returns a reference returns the tensor that it wrote.
  template <class First, class... Rest>
  static R first_written(First& first, Rest&... rest) {
    if constexpr (std::is_same_v<First, std::remove_reference_t<R>>)
      return first;
    else
      return first_written(rest...);
  }
};

// Calls a kernel of the type R(Args...), with or without the call's keys before its arguments.
template <class F, class Signature>
struct KernelOf;
template <class F, class R, class... Args>
struct KernelOf<F, R(Args...)> {
  static constexpr bool kWithKeys = false;
  static R typed(const KernelFunction& kernel, DispatchKeySet, Args... args) {
    return (*static_cast<F*>(kernel.functor_.get()))(static_cast<Args>(args)...);
  }
  static void boxed(const KernelFunction& kernel, const OperatorHandle&, DispatchKeySet keys, Stack* stack) {
    unbox(&typed, kernel, keys, *stack, std::index_sequence_for<Args...>());
  }
  static void describe(KernelFunction& kernel) {
    kernel.boxed_ = &boxed;
    kernel.typed_ = reinterpret_cast<void (*)()>(&typed);
    fill(kernel);
  }
  static void fill(KernelFunction& kernel) {
    kernel.signature_ = &typeid(R(Args...));
    std::vector<std::string> returns;
    library::Results<R>::texts(returns);
    kernel.schema_ = library::schema_of_types({library::TypeOfArgument<Args>::text()...}, returns);
  }
  template <class Typed, size_t... I>
  static void unbox(Typed typed, const KernelFunction& kernel, DispatchKeySet keys, Stack& stack,
                    std::index_sequence<I...>) {
    [[maybe_unused]] const size_t first = stack.size() - sizeof...(Args);
    std::tuple<typename library::TypeOfArgument<Args>::Held...> held{
        library::TypeOfArgument<Args>::unbox(stack[first + I])...};
    stack.resize(first);
    const auto give = [&]<size_t J, class Arg>() -> decltype(auto) {
      if constexpr (std::is_lvalue_reference_v<Arg> && !std::is_const_v<std::remove_reference_t<Arg>>)
        return (std::get<J>(held));
      else
        return library::TypeOfArgument<Arg>::given(std::get<J>(held));
    };
    if constexpr (std::is_void_v<R>)
      typed(kernel, keys, give.template operator()<I, Args>()...);
    else
      library::Results<R>::push(stack, typed(kernel, keys, give.template operator()<I, Args>()...));
  }
};
template <class F, class R, class... Args>
struct KernelOf<F, R(DispatchKeySet, Args...)> {
  using Base = KernelOf<F, R(Args...)>;
  static R typed(const KernelFunction& kernel, DispatchKeySet keys, Args... args) {
    return (*static_cast<F*>(kernel.functor_.get()))(keys, static_cast<Args>(args)...);
  }
  static void boxed(const KernelFunction& kernel, const OperatorHandle&, DispatchKeySet keys, Stack* stack) {
    Base::unbox(&typed, kernel, keys, *stack, std::index_sequence_for<Args...>());
  }
  static void describe(KernelFunction& kernel) {
    kernel.boxed_ = &boxed;
    kernel.typed_ = reinterpret_cast<void (*)()>(&typed);
    Base::fill(kernel);
  }
};

namespace library {
template <class F>
struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <class R, class... Args>
struct SignatureOf<R (*)(Args...)> {
  using type = R(Args...);
};
template <class C, class R, class... Args>
struct SignatureOf<R (C::*)(Args...)> {
  using type = R(Args...);
};
template <class C, class R, class... Args>
struct SignatureOf<R (C::*)(Args...) const> {
  using type = R(Args...);
};
}  // namespace library

template <class F>
KernelFunction KernelFunction::from(F f) {
  KernelFunction out;
  out.functor_ = std::make_shared<F>(std::move(f));
  KernelOf<F, typename library::SignatureOf<F>::type>::describe(out);
  return out;
}

template <class Signature>
TypedOperatorHandle<Signature> OperatorHandle::typed() const {
  static const KernelFunction called = KernelFunction::from(static_cast<Signature*>(nullptr));
  check_signature(*called.schema());
  return TypedOperatorHandle<Signature>(*this);
}

class Dispatcher {
 public:
  static Dispatcher& singleton();
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const;
  std::optional<OperatorHandle> findOp(const OperatorName& name) const;
  // NotImplementedError that lists the available kernels.
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const;
  std::vector<OperatorName> getAllOpNames() const;
  // The names of the overloads of "pack::op" that have schemas, in the order of their definitions; "" has no name.
  std::vector<std::string> overloads_of(const std::string& name) const;
};

}  // namespace argand
