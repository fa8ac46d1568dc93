// Inputs and expectations of the tests of layers.  Their values come from PyTorch 2.15 in float64; `pattern` below is
//   def pattern(sizes, step=7, modulus=11, shift=-1.5, scale=0.25):
//       return (torch.arange(math.prod(sizes)) * step % modulus * scale + shift).double().reshape(sizes)
// and the comment of a test says what was computed from it.  `run(m, x)` stands for
//   for p in m.parameters(): p.data = pattern(p.shape, 5, 7, -0.5, 0.25)
//   y = m(x); (y * pattern(y.shape, 3, 5, 1, 0.5)).sum().backward()
#pragma once
#include <gtest/gtest.h>

#include <sstream>

#include "argand/nn/module.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {

inline Tensor pattern(IntArrayRef sizes, int64_t step = 7, int64_t modulus = 11, double shift = -1.5,
                      double scale = 0.25) {
  const Tensor t = empty(sizes, kDouble);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_ptr<double>()[i] = static_cast<double>(i * step % modulus) * scale + shift;
  return t;
}

inline void expect_values(const char* what, const Tensor& got, const std::vector<double>& expected,
                          double tolerance = 1e-13) {
  SCOPED_TRACE(what);
  ASSERT_TRUE(got.defined());
  ASSERT_EQ(got.numel(), static_cast<int64_t>(expected.size()));
  const Tensor dense = got.detach().to(kDouble).contiguous();
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(dense.data_ptr<double>()[i], expected[i], tolerance) << "at " << i;
}

struct RunResult {
  Tensor y, dx;
};
template <class Layer>
RunResult run(Layer& layer, const Tensor& input) {
  layer->to(kDouble);
  layer->zero_grad();
  for (const Tensor& p : layer->parameters()) p.set_data(pattern(p.sizes(), 5, 7, -0.5, 0.25));
  const Tensor x = input.detach().clone().requires_grad_();
  const Tensor y = layer(x);
  (y * pattern(y.sizes(), 3, 5, 1, 0.5)).sum().backward();
  return {y, x.grad()};
}

inline std::string printed(const Module& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

// EXPECT_ERROR(ShapeError, "a part of the message", expression)
#define EXPECT_ERROR(Type, text, ...)                                                                 \
  try {                                                                                               \
    __VA_ARGS__;                                                                                      \
    ADD_FAILURE() << "no error";                                                                      \
  } catch (const Type& e) {                                                                           \
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << "the message is: " << e.what(); \
  }

}  // namespace argand::nn
