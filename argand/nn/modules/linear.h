// Linear, Bilinear, Identity, Flatten, Unflatten.
#pragma once
#include "argand/nn/options/linear.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

// y = x weight^T + bias: [..., in_features] -> [..., out_features].  Weights start uniform in +-1/sqrt(in_features).
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features) : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LinearOptions options;
  Tensor weight;  // [out_features, in_features]
  Tensor bias;    // [out_features], or undefined
};
ARGAND_LIBRARY_MODULE(Linear);

// y = x1 weight x2^T + bias: [..., in1_features], [..., in2_features] -> [..., out_features].
class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  BilinearOptions options;
  Tensor weight;  // [out_features, in1_features, in2_features]
  Tensor bias;    // [out_features], or undefined
};
ARGAND_LIBRARY_MODULE(Bilinear);

// Gives back its argument.
class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input) { return input; }
};
ARGAND_LIBRARY_MODULE(Identity);

// Joins dimensions start_dim to end_dim into one.
class FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& options = {}) : options(options) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  FlattenOptions options;
};
ARGAND_LIBRARY_MODULE(Flatten);

// Splits dimension dim into sizes.
class UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes) : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  UnflattenImpl(const char* dimname, UnflattenOptions::namedshape_t shape)
      : UnflattenImpl(UnflattenOptions(dimname, std::move(shape))) {}
  explicit UnflattenImpl(UnflattenOptions options) : options(std::move(options)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  UnflattenOptions options;
};
ARGAND_LIBRARY_MODULE(Unflatten);

}  // namespace argand::nn
