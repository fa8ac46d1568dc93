// Searches in sorted values: searchsorted, bucketize, isin.
#include "argand/exec/pointwise.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/sort/args.h"

namespace argand::ops {
namespace {

// The common dtype of both, by type promotion.
ScalarType common_type(const Tensor& a, const Tensor& b) {
  const Tensor* both[] = {&a, &b};
  return exec::pointwise_types(Promote::kDefault, both).result;
}

bool search_right(const char* op, bool right, const std::optional<std::string>& side) {
  if (!side) return right;
  ARGAND_CHECK(ValueError, *side == "left" || *side == "right", op, ": side can only be 'left' or 'right' but got ",
               *side);
  ARGAND_CHECK(ValueError, *side == "right" || !right, op,
               ": side and right can't be set to opposites, got side of left while right was True");
  return *side == "right";
}

// Samples: the rows of a float64 matrix in order.
Tensor in_order(const Tensor& t) {
  double* p = raw<double>(t);
  const int64_t n = t.sizes().back();
  for (int64_t i = 0; i < t.numel(); i += n) std::sort(p + i, p + i + n);
  return t;
}

}  // namespace

struct Searchsorted : Kernel<SearchsortedArgs> {
  static constexpr auto schema =
      "searchsorted(Tensor sorted_sequence, Tensor|Scalar self, *, bool out_int32=False, bool right=False, str? "
      "side=None, Tensor? sorter=None) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "For each element of self, before which position of the sorted sequence it belongs: before equal ones, or (with "
      "right, or side 'right') after them. The sequence is one, or the last dimension of a tensor whose other sizes "
      "are "
      "those of self. sorter gives the order of a sequence that is not sorted.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    const Tensor& sequence = a.sorted_sequence;
    search_right("searchsorted", a.right, a.side);
    ARGAND_CHECK(ShapeError, sequence.dim() > 0,
                 "searchsorted: boundaries tensor should have positive dimension, but got 0 dimension");
    bool fits = sequence.dim() == 1 || sequence.dim() == a.self.dim();
    for (int64_t d = 0; fits && d + 1 < sequence.dim(); ++d) fits = sequence.sizes()[d] == a.self.sizes()[d];
    ARGAND_CHECK(ShapeError, fits,
                 "searchsorted: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
                 "tensor and input value tensor must match, but we got boundaries tensor ",
                 sequence.sizes(), " and input value tensor ", a.self.sizes());
    if (a.sorter.defined()) {
      ARGAND_CHECK(ShapeError, a.sorter.sizes() == sequence.sizes(),
                   "searchsorted: boundary and sorter must have the same size, but got boundary tensor ",
                   sequence.sizes(), " and got sorter tensor ", a.sorter.sizes());
      ARGAND_CHECK(DtypeError, a.sorter.dtype() == kLong,
                   "searchsorted: sorter must be a tensor of long dtype but got dtype ", a.sorter.dtype());
    }
    return {a.self.impl().sizes, a.out_int32 ? kInt : kLong};
  }
  static void run(const Args& a, Tensor& out) {
    const ScalarType type = common_type(a.sorted_sequence, a.self);
    const Tensor sequence = exec::dense(a.sorted_sequence, type), self = exec::dense(a.self, type);
    const int64_t n = sequence.sizes().back();
    const Tensor sorter =
        a.sorter.defined() ? checked_index("searchsorted", a.sorter, n, sequence.dim() - 1) : Tensor();
    SearchCall call{};
    call.rows = sequence.impl().data();
    call.order = sorter.defined() ? static_cast<const int64_t*>(sorter.impl().data()) : nullptr;
    call.values = self.impl().data();
    call.type = type;
    call.n = n;
    call.count = self.numel();
    // With a single sorted row, all values are searched in it.
    call.per_row = sequence.dim() == 1 ? std::max<int64_t>(call.count, 1) : self.sizes().back();
    call.right = search_right("searchsorted", a.right, a.side);
    call.out = out.impl().data();
    call.out_int32 = a.out_int32;
    blocks::search_sorted.on(out.device())(call);
  }
  static void samples(S& s) {
    s.add({in_order(s->real({6})), s->real({3, 4})});
    s.add({in_order(s->real({6})), s->real({3, 4}), true, true});
    s.add({in_order(s->real({3, 6})), s->real({3, 4}), false, false, "right"});
    s.add({in_order(s->real({6})), exec::wrapped_number(0.5)});
    s.add({s->integer({4}, 3, 4), exec::wrapped_number(2.5)});
    s.add({s->integer({4}, 3, 4), s->integer({2}, 2, 5), false, false, "left", s->integer({4}, 0, 4)});
    s.add({in_order(s->real({6})), s->real({0, 4})});
    s.fails({s->real({}), s->real({2})}, "searchsorted: boundaries tensor should have positive dimension");
    s.fails({s->real({3, 4}), s->real({2, 4})}, "searchsorted: boundaries tensor should be 1 dimension or the first");
    s.fails({s->real({3}), s->real({2}), false, false, "middle"}, "side can only be 'left' or 'right' but got middle");
    s.fails({s->real({3}), s->real({2}), false, true, "left"},
            "searchsorted: side and right can't be set to opposites");
    s.fails({s->real({3}), s->real({2}), false, false, {}, s->integer({3}, 3, 4)}, "searchsorted: index 3 is out of");
    s.fails({s->real({3}), s->real({2}), false, false, {}, s->integer({2}, 0, 3)}, "must have the same size");
  }
};
ARGAND_OP(Searchsorted)

struct Bucketize : Composite<BucketizeArgs> {
  static constexpr auto schema =
      "bucketize(Tensor|Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "For each element of self, in which of the intervals between the sorted boundaries it is; intervals include "
      "their upper end, or with right their lower one.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.boundaries.dim() == 1, "bucketize: boundaries tensor must be 1 dimension, but got dim(",
                 a.boundaries.dim(), ")");
    return searchsorted(a.boundaries, a.self, a.out_int32, a.right, std::nullopt, {});
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), in_order(s->real({6}))});
    s.add({s->real({3, 4}), in_order(s->real({6})), true, true});
    s.add({exec::wrapped_number(0.5), in_order(s->real({6}))});
    s.fails({s->real({3}), s->real({2, 2})}, "bucketize: boundaries tensor must be 1 dimension, but got dim(2)");
  }
};
ARGAND_OP(Bucketize)

