// embedding: rows of a table, and the gradient of the table.
#include "argand/base/ignored.h"
#include "argand/kernels/api/checked_rows.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/index/args.h"
#include "argand/ops/index/bounds.h"

namespace argand::ops {

struct Embedding : Kernel<EmbeddingArgs> {
  static constexpr auto schema =
      "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) "
      "-> Tensor";
  static constexpr auto doc =
      "Rows of weight [count, ...] at indices (int32 or int64, any shape). Row padding_idx (if >= 0) gets no gradient; "
      "with "
      "scale_grad_by_freq the gradient of a row is divided by how often it was used. The gradient is dense, for sparse "
      "too.";
  static TensorMeta infer(const Args& a) {
    if (a.sparse) warn_ignored("embedding", "sparse", "there are no sparse tensors: the gradient is dense");
    ARGAND_CHECK(ShapeError, a.weight.dim() == 2, "embedding: 'weight' must be 2-D, got sizes ", a.weight.sizes());
    check_index_dtype("embedding", a.indices);
    TensorMeta meta{a.indices.impl().sizes, a.weight.dtype()};
    meta.sizes.push_back(a.weight.sizes()[1]);
    return meta;
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor given = exec::dense(a.indices), weight = exec::dense(a.weight);
    if (blocks::take_checked_rows.on(out.device())("embedding", weight.impl().data(), weight.sizes()[0],
                                                   weight.sizes()[1] * weight.itemsize(), given.impl().data(),
                                                   given.dtype(), given.numel(), out.impl().data()))
      return;
    const Tensor index = checked_index("embedding", given, a.weight.sizes()[0], 0);
    if (out.numel() == 0) return;
    blocks::take_rows.on(out.device())(weight.impl().data(), {1, weight.sizes()[0], weight.sizes()[1]},
                                       weight.itemsize(), static_cast<const int64_t*>(index.impl().data()),
                                       index.numel(), out.impl().data());
  }
  static Tensor grad_weight(const Ctx& c, const Tensor& g) {
    return embedding_dense_backward(g, c.indices, c.sizes(kWeight)[0], c.padding_idx, c.scale_grad_by_freq);
  }
  static void samples(S& s) {
    s.add({s->real({5, 3}), s->integer({2, 4}, 0, 5)});
    s.add({s->real({5, 3}), s->integer({6}, 0, 5), 1});
    s.add_without_gradient({s->real({5, 3}), s->integer({7}, 0, 3), -1, true});  // scaled: no true gradient
    s.add({s->real({5, 3}), s->integer({}, 0, 5)});
    s.add({s->real({5, 3}), s->integer({0, 2}, 0, 5)});
    s.fails({s->real({5, 3}), s->integer({2}, 5, 6)},
            "embedding: index 5 is out of bounds for dimension 0 with size 5");
    s.fails({s->real({5}), s->integer({2}, 0, 5)}, "embedding: 'weight' must be 2-D, got sizes [5]");
    s.fails({s->real({5, 3}), s->real({2})}, "embedding: expected dtype int32/int64 for index, got float64");
  }
};
ARGAND_OP(Embedding)

// The factor by which each use of a row counts in the gradient: 0 for padding_idx, 1 / uses or 1.
struct EmbeddingUseWeights : Kernel<EmbeddingUseWeightsArgs> {
  static constexpr auto schema =
      "_embedding_use_weights(Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq, ScalarType "
      "dtype) -> Tensor";
  static constexpr auto doc =
      "By what the gradient of each use of an embedding row is multiplied; shape [indices.numel(), 1].";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) { return {{a.indices.numel(), 1}, a.dtype}; }
  static void run(const Args& a, Tensor& out) {
    const Tensor index = checked_index("embedding", a.indices, a.num_weights, 0);
    if (!out.is_cpu()) return run_on_device(a, index.view({-1}), out);
    const int64_t* p = raw<int64_t>(index);
    std::vector<int64_t> uses(static_cast<size_t>(a.num_weights), 0);
    for (int64_t i = 0; i < index.numel(); ++i) ++uses[static_cast<size_t>(p[i])];
    dispatch<kFloatingTypes | kComplexTypes>(out.dtype(), "embedding", [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* q = raw<T>(out);
      for (int64_t i = 0; i < index.numel(); ++i) {
        const float each = a.scale_grad_by_freq ? 1 / static_cast<float>(uses[static_cast<size_t>(p[i])]) : 1.0f;
        if constexpr (std::is_same_v<T, double>)
          q[i] = a.scale_grad_by_freq ? 1 / static_cast<double>(uses[static_cast<size_t>(p[i])]) : 1.0;
        else
          q[i] = T(each);
        if (p[i] == a.padding_idx) q[i] = T(0.0f);
      }
    });
  }
  static void run_on_device(const Args& a, const Tensor& index, const Tensor& out) {
    Tensor each = ones({index.numel()}, TensorOptions(out.device()).dtype(to_real_type(op_math_type(out.dtype()))));
    if (a.scale_grad_by_freq) {
      const Tensor uses = zeros({a.num_weights}, each.options()).index_add_(0, index, each);
      each = uses.index_select(0, index).reciprocal();
    }
    exec::copy_elements(out, each.masked_fill(index.eq(a.padding_idx), 0).unsqueeze(1));
  }
  static void samples(S& s) { s.add({s->integer({4}, 0, 3), 3, 1, true, kDouble}); }
};
ARGAND_OP(EmbeddingUseWeights)

