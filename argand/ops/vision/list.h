// The ops of vision/, torchvision's: a part of ops/all.h, which includes it.
#ifndef ARGAND_LIST_OP
#define ARGAND_LIST_OP(Name)
#endif
// vision/nms.cpp
ARGAND_LIST_OP(NmsKept)
ARGAND_LIST_OP(TorchvisionNms)
// vision/roi_average.cpp, roi_align.cpp
ARGAND_LIST_OP(RoiAverage)
ARGAND_LIST_OP(RoiAverageBackward)
ARGAND_LIST_OP(TorchvisionRoiAlign)
ARGAND_LIST_OP(TorchvisionPsRoiAlign)
ARGAND_LIST_OP(TorchvisionPsRoiPool)
// vision/roi_pool.cpp
ARGAND_LIST_OP(RoiMax)
ARGAND_LIST_OP(TorchvisionRoiPool)
// vision/deform_conv.cpp
ARGAND_LIST_OP(DeformColumns)
ARGAND_LIST_OP(DeformColumnsInputGrad)
ARGAND_LIST_OP(DeformColumnsPlaceGrads)
ARGAND_LIST_OP(TorchvisionDeformConv2d)
