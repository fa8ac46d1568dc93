#include "argand/nn/modules/container/functional.h"

namespace argand::nn {

void FunctionalImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Functional()"; }

}  // namespace argand::nn
