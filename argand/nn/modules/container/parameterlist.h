// Parameters in a list, named by their positions, and in a dictionary, in the order of insertion.
#pragma once
#include "argand/nn/pimpl.h"

namespace argand::nn {

class ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Dict = OrderedDict<std::string, Tensor>;
  using Iterator = Dict::Iterator;
  using ConstIterator = Dict::ConstIterator;

  ParameterListImpl() = default;
  template <class... Tensors, class = std::enable_if_t<(std::is_same_v<std::decay_t<Tensors>, Tensor> && ...)>>
  explicit ParameterListImpl(const Tensors&... tensors) {
    (append(tensors), ...);
  }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  // The parameter keeps its own requires_grad.
  void append(const Tensor& parameter) {
    register_parameter(std::to_string(size()), parameter, parameter.requires_grad());
  }
  void append(const Dict::Item& named) {
    register_parameter(named.key(), named.value(), named.value().requires_grad());
  }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) append(parameter);
  }
  // Appends the other list's parameters.
  ParameterListImpl& operator+=(const ParameterListImpl& other) {
    for (const Tensor& parameter : other.parameters_.values()) append(parameter);
    return *this;
  }
  void extend(const ParameterListImpl& other) { *this += other; }
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  // IndexError if there is none.
  Tensor& at(size_t index) {
    ARGAND_CHECK(IndexError, index < size(), "Index out of range");
    return parameters_[index].value();
  }
  Tensor& operator[](size_t index) { return at(index); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
ARGAND_LIBRARY_MODULE(ParameterList);

class ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Dict = OrderedDict<std::string, Tensor>;
  using Iterator = Dict::Iterator;
  using ConstIterator = Dict::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const Dict& parameters) { update(parameters); }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  // ValueError if the key is there already.
  Tensor& insert(const std::string& key, const Tensor& parameter) {
    return register_parameter(key, parameter, parameter.requires_grad());
  }
  Tensor pop(const std::string& key);
  // Inserts; a key that is there already gets the new tensor.
  void update(const Dict& parameters);
  // IndexError, before anything changes, if a key of the other dictionary is not there.
  void update(const ParameterDictImpl& other);
  std::vector<std::string> keys() const { return parameters_.keys(); }
  std::vector<Tensor> values() const { return parameters_.values(); }
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  void clear() { parameters_.clear(); }
  bool contains(const std::string& key) const { return parameters_.contains(key); }
  // IndexError if there is no such key.
  Tensor& get(const std::string& key) { return parameters_[key]; }
  Tensor& operator[](const std::string& key) { return parameters_[key]; }
};
ARGAND_LIBRARY_MODULE(ParameterDict);

}  // namespace argand::nn
