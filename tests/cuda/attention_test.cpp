// Attention with so much work that cuDNN does the forward pass, where there is one, and our kernels the gradient:
// against float32, which our kernels do alone.
#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

struct Case {
  int64_t batch, heads, kv_heads, queries, keys, width, value_width;
  bool causal, heads_last;  // in memory
};

class CudaAttention : public ComputingCudaTest {};

// The result and the gradients of query, key and value.
std::vector<Tensor> run(const Case& c, const std::vector<Tensor>& operands, ScalarType type) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < 3; ++i) inputs.push_back(operands[i].to(type).detach().requires_grad_());
  const Tensor out =
      scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], {}, 0.0, c.causal, {}, c.heads != c.kv_heads);
  out.backward(operands[3].to(type));
  std::vector<Tensor> results{out.detach()};
  for (const Tensor& x : inputs) results.push_back(x.grad());
  return results;
}

TEST_F(CudaAttention, MuchWorkAgreesWithFloat32) {
  manual_seed(3);
  for (const Case& c : {Case{2, 8, 8, 1024, 1024, 64, 64, true, false},
                        {2, 8, 8, 1024, 1024, 64, 64, false, true},
                        {1, 8, 2, 900, 1027, 128, 128, false, false},
                        {2, 8, 8, 1031, 1031, 72, 64, true, true}}) {
    const auto random = [&](int64_t heads, int64_t rows, int64_t columns) {
      const Device device(kCUDA);
      return c.heads_last ? randn({c.batch, rows, heads, columns}, device).transpose(1, 2)
                          : randn({c.batch, heads, rows, columns}, device);
    };
    std::vector<Tensor> operands{random(c.heads, c.queries, c.width), random(c.kv_heads, c.keys, c.width),
                                 random(c.kv_heads, c.keys, c.value_width), random(c.heads, c.queries, c.value_width)};
    for (const ScalarType type : {kHalf, kBFloat16}) {
      for (Tensor& t : operands) t = t.to(type).to(kFloat);  // what both start from
      const std::vector<Tensor> expected = run(c, operands, kFloat), got = run(c, operands, type),
                                again = run(c, operands, type);
      for (size_t i = 0; i < got.size(); ++i) {
        const double most = expected[i].abs().max().item<double>(),
                     off = (got[i].to(kFloat) - expected[i]).abs().max().item<double>();
        EXPECT_LT(off, (type == kHalf ? 2e-3 : 1.6e-2) * most)
            << str(type, " result ", i, " of ", c.queries, " x ", c.keys, " x ", c.width);
        EXPECT_TRUE(equal(got[i], again[i])) << "not the same bits again: result " << i;
      }
    }
  }
}

}  // namespace
}  // namespace argand
