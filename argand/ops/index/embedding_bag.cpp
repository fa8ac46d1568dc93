// embedding_bag: sums, means or maxima of bags of rows of a table.
#include <limits>

#include "argand/base/ignored.h"
#include "argand/ops/define.h"
#include "argand/ops/index/args.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

constexpr int64_t kSumBags = 0, kMeanBags = 1, kMaxBags = 2;

struct Bags {
  Tensor weight, indices, offsets, per_sample_weights;
  int64_t mode, padding_idx;  // -1: none
  bool scale_grad_by_freq;
};

// A GPU does not wait for this check: a bag that begins before 0 becomes an IndexError of index_add.
void check_offsets(const char* op, const Bags& b) {
  if (!b.offsets.is_cpu()) return;
  const Tensor host = exec::dense(b.offsets);
  const int64_t* p = raw<int64_t>(host);
  for (int64_t i = 0; i < host.numel(); ++i) {
    ARGAND_CHECK(ValueError, i > 0 || p[0] == 0, op,
                 ": offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                 "However, got ",
                 p[0]);
    ARGAND_CHECK(ValueError, p[i] <= b.indices.numel() && (i == 0 || p[i] >= p[i - 1]), op,
                 ": expected offsets that never become smaller and are at most ", b.indices.numel(),
                 ", the number of indices, got ", p[i], " at position ", i);
  }
}

// On a GPU, embedding() checks the indices.
void check_rows(const char* op, const Bags& b) {
  if (!b.indices.is_cpu()) return;
  const Tensor host = exec::dense(b.indices);
  const int64_t* p = raw<int64_t>(host);
  for (int64_t i = 0; i < host.numel(); ++i)
    ARGAND_CHECK(IndexError, p[i] >= 0 && p[i] < b.weight.size(0), op,
                 ": Expected idx >= 0 && idx < num_embeddings but found idx to be ", p[i], " at position ", i,
                 " of input, for ", b.weight.size(0), " embeddings");
}

Bags checked(Bags b, bool include_last_offset) {
  constexpr const char* op = "embedding_bag";
  ARGAND_CHECK(ShapeError, b.weight.dim() == 2, op, ": 'weight' must be 2-D, got sizes ", b.weight.sizes());
  check_index_dtype(op, b.indices);
  check_index_dtype(op, b.offsets);
  ARGAND_CHECK(ShapeError, b.indices.dim() == 1, op, ": input has to be a 1D Tensor, got Tensor of sizes ",
               b.indices.sizes());
  ARGAND_CHECK(ShapeError, b.offsets.dim() == 1, op, ": offsets has to be a 1D Tensor, got sizes ", b.offsets.sizes());
  ARGAND_CHECK(ValueError, b.mode >= kSumBags && b.mode <= kMaxBags, op,
               ": expected mode 0 (sum), 1 (mean) or 2 (max), got ", b.mode);
  ARGAND_CHECK(ValueError, !include_last_offset || b.offsets.numel() > 0, op,
               ": include_last_offset: number of offsets should be at least 1");
  b.indices = b.indices.to(kLong);
  b.offsets = b.offsets.to(kLong);
  check_offsets(op, b);
  check_rows(op, b);
  if (b.per_sample_weights.defined()) {
    ARGAND_CHECK(ValueError, b.mode == kSumBags, op,
                 ": per_sample_weights was not None. per_sample_weights is only supported for mode='sum'");
    ARGAND_CHECK(ShapeError, b.per_sample_weights.sizes() == b.indices.sizes(), op,
                 ": expected per_sample_weights of the shape of input, ", b.indices.sizes(), ", got ",
                 b.per_sample_weights.sizes());
    ARGAND_CHECK(DtypeError, b.per_sample_weights.dtype() == b.weight.dtype(), op,
                 ": Expected per_sample_weights to have the same type as weight, ", b.weight.dtype(), ", got ",
                 b.per_sample_weights.dtype());
  }
  // The last bag extends to the end for any last offset, as in PyTorch.
  if (include_last_offset) b.offsets = b.offsets.narrow(0, 0, b.offsets.numel() - 1);
  ARGAND_CHECK(ValueError, b.offsets.numel() > 0 || b.indices.numel() == 0, op,
               ": expected an offset for each bag, got none for ", b.indices.numel(), " indices");
  return b;
}

