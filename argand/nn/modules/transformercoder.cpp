#include "argand/nn/modules/transformercoder.h"

namespace argand::nn {
namespace {

// Copies of a layer, each with memory of its own.  A clone is made by reset(), whose draws are overwritten but move the
// random stream on: as LibTorch's, unlike those of Python's torch.nn.Transformer.
template <class Layer>
ModuleList copies(const Layer& layer, int64_t count) {
  ARGAND_CHECK(ValueError, count >= 0, "num_layers should be at least 0, got ", count);
  ModuleList out;
  for (int64_t i = 0; i < count; ++i) out->push_back(layer->clone());
  return out;
}

template <class Layer>
void reset_layers(ModuleList& layers) {
  for (size_t i = 0; i < layers->size(); ++i) layers->template at<Layer>(i).reset_parameters();
}

}  // namespace

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_)
    : Cloneable("torch::nn::TransformerEncoderImpl"), options(std::move(options_)) {
  reset();
}

void TransformerEncoderImpl::reset() {
  layers = register_module("layers", copies(options.encoder_layer(), options.num_layers()));
  if (options.norm().is_empty()) return;
  if (is_copy_) options.norm(options.norm().clone());
  is_copy_ = true;
  register_module("norm", options.norm().ptr());
}

void TransformerEncoderImpl::reset_parameters() { reset_layers<TransformerEncoderLayerImpl>(layers); }

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  Tensor x = src;
  for (size_t i = 0; i < layers->size(); ++i)
    x = layers->at<TransformerEncoderLayerImpl>(i).forward(x, src_mask, src_key_padding_mask);
  return options.norm().is_empty() ? x : options.norm().forward(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_)
    : Cloneable("torch::nn::TransformerDecoderImpl"), options(std::move(options_)) {
  reset();
}

void TransformerDecoderImpl::reset() {
  layers = register_module("layers", copies(options.decoder_layer(), options.num_layers()));
  if (options.norm().is_empty()) return;
  if (is_copy_) options.norm(options.norm().clone());
  is_copy_ = true;
  register_module("norm", options.norm().ptr());
}

void TransformerDecoderImpl::reset_parameters() { reset_layers<TransformerDecoderLayerImpl>(layers); }

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask,
                                       const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  Tensor x = tgt;
  for (size_t i = 0; i < layers->size(); ++i)
    x = layers->at<TransformerDecoderLayerImpl>(i).forward(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                                                           memory_key_padding_mask);
  return options.norm().is_empty() ? x : options.norm().forward(x);
}

}  // namespace argand::nn
