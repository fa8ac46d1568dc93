#include "argand/kernels/cpu/gemm.h"

#include "argand/base/bfloat16.h"
#include "argand/base/half.h"
#include "argand/kernels/cpu/gemm_generic.h"

namespace argand {

template <class T>
void gemm(const GemmArgs<T>& args) {
  detail::GenericGemm<T>(args).run();
}

template <class T>
void gemm_batched(int64_t batch, const GemmArgs<T>& first, int64_t a_stride, int64_t b_stride, int64_t c_stride) {
  parallel_for(0, batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      GemmArgs<T> args = first;
      args.a.data += i * a_stride;
      args.b.data += i * b_stride;
      args.c += i * c_stride;
      gemm(args);
    }
  });
}

#define ARGAND_INSTANTIATE(T)                \
  template void gemm<T>(const GemmArgs<T>&); \
  template void gemm_batched<T>(int64_t, const GemmArgs<T>&, int64_t, int64_t, int64_t);
ARGAND_INSTANTIATE(float)
ARGAND_INSTANTIATE(double)
ARGAND_INSTANTIATE(Half)
ARGAND_INSTANTIATE(BFloat16)
ARGAND_INSTANTIATE(int64_t)
ARGAND_INSTANTIATE(int32_t)
ARGAND_INSTANTIATE(int16_t)
ARGAND_INSTANTIATE(int8_t)
ARGAND_INSTANTIATE(uint8_t)
ARGAND_INSTANTIATE(bool)
ARGAND_INSTANTIATE(std::complex<float>)
ARGAND_INSTANTIATE(std::complex<double>)
#undef ARGAND_INSTANTIATE

}  // namespace argand
