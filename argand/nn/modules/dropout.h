// Dropouts: active while the module trains, the identity in eval().
#pragma once
#include "argand/nn/options/dropout.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

#define ARGAND_DROPOUT(Name)                                                                 \
  class Name##Impl : public Cloneable<Name##Impl> {                                          \
   public:                                                                                   \
    explicit Name##Impl(double p) : Name##Impl(Name##Options(p)) {}                          \
    explicit Name##Impl(const Name##Options& options_ = {}) : options(options_) { reset(); } \
    void reset() override;                                                                   \
    void pretty_print(std::ostream& stream) const override;                                  \
    Tensor forward(Tensor input);                                                            \
    Name##Options options;                                                                   \
  };                                                                                         \
  ARGAND_LIBRARY_MODULE(Name)
ARGAND_DROPOUT(Dropout);              // elements
ARGAND_DROPOUT(Dropout2d);            // channels of [N, C, H, W]
ARGAND_DROPOUT(Dropout3d);            // channels of [N, C, D, H, W]
ARGAND_DROPOUT(AlphaDropout);         // elements, keeping mean and variance of SELU activations
ARGAND_DROPOUT(FeatureAlphaDropout);  // the same for channels
#undef ARGAND_DROPOUT

}  // namespace argand::nn
