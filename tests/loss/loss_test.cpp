// Losses and their gradients against values of PyTorch 2.15 (float64, printed with repr; the inputs are pattern()
// below, the gradients those of sum(loss * pattern(shape, 3, 5, 1, 0.5))).
#include <gtest/gtest.h>

#include "argand/autograd/engine.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {
namespace {

// (i * step mod modulus) * scale + shift
Tensor pattern(IntArrayRef sizes, int64_t step, int64_t modulus, double shift, double scale) {
  const Tensor t = empty(sizes, kDouble);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_ptr<double>()[i] = static_cast<double>(i * step % modulus) * scale + shift;
  return t;
}

Tensor integers(IntArrayRef sizes, const std::vector<int64_t>& values) {
  const Tensor t = empty(sizes, kLong);
  std::copy(values.begin(), values.end(), t.data_ptr<int64_t>());
  return t;
}

void expect_values(const Tensor& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.numel(), static_cast<int64_t>(expected.size()));
  const Tensor dense = got.contiguous();
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(dense.data_ptr<double>()[i], expected[i], 1e-13) << "at " << i;
}

class Loss : public testing::Test {
 protected:
  using Inputs = std::vector<Tensor>;
  template <class F>
  void check(Inputs in, F loss, const std::vector<std::vector<double>>& expected) {
    for (Tensor& t : in) t.requires_grad_();
    const Tensor out = loss(in);
    expect_values(out, expected[0]);
    const auto grads = autograd::grad({(out * pattern(out.sizes(), 3, 5, 1, 0.5)).sum()}, in);
    for (size_t i = 0; i < in.size(); ++i) expect_values(grads[i], expected[i + 1]);
  }
  const Tensor x = pattern({4, 5}, 7, 11, -1.5, 0.25), y = pattern({4, 5}, 5, 7, -1, 0.3),
               w = pattern({5}, 3, 7, 0.5, 0.25);
  const Tensor x4 = pattern({2, 3, 2, 2}, 7, 11, -1.5, 0.25), w3 = pattern({3}, 3, 4, 0.5, 0.5);
  const Tensor p = softmax(pattern({4, 5}, 5, 7, 0, 0.5), 1);
  const Tensor t = integers({4}, {1, 4, 0, 2}), t4 = integers({2, 2, 2}, {0, 2, 1, 1, 2, 0, 1, 2});
};

TEST_F(Loss, ClassIndices) {
  check({x}, [&](const Inputs& in) { return cross_entropy_loss(in[0], t); },
        {{1.39305533667908},
         {0.00979018240149019, -0.1936613901538,   0.0207258163065958, 0.11926883798034,   0.0438765534653746,
          0.0176902322982783,  0.101800258122835,  0.0374502220693372, 0.0137771667666142, -0.170717879257065,
          -0.221413442805667,  0.0105164066856667, 0.0605177420553021, 0.022263233128262,  0.128116060936436,
          0.0549428205507671,  0.0202123341205991, -0.133686047981279, 0.0427895116690891, 0.0157413816408234}});
}

TEST_F(Loss, WeightsSmoothingAndIgnoredTargets) {
  check({x}, [&](const Inputs& in) { return cross_entropy_loss(in[0], t, w, Reduction::Mean, 4, 0.2); },
        {{1.33651738747097},
         {0.00782467181426948,
          -0.204280908366708,
          0.00652216378273148,
          0.14963065157891,
          0.0403034211907969,
          0,
          0,
          0,
          0,
          0,
          -0.0918750637351896,
          -0.00592978302662398,
          0.0212711570735994,
          0.00500664945562981,
          0.0715270402325844,
          0.103673222639389,
          0.0267679375619352,
          -0.217233119194857,
          0.0742277244848062,
          0.012564234508727}});
}

TEST_F(Loss, EachRow) {
  check({x}, [&](const Inputs& in) { return cross_entropy_loss(in[0], t, w, Reduction::None, 4, 0.2); },
        {{1.98000184590684, 0, 1.32622606354496, 1.70571229356435},
         {0.0293425193035106,
          -0.766053406375154,
          0.0244581141852431,
          0.561114943420912,
          0.151137829465488,
          0,
          0,
          0,
          0,
          0,
          -0.516797233510441,
          -0.0333550295247599,
          0.119650258538996,
          0.0281624031879177,
          0.402339601308287,
          1.16632375469312,
          0.301139297571771,
          -2.44387259094214,
          0.835061900454069,
          0.141347638223179}});
}

