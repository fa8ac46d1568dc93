// The step of an optimizer for one element of a parameter and its state.  Compiled for the CPU and, by NVRTC, for GPUs.
//
// SGD with momentum (Sutskever et al., 2013), Adam and Adamax (Kingma and Ba, 2015), AdamW (Loshchilov and Hutter,
// 2019), RMSprop (Hinton, 2012; centred form of Graves, 2013), Adagrad (Duchi, Hazan and Singer, 2011), Adadelta
// (Zeiler, 2012), NAdam (Dozat, 2016), RAdam (Liu et al., 2020), as torch.optim writes them.
//
// A rule gets its numbers `c`, indexed by its enumerators and rounded to the arithmetic type; x, the element; g, its
// gradient; and `s`, the kStates numbers of its state.
#pragma once
#include "argand/kernels/math/basic.h"

namespace argand {

enum class StepKind : int {
  kSgd,
  kSgdMomentum,
  kSgdNesterov,
  kAdam,
  kAdamAmsgrad,
  kRmsprop,
  kRmspropMomentum,
  kRmspropCentered,
  kRmspropCenteredMomentum,
  kAdagrad,
  kAdadelta,
  kAdamax,
  kNadam,
  kRadam,
  kRadamWarmUp,  // while the variance is too uncertain to divide by
};
inline constexpr int kStepKinds = 15, kMostStepStates = 3, kMostStepNumbers = 10;

template <StepKind kKind>
struct StepRule;

// The first part of all rules: the direction of descent, with an L2 penalty.  The sign is -1 to maximize.
struct Descent {
  enum { kSign, kDecay, kOwn };
  template <class A>
  ARGAND_MATH static A direction(const A* c, A x, A g) {
    return c[kSign] * g + c[kDecay] * x;
  }
};

template <>
struct StepRule<StepKind::kSgd> : Descent {
  enum { kLr = kOwn, kNumbers };
  static constexpr int kStates = 0;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A*) {
    x = x - c[kLr] * direction(c, x, g);
  }
};

// s: the momentum.  In the first step, which uses the gradient unchanged, kKeep and kDampening are 0.
template <bool kNesterov>
struct MomentumRule : Descent {
  enum { kLr = kOwn, kMomentum, kKeep, kDampening, kNumbers };
  static constexpr int kStates = 1;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A* s) {
    const A d = direction(c, x, g);
    s[0] = c[kKeep] * s[0] + (A(1) - c[kDampening]) * d;
    x = x - c[kLr] * (kNesterov ? d + c[kMomentum] * s[0] : s[0]);
  }
};
template <>
struct StepRule<StepKind::kSgdMomentum> : MomentumRule<false> {};
template <>
struct StepRule<StepKind::kSgdNesterov> : MomentumRule<true> {};

// s: the averages of the gradient and of its square, and the largest of the latter.  kShrink is 1, or AdamW's decay.
template <bool kAmsgrad>
struct AdamRule : Descent {
  enum { kBeta1 = kOwn, kRest1, kBeta2, kRest2, kStepSize, kRoot2, kEps, kShrink, kNumbers };
  static constexpr int kStates = kAmsgrad ? 3 : 2;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A* s) {
    const A d = direction(c, x, g);
    s[0] = c[kBeta1] * s[0] + c[kRest1] * d;
    s[1] = c[kBeta2] * s[1] + c[kRest2] * d * d;
    A largest = s[1];
    if constexpr (kAmsgrad) s[2] = largest = s[2] > largest ? s[2] : largest;
    x = x * c[kShrink] - c[kStepSize] * (s[0] / (math::sqrt(largest) / c[kRoot2] + c[kEps]));
  }
};
template <>
struct StepRule<StepKind::kAdam> : AdamRule<false> {};
template <>
struct StepRule<StepKind::kAdamAmsgrad> : AdamRule<true> {};