// The rows of each bag side by side, [bags, most rows of a bag, width], padded with minus infinity; the maximum of each
// and its row in the table.
std::tuple<Tensor, Tensor> maxima(const Bags& b, const Tensor& rows, const Tensor& bag, const Tensor& counted,
                                  const Tensor& sizes) {
  const int64_t n = rows.size(0), bags = b.offsets.numel(), width = rows.size(1);
  const auto nothing = [&] {
    // The table's gradient is defined, and zero.
    const Tensor values = zeros({bags, width}, rows.options()).index_add(0, bag, rows);
    return std::tuple(values, zeros({bags, width}, b.indices.options()));
  };
  if (n == 0 || width == 0) return nothing();
  const Tensor positions = arange(n, b.indices.options()), starts = b.offsets.index_select(0, bag);
  const int64_t most = (positions - starts).max().item<int64_t>() + 1;
  // Slot n means no row.
  const Tensor slots = full({bags * most}, n, b.indices.options())
                           .index_copy(0, bag * most + positions - starts, where(counted, positions, n));
  const Tensor all = cat({rows, full({1, width}, -std::numeric_limits<double>::infinity(), rows.options())}, 0);
  const auto [values, at] = all.index_select(0, slots).view({bags, most, width}).max(1);
  const Tensor empty = sizes.eq(0).unsqueeze(1);
  const Tensor slot = slots.view({bags, most}).gather(1, at).clamp_max(n - 1);
  return {values.masked_fill(empty, 0), b.indices.take(slot).masked_fill(empty, 0)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> run_bags(const Bags& b) {
  const int64_t bags = b.offsets.numel(), width = b.weight.size(1);
  Tensor rows = embedding(b.weight, b.indices, b.padding_idx, b.scale_grad_by_freq);
  const Tensor bag = searchsorted(b.offsets, arange(b.indices.numel(), b.indices.options()), false, true) - 1;
  const Tensor counted =
      b.padding_idx < 0 ? ones(b.indices.sizes(), b.indices.options().dtype(kBool)) : b.indices.ne(b.padding_idx);
  const Tensor sizes = zeros({bags}, b.indices.options()).index_add(0, bag, counted.to(kLong));
  const Tensor none = empty({0}, b.indices.options());
  if (b.mode == kMaxBags) {
    auto [values, at] = maxima(b, rows, bag, counted, sizes);
    return {values, bag, sizes, at};
  }
  if (b.per_sample_weights.defined()) rows = rows * b.per_sample_weights.unsqueeze(1);
  if (b.padding_idx >= 0) rows = rows.masked_fill(counted.logical_not().unsqueeze(1), 0);
  // Added up in the arithmetic type: a bag may have many rows.
  const ScalarType type = op_math_type(rows.dtype());
  Tensor sums = zeros({bags, width}, rows.options().dtype(type)).index_add(0, bag, rows.to(type));
  if (b.mode == kMeanBags) sums = sums / sizes.clamp_min(1).to(type).unsqueeze(1);
  return {sums.to(rows.dtype()), bag, sizes, none};
}

}  // namespace

void warn_of_sparse(bool sparse) {
  if (sparse) warn_ignored("embedding_bag", "sparse", "there are no sparse tensors: the gradient is dense");
}

struct EmbeddingBag : Composite<EmbeddingBagArgs> {
  static constexpr auto schema =
      "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool "
      "sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, "
      "Tensor)";
  static constexpr auto doc =
      "Bag i is indices[offsets[i]] ... indices[offsets[i + 1] - 1]: the sum (mode 0, each row times its "
      "per_sample_weights), mean (1) or maximum (2) of these rows of weight [count, width]; zeros for an empty bag. "
      "With "
      "include_last_offset the last offset, the number of indices, begins no bag. A GPU's offsets are not looked at "
      "beforehand. Also gives the bag of each index, the sizes of "
      "the "
      "bags and, for maxima, the rows they come from. The gradient is dense, for sparse too.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) {
    warn_of_sparse(a.sparse);
    return run_bags(checked({a.weight, a.indices, a.offsets, a.per_sample_weights, a.mode, -1, a.scale_grad_by_freq},
                            a.include_last_offset));
  }
  static void samples(S& s) {
    const auto offsets = [](std::initializer_list<int64_t> values) {
      Tensor t = empty({static_cast<int64_t>(values.size())}, kLong);
      std::copy(values.begin(), values.end(), raw<int64_t>(t));
      return t;
    };
    s.add({s->real({5, 3}), s->integer({6}, 0, 5), offsets({0, 2, 2, 5})});
    s.add({s->real({5, 3}), s->integer({6}, 0, 5), offsets({0, 4}), false, kMeanBags});
    s.add({s->apart({5, 3}), s->integer({6}, 0, 5), offsets({0, 4, 6}), false, kMaxBags});
    s.add({s->real({5, 3}), s->integer({6}, 0, 5), offsets({0, 2, 6}), false, kSumBags, false, s->real({6}), true});
    s.add({s->apart({5, 3}), s->integer({6}, 0, 5), offsets({0, 2, 4}), false, kMaxBags, false, {}, true});
    s.fails({s->real({5, 3}), s->integer({6}, 0, 5), offsets({1, 4})}, "embedding_bag: offsets[0] has to be 0");
    s.fails({s->real({5, 3}), s->integer({6}, 0, 5), offsets({0, 7})},
            "expected offsets that never become smaller and are at most 6, the number of indices, got 7 at position 1");
    s.fails({s->real({5, 3}), s->integer({6}, 0, 5), offsets({0, 4}), false, kMaxBags, false, s->real({6})},
            "per_sample_weights is only supported for mode='sum'");
    s.fails({s->real({5, 3}), s->integer({6}, 5, 6), offsets({0, 4})},
            "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be 5");
  }
};
ARGAND_OP(EmbeddingBag)
ARGAND_NODE(EmbeddingBag)

