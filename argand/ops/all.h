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

#undef ARGAND_LIST_OP
