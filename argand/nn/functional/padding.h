#pragma once
#include <string>

#include "argand/core/tensor.h"
#include "argand/nn/options/padding.h"

namespace argand::nn::functional {

// Adds to (or, by negative amounts, takes from) the ends of the last dimensions.  kConstant pads any dimensions with
// `value`. The other modes pad the last D of D + 1 or D + 2 dimensions, D <= 3, with the input: mirrored at the edge
// without repeating it (kReflect, less than a size), with the edge (kReplicate), or from the other end (kCircular, at
// most a size).
Tensor pad(const Tensor& input, const PadFuncOptions& options);

// The same with the name of the mode ("kReflect", ...), for modules whose options have their own mode types.
Tensor pad_like(const Tensor& input, const std::vector<int64_t>& amounts, const std::string& mode_name);

}  // namespace argand::nn::functional
