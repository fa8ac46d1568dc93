// frexp() on a GPU against the CPU, for numbers of all sizes.
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

using CudaFrexp = ComputingCudaTest;

TEST_F(CudaFrexp, NumbersOfAllSizes) {
  for (const ScalarType type : {kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor exponents = arange(-1080, 1030, TensorOptions(kDouble));
    const Tensor x =
        cat({exponents.exp2(), -exponents.exp2() * (1 - 0x1p-9), tensor({0.0, -0.0, INFINITY, -INFINITY, NAN})})
            .to(type);
    const auto [mantissa, exponent] = frexp(x);
    const auto [mantissa_gpu, exponent_gpu] = frexp(x.cuda());
    EXPECT_TRUE(mantissa_gpu.cpu().nan_to_num(7).equal(mantissa.nan_to_num(7))) << str(type);
    EXPECT_TRUE(exponent_gpu.cpu().equal(exponent)) << str(type);
  }
}

}  // namespace
}  // namespace argand
