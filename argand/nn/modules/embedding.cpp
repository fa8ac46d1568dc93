#include "argand/nn/modules/embedding.h"

#include "argand/core/grad_mode.h"
#include "argand/nn/functional/embedding.h"
#include "argand/nn/init.h"
#include "argand/ops/functions.h"

namespace argand::nn {

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions o) : options(std::move(o)) { reset(); }

void EmbeddingImpl::reset() {
  const int64_t count = options.num_embeddings();
  ARGAND_CHECK(ValueError, count >= 0 && options.embedding_dim() >= 0,
               "Embedding: expected num_embeddings and embedding_dim of at least 0, got ", count, " and ",
               options.embedding_dim());
  if (options.padding_idx()) {
    const int64_t padding = *options.padding_idx();
    ARGAND_CHECK(ValueError, padding >= -count && padding < count,
                 "Embedding: Padding_idx must be within num_embeddings, expected [", -count, ", ", count, "), got ",
                 padding);
    options.padding_idx(padding < 0 ? padding + count : padding);
  }
  const Tensor& given = options._weight();
  if (!given.defined()) {
    weight = register_parameter("weight", empty({count, options.embedding_dim()}));
    return reset_parameters();
  }
  ARGAND_CHECK(ShapeError, given.sizes() == IntArrayRef({count, options.embedding_dim()}),
               "Embedding: Shape of _weight does not match num_embeddings and embedding_dim, expected [", count, ", ",
               options.embedding_dim(), "], got ", given.sizes());
  weight = register_parameter("weight", given.detach());  // a handle of its own: a clone leaves `given` alone
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight.select(0, *options.padding_idx()).fill_(0);
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=true";
  if (options.sparse()) stream << ", sparse=true";
  stream << ")";
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return functional::embedding(indices, weight,
                               functional::EmbeddingFuncOptions()
                                   .padding_idx(options.padding_idx())
                                   .max_norm(options.max_norm())
                                   .norm_type(options.norm_type())
                                   .scale_grad_by_freq(options.scale_grad_by_freq())
                                   .sparse(options.sparse()));
}

Embedding Embedding::from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& o) {
  ARGAND_CHECK(ShapeError, embeddings.dim() == 2,
               "Embedding::from_pretrained: Embeddings parameter is expected to be 2-dimensional, got ",
               embeddings.sizes());
  Embedding out(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                    ._weight(embeddings)
                    .padding_idx(o.padding_idx())
                    .max_norm(o.max_norm())
                    .norm_type(o.norm_type())
                    .scale_grad_by_freq(o.scale_grad_by_freq())
                    .sparse(o.sparse()));
  out->weight.set_requires_grad(!o.freeze());
  return out;
}

}  // namespace argand::nn
