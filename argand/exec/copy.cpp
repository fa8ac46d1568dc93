#include "argand/exec/copy.h"

#include <cstring>

#include "argand/exec/invoke.h"
#include "argand/exec/pointwise.h"

namespace argand::exec {
namespace {

template <class T>
void identity(void* out, const void* const* ins, const void*, int64_t n) {
  if (out != ins[0]) std::memmove(out, ins[0], static_cast<size_t>(n) * sizeof(T));
}

// An instruction, not an op: nobody calls it by name.
constexpr PointwiseInfo kIdentity = {1,
                                     0,
                                     Promote::kDefault,
                                     "x",
                                     {identity<float>, identity<double>, identity<int64_t>, identity<bool>,
                                      identity<std::complex<float>>, identity<std::complex<double>>}};
}  // namespace

void copy_elements(const Tensor& to, const Tensor& from) {
  if (to.numel() == 0 || to.is_meta()) return;
  ARGAND_CHECK(NotImplementedError, !from.is_meta(), "Cannot copy out of meta tensor; no data!");
  PointwiseCall call{&kIdentity, compute_type(to.dtype()), 1, {&from}, {}, &to};
  submit_pointwise(call);
}

Tensor dense_clone(const Tensor& t, ScalarType dtype, Dims strides) {
  Tensor out = new_tensor({t.impl().sizes, dtype, std::move(strides)}, t.device());
  copy_elements(out, t);
  return out;
}

}  // namespace argand::exec
