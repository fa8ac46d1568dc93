// A function as a module: Sequential(Linear(3, 4), Functional(torch::relu), Functional(torch::elu, 1, 0, 1)).
#pragma once
#include <functional>

#include "argand/nn/pimpl.h"

namespace argand::nn {

class FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function) : function_(std::move(function)) {}
  // `arguments` follow the input in every call.
  template <class SomeFunction, class... Arguments, class = std::enable_if_t<(sizeof...(Arguments) > 0)>>
  explicit FunctionalImpl(SomeFunction function, Arguments&&... arguments)
      : function_([function, ... arguments = std::forward<Arguments>(arguments)](const Tensor& input) {
          return function(input, arguments...);
        }) {}

  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input) { return function_(std::move(input)); }
  Tensor operator()(Tensor input) { return forward(std::move(input)); }
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
ARGAND_LIBRARY_MODULE(Functional);

}  // namespace argand::nn
