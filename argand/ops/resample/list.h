// The ops of resample/: a part of ops/all.h, which includes it.
#ifndef ARGAND_LIST_OP
#define ARGAND_LIST_OP(Name)
#endif
// resample/resample.cpp
ARGAND_LIST_OP(UpsampleAny)
ARGAND_LIST_OP(UpsampleAnyBackward)
// resample/nearest.cpp
ARGAND_LIST_OP(UpsampleNearest1d)
ARGAND_LIST_OP(UpsampleNearest1dVec)
ARGAND_LIST_OP(UpsampleNearest2d)
ARGAND_LIST_OP(UpsampleNearest2dVec)
ARGAND_LIST_OP(UpsampleNearest3d)
ARGAND_LIST_OP(UpsampleNearest3dVec)
ARGAND_LIST_OP(UpsampleNearestExact1d)
ARGAND_LIST_OP(UpsampleNearestExact1dVec)
ARGAND_LIST_OP(UpsampleNearestExact2d)
ARGAND_LIST_OP(UpsampleNearestExact2dVec)
ARGAND_LIST_OP(UpsampleNearestExact3d)
ARGAND_LIST_OP(UpsampleNearestExact3dVec)
// resample/linear.cpp
ARGAND_LIST_OP(UpsampleLinear1d)
ARGAND_LIST_OP(UpsampleLinear1dVec)
ARGAND_LIST_OP(UpsampleBilinear2d)
ARGAND_LIST_OP(UpsampleBilinear2dVec)
ARGAND_LIST_OP(UpsampleTrilinear3d)
ARGAND_LIST_OP(UpsampleTrilinear3dVec)
// resample/cubic.cpp
ARGAND_LIST_OP(UpsampleBicubic2d)
ARGAND_LIST_OP(UpsampleBicubic2dVec)
ARGAND_LIST_OP(UpsampleBilinear2dAa)
ARGAND_LIST_OP(UpsampleBilinear2dAaVec)
ARGAND_LIST_OP(UpsampleBicubic2dAa)
ARGAND_LIST_OP(UpsampleBicubic2dAaVec)
// resample/fold.cpp, grid.cpp
ARGAND_LIST_OP(Im2col)
ARGAND_LIST_OP(Col2im)
ARGAND_LIST_OP(GridSampler2d)
ARGAND_LIST_OP(GridSampler3d)
ARGAND_LIST_OP(GridSampler)
ARGAND_LIST_OP(AffineGridGenerator)
