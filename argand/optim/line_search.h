// A step along a direction that satisfies the strong Wolfe conditions, as torch.optim.LBFGS finds it.
#pragma once
#include <functional>

#include "argand/core/tensor.h"

namespace argand::optim {

// The function on the line x + t d: its value, the gradient there (a tensor of its own) and the slope, gradient . d.
struct LinePoint {
  double t = 0, value = 0;
  Tensor gradient;
  double slope = 0;
};
using LineFunction = std::function<LinePoint(double t)>;

struct LineSearchResult {
  LinePoint point;
  int64_t evaluations;
};

// Searches from `start` (t = 0), trying t first.  Stops when the interval that must hold a minimum moves no element of
// x by more than tolerance_change; `largest` is the largest element of d.  ("Numerical Optimization", Nocedal and
// Wright, algorithms 3.5 and 3.6.)
LineSearchResult strong_wolfe(const LineFunction& f, const LinePoint& start, double t, double largest,
                              double tolerance_change);

}  // namespace argand::optim
