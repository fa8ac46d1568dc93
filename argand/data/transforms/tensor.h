// Transforms of the input alone.
#pragma once
#include <functional>

#include "argand/base/array_ref.h"
#include "argand/data/transforms/base.h"

namespace argand::data::transforms {

template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  virtual Tensor operator()(Tensor input) = 0;
  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;
  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

namespace detail {
// Numbers for each channel as float [channels, 1, 1].
Tensor per_channel(ArrayRef<double> values);
Tensor normalized(const Tensor& input, const Tensor& mean, const Tensor& stddev);
}  // namespace detail

// (input - mean) / stddev, with one number for all channels or one for each.
template <class Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev)
      : mean(detail::per_channel(mean)), stddev(detail::per_channel(stddev)) {}
  Tensor operator()(Tensor input) override { return detail::normalized(input, mean, stddev); }
  Tensor mean, stddev;
};

}  // namespace argand::data::transforms
