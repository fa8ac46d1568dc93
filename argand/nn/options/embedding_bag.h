// Options of EmbeddingBag.
#pragma once
#include <optional>
#include <variant>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"
#include "argand/nn/enums.h"

namespace argand::nn {

using EmbeddingBagMode = std::variant<enumtype::kSum, enumtype::kMean, enumtype::kMax>;

struct EmbeddingBagOptions {
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  ARGAND_ARG(int64_t, num_embeddings);
  ARGAND_ARG(int64_t, embedding_dim);
  ARGAND_ARG(std::optional<double>, max_norm) = std::nullopt;  // rows of a larger norm are scaled down to it
  ARGAND_ARG(double, norm_type) = 2.;
  ARGAND_ARG(bool, scale_grad_by_freq) = false;  // a row's gradient is divided by how often it was used
  ARGAND_ARG(EmbeddingBagMode, mode) = kMean;
  ARGAND_ARG(bool, sparse) = false;                                // gradients are dense in any case
  ARGAND_ARG(Tensor, _weight) = Tensor();                          // initial rows
  ARGAND_ARG(bool, include_last_offset) = false;                   // the last offset is the end of the last bag
  ARGAND_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;  // indices that do not count
};

struct EmbeddingBagFromPretrainedOptions {
  ARGAND_ARG(bool, freeze) = true;
  ARGAND_ARG(std::optional<double>, max_norm) = std::nullopt;
  ARGAND_ARG(double, norm_type) = 2.;
  ARGAND_ARG(bool, scale_grad_by_freq) = false;
  ARGAND_ARG(EmbeddingBagMode, mode) = kMean;
  ARGAND_ARG(bool, sparse) = false;
  ARGAND_ARG(bool, include_last_offset) = false;
  ARGAND_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

namespace functional {

struct EmbeddingBagFuncOptions {
  ARGAND_ARG(Tensor, offsets) = Tensor();
  ARGAND_ARG(std::optional<double>, max_norm) = std::nullopt;
  ARGAND_ARG(double, norm_type) = 2.;
  ARGAND_ARG(bool, scale_grad_by_freq) = false;
  ARGAND_ARG(EmbeddingBagMode, mode) = kMean;
  ARGAND_ARG(bool, sparse) = false;
  ARGAND_ARG(Tensor, per_sample_weights) = Tensor();  // a factor for each row; kSum only
  ARGAND_ARG(bool, include_last_offset) = false;
  ARGAND_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

}  // namespace functional
}  // namespace argand::nn