TEST_F(Loss, SpatialClassIndices) {
  check({x4}, [&](const Inputs& in) { return cross_entropy_loss(in[0], t4, w3, Reduction::Mean, 1, 0.1); },
        {{0.983056681086569}, {-0.0691722977637369, 0.101888506433806,   0, 0,
                               0.0581345842010775,  0.0179385300711153,  0, 0,
                               0.0110377135626594,  -0.119827036504921,  0, 0,
                               0.101888506433806,   -0.0691722977637369, 0, 0.101888506433806,
                               0.0179385300711153,  0.0581345842010775,  0, 0.0179385300711153,
                               -0.119827036504921,  0.0110377135626594,  0, -0.119827036504921}});
}

TEST_F(Loss, Probabilities) {
  check({x, p}, [&](const Inputs& in) { return cross_entropy_loss(in[0], in[1], w, Reduction::Mean, -100, 0.1); },
        {{2.58178146649085},
         {0.00966903450253214, -0.00675614230445937, -0.0293820103270813, 0.168619946491426,   -0.142150828362417,
          -0.0134396508903042, 0.0755170319121806,   0.0140040413314216,  -0.0889088499658049, 0.012827427612507,
          0.0309604112054116,  -0.163872129089178,   -0.028453868752911,  0.00683433404236937, 0.154531252594308,
          0.0265558545968734,  -0.0120782309995409,  0.098674527112209,   -0.0577603189730543, -0.0553918317364873},
         {0.364509093384539, 0.419085233461347, 1.12053637353816,  0.166518186769078, 0.685156826845886,
          0.297950431293143, 0.252688578232856, 0.85430172517257,  0.652150862586285, 0.452201509525999,
          0.243958988104254, 0.891147470260635, 0.638335952417016, 0.544167976208508, 0.263231458364889,
          0.17045638872365,  0.707390971809126, 0.344325554894601, 0.397162777447301, 1.08878486053278}});
}

