// Options of Linear, Bilinear, Flatten and Unflatten.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "argand/base/arg.h"

namespace argand::nn {

struct LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features) : in_features_(in_features), out_features_(out_features) {}
  ARGAND_ARG(int64_t, in_features);
  ARGAND_ARG(int64_t, out_features);
  ARGAND_ARG(bool, bias) = true;
};

struct FlattenOptions {
  ARGAND_ARG(int64_t, start_dim) = 1;
  ARGAND_ARG(int64_t, end_dim) = -1;
};

struct UnflattenOptions {
  using namedshape_t = std::vector<std::pair<std::string, int64_t>>;
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  // Takes dimension names, which are printed only: forward() throws NotImplementedError.
  UnflattenOptions(const char* dimname, namedshape_t namedshape)
      : dimname_(dimname), namedshape_(std::move(namedshape)) {}
  ARGAND_ARG(std::string, dimname);
  ARGAND_ARG(namedshape_t, namedshape);
  ARGAND_ARG(int64_t, dim) = 0;
  ARGAND_ARG(std::vector<int64_t>, sizes);
};

struct BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  ARGAND_ARG(int64_t, in1_features);
  ARGAND_ARG(int64_t, in2_features);
  ARGAND_ARG(int64_t, out_features);
  ARGAND_ARG(bool, bias) = true;
};

}  // namespace argand::nn
