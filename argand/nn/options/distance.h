// Options of the distances.
#pragma once
#include <cstdint>

#include "argand/base/arg.h"

namespace argand::nn {

struct CosineSimilarityOptions {
  ARGAND_ARG(int64_t, dim) = 1;    // the dimension of the vectors
  ARGAND_ARG(double, eps) = 1e-8;  // the least length to divide by
};

struct PairwiseDistanceOptions {
  ARGAND_ARG(double, p) = 2;
  ARGAND_ARG(double, eps) = 1e-6;  // added to each difference
  ARGAND_ARG(bool, keepdim) = false;
};

namespace functional {

using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

}  // namespace functional
}  // namespace argand::nn
