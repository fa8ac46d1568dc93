// log(sum(exp(x))) without overflow.
#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {

struct Logsumexp : Kernel<LogsumexpArgs> {
  static constexpr auto schema = "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor";
  static constexpr const char* overloads[] = {
      "special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"};
  static constexpr auto doc =
      "log(sum(exp(self))) over dim (all dimensions if empty), computed from the distances to the largest element. Of "
      "nothing, or of minus infinities alone, it is minus infinity. Integers give floating point.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) {
    return {reduced_sizes(a.self.sizes(), wrap_dims(a.dim, a.self.dim(), "logsumexp"), a.keepdim),
            is_differentiable(a.self.dtype()) ? a.self.dtype() : get_default_dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Dims dims = wrap_dims(a.dim, a.self.dim(), "logsumexp");
    if (a.self.is_complex()) return exec::copy_elements(out, of_complex(a.self, dims, a.keepdim));
    const ScalarType type = accumulator_type(out.dtype());
    const Tensor top = exec::new_tensor({out.impl().sizes, type}, out.device());
    // The distance of infinities is NaN: there the plain sum is right.
    reduce_into(top, ReduceKind::kMax, a.self, dims, {.finish = ReduceFinish::kZeroIfInfinite});
    reduce_into(out, ReduceKind::kCenteredExp, a.self, dims,
                {.center = top.impl().data(), .finish = ReduceFinish::kLogPlusCenter});
  }
  // The largest real part has the largest exponential.
  static Tensor of_complex(const Tensor& self, const Dims& dims, bool keepdim) {
    if (self.numel() == 0) return self.exp().sum(dims, keepdim).log();
    const Tensor top = real(self).amax(dims, true);
    const Tensor sum = (self - top.masked_fill(top.isinf(), 0)).exp().sum(dims, true).log() + top;
    return sum.reshape(reduced_sizes(self.sizes(), dims, keepdim));
  }
  // If the result is minus infinity, all elements are: e^(self - 0) is 0, as required.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor y = unreduce(c.result(), c.self.sizes(), c.dim, c.keepdim);
    const Tensor finite = y.masked_fill(y == -std::numeric_limits<double>::infinity(), 0);
    return unreduce(g, c.self.sizes(), c.dim, c.keepdim) * (c.self - finite).exp().conj();
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), {1}});
    s.add({s->real({2, 3, 4}), {0, -1}, true});
    s.add({s->real({2, 3, 4}), {1}});
    s.add({s->real({2, 3}), {}});
    s.add({s->real({}), {0}});
    s.add({s->real({0, 3}), {1}});
    s.add_without_gradient({s->real({0, 3}), {0}});  // -inf
    s.add({s->integer({2, 3}, -5, 6), {1}});
    s.fails({s->real({2, 3}), {2}},
            "logsumexp: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Logsumexp)

}  // namespace argand::ops
