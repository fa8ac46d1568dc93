#include "argand/kernels/conv_parameter_grads.h"

namespace argand::blocks {
constinit Block<ConvParameterGrads> conv_parameter_grads(nullptr);
}  // namespace argand::blocks
