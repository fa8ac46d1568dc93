// Distances and angles between vectors.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/args.h"

namespace argand::ops {

struct Dist : Composite<DistArgs> {
  static constexpr auto schema = "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor";
  static constexpr auto doc = "The p-norm of self - other, broadcast, over all elements.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static Tensor compose(const Args& a) { return norm(a.self - a.other, a.p); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({3})});
    s.add({s->apart({2, 3}), s->apart({2, 3}) + 1 / 16.0, 1});
    s.add({s->apart({2, 3}), s->apart({2, 3}) + 1 / 16.0, 3});
    s.fails({s->real({2, 3}), s->real({2})}, "shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Dist)
ARGAND_NODE(Dist)

namespace {

// Before they are subtracted, so that unsigned integers do not wrap.
Tensor floating(const Tensor& t) { return is_integral(t.dtype(), true) ? t.to(get_default_dtype()) : t; }

}  // namespace

struct PairwiseDistance : Composite<PairwiseDistanceArgs> {
  static constexpr auto schema =
      "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor";
  static constexpr auto doc = "The p-norm of x1 - x2 + eps, broadcast, over the last dimension.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return norm(floating(a.x1) - floating(a.x2) + a.eps, a.p, {std::max(a.x1.dim(), a.x2.dim()) - 1}, a.keepdim);
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), s->real({4, 3})});
    s.add({s->real({4, 3}), s->real({3}), 3, 0.5, true});
    s.fails({s->real({4, 3}), s->real({2})}, "shapes [4, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(PairwiseDistance)
ARGAND_NODE(PairwiseDistance, "NormBackward1")

namespace {

// max(length, eps) with the gradient of length: a limit is no reason to stop learning.
Tensor at_least(const Tensor& length, double eps) {
  const Tensor value = length.detach();
  return length + (value.clamp_min(eps) - value);
}

}  // namespace

struct CosineSimilarity : Composite<CosineSimilarityArgs> {
  static constexpr auto schema = "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor";
  static constexpr auto doc =
      "The cosine of the angle between x1 and x2, broadcast, along dim: their product over that of their lengths, each "
      "at least eps.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const ScalarType type = promote_types(a.x1.dtype(), a.x2.dtype());
    ARGAND_CHECK(DtypeError, is_floating_point(type),
                 "cosine_similarity: expected common dtype to be floating point, yet common dtype is ", type);
    const auto tensors = broadcast_tensors({a.x1.to(type), a.x2.to(type)});
    const auto unit = [&](const Tensor& t) { return t / at_least(norm(t, 2, {a.dim}, true), a.eps); };
    return (unit(tensors[0]) * unit(tensors[1])).sum(a.dim);
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), s->real({4, 3})});
    s.add({s->real({4, 3}), s->real({3}), -1});
    s.add({s->real({4, 3}), s->real({4, 3}), 0, 0.5});
    s.fails({s->real({4, 3}), s->real({2})}, "shapes [4, 3] and [2] do not broadcast");
    s.fails({s->integer({4, 3}, 0, 3), s->integer({4, 3}, 0, 3)},
            "cosine_similarity: expected common dtype to be floating point, yet common dtype is int64");
  }
};
ARGAND_OP(CosineSimilarity)

namespace {

// Squares of float16 and bfloat16 lose what distances of near points are made of.
Tensor wide(const Tensor& t) { return t.to(op_math_type(t.dtype())); }

// |a|^2 + |b|^2 - 2 a b of all rows as one product.  Distances of 0 have gradients of 0.
Tensor euclidean_by_product(const Tensor& a, const Tensor& b) {
  const Tensor aa = a.square().sum(-1, true), bb = b.square().sum(-1, true);
  const Tensor square = cat({a * -2, aa, ones_like(aa)}, -1).matmul(cat({b, ones_like(bb), bb}, -1).mT());
  const Tensor apart = (square <= 0).logical_not();  // NaN counts
  return where(apart, where(apart, square, 1).sqrt(), 0);
}

}  // namespace

