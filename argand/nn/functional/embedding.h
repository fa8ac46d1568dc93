// Rows of a table, and class indices as rows of zeros with a one.
#pragma once
#include "argand/nn/options/embedding.h"
#include "argand/nn/options/embedding_bag.h"

namespace argand::nn::functional {

// [...] indices and weight [count, dim] give [..., dim].  With max_norm, the rows used are scaled down in `weight`
// itself first, without history.  ValueError for a padding_idx outside [-count, count).
Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {});

// The sum, mean or maximum of the rows of each bag: [bags, dim].  Bags are the rows of indices [bags, n], or those
// parts of a vector that begin at `offsets`.
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {});

// [...] indices give [..., num_classes], one more than the largest index if negative.
Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);

}  // namespace argand::nn::functional