struct EmbeddingDenseBackward : Kernel<EmbeddingDenseBackwardArgs> {
  static constexpr auto schema =
      "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx, bool "
      "scale_grad_by_freq) -> Tensor";
  static constexpr auto doc =
      "The gradient of embedding's weight: each row the sum over its uses, in the order of indices.";
  static constexpr int variants = kFunction;
  static constexpr auto dtypes = kFloatingTypes | kComplexTypes;
  static TensorMeta infer(const Args& a) {
    check_index_dtype("embedding_dense_backward", a.indices);
    Dims expected = a.indices.impl().sizes;
    ARGAND_CHECK(ShapeError, a.grad_output.dim() == a.indices.dim() + 1,
                 "embedding_dense_backward: expected grad_output of sizes ", a.indices.sizes(), " and one more, got ",
                 a.grad_output.sizes());
    expected.push_back(a.grad_output.sizes().back());
    ARGAND_CHECK(ShapeError, expected == a.grad_output.impl().sizes,
                 "embedding_dense_backward: expected grad_output of sizes ", expected, ", got ", a.grad_output.sizes());
    return {{a.num_weights, expected.back()}, a.grad_output.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor index = checked_index("embedding_dense_backward", a.indices, a.num_weights, 0);
    const int64_t width = out.sizes()[1];
    exec::copy_elements(out, exec::wrapped_number(0));
    if (index.numel() == 0 || width == 0) return;
    Tensor g = exec::dense(a.grad_output).view({index.numel(), width});
    // Masked instead of multiplied, because an ignored gradient may be infinite or NaN.
    if (a.padding_idx >= 0) g = g.masked_fill(index.reshape({-1, 1}).eq(a.padding_idx), 0);
    if (a.scale_grad_by_freq)
      g = g * _embedding_use_weights(a.indices, a.num_weights, a.padding_idx, a.scale_grad_by_freq, g.dtype());
    blocks::add_rows.on(out.device())(out.impl().data(), {1, a.num_weights, width}, out.dtype(),
                                      static_cast<const int64_t*>(index.impl().data()), index.numel(), g.impl().data());
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    const Tensor rows = g.index_select(0, c.indices.reshape({-1}));
    const Tensor weighted =
        rows * _embedding_use_weights(c.indices, c.num_weights, c.padding_idx, c.scale_grad_by_freq, g.dtype());
    return weighted.view(c.sizes(kGradOutput));
  }
  static void samples(S& s) {
    s.add({s->real({2, 4, 3}), s->integer({2, 4}, 0, 5), 5, -1, false});
    s.add({s->real({6, 3}), s->integer({6}, 0, 3), 5, 1, true});
    s.fails({s->real({2, 3}), s->integer({2}, 5, 6), 5, -1, false},
            "embedding_dense_backward: index 5 is out of bounds for dimension 0 with size 5");
    s.fails({s->real({2, 3}), s->integer({3}, 0, 5), 5, -1, false},
            "embedding_dense_backward: expected grad_output of sizes [3, 3], got [2, 3]");
  }
};
ARGAND_OP(EmbeddingDenseBackward)

}  // namespace argand::ops
