// MaxUnpool and FractionalMaxPool as modules; shapes are those of functional/unpooling.h.
#pragma once
#include <tuple>

#include "argand/nn/modules/container/any.h"
#include "argand/nn/options/unpooling.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

#define ARGAND_UNPOOL(D)                                                                                             \
  class MaxUnpool##D##dImpl : public Cloneable<MaxUnpool##D##dImpl> {                                                \
   public:                                                                                                           \
    MaxUnpool##D##dImpl(ExpandingArray<D> kernel_size) : MaxUnpool##D##dImpl(MaxUnpool##D##dOptions(kernel_size)) {} \
    explicit MaxUnpool##D##dImpl(const MaxUnpool##D##dOptions& options_) : options(options_) {}                      \
    void reset() override {}                                                                                         \
    void pretty_print(std::ostream& stream) const override;                                                          \
    Tensor forward(const Tensor& input, const Tensor& indices,                                                       \
                   const std::optional<std::vector<int64_t>>& output_size = std::nullopt);                           \
    MaxUnpool##D##dOptions options;                                                                                  \
                                                                                                                     \
   protected:                                                                                                        \
    ARGAND_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(std::optional<std::vector<int64_t>>())})                            \
  };                                                                                                                 \
  ARGAND_LIBRARY_MODULE(MaxUnpool##D##d)
ARGAND_UNPOOL(1);
ARGAND_UNPOOL(2);
ARGAND_UNPOOL(3);
#undef ARGAND_UNPOOL

#define ARGAND_FRACTIONAL(D)                                                             \
  class FractionalMaxPool##D##dImpl : public Cloneable<FractionalMaxPool##D##dImpl> {    \
   public:                                                                               \
    FractionalMaxPool##D##dImpl(ExpandingArray<D> kernel_size)                           \
        : FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions(kernel_size)) {}    \
    explicit FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions options_);       \
    void reset() override;                                                               \
    void pretty_print(std::ostream& stream) const override;                              \
    Tensor forward(const Tensor& input);                                                 \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);                \
    FractionalMaxPool##D##dOptions options;                                              \
    Tensor _random_samples; /* a buffer, or undefined: places are drawn for each call */ \
  };                                                                                     \
  ARGAND_LIBRARY_MODULE(FractionalMaxPool##D##d)
ARGAND_FRACTIONAL(2);
ARGAND_FRACTIONAL(3);
#undef ARGAND_FRACTIONAL

}  // namespace argand::nn
