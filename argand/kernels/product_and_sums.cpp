#include "argand/kernels/product_and_sums.h"

namespace argand::blocks {
constinit Block<ProductAndSums> product_and_sums(nullptr);
}  // namespace argand::blocks
