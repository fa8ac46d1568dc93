// The ops of fft/: a part of ops/all.h, which includes it.
#ifndef ARGAND_LIST_OP
#define ARGAND_LIST_OP(Name)
#endif
ARGAND_LIST_OP(FftC2c)
ARGAND_LIST_OP(FftR2c)
ARGAND_LIST_OP(FftC2r)
// fft/lines.cpp
ARGAND_LIST_OP(FftFft)
ARGAND_LIST_OP(FftIfft)
ARGAND_LIST_OP(FftRfft)
ARGAND_LIST_OP(FftIrfft)
ARGAND_LIST_OP(FftHfft)
ARGAND_LIST_OP(FftIhfft)
// fft/dims.cpp
ARGAND_LIST_OP(FftFftn)
ARGAND_LIST_OP(FftIfftn)
ARGAND_LIST_OP(FftRfftn)
ARGAND_LIST_OP(FftIrfftn)
ARGAND_LIST_OP(FftHfftn)
ARGAND_LIST_OP(FftIhfftn)
ARGAND_LIST_OP(FftFft2)
ARGAND_LIST_OP(FftIfft2)
ARGAND_LIST_OP(FftRfft2)
ARGAND_LIST_OP(FftIrfft2)
ARGAND_LIST_OP(FftHfft2)
ARGAND_LIST_OP(FftIhfft2)
// fft/shift.cpp
ARGAND_LIST_OP(FftFftshift)
ARGAND_LIST_OP(FftIfftshift)
// fft/stft.cpp
ARGAND_LIST_OP(Stft)
ARGAND_LIST_OP(Istft)
