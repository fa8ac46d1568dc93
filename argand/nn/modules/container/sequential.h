// A chain of modules: the result of each is the argument of the next.
//
//   Sequential net(Linear(784, 128), ReLU(), Linear(128, 10));
//   Sequential net({{"hidden", Linear(784, 128)}, {"relu", ReLU()}, {"out", Linear(128, 10)}});
//   Tensor scores = net->forward(images);
#pragma once
#include "argand/nn/modules/container/named_any.h"

namespace argand::nn {

class SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  template <class First, class... Rest,
            class = std::enable_if_t<!(std::is_same_v<std::decay_t<First>, SequentialImpl> && sizeof...(Rest) == 0) &&
                                     !std::is_same_v<std::decay_t<First>, OrderedDict<std::string, AnyModule>>>>
  explicit SequentialImpl(First&& first, Rest&&... rest) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }
  explicit SequentialImpl(const OrderedDict<std::string, AnyModule>& modules);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  // The first module gets all arguments, the last one's result must be an R; ValueError otherwise or if empty.
  template <class R = Tensor, class... Arguments>
  R forward(Arguments&&... arguments) {
    ARGAND_CHECK(ValueError, !is_empty(), "Cannot call forward() on an empty Sequential");
    AnyValue value = modules_.front().any_forward(std::forward<Arguments>(arguments)...);
    run_rest(value);
    if (R* result = value.try_get<R>()) return std::move(*result);
    wrong_result(value.type_info(), typeid(R));
  }

  // Without a name, a module is named by its position.
  template <class M>
  void push_back(std::shared_ptr<M> module) {
    push_back(AnyModule(std::move(module)));
  }
  template <class M>
  void push_back(const std::string& name, std::shared_ptr<M> module) {
    push_back(name, AnyModule(std::move(module)));
  }
  template <class M, class = std::enable_if_t<detail::kIsModule<M>>>
  void push_back(M&& module) {
    push_back(AnyModule(std::forward<M>(module)));
  }
  template <class M, class = std::enable_if_t<detail::kIsModule<M>>>
  void push_back(const std::string& name, M&& module) {
    push_back(name, AnyModule(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& module) {
    push_back(AnyModule(module));
  }
  template <class M>
  void push_back(const std::string& name, const ModuleHolder<M>& module) {
    push_back(name, AnyModule(module));
  }
  void push_back(AnyModule module);
  void push_back(const std::string& name, AnyModule module);
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  // The module at `index`; IndexError if there is none, ValueError if it is not a T.
  template <class T>
  T& at(size_t index) const {
    static_assert(detail::kIsModule<T>, "Can only call Sequential::at with an nn::Module type");
    return checked(index).get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const { return checked(index).ptr(); }
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    static_assert(detail::kIsModule<T>, "Can only call Sequential::ptr with an nn::Module type");
    return checked(index).ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  void run_rest(AnyValue& value);
  const AnyModule& checked(size_t index) const;
  [[noreturn]] static void wrong_result(const std::type_info& actual, const std::type_info& wanted);
  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl = SequentialImpl;
  Sequential() = default;
  // Braces of names and modules need this constructor: a template cannot deduce them.
  Sequential(std::initializer_list<NamedAnyModule> modules) : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}
};

}  // namespace argand::nn
