// Dropout: elements, or whole channels, become zero at random, and the others are scaled up.
#include <cmath>

#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/random/args.h"
#include "argand/ops/random/draw.h"

namespace argand::ops {
namespace {

struct DropoutKind {
  const char* op;
  bool channels = false, alpha = false;
};

// 1 with probability 1 - p, else 0: one for each channel of [N, C, ...], or for each element.
Tensor draw(const DropoutKind& d, const Tensor& input, double p) {
  const TensorOptions options = input.options().dtype(to_real_type(input.dtype()));
  if (!d.channels) return empty_like(input, options).bernoulli_(1 - p);
  ARGAND_CHECK(ShapeError, input.dim() >= 2, d.op,
               ": Feature dropout requires at least 2 dimensions in the input, got ", input.sizes());
  Dims sizes(input.sizes());
  for (size_t i = 2; i < sizes.size(); ++i) sizes[i] = 1;
  return empty(sizes, options).bernoulli_(1 - p);
}

// The factor of the input, and the summand (undefined: none).
struct Factors {
  Tensor scale, shift;
};

// The alpha forms are those of "Self-Normalizing Neural Networks" (Klambauer et al. 2017): dropped elements take the
// value SELU tends to at minus infinity, then an affine map restores mean 0 and variance 1.
Factors factors(const DropoutKind& d, const Tensor& input, double p) {
  if (p == 1) return {zeros({}, input.options()), Tensor()};
  const Tensor kept = draw(d, input, p);
  if (!d.alpha) return {kept.div_(1 - p), Tensor()};
  constexpr double kLimit = 1.7580993408473766;  // scale * alpha of SELU
  const double a = 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p));
  return {kept.mul(a), kept.sub(1).mul_(kLimit * a).add_(kLimit * a * p)};
}

bool is_identity(const DropoutKind& d, const Tensor& input, double p, bool train) {
  ARGAND_CHECK(ValueError, p >= 0 && p <= 1, d.op, ": dropout probability has to be between 0 and 1, but got ", p);
  return input.numel() == 0 || p == 0 || !train;
}

// A device that draws need not draw the numbers of bernoulli_(): a byte per element instead of a factor.
bool takes_mask(const DropoutKind& d, const Tensor& input, double p) {
  return blocks::run_draw.has(input.device().type()) && !d.channels && !d.alpha && p < 1 &&
         is_floating_point(input.dtype());
}
struct Kept {
  Tensor mask;
  double scale;
};
Kept draw_kept(const Tensor& input, double p) {
  const DropShare share(p);
  Kept kept{empty_like(input, input.options().dtype(kBool)), share.scale};
  Draw draw{Draw::kKept};
  draw.from = static_cast<int64_t>(share.below);
  fill_in_memory_order(kept.mask, [&](const Tensor& t) { draw_on_device(t, draw, std::nullopt); });
  return kept;
}

Tensor drop(const DropoutKind& d, const Tensor& input, double p, bool train) {
  if (is_identity(d, input, p, train)) return input;
  if (takes_mask(d, input, p)) {
    const Kept kept = draw_kept(input, p);
    return _masked_scale(input, kept.mask, kept.scale);
  }
  const Factors f = factors(d, input, p);
  const Tensor out = input * f.scale;
  return f.shift.defined() ? out + f.shift : out;
}

Tensor drop_inplace(const DropoutKind& d, Tensor self, double p, bool train) {
  if (is_identity(d, self, p, train)) return self;
  if (takes_mask(d, self, p)) {
    const Kept kept = draw_kept(self, p);
    return _masked_scale_(self, kept.mask, kept.scale);
  }
  const Factors f = factors(d, self, p);
  self.mul_(f.scale);
  if (f.shift.defined()) self.add_(f.shift);
  return self;
}

}  // namespace

struct MaskedScale : Pointwise<MaskedScaleArgs> {
  static constexpr auto schema = "_masked_scale(Tensor self, Tensor mask, Scalar scale) -> Tensor";
  static constexpr auto doc = "self * scale where mask is not 0, elsewhere 0.";
  static constexpr int variants = kFunction | kInplace;
  static constexpr uint32_t constant_arguments = bits(kMask);
  static constexpr auto compute = kFloatComplexBody;
  ARGAND_BODY((x, kept, scale), kept != T(0) ? x * scale : T(0))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return _masked_scale(g, c.mask, c.scale); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->boolean({2, 3}), 1.25}); }
};
ARGAND_OP(MaskedScale)