struct EmbeddingBagPadding : Composite<EmbeddingBagPaddingArgs> {
  static constexpr auto schema =
      "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, "
      "bool "
      "sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, "
      "Tensor)";
  static constexpr auto doc = "The same, where the indices padding_idx do not count.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) {
    warn_of_sparse(a.sparse);
    int64_t padding = a.padding_idx.value_or(-1);
    if (a.padding_idx) {
      const int64_t count = a.weight.dim() > 0 ? a.weight.size(0) : 0;
      ARGAND_CHECK(ValueError, padding >= -count && padding < count,
                   "embedding_bag: padding_idx must be within the number of embeddings, -", count, " through ",
                   count - 1, ", but got ", padding);
      if (padding < 0) padding += count;
    }
    return run_bags(
        checked({a.weight, a.indices, a.offsets, a.per_sample_weights, a.mode, padding, a.scale_grad_by_freq},
                a.include_last_offset));
  }
  static void samples(S& s) {
    Tensor offsets = empty({2}, kLong);
    raw<int64_t>(offsets)[0] = 0;
    raw<int64_t>(offsets)[1] = 3;
    for (const int64_t mode : {kSumBags, kMeanBags, kMaxBags})
      s.add({s->apart({4, 3}), s->integer({8}, 0, 4), offsets, false, mode, false, {}, false, 1});
    s.fails({s->real({4, 3}), s->integer({8}, 0, 4), offsets, false, 0, false, {}, false, 4},
            "padding_idx must be within the number of embeddings, -4 through 3, but got 4");
  }
};
ARGAND_OP(EmbeddingBagPadding)
ARGAND_NODE(EmbeddingBagPadding)

}  // namespace argand::ops
