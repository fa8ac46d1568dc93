#include "argand/kernels/product_and_sums.h"

namespace argand::blocks {
namespace {
bool none(const MatrixProduct&, void*) { return false; }
}  // namespace
constinit Block<ProductAndSums> product_and_sums(none);
}  // namespace argand::blocks
