#include "argand/nn/modules/batchnorm.h"

#include "argand/nn/functional/batchnorm.h"
#include "argand/nn/modules/instancenorm.h"
#include "argand/nn/modules/values_test.h"

namespace argand::nn {
namespace {

// m = nn.BatchNorm2d(2).double(); run(m, pattern([2, 2, 1, 3])); m(pattern([2, 2, 1, 3], 5))
// m.eval(); run(m, pattern([2, 2, 1, 3]))
TEST(BatchNorm, TrainsAndEvaluatesAsPyTorch) {
  BatchNorm2d m(2);
  const Tensor x = pattern({2, 2, 1, 3});
  RunResult r = run(m, x);
  expect_values("y", r.y,
                {0.15427474076155, -0.944906823717854, -0.316803072586766, 1.84788005377254, 0.969576010754508,
                 0.0912719677364746, -1.2589586992834, -0.63085494815231, -0.00275119702122237, 1.40872803226353,
                 0.530423989245492, -0.347880053772542});
  expect_values("dx", r.dx,
                {0.413003121235861, -0.16778344723679, 0.25382369919488, 0.543717619020075, -0.00836368193172284,
                 -0.560444982883521, -0.0645351448870809, 0.357072001544589, -0.79158022985146, -0.171475052964841,
                 -0.723556353916639, 0.920122452676648});
  expect_values("dweight", m->weight.grad(), {1.57025937782772, 1.90299209320574});
  expect_values("dbias", m->bias.grad(), {12, 11.5});
  expect_values("running_mean", m->running_mean, {-0.0458333333333333, -0.025});
  expect_values("running_var", m->running_var, {0.976041666666667, 0.9875});
  m(pattern({2, 2, 1, 3}, 5));
  expect_values("running_mean", m->running_mean, {-0.0579166666666667, -0.0766666666666667});
  expect_values("running_var", m->running_var, {0.967604166666667, 0.957291666666667});
  EXPECT_EQ(m->num_batches_tracked.item<int64_t>(), 2);
  m->eval();
  r = run(m, x);
  expect_values("y in eval", r.y,
                {0.233008908564833, -0.656513603995785, -0.148215025389718, 1.57531193104394, 0.808768341839042,
                 0.0422247526341429, -0.910662893298819, -0.402364314692751, 0.105934263913316, 1.19204013644149,
                 0.425496547236593, -0.341047041968307});
  expect_values(
      "dx in eval", r.dx,
      {-0.508298578606067, -1.27074644651517, -0.762447867909101, 2.2996307676147, 1.5330871784098, 0.766543589204899,
       -1.27074644651517, -0.762447867909101, -1.5248957358182, 1.5330871784098, 0.766543589204899, 1.91635897301225});
  expect_values("dweight in eval", m->weight.grad(), {-3.61400289388914, -0.376458073809518});
  EXPECT_EQ(m->num_batches_tracked.item<int64_t>(), 2);
}

// m = nn.BatchNorm1d(3, momentum=None, affine=False).double(); m(pattern([4, 3])); m(pattern([4, 3], 5))
TEST(BatchNorm, AveragesOverAllBatchesWithoutMomentum) {
  BatchNorm1d m(BatchNorm1dOptions(3).momentum(std::nullopt).affine(false));
  m->to(kDouble);
  EXPECT_TRUE(m->parameters().empty());
  m(pattern({4, 3}));
  m(pattern({4, 3}, 5));
  expect_values("running_mean", m->running_mean, {-0.25, -0.125, -0.6875});
  expect_values("running_var", m->running_var, {1.05729166666667, 0.3125, 0.65625});
}

// Two forward passes before a backward: the second moves the running statistics, which the first does not need.
TEST(BatchNorm, BackwardDoesNotReadWhatIsWrittenLater) {
  BatchNorm1d m(3);
  m->to(kDouble);
  const Tensor x = pattern({4, 3}).requires_grad_();
  Tensor y = m(x);
  const Tensor loss = y.relu_().sum() + m(x * 2).sum();
  EXPECT_NO_THROW(loss.backward());
  EXPECT_TRUE(x.grad().defined());
}

TEST(BatchNorm, Float16KeepsFloatStatistics) {
  BatchNorm2d m(2);
  const Tensor y = m(pattern({2, 2, 2, 2}).to(kHalf));
  EXPECT_EQ(y.dtype(), kHalf);
  EXPECT_EQ(m->running_mean.dtype(), kFloat);
  expect_values("mean", y.to(kFloat).mean(OptionalIntArrayRef{0, 2, 3}), {0, 0}, 1e-3);
}

TEST(BatchNorm, WithoutTrackingUsesTheBatchInEval) {
  BatchNorm1d m(BatchNorm1dOptions(3).track_running_stats(false));
  m->eval();
  EXPECT_TRUE(m->buffers().empty());
  expect_values("mean", m(pattern({4, 3}).to(kFloat)).mean(OptionalIntArrayRef{0}), {0, 0, 0}, 1e-6);
}

TEST(BatchNorm, ClonesAndPrints) {
  BatchNorm2d m(4);
  m->running_mean.fill_(3);
  const auto copy = std::dynamic_pointer_cast<BatchNorm2dImpl>(m->clone());
  m->running_mean.fill_(5);
  expect_values("the clone's running_mean", copy->running_mean, {3, 3, 3, 3});
  EXPECT_EQ(printed(*m), "torch::nn::BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
  EXPECT_EQ(printed(*BatchNorm1d(BatchNorm1dOptions(4).momentum(std::nullopt).affine(false))),
            "torch::nn::BatchNorm1d(4, eps=1e-05, momentum=None, affine=false, track_running_stats=true)");
}

TEST(BatchNorm, RefusesWrongInputs) {
  EXPECT_ERROR(ShapeError, "expected 4D input (got 3D input)", BatchNorm2d(4)(zeros({2, 4, 4})));
  EXPECT_ERROR(ShapeError, "expected 2D or 3D input (got 4D input)", BatchNorm1d(4)(zeros({2, 4, 4, 4})));
  EXPECT_ERROR(ValueError, "Expected more than 1 value per channel when training, got input size [1, 4]",
               BatchNorm1d(4)(zeros({1, 4})));
  EXPECT_ERROR(ShapeError, "running_mean should contain 3 elements not 4", BatchNorm1d(4)(zeros({2, 3})));
  BatchNorm1d one(4);
  one->eval();
  EXPECT_NO_THROW(one(zeros({1, 4})));
}

// m = nn.InstanceNorm1d(2, affine=True).double(); run(m, pattern([2, 2, 3]))
TEST(InstanceNorm, AsPyTorch) {
  InstanceNorm1d m(InstanceNorm1dOptions(2).affine(true));
  const RunResult r = run(m, pattern({2, 2, 3}));
  expect_values("y", r.y,
                {0.0812325385110983, -1.13935579236221, -0.44187674614889, 1.66855176443129, 0.75, -0.168551764431293,
                 -1.1123678429542, -0.5, 0.112367842954195, 1.66855176443129, 0.75, -0.168551764431293});
  expect_values("dx", r.dx,
                {-0.0376917882269439, -0.0282869375716934, 0.0659787257986374, 1.3778069795353e-05, 0,
                 -1.3778069795353e-05, -0.255150971552615, 0.510306535795163, -0.255155564242547, 0.382726457328923,
                 -0.765459803692744, 0.382733346363821});
  expect_values("dweight", m->weight.grad(), {1.24757628028132, 1.83710352886259});
  expect_values("dbias", m->bias.grad(), {12, 11.5});
}

// m = nn.InstanceNorm1d(2, track_running_stats=True).double(); m(pattern([2, 2, 3])); m.eval(); m(pattern([2, 2, 3]))
TEST(InstanceNorm, TracksStatistics) {
  InstanceNorm1d m(InstanceNorm1dOptions(2).track_running_stats(true));
  m->to(kDouble);
  const Tensor x = pattern({2, 2, 3});
  expect_values("y", m(x),
                {-1.1624650770222, 1.27871158472442, -0.11624650770222, 1.22473568590839, 0, -1.22473568590839,
                 1.22473568590839, 0, -1.22473568590839, 1.22473568590839, 0, -1.22473568590839});
  expect_values("running_mean", m->running_mean, {-0.0458333333333333, -0.025});
  expect_values("running_var", m->running_var, {0.988541666666667, 1});
  m->eval();
  expect_values("y in eval", m(x),
                {-1.4625627188034, 0.297541412707855, -0.708232376727149, 1.02499487503844, 0.0249998750009375,
                 -0.974995125036562, 0.800428307425357, -0.205345482009647, -1.21111927144465, 0.524997375019687,
                 -0.474997625017812, -1.47499262505531});
}

TEST(InstanceNorm, TakesSamplesWithoutBatchAndRefusesOthers) {
  const Tensor x = pattern({3, 4, 5});
  EXPECT_TRUE(equal(InstanceNorm2d(3)(x), InstanceNorm2d(3)(x.unsqueeze(0)).squeeze(0)));
  EXPECT_ERROR(ShapeError, "expected 3D or 4D input (got 2D input)", InstanceNorm2d(3)(zeros({3, 4})));
  EXPECT_ERROR(ValueError, "Expected more than 1 spatial element when training, got input size [2, 3, 1]",
               InstanceNorm1d(3)(zeros({2, 3, 1})));
  EXPECT_EQ(printed(*InstanceNorm1d(5)),
            "torch::nn::InstanceNorm1d(5, eps=1e-05, momentum=0.1, affine=false, track_running_stats=false)");
}

}  // namespace
}  // namespace argand::nn
