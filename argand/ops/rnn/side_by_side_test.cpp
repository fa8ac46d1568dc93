// Packed sequences side by side give what each sequence gives alone: outputs, last states and gradients.
#include "argand/ops/rnn/side_by_side.h"

#include <gtest/gtest.h>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/maybe.h"
#include "argand/ops/operators.h"

namespace argand::ops {
namespace {

constexpr int64_t kHidden = 3;

struct Layer {
  RnnKind kind;
  bool backwards;
  Tensor gates, h, c, weight, bias;

  std::vector<Tensor> leaves() const {
    return c.defined() ? std::vector<Tensor>{gates, h, c, weight, bias} : std::vector<Tensor>{gates, h, weight, bias};
  }
};

// Packed outputs, the last h and the last c.
using Results = std::vector<Tensor>;

Results side_by_side(const Layer& l, const Dims& sizes) {
  const SideBySide batch(sizes, kCPU, l.backwards);
  const Tensor gates = batch.padded(l.kind, l.gates).view({batch.steps(), batch.batch(), l.gates.size(1)});
  const auto [output, c, saved] =
      _recurrence(gates, l.h, optional(l.c), l.weight, l.bias, static_cast<int64_t>(l.kind), false);
  const Tensor rows = output.flatten(0, 1);
  Results out{batch.packed(rows), batch.last(rows)};
  if (l.c.defined()) out.push_back(c);
  return out;
}

Results one_by_one(const Layer& l, const Dims& sizes) {
  std::vector<std::vector<Tensor>> of_steps(sizes.size());
  std::vector<Tensor> last_h, last_c;
  for (int64_t n = 0; n < sizes[0]; ++n) {
    std::vector<Tensor> steps;
    int64_t first = 0;  // row of the step
    for (size_t t = 0; t < sizes.size() && n < sizes[t]; first += sizes[t++])
      steps.push_back(l.gates.narrow(0, first + n, 1));
    const Tensor c0 = l.c.defined() ? l.c.narrow(0, n, 1) : Tensor();
    const auto [output, c, saved] = _recurrence(stack(steps, 0), l.h.narrow(0, n, 1), optional(c0), l.weight, l.bias,
                                                static_cast<int64_t>(l.kind), l.backwards);
    for (size_t t = 0; t < steps.size(); ++t) of_steps[t].push_back(output.select(0, static_cast<int64_t>(t)));
    last_h.push_back(output.select(0, l.backwards ? 0 : output.size(0) - 1));
    last_c.push_back(c);
  }
  std::vector<Tensor> rows;
  for (const std::vector<Tensor>& step : of_steps) rows.insert(rows.end(), step.begin(), step.end());
  Results out{cat(rows, 0), cat(last_h, 0)};
  if (l.c.defined()) out.push_back(cat(last_c, 0));
  return out;
}

// The results of f, and the gradients of a sum of them with weights.
template <class F>
std::vector<Tensor> with_gradients(const Layer& l, F f) {
  std::vector<Tensor> out = f(l);
  Tensor loss;
  for (const Tensor& t : out) {
    const Tensor part = (t * t.detach().cos()).sum();
    loss = loss.defined() ? loss + part : part;
  }
  loss.backward();
  for (const Tensor& t : l.leaves()) {
    out.push_back(t.grad());
    t.mutable_grad() = Tensor();
  }
  return out;
}

TEST(SideBySide, IsWhatEachSequenceGives) {
  manual_seed(3);
  const Dims sizes{4, 3, 3, 1, 1, 1};
  for (const RnnKind kind : {RnnKind::kTanh, RnnKind::kRelu, RnnKind::kGru, RnnKind::kLstm})
    for (const bool backwards : {false, true}) {
      const auto leaf = [](IntArrayRef shape) { return randn(shape, TensorOptions(kDouble)).requires_grad_(); };
      const int64_t width = gates_of(kind) * kHidden;
      const Layer layer{kind,
                        backwards,
                        leaf({13, width}),
                        leaf({4, kHidden}),
                        kind == RnnKind::kLstm ? leaf({4, kHidden}) : Tensor(),
                        leaf({width, kHidden}),
                        leaf({width})};
      const std::vector<Tensor> expected = with_gradients(layer, [&](const Layer&l) { return one_by_one(l, sizes); }),
                                got = with_gradients(layer, [&](const Layer&l) { return side_by_side(l, sizes); });
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(got[i].allclose(expected[i], 1e-11, 1e-12))
            << "result " << i << " of kind " << static_cast<int>(kind) << (backwards ? " backwards" : "");
    }
}

// Relu's states grow from step to step, but not behind the end of a sequence, where they could become infinite.
TEST(SideBySide, StatesBehindTheEndStayFinite) {
  const Dims sizes(2000, 1);
  Dims batch_sizes = sizes;
  batch_sizes[0] = 2;
  const SideBySide batch(batch_sizes, kCPU, false);
  const Tensor gates = cat({ones({2, 1}), full({1999, 1}, -1e4)}, 0);
  const auto [output, c, saved] = _recurrence(batch.padded(RnnKind::kRelu, gates).view({2000, 2, 1}), ones({2, 1}), {},
                                              full({1, 1}, 2.0), {}, static_cast<int64_t>(RnnKind::kRelu), false);
  EXPECT_TRUE(output.isfinite().all().item<bool>());
  EXPECT_EQ(batch.last(output.flatten(0, 1))[1].item<float>(), 3);
}

}  // namespace
}  // namespace argand::ops
