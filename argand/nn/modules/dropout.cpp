#include "argand/nn/modules/dropout.h"

#include "argand/nn/functional/dropout.h"

namespace argand::nn {

namespace F = functional;

#define ARGAND_DROPOUT(Name, function, FuncOptions)                                                                   \
  void Name##Impl::reset() {                                                                                          \
    ARGAND_CHECK(ValueError, options.p() >= 0 && options.p() <= 1,                                                    \
                 "dropout probability has to be between 0 and 1, but got ", options.p());                             \
  }                                                                                                                   \
  void Name##Impl::pretty_print(std::ostream& stream) const {                                                         \
    stream << "torch::nn::" #Name "(p=" << options.p() << ", inplace=" << std::boolalpha << options.inplace() << ")"; \
  }                                                                                                                   \
  Tensor Name##Impl::forward(Tensor input) {                                                                          \
    return F::function(std::move(input),                                                                              \
                       F::FuncOptions().p(options.p()).training(is_training()).inplace(options.inplace()));           \
  }
ARGAND_DROPOUT(Dropout, dropout, DropoutFuncOptions)
ARGAND_DROPOUT(Dropout2d, dropout2d, DropoutFuncOptions)
ARGAND_DROPOUT(Dropout3d, dropout3d, DropoutFuncOptions)
ARGAND_DROPOUT(AlphaDropout, alpha_dropout, AlphaDropoutFuncOptions)
ARGAND_DROPOUT(FeatureAlphaDropout, feature_alpha_dropout, FeatureAlphaDropoutFuncOptions)
#undef ARGAND_DROPOUT

}  // namespace argand::nn