struct Cdist : Composite<CdistArgs> {
  static constexpr auto schema = "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor";
  static constexpr auto doc =
      "The p-norms of the differences of all rows of x1 [..., P, M] and x2 [..., R, M]: [..., P, R]. For p = 2 a "
      "product "
      "of matrices gives them if P or R is more than 25 (compute_mode 0), always (1) or never (2); distances that are "
      "small beside the numbers are less exact then. Otherwise P * R * M differences are made.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    for (const Tensor* t : {&a.x1, &a.x2}) {
      ARGAND_CHECK(DtypeError, t->is_floating_point(), "cdist: only supports floating-point dtypes, got ", t->dtype());
      ARGAND_CHECK(ShapeError, t->dim() >= 2, "cdist: x1 and x2 must have at least two dimensions, got ", t->sizes());
    }
    ARGAND_CHECK(ShapeError, a.x1.size(-1) == a.x2.size(-1),
                 "cdist: x1 and x2 must have the same number of columns, got ", a.x1.size(-1), " and ", a.x2.size(-1));
    ARGAND_CHECK(ValueError, a.p >= 0, "cdist: only supports non-negative p values, got ", a.p);
    ARGAND_CHECK(ValueError, a.compute_mode.value_or(0) >= 0 && a.compute_mode.value_or(0) <= 2,
                 "cdist: possible modes are 0, 1 and 2, got ", *a.compute_mode);
    constexpr int64_t kFew = 25, kIfMany = 0, kAlways = 1;
    const int64_t mode = a.compute_mode.value_or(kIfMany);
    const bool many = a.x1.size(-2) > kFew || a.x2.size(-2) > kFew;
    if (a.p == 2 && a.x1.size(-1) > 0 && (mode == kAlways || (mode == kIfMany && many)))
      return euclidean_by_product(wide(a.x1), wide(a.x2)).to(promote_types(a.x1.dtype(), a.x2.dtype()));
    const Tensor difference = a.x1.unsqueeze(-2) - a.x2.unsqueeze(-3);
    // The largest of no differences: points without coordinates are at distance 0.
    return linalg_vector_norm(difference, a.x1.size(-1) == 0 ? 2 : a.p, -1);
  }
  static void samples(S& s) {
    s.add({s->real({3, 2}), s->real({4, 2})});
    s.add({s->apart({2, 3, 2}), s->apart({4, 2}) + 1 / 16.0, 1});
    s.add({s->real({0, 2}), s->real({4, 2})});
    s.add({s->real({2, 3, 2}), s->real({4, 2}), 2, 1});
    s.add({s->real({3, 2}), s->real({27, 2})});
    s.add({s->real({3, 2}), s->real({27, 2}), 2, 2});
    s.fails({s->real({3, 2}), s->real({4, 3})}, "cdist: x1 and x2 must have the same number of columns, got 2 and 3");
    s.fails({s->real({3, 2}), s->real({2})}, "cdist: x1 and x2 must have at least two dimensions, got [2]");
    s.fails({s->real({3, 2}), s->real({4, 2}), -1}, "cdist: only supports non-negative p values, got -1");
  }
};
ARGAND_OP(Cdist)
ARGAND_NODE(Cdist)

struct Pdist : Composite<PdistArgs> {
  static constexpr auto schema = "pdist(Tensor self, float p=2) -> Tensor";
  static constexpr auto doc =
      "The p-norms of the differences of all pairs of different rows of self [N, M], the first row's first: "
      "[N * (N - 1) / 2].";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == 2, "pdist: only supports 2D tensors, got: ", a.self.dim(), "D");
    ARGAND_CHECK(DtypeError, a.self.is_floating_point(), "pdist: only supports floating-point dtypes, got ",
                 a.self.dtype());
    ARGAND_CHECK(ValueError, a.p >= 0, "pdist: only supports non-negative p values, got ", a.p);
    const int64_t n = a.self.size(0);
    const Tensor pairs = triu_indices(n, n, 1, TensorOptions(a.self.device()).dtype(kLong));
    const Tensor difference = a.self.index_select(0, pairs[0]) - a.self.index_select(0, pairs[1]);
    return linalg_vector_norm(difference, a.self.size(1) == 0 ? 2 : a.p, -1);
  }
  static void samples(S& s) {
    s.add({s->apart({4, 2})});
    s.add({s->apart({3, 2}), 1});
    s.add({s->real({1, 2})});
    s.fails({s->real({3})}, "pdist: only supports 2D tensors, got: 1D");
    s.fails({s->real({3, 2}), -1}, "pdist: only supports non-negative p values, got -1");
  }
};
ARGAND_OP(Pdist)
ARGAND_NODE(Pdist)

}  // namespace argand::ops
