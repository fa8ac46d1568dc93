#include "argand/kernels/detection.h"

namespace argand::blocks {

constinit Block<RunDeformColumns> deform_columns(cpu::deform_columns);
constinit Block<RunDeformInputGrad> deform_input_grad(cpu::deform_input_grad);
constinit Block<RunDeformPlaceGrads> deform_place_grads(cpu::deform_place_grads);
constinit Block<decltype(cpu::keep_apart)> keep_apart(cpu::keep_apart);
constinit Block<RunRoiAverage> roi_average(cpu::roi_average);
constinit Block<RunRoiAverageBackward> roi_average_backward(cpu::roi_average_backward);
constinit Block<RunRoiMax> roi_max(cpu::roi_max);

}  // namespace argand::blocks
