// Initialisers, in place and without gradient; each draws from the default generator exactly as torch.nn.init does.
#pragma once
#include <variant>

#include "argand/core/tensor.h"
#include "argand/nn/enums.h"

namespace argand::nn::init {

using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D, enumtype::kConvTranspose1D,
                 enumtype::kConvTranspose2D, enumtype::kConvTranspose3D, enumtype::kSigmoid, enumtype::kTanh,
                 enumtype::kReLU, enumtype::kLeakyReLU>;
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

// The factor by which a nonlinearity's initial weights are scaled; `param` is the slope of kLeakyReLU.
double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);
// Connections into and out of one unit of a weight [out, in, kernel...]; ShapeError below two dimensions.
std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

Tensor constant_(Tensor tensor, Scalar value);
Tensor ones_(Tensor tensor);
Tensor zeros_(Tensor tensor);
Tensor eye_(Tensor matrix);
Tensor dirac_(Tensor tensor);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
// A (semi-)orthogonal matrix times gain; dimensions after the first count as one (Saxe et al. 2013).  ShapeError below
// two dimensions.
Tensor orthogonal_(Tensor tensor, double gain = 1.0);
// Normal, with the fraction `sparsity` of each column of a matrix 0 (Martens 2010).
Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);
Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                       NonlinearityType nonlinearity = kLeakyReLU);
Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                        NonlinearityType nonlinearity = kLeakyReLU);
Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);

}  // namespace argand::nn::init
