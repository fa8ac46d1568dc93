#include "argand/autograd/gradcheck.h"

#include <gtest/gtest.h>

#include "argand/autograd/function.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::autograd {
namespace {

Tensor leaf(IntArrayRef sizes, ScalarType dtype = kDouble) {
  const Tensor t = zeros(sizes, dtype);
  double v = 0.3;
  for (int64_t i = 0; i < t.numel() * (t.is_complex() ? 2 : 1); ++i)
    static_cast<double*>(t.impl().data())[i] = v += 0.41;
  return t.set_requires_grad(true);
}

// y = x * x with a gradient that is wrong by `kWrong` of itself.
template <int kWrong>
struct Square : Function<Square<kWrong>> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {grads[0] * ctx->get_saved_variables()[0] * (kWrong == 1 ? 2.1 : 2.0)};
  }
};
// Right once, but its gradient forgets that it depends on x.
struct HalfSquare : Function<HalfSquare> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x.detach()});
    return x * x * 0.5;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(GradcheckTest, AcceptsRightGradients) {
  const CheckedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[0] * in[1] / in[0].sum(), in[1] - in[0]};
  };
  EXPECT_TRUE(gradcheck(f, {leaf({2, 3}), leaf({3})}));
  EXPECT_TRUE(gradgradcheck(f, {leaf({2, 3}), leaf({3})}));
  const CheckedFunction square = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {Square<0>::apply(in[0])};
  };
  EXPECT_TRUE(gradcheck(square, {leaf({2, 2})}));
  EXPECT_TRUE(gradgradcheck(square, {leaf({2, 2})}));
}

TEST(GradcheckTest, RejectsAWrongGradientAndNamesIt) {
  const CheckedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[1] * 2, Square<1>::apply(in[1])};
  };
  const std::vector<Tensor> inputs{leaf({2}), leaf({2, 2})};
  EXPECT_FALSE(gradcheck(f, inputs, {.raise_exception = false}));
  const std::string message = message_of([&] { gradcheck(f, inputs); });
  EXPECT_NE(
      message.find(
          "Jacobian mismatch for output 1 with respect to input 1, at output element [0, 0] and input element [0, 0]: "
          "numerical 1.42"),
      std::string::npos)
      << message;
  EXPECT_NE(message.find("analytical 1.49"), std::string::npos) << message;
}

TEST(GradcheckTest, FastMode) {
  const CheckedFunction wrong = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[1] * 2, Square<1>::apply(in[1])};
  };
  EXPECT_FALSE(gradcheck(wrong, {leaf({2}), leaf({2, 2})}, {.raise_exception = false, .fast_mode = true}));
  const CheckedFunction right = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[1] * 2, Square<0>::apply(in[1]) / in[0]};
  };
  EXPECT_TRUE(gradcheck(right, {leaf({3}), leaf({2, 3})}, {.fast_mode = true}));
  EXPECT_TRUE(gradgradcheck(right, {leaf({3}), leaf({2, 3})}, {}, {.fast_mode = true}));
}

TEST(GradcheckTest, RejectsAWrongSecondGradient) {
  const CheckedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {HalfSquare::apply(in[0])};
  };
  EXPECT_TRUE(gradcheck(f, {leaf({2})}));
  EXPECT_THROW(gradgradcheck(f, {leaf({2})}), GradError);
}

TEST(GradcheckTest, MissingGradientIsZero) {
  const CheckedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[0] * in[1].detach()};
  };
  EXPECT_THROW(gradcheck(f, {leaf({2}), leaf({2})}), GradError);
  const CheckedFunction detached = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[0].detach() * 1};
  };
  EXPECT_THROW(gradcheck(detached, {leaf({2})}), GradError);
}

TEST(GradcheckTest, ComplexNumbers) {
  const CheckedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[0] * in[1].conj() / in[0].sum()};
  };
  EXPECT_TRUE(gradcheck(f, {leaf({2}, kComplexDouble), leaf({2}, kComplexDouble)}));
  EXPECT_TRUE(gradcheck(f, {leaf({2}, kComplexDouble), leaf({2})}));
  EXPECT_TRUE(gradgradcheck(f, {leaf({2}, kComplexDouble), leaf({2})}));
  struct NoConj : Function<NoConj> {  // the gradient of conj is conj: this one forgets it
    static Tensor forward(AutogradContext*, const Tensor& x) { return x.conj_physical(); }
    static variable_list backward(AutogradContext*, const variable_list& grads) { return grads; }
  };
  const CheckedFunction wrong = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {NoConj::apply(in[0])};
  };
  const std::string message = message_of([&] { gradcheck(wrong, {leaf({2}, kComplexDouble)}); });
  EXPECT_NE(message.find("the imaginary part of [0]"), std::string::npos) << message;
}

TEST(GradcheckTest, RefusesWhatItCannotCheck) {
  const CheckedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] * 2}; };
  EXPECT_NE(
      message_of([&] { gradcheck(f, {leaf({2}).detach()}); }).find("at least one input tensor to require gradient"),
      std::string::npos);
  EXPECT_THROW(gradcheck(f, {zeros({2}, kFloat).requires_grad_()}), ValueError);
  EXPECT_THROW(gradcheck(f, {leaf({2, 1}).expand({2, 2}).detach().requires_grad_()}), ValueError);
}

TEST(GradcheckTest, PutsInputsBack) {
  const Tensor x = leaf({3});
  const Tensor before = x.detach().clone();
  gradcheck([](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] * in[0]}; }, {x});
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(x[i].item<double>(), before[i].item<double>());
}

}  // namespace
}  // namespace argand::autograd
