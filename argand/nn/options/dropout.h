// Options of the dropouts; p is the probability of a zero.
#pragma once
#include "argand/base/arg.h"

namespace argand::nn {

struct DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  ARGAND_ARG(double, p) = 0.5;
  ARGAND_ARG(bool, inplace) = false;
};
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

struct DropoutFuncOptions {
  ARGAND_ARG(double, p) = 0.5;
  ARGAND_ARG(bool, training) = true;
  ARGAND_ARG(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

struct AlphaDropoutFuncOptions {
  ARGAND_ARG(double, p) = 0.5;
  ARGAND_ARG(bool, training) = false;
  ARGAND_ARG(bool, inplace) = false;
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;

}  // namespace functional
}  // namespace argand::nn
