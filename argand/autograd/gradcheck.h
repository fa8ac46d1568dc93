// Checks of gradients against central differences, as torch.autograd.gradcheck.
//
// The function under test takes tensors and gives tensors.  Inputs that require grad must be float64 or complex128,
// their elements at different addresses; each is moved by +-eps in place and put back.  A complex number counts as two
// real coordinates, so that complex inputs and outputs need no rules of their own.  Cost: two calls of the function per
// input coordinate and one backward per output coordinate.
#pragma once
#include <functional>
#include <vector>

#include "argand/core/tensor.h"

namespace argand::autograd {

using CheckedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct GradcheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;  // passes where |analytical - numerical| <= atol + rtol * |numerical|
  double rtol = 1e-3;
  bool raise_exception = true;  // false: a wrong gradient returns false
  // Compares one product v^T J u per input and result (u, v of length one, the same on every run) instead of all of J:
  // two calls per input and one backward per result and input, however many elements they have.
  bool fast_mode = false;
  bool allow_single = false;  // float32 and complex64 too, for which differences are too coarse for the tolerances
};

// True if the gradients of all results of `fn` with respect to all inputs that require grad are right.  Otherwise a
// GradError that names output, input, their elements and both values.  ValueError when there is nothing to check or an
// input is of another dtype.
bool gradcheck(const CheckedFunction& fn, const std::vector<Tensor>& inputs, const GradcheckOptions& options = {});

// The same for the gradient of the gradient.  `grad_outputs`: cotangents of the results that require grad; made up
// (the same on every run) when empty.
bool gradgradcheck(const CheckedFunction& fn, const std::vector<Tensor>& inputs, std::vector<Tensor> grad_outputs = {},
                   const GradcheckOptions& options = {});

}  // namespace argand::autograd