// Draws follow the memory of the input, as PyTorch's do: samples of one dimension are the same in every layout.
struct Dropout : Composite<DropoutArgs> {
  static constexpr auto schema = "dropout(Tensor input, float p, bool train) -> Tensor";
  static constexpr auto doc =
      "In training, elements become 0 with probability p and the others are divided by 1 - p; else input itself.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return drop({"dropout"}, a.input, a.p, a.train); }
  static void samples(S& s) {
    s.add({s->real({12}), 0.3, true});
    s.add({s->real({3, 4}), 1.0, true});
    s.add({s->real({3}), 0.3, false});
    s.fails({s->real({3}), 1.5, true}, "dropout: dropout probability has to be between 0 and 1, but got 1.5");
  }
};
ARGAND_OP(Dropout)

struct DropoutInplace : Composite<DropoutInplaceArgs> {
  static constexpr auto schema = "dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)";
  static constexpr auto doc = "dropout in place.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return drop_inplace({"dropout_"}, a.self, a.p, a.train); }
  static void samples(S& s) { s.add({s->real({12}), 0.3, true}); }
};
ARGAND_OP(DropoutInplace)

struct FeatureDropout : Composite<FeatureDropoutArgs> {
  static constexpr auto schema = "feature_dropout(Tensor input, float p, bool train) -> Tensor";
  static constexpr auto doc = "dropout of whole channels of [N, C, ...].";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return drop({"feature_dropout", true}, a.input, a.p, a.train); }
  static void samples(S& s) {
    s.add({s->real({3, 4, 2}), 0.3, true});
    s.fails({s->real({3}), 0.5, true},
            "feature_dropout: Feature dropout requires at least 2 dimensions in the input, got [3]");
  }
};
ARGAND_OP(FeatureDropout)

struct FeatureDropoutInplace : Composite<FeatureDropoutInplaceArgs> {
  static constexpr auto schema = "feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)";
  static constexpr auto doc = "feature_dropout in place.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return drop_inplace({"feature_dropout_", true}, a.self, a.p, a.train); }
  static void samples(S& s) { s.add({s->real({3, 4, 2}), 0.3, true}); }
};
ARGAND_OP(FeatureDropoutInplace)

struct AlphaDropout : Composite<AlphaDropoutArgs> {
  static constexpr auto schema = "alpha_dropout(Tensor input, float p, bool train) -> Tensor";
  static constexpr auto doc = "dropout that keeps mean 0 and variance 1 of SELU activations.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return drop({"alpha_dropout", false, true}, a.input, a.p, a.train); }
  static void samples(S& s) {
    s.add({s->real({12}), 0.3, true});
    s.add({s->real({3, 4}), 1.0, true});
  }
};
ARGAND_OP(AlphaDropout)

struct AlphaDropoutInplace : Composite<AlphaDropoutInplaceArgs> {
  static constexpr auto schema = "alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)";
  static constexpr auto doc = "alpha_dropout in place.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return drop_inplace({"alpha_dropout_", false, true}, a.self, a.p, a.train); }
  static void samples(S& s) { s.add({s->real({12}), 0.3, true}); }
};
ARGAND_OP(AlphaDropoutInplace)

struct FeatureAlphaDropout : Composite<FeatureAlphaDropoutArgs> {
  static constexpr auto schema = "feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor";
  static constexpr auto doc = "alpha_dropout of whole channels of [N, C, ...].";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return drop({"feature_alpha_dropout", true, true}, a.input, a.p, a.train); }
  static void samples(S& s) { s.add({s->real({3, 4, 2}), 0.3, true}); }
};
ARGAND_OP(FeatureAlphaDropout)

struct FeatureAlphaDropoutInplace : Composite<FeatureAlphaDropoutInplaceArgs> {
  static constexpr auto schema = "feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)";
  static constexpr auto doc = "feature_alpha_dropout in place.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return drop_inplace({"feature_alpha_dropout_", true, true}, a.self, a.p, a.train);
  }
  static void samples(S& s) { s.add({s->real({3, 4, 2}), 0.3, true}); }
};
ARGAND_OP(FeatureAlphaDropoutInplace)

}  // namespace argand::ops