// harmless(assume_unique): it is a hint that would save time
struct Isin : Composite<IsinArgs> {
  static constexpr auto schema =
      "isin(Tensor|Scalar elements, Tensor|Scalar test_elements, *, bool assume_unique=False, bool invert=False) -> "
      "Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "Whether each of elements is (or, with invert, is not) one of test_elements, after both are promoted to one "
      "dtype. "
      "NaN equals nothing. assume_unique changes nothing here.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const ScalarType type = common_type(a.elements, a.test_elements);
    const Device device = (a.elements.impl().wrapped_number ? a.test_elements : a.elements).device();
    const Tensor x = a.elements.detach().to(type).to(device);
    const Tensor tests = a.test_elements.detach().to(type).to(device).reshape({-1});
    if (tests.numel() == 0) return full(x.sizes(), a.invert, TensorOptions(kBool).device(device));
    const Tensor sorted = std::get<0>(argand::sort(tests));
    const Tensor found = sorted.take(searchsorted(sorted, x).clamp_max(tests.numel() - 1));
    return a.invert ? found != x : found == x;
  }
  static void samples(S& s) {
    s.add({s->integer({3, 5}, 0, 9), s->integer({4}, 0, 9)});
    s.add({s->integer({3, 5}, 0, 9), s->integer({2, 2}, 0, 9), false, true});
    s.add({s->integer({3, 5}, 0, 3), exec::wrapped_number(1)});
    s.add({exec::wrapped_number(1), s->integer({5}, 0, 3)});
    s.add({s->integer({3}, 0, 9), s->integer({0}, 0, 9)});
  }
};
ARGAND_OP(Isin)

}  // namespace argand::ops
