// Blocks (kernels/blocks.h) for object detection: boxes, regions of interest, deformable convolution.
#pragma once
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/deform.h"
#include "argand/kernels/cpu/overlap.h"
#include "argand/kernels/cpu/roi.h"

namespace argand::blocks {

extern Block<RunDeformColumns> deform_columns;
extern Block<RunDeformInputGrad> deform_input_grad;
extern Block<RunDeformPlaceGrads> deform_place_grads;
extern Block<decltype(cpu::keep_apart)> keep_apart;
extern Block<RunRoiAverage> roi_average;
extern Block<RunRoiAverageBackward> roi_average_backward;
extern Block<RunRoiMax> roi_max;

}  // namespace argand::blocks
