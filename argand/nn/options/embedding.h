// Options of Embedding.
#pragma once
#include <optional>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"

namespace argand::nn {

struct EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  ARGAND_ARG(int64_t, num_embeddings);
  ARGAND_ARG(int64_t, embedding_dim);
  ARGAND_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;  // a row that gets no gradient and starts as zeros
  ARGAND_ARG(std::optional<double>, max_norm) = std::nullopt;      // rows of a larger norm are scaled down to it
  ARGAND_ARG(double, norm_type) = 2.;
  ARGAND_ARG(bool, scale_grad_by_freq) = false;  // a row's gradient is divided by how often it was used
  ARGAND_ARG(bool, sparse) = false;              // gradients are dense in any case
  ARGAND_ARG(Tensor, _weight) = Tensor();        // initial rows
};

struct EmbeddingFromPretrainedOptions {
  ARGAND_ARG(bool, freeze) = true;
  ARGAND_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  ARGAND_ARG(std::optional<double>, max_norm) = std::nullopt;
  ARGAND_ARG(double, norm_type) = 2.;
  ARGAND_ARG(bool, scale_grad_by_freq) = false;
  ARGAND_ARG(bool, sparse) = false;
};

namespace functional {

struct EmbeddingFuncOptions {
  ARGAND_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  ARGAND_ARG(std::optional<double>, max_norm) = std::nullopt;
  ARGAND_ARG(double, norm_type) = 2.;
  ARGAND_ARG(bool, scale_grad_by_freq) = false;
  ARGAND_ARG(bool, sparse) = false;
};

}  // namespace functional
}  // namespace argand::nn
