// The only list of ops.  Everything that is derived from the definitions follows this order; adding an op is adding its
// struct in ops/<family>/ and its name here.
#ifndef ARGAND_LIST_OP
#define ARGAND_LIST_OP(Name)
#endif

// create/
ARGAND_LIST_OP(Empty)
ARGAND_LIST_OP(Full)
ARGAND_LIST_OP(Zeros)
ARGAND_LIST_OP(Ones)
ARGAND_LIST_OP(EmptyLike)
ARGAND_LIST_OP(FullLike)
ARGAND_LIST_OP(ZerosLike)
ARGAND_LIST_OP(OnesLike)
ARGAND_LIST_OP(Fill)
ARGAND_LIST_OP(ZeroInplace)

// copy/
ARGAND_LIST_OP(CopyInplace)
ARGAND_LIST_OP(Clone)
ARGAND_LIST_OP(Contiguous)
ARGAND_LIST_OP(ToCopy)
ARGAND_LIST_OP(To)
ARGAND_LIST_OP(Detach)

// view/
ARGAND_LIST_OP(Alias)
ARGAND_LIST_OP(AsStrided)
ARGAND_LIST_OP(ViewOp)
ARGAND_LIST_OP(Reshape)
ARGAND_LIST_OP(Expand)
ARGAND_LIST_OP(Permute)
ARGAND_LIST_OP(Transpose)
ARGAND_LIST_OP(T)
ARGAND_LIST_OP(Select)
ARGAND_LIST_OP(Slice)
ARGAND_LIST_OP(Narrow)
ARGAND_LIST_OP(Squeeze)
ARGAND_LIST_OP(SqueezeDim)
ARGAND_LIST_OP(Unsqueeze)

// pointwise/arithmetic.cpp
ARGAND_LIST_OP(Add)
ARGAND_LIST_OP(Sub)
ARGAND_LIST_OP(Mul)
ARGAND_LIST_OP(Div)
ARGAND_LIST_OP(Neg)
// pointwise/complex.cpp
ARGAND_LIST_OP(Conj)
ARGAND_LIST_OP(ConjPhysical)

// reduce/
ARGAND_LIST_OP(Sum)
ARGAND_LIST_OP(SumToSize)

// matmul/
ARGAND_LIST_OP(Mm)
ARGAND_LIST_OP(Bmm)
ARGAND_LIST_OP(Addmm)
ARGAND_LIST_OP(Baddbmm)
ARGAND_LIST_OP(Mv)
ARGAND_LIST_OP(Addmv)
ARGAND_LIST_OP(Dot)
ARGAND_LIST_OP(Vdot)
ARGAND_LIST_OP(Outer)
ARGAND_LIST_OP(Addr)
ARGAND_LIST_OP(Matmul)
ARGAND_LIST_OP(Linear)
ARGAND_LIST_OP(Tensordot)
ARGAND_LIST_OP(Inner)
ARGAND_LIST_OP(Einsum)

// conv/
ARGAND_LIST_OP(ConvolutionNd)
ARGAND_LIST_OP(ConvInputGrad)
ARGAND_LIST_OP(ConvWeightGrad)
ARGAND_LIST_OP(Conv1d)
ARGAND_LIST_OP(Conv1dPadding)
ARGAND_LIST_OP(ConvTranspose1d)
ARGAND_LIST_OP(Conv2d)
ARGAND_LIST_OP(Conv2dPadding)
ARGAND_LIST_OP(ConvTranspose2d)
ARGAND_LIST_OP(Conv3d)
ARGAND_LIST_OP(Conv3dPadding)
ARGAND_LIST_OP(ConvTranspose3d)

// index/gather.cpp
ARGAND_LIST_OP(Gather)
ARGAND_LIST_OP(ScatterAdd)

// pool/
ARGAND_LIST_OP(MaxPoolNd)
ARGAND_LIST_OP(MaxPoolBackward)
ARGAND_LIST_OP(AdaptiveMaxPoolNd)
ARGAND_LIST_OP(MaxPool1dWithIndices)
ARGAND_LIST_OP(MaxPool1d)
ARGAND_LIST_OP(AdaptiveMaxPool1d)
ARGAND_LIST_OP(MaxPool2dWithIndices)
ARGAND_LIST_OP(MaxPool2d)
ARGAND_LIST_OP(AdaptiveMaxPool2d)
ARGAND_LIST_OP(MaxPool3dWithIndices)
ARGAND_LIST_OP(MaxPool3d)
ARGAND_LIST_OP(AdaptiveMaxPool3d)
ARGAND_LIST_OP(AvgPoolNd)
ARGAND_LIST_OP(AvgPoolNdBackward)
ARGAND_LIST_OP(AdaptiveAvgPoolNd)
ARGAND_LIST_OP(AdaptiveAvgPoolNdBackward)
ARGAND_LIST_OP(AvgPool1d)
ARGAND_LIST_OP(AdaptiveAvgPool1d)
ARGAND_LIST_OP(AvgPool2d)
ARGAND_LIST_OP(AdaptiveAvgPool2d)
ARGAND_LIST_OP(AvgPool3d)
ARGAND_LIST_OP(AdaptiveAvgPool3d)

// optim/
ARGAND_LIST_OP(FusedSgd)
ARGAND_LIST_OP(FusedAdam)
ARGAND_LIST_OP(FusedRmsprop)

#undef ARGAND_LIST_OP
