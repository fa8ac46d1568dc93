#include "argand/nn/functional/dropout.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {

#define ARGAND_DROPOUT(name, Options, op)                                                                    \
  Tensor name(Tensor input, const Options& o) {                                                              \
    return o.inplace() ? argand::op##_(input, o.p(), o.training()) : argand::op(input, o.p(), o.training()); \
  }
ARGAND_DROPOUT(dropout, DropoutFuncOptions, dropout)
ARGAND_DROPOUT(dropout2d, Dropout2dFuncOptions, feature_dropout)
ARGAND_DROPOUT(dropout3d, Dropout3dFuncOptions, feature_dropout)
ARGAND_DROPOUT(alpha_dropout, AlphaDropoutFuncOptions, alpha_dropout)
ARGAND_DROPOUT(feature_alpha_dropout, FeatureAlphaDropoutFuncOptions, feature_alpha_dropout)
#undef ARGAND_DROPOUT

}  // namespace argand::nn::functional