TEST_F(Loss, Nll) {
  check({x}, [&](const Inputs& in) { return nll_loss(in[0], t, w, Reduction::Mean, 2); },
        {{-0.267857142857143},
         {0, -0.357142857142857, 0, 0, 0, 0, 0, 0, 0, -0.5, -0.142857142857143, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
}

TEST_F(Loss, SpatialNll) {
  check({x4}, [&](const Inputs& in) { return nll_loss(in[0], t4, w3, Reduction::None); },
        {{0.75, -0.75, -1.5, 0.5, -0.75, 0.375, 0.5, -0.375},
         {-0.5, 0, 0, 0, 0, 0, -3, -6, 0, -3.75, 0, 0, 0, -0.5, 0, 0, 0, 0, -5, 0, -3, 0, 0, -2.25}});
}

TEST_F(Loss, Mse) {
  check({x, y}, [&](const Inputs& in) { return mse_loss(in[0], in[1]); },
        {{1.34175},
         {-0.05, -0.025, -0.065, 0.17,   -0.08, -0.12, 0.115, 0.075, -0.175, 0.06,
          0.02,  -0.23,  0.005,  -0.035, 0.2,   -0.05, -0.09, 0.145, -0.105, -0.145},
         {0.05,  0.025, 0.065,  -0.17, 0.08, 0.12, -0.115, -0.075, 0.175, -0.06,
          -0.02, 0.23,  -0.005, 0.035, -0.2, 0.05, 0.09,   -0.145, 0.105, 0.145}});
}

TEST_F(Loss, SmoothL1) {
  check({x, y}, [&](const Inputs& in) { return smooth_l1_loss(in[0], in[1], Reduction::Mean, 0.5); },
        {{0.748875},
         {-0.05, -0.025, -0.05, 0.05,   -0.05, -0.05, 0.05,  0.05, -0.05, 0.05,
          0.02,  -0.05,  0.005, -0.035, 0.05,  -0.05, -0.05, 0.05, -0.05, -0.05},
         {0.05,  0.025, 0.05,   -0.05, 0.05,  0.05, -0.05, -0.05, 0.05, -0.05,
          -0.02, 0.05,  -0.005, 0.035, -0.05, 0.05, 0.05,  -0.05, 0.05, 0.05}});
}

TEST_F(Loss, Huber) {
  check({x, y}, [&](const Inputs& in) { return huber_loss(in[0], in[1], Reduction::None, 0.7); },
        {{0.125, 0.03125, 0.21125, 0.945,   0.315, 0.595, 0.56,  0.28, 0.98, 0.18,
          0.02,  1.365,   0.00125, 0.06125, 1.155, 0.125, 0.385, 0.77, 0.49, 0.77},
         {-0.5,  -0.625, -0.975, 2.1,   -1.4, -0.7, 1.75, 1.05, -2.1, 1.2, 0.2, -1.75, 0.0750000000000001,
          -1.05, 1.4,    -0.5,   -1.75, 1.05, -2.1, -1.4},
         {0.5,  0.625, 0.975, -2.1, 1.4,   0.7, -1.75, -1.05, 2.1, -1.2, -0.2, 1.75, -0.0750000000000001,
          1.05, -1.4,  0.5,   1.75, -1.05, 2.1, 1.4}});
}

TEST_F(Loss, L1) {
  check({x, y}, [&](const Inputs& in) { return l1_loss(in[0], in[1], Reduction::Sum); },
        {{19.6},
         {-1, -1, -1, 1, -1, -1, 1, 1, -1, 1, 1, -1, 1, -1, 1, -1, -1, 1, -1, -1},
         {1, 1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1, -1, 1, -1, 1, 1, -1, 1, 1}});
}

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST_F(Loss, TargetOutOfRangeNamesTheIndexAndTheBound) {
  const Tensor logits = zeros({64, 10}), bad = full({64}, 3, kLong);
  bad.data_ptr<int64_t>()[17] = 10;
  EXPECT_EQ(message_of<IndexError>([&] { cross_entropy_loss(logits, bad); }),
            "cross_entropy: Target 10 is out of bounds. Expected a class index in [0, 10) at position 17 of target");
  bad.data_ptr<int64_t>()[17] = -1;
  EXPECT_EQ(message_of<IndexError>([&] { nll_loss(logits, bad); }),
            "nll_loss: Target -1 is out of bounds. Expected a class index in [0, 10) at position 17 of target");
}

TEST_F(Loss, NothingLeftToAverageIsNaN) {
  EXPECT_TRUE(std::isnan(cross_entropy_loss(zeros({2, 3}), full({2}, 1, kLong), {}, Reduction::Mean, 1).item<float>()));
  EXPECT_EQ(cross_entropy_loss(zeros({2, 3}), full({2}, 1, kLong), {}, Reduction::Sum, 1).item<float>(), 0);
  EXPECT_TRUE(std::isnan(mse_loss(zeros({0}), zeros({0})).item<float>()));
}

// One logit towers above the rest: no overflow, no loss of the small ones.
// No classes at all, and row lengths on both sides of the limit up to which rows are processed together.
TEST_F(Loss, AnyNumberOfClasses) {
  const Tensor none = zeros({2, 0}, kDouble).requires_grad_();
  const Tensor ignored = cross_entropy_loss(none, full({2}, -100, kLong), {}, Reduction::Sum);
  EXPECT_EQ(ignored.item<double>(), 0);
  ignored.backward();
  EXPECT_EQ(none.grad().sizes(), IntArrayRef({2, 0}));
  EXPECT_EQ(cross_entropy_loss(zeros({0, 0}, kDouble), zeros({0}, kLong), {}, Reduction::None).numel(), 0);
  EXPECT_THROW(cross_entropy_loss(none, zeros({2}, kLong)), IndexError);
  for (const int64_t classes : {1, 2, 63, 64, 65, 2049}) {
    const Tensor a = pattern({50, classes}, 7, 101, -3, 0.06).requires_grad_(), b = a.detach().clone().requires_grad_();
    const Tensor t = arange(50, kLong).remainder(classes);
    cross_entropy_loss(a, t).backward();
    nll_loss(b.log_softmax(1), t).backward();
    EXPECT_TRUE(allclose(a.grad(), b.grad(), 1e-12, 1e-15)) << classes << " classes";
  }
}

TEST_F(Loss, LargeLogits) {
  const Tensor logits = zeros({1, 3});
  logits.data_ptr<float>()[1] = 1e30f;
  EXPECT_EQ(cross_entropy_loss(logits, full({1}, 1, kLong)).item<float>(), 0);
  EXPECT_EQ(cross_entropy_loss(logits, full({1}, 0, kLong)).item<float>(), 1e30f);
}

TEST_F(Loss, HalfRowsComputeInFloat) {
  const Tensor logits = pattern({300, 2000}, 7, 113, -3, 0.0625).to(TensorOptions(kHalf)),
               target = full({300}, 5, kLong);
  const double exact = cross_entropy_loss(logits.to(TensorOptions(kDouble)), target).item<double>();
  EXPECT_NEAR(cross_entropy_loss(logits, target).item<double>(), exact, exact * 0x1p-11);
}

}  // namespace
}  // namespace argand
