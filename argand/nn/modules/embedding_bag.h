// EmbeddingBag: sums, means or maxima of bags of trainable rows.
#pragma once
#include "argand/nn/modules/container/any.h"
#include "argand/nn/options/embedding_bag.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

// Inputs are those of functional::embedding_bag.  Rows start normal with deviation 1, row padding_idx zero.
class EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {});

  EmbeddingBagOptions options;
  Tensor weight;  // [num_embeddings, embedding_dim]

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl = EmbeddingBagImpl;
  // Uses the rows of a matrix and shares its memory; frozen (without gradient) unless the options say otherwise.
  static EmbeddingBag from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace argand::nn
