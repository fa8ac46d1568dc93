#include "argand/nn/modules/unpooling.h"

#include "argand/nn/functional/unpooling.h"

namespace argand::nn {
namespace {

template <size_t D>
void check_fractional(const FractionalMaxPoolOptions<D>& o) {
  ARGAND_CHECK(ValueError, o.output_size() || o.output_ratio(), "FractionalMaxPool", D,
               "d requires specifying either an output size, or a pooling ratio");
  ARGAND_CHECK(ValueError, !o.output_size() || !o.output_ratio(),
               "only one of output_size and output_ratio may be specified");
  if (!o.output_ratio()) return;
  for (const double ratio : *o.output_ratio())
    ARGAND_CHECK(ValueError, ratio > 0 && ratio < 1, "output_ratio must be between 0 and 1 (got ", ratio, ")");
}

}  // namespace

#define ARGAND_UNPOOL(D)                                                                                             \
  void MaxUnpool##D##dImpl::pretty_print(std::ostream& stream) const {                                               \
    stream << "torch::nn::MaxUnpool" #D "d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride() \
           << ", padding=" << options.padding() << ")";                                                              \
  }                                                                                                                  \
  Tensor MaxUnpool##D##dImpl::forward(const Tensor& input, const Tensor& indices,                                    \
                                      const std::optional<std::vector<int64_t>>& output_size) {                      \
    return functional::max_unpool##D##d(input, indices,                                                              \
                                        functional::MaxUnpool##D##dFuncOptions(options.kernel_size())                \
                                            .stride(options.stride())                                                \
                                            .padding(options.padding())                                              \
                                            .output_size(output_size));                                              \
  }
ARGAND_UNPOOL(1)
ARGAND_UNPOOL(2)
ARGAND_UNPOOL(3)
#undef ARGAND_UNPOOL

#define ARGAND_FRACTIONAL(D)                                                                                         \
  FractionalMaxPool##D##dImpl::FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions options_)                  \
      : options(std::move(options_)) {                                                                               \
    reset();                                                                                                         \
  }                                                                                                                  \
  void FractionalMaxPool##D##dImpl::reset() {                                                                        \
    check_fractional(options);                                                                                       \
    _random_samples = register_buffer("_random_samples", options._random_samples());                                 \
  }                                                                                                                  \
  void FractionalMaxPool##D##dImpl::pretty_print(std::ostream& stream) const {                                       \
    stream << "torch::nn::FractionalMaxPool" #D "d()";                                                               \
  }                                                                                                                  \
  std::tuple<Tensor, Tensor> FractionalMaxPool##D##dImpl::forward_with_indices(const Tensor& input) {                \
    FractionalMaxPool##D##dOptions with_samples = options;                                                           \
    return functional::fractional_max_pool##D##d_with_indices(input, with_samples._random_samples(_random_samples)); \
  }                                                                                                                  \
  Tensor FractionalMaxPool##D##dImpl::forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }
ARGAND_FRACTIONAL(2)
ARGAND_FRACTIONAL(3)
#undef ARGAND_FRACTIONAL

}  // namespace argand::nn
