#include "argand/nn/modules/embedding_bag.h"

#include "argand/core/grad_mode.h"
#include "argand/nn/functional/embedding.h"
#include "argand/nn/init.h"
#include "argand/ops/functions.h"

namespace argand::nn {

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) { reset(); }

void EmbeddingBagImpl::reset() {
  const int64_t count = options.num_embeddings(), width = options.embedding_dim();
  ARGAND_CHECK(ValueError, count >= 0 && width >= 0,
               "EmbeddingBag: expected num_embeddings and embedding_dim of at least 0, got ", count, " and ", width);
  if (options.padding_idx()) {
    const int64_t padding = *options.padding_idx();
    ARGAND_CHECK(ValueError, padding >= -count && padding < count,
                 "EmbeddingBag: Padding_idx must be within num_embeddings, expected [", -count, ", ", count, "), got ",
                 padding);
    options.padding_idx(padding < 0 ? padding + count : padding);
  }
  const Tensor& given = options._weight();
  if (!given.defined()) {
    weight = register_parameter("weight", empty({count, width}));
    return reset_parameters();
  }
  ARGAND_CHECK(ShapeError, given.sizes() == IntArrayRef({count, width}),
               "EmbeddingBag: Shape of weight does not match num_embeddings and embedding_dim, expected [", count, ", ",
               width, "], got ", given.sizes());
  weight = register_parameter("weight", given.detach());  // a handle of its own: a clone leaves `given` alone
}

void EmbeddingBagImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight.select(0, *options.padding_idx()).fill_(0);
}

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::EmbeddingBag(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=" << options.scale_grad_by_freq();
  if (options.sparse()) stream << ", sparse=" << options.sparse();
  if (!std::holds_alternative<enumtype::kMean>(options.mode()))
    stream << ", mode=" << enumtype::get_enum_name(options.mode());
  if (options.include_last_offset()) stream << ", include_last_offset=" << options.include_last_offset();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  stream << ")";
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights) {
  return functional::embedding_bag(input, weight,
                                   functional::EmbeddingBagFuncOptions()
                                       .offsets(offsets)
                                       .max_norm(options.max_norm())
                                       .norm_type(options.norm_type())
                                       .scale_grad_by_freq(options.scale_grad_by_freq())
                                       .mode(options.mode())
                                       .sparse(options.sparse())
                                       .per_sample_weights(per_sample_weights)
                                       .include_last_offset(options.include_last_offset())
                                       .padding_idx(options.padding_idx()));
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& o) {
  ARGAND_CHECK(ShapeError, embeddings.dim() == 2,
               "EmbeddingBag::from_pretrained: Embeddings parameter is expected to be 2-dimensional, got ",
               embeddings.sizes());
  EmbeddingBag out(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                       ._weight(embeddings)
                       .max_norm(o.max_norm())
                       .norm_type(o.norm_type())
                       .scale_grad_by_freq(o.scale_grad_by_freq())
                       .mode(o.mode())
                       .sparse(o.sparse())
                       .include_last_offset(o.include_last_offset())
                       .padding_idx(o.padding_idx()));
  out->weight.set_requires_grad(!o.freeze());
  return out;
}

}  // namespace argand::nn
