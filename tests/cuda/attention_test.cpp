// Attention with so much work that cuDNN does the forward pass, where there is one, and our kernels the gradient:
// against float32, which our kernels do alone.  And masks of all layouts, against the CPU in float64.
#include <functional>

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

// A mask, and the view of it that is given.
struct Mask {
  const char* name;
  Tensor values;
  std::function<Tensor(const Tensor&)> view = [](const Tensor& t) { return t; };
};

// Results and gradients with the mask on a GPU are near those on the CPU in float64, and the same twice.
void compare_with_cpu(const std::string& what, const std::vector<Tensor>& given, const Mask& mask, ScalarType type) {
  std::vector<Tensor> results[3];
  for (int i = 0; i < 3; ++i) {  // on the CPU, and twice on the GPU
    const auto place = [&](const Tensor& t) {
      const Tensor rounded = t.dtype() == kBool ? t : t.to(type);
      if (i > 0) return rounded.cuda();
      return t.dtype() == kBool ? t : rounded.to(kDouble);
    };
    std::vector<Tensor> inputs;
    for (int n = 0; n < 3; ++n) inputs.push_back(place(given[n]).requires_grad_());
    const Tensor out = scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], mask.view(place(mask.values)), 0.0,
                                                    false, {}, given[0].size(1) != given[1].size(1));
    out.backward(place(given[3]));
    results[i].push_back(out.detach());
    for (const Tensor& x : inputs) results[i].push_back(x.grad());
  }
  const double tolerance = type == kHalf ? 2e-3 : type == kBFloat16 ? 1.6e-2 : 2e-5;
  for (size_t r = 0; r < results[0].size(); ++r) {
    SCOPED_TRACE(str("result ", r, " of ", what, ", ", mask.name, ", ", type));
    const double most = results[0][r].abs().max().item<double>(),
                 off = (results[1][r].cpu().to(kDouble) - results[0][r]).abs().max().item<double>();
    EXPECT_LE(off, tolerance * most + 1e-6);
    EXPECT_TRUE(equal(results[1][r], results[2][r])) << "not the same bits again";
  }
}

std::vector<Mask> masks_of(int64_t batch, int64_t heads, int64_t queries, int64_t keys) {
  const auto added = [](IntArrayRef sizes) {
    const Tensor x = randn(sizes);
    return x.masked_fill(x > 1.5, -INFINITY);
  };
  const auto without_first = [keys](const Tensor& t) { return t.narrow(1, t.size(1) - keys, keys); };
  const auto transposed = [](const Tensor& t) { return t.t(); };
  const Tensor none = full({1, keys}, -INFINITY);  // a query that sees no key
  return {{"plain", added({queries, keys})},
          {"of each head", added({batch, heads, queries, keys})},
          {"of keys", added({batch, 1, 1, keys})},
          {"of queries", added({heads, queries, 1})},
          {"of keys, expanded", added({batch, 1, 1, keys}) > -INFINITY,
           [=](const Tensor& t) {
             return t.expand({batch, heads, queries, keys});
           }},
          {"transposed", added({keys, queries}), transposed},
          {"without 8 columns", added({queries, keys + 8}), without_first},
          {"without a column", added({queries, keys + 1}), without_first},
          {"hiding all keys", cat({none, added({queries, keys})}).narrow(0, 0, queries)},
          {"bool", cat({none, added({queries, keys})}).narrow(0, 0, queries) > -INFINITY},
          {"bool of keys", added({batch, 1, 1, keys}) > -INFINITY},
          {"bool transposed", added({keys, queries}) > -INFINITY, transposed}};
}

constexpr int64_t kBatch = 2, kHeads = 4, kWidth = 40;

std::vector<Tensor> operands_of(int64_t kv_heads, int64_t queries, int64_t keys, int64_t width) {
  return {randn({kBatch, kHeads, queries, width}), randn({kBatch, kv_heads, keys, width}),
          randn({kBatch, kv_heads, keys, kWidth}), randn({kBatch, kHeads, queries, kWidth})};
}

// Masks whose tiles are copied (rows in units of 16 bytes), and those that are read element by element.
TEST_F(CudaAttention, MasksAgreeWithTheCpu) {
  manual_seed(4);
  for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{200, 328}, {65, 64}, {70, 331}, {1, 8}, {130, 8}})
    for (const int64_t kv_heads : {kHeads, int64_t{2}})
      for (const int64_t width : {kWidth, int64_t{128}}) {
        const std::vector<Tensor> given = operands_of(kv_heads, queries, keys, width);
        for (const ScalarType type : {kHalf, kBFloat16, kFloat})
          for (const Mask& mask : masks_of(kBatch, kHeads, queries, keys))
            compare_with_cpu(str(queries, " x ", keys, " x ", width, ", ", kv_heads, " heads"), given, mask, type);
      }
}

// So many scores that masks are converted for the kernels.
TEST_F(CudaAttention, MasksOfMuchWorkAgreeWithTheCpu) {
  manual_seed(5);
  constexpr int64_t kQueries = 700;
  for (const int64_t keys : {1003, 1008}) {
    const std::vector<Tensor> given = operands_of(kHeads, kQueries, keys, kWidth);
    for (const ScalarType type : {kBFloat16, kFloat})
      for (const Mask& mask : masks_of(kBatch, kHeads, kQueries, keys))
        compare_with_cpu(str(kQueries, " x ", keys), given, mask, type);
  }
}

}  // namespace
}  // namespace argand