// s: the average of the gradient's square, that of the gradient if centred, and the momentum.
template <bool kCentered, bool kWithMomentum>
struct RmspropRule : Descent {
  enum { kLr = kOwn, kAlpha, kRest, kEps, kMomentum, kNumbers };
  static constexpr int kStates = 1 + kCentered + kWithMomentum;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A* s) {
    const A d = direction(c, x, g);
    s[0] = c[kAlpha] * s[0] + c[kRest] * d * d;
    A variance = s[0];
    if constexpr (kCentered) {
      s[1] = s[1] + c[kRest] * (d - s[1]);
      variance = variance - s[1] * s[1];
    }
    A change = d / (math::sqrt(variance) + c[kEps]);
    if constexpr (kWithMomentum) {
      A& buffer = s[kStates - 1];
      buffer = change = c[kMomentum] * buffer + change;
    }
    x = x - c[kLr] * change;
  }
};
template <>
struct StepRule<StepKind::kRmsprop> : RmspropRule<false, false> {};
template <>
struct StepRule<StepKind::kRmspropMomentum> : RmspropRule<false, true> {};
template <>
struct StepRule<StepKind::kRmspropCentered> : RmspropRule<true, false> {};
template <>
struct StepRule<StepKind::kRmspropCenteredMomentum> : RmspropRule<true, true> {};

// s: the sum of the gradient's squares.
template <>
struct StepRule<StepKind::kAdagrad> : Descent {
  enum { kStepSize = kOwn, kEps, kNumbers };
  static constexpr int kStates = 1;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A* s) {
    const A d = direction(c, x, g);
    s[0] = s[0] + d * d;
    x = x - c[kStepSize] * (d / (math::sqrt(s[0]) + c[kEps]));
  }
};

// s: the averages of the squares of the gradient and of the change.
template <>
struct StepRule<StepKind::kAdadelta> : Descent {
  enum { kLr = kOwn, kRho, kRest, kEps, kNumbers };
  static constexpr int kStates = 2;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A* s) {
    const A d = direction(c, x, g);
    s[0] = c[kRho] * s[0] + c[kRest] * d * d;
    const A change = math::sqrt(s[1] + c[kEps]) / math::sqrt(s[0] + c[kEps]) * d;
    s[1] = c[kRho] * s[1] + c[kRest] * change * change;
    x = x - c[kLr] * change;
  }
};

// s: the average of the gradient, and its largest magnitude so far, which decays.
template <>
struct StepRule<StepKind::kAdamax> : Descent {
  enum { kRest1 = kOwn, kBeta2, kStepSize, kEps, kNumbers };
  static constexpr int kStates = 2;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A* s) {
    const A d = direction(c, x, g);
    s[0] = s[0] + c[kRest1] * (d - s[0]);
    s[1] = math::max(c[kBeta2] * s[1], math::abs(d) + c[kEps]);
    x = x - c[kStepSize] * (s[0] / s[1]);
  }
};

// s: the averages of the gradient and of its square.
template <>
struct StepRule<StepKind::kNadam> : Descent {
  enum { kRest1 = kOwn, kBeta2, kRest2, kCorrection2, kEps, kShrink, kGradStep, kAverageStep, kNumbers };
  static constexpr int kStates = 2;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A* s) {
    const A d = direction(c, x, g);
    s[0] = s[0] + c[kRest1] * (d - s[0]);
    s[1] = c[kBeta2] * s[1] + c[kRest2] * d * d;
    const A scale = math::sqrt(s[1] / c[kCorrection2]) + c[kEps];
    x = x * c[kShrink] - c[kGradStep] * (d / scale) - c[kAverageStep] * (s[0] / scale);
  }
};

// s: as NAdam's.
template <bool kRectified>
struct RadamRule : Descent {
  enum { kRest1 = kOwn, kBeta2, kRest2, kStepSize, kEps, kShrink, kNumbers };
  static constexpr int kStates = 2;
  template <class A>
  ARGAND_MATH static void update(const A* c, A& x, A g, A* s) {
    const A d = direction(c, x, g);
    s[0] = s[0] + c[kRest1] * (d - s[0]);
    s[1] = c[kBeta2] * s[1] + c[kRest2] * d * d;
    const A change = kRectified ? s[0] / (math::sqrt(s[1]) + c[kEps]) : s[0];
    x = x * c[kShrink] - c[kStepSize] * change;
  }
};
template <>
struct StepRule<StepKind::kRadam> : RadamRule<true> {};
template <>
struct StepRule<StepKind::kRadamWarmUp> : RadamRule<false> {};

}  // namespace argand
