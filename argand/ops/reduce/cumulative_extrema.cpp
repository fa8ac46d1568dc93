// The largest and the smallest element so far.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

TensorMetas running_metas(const char* op, const Tensor& self, int64_t dim) {
  wrap_dim(dim, self.dim(), op);
  return {{self.impl().sizes, self.dtype()}, {self.impl().sizes, kLong}};
}

void running_extreme(bool largest, const Tensor& self, int64_t dim, std::span<Tensor> outs) {
  const Tensor in = exec::dense(self);
  const DimSplit s(in.sizes(), wrap_dim(dim, in.dim(), "scan"));
  blocks::scan_extreme.on(in.device())(largest, in.impl().data(), outs[0].impl().data(),
                                       static_cast<int64_t*>(outs[1].impl().data()), in.dtype(),
                                       {s.outer, s.size, s.inner});
}

}  // namespace

struct Cummax : Kernel<CummaxArgs> {
  static constexpr auto schema = "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)";
  static constexpr auto doc =
      "The largest of the first elements along dim (NaN once there was one) and its index, the last of equal ones.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) { return running_metas("cummax", a.self, a.dim); }
  static void run(const Args& a, std::span<Tensor> outs) { running_extreme(true, a.self, a.dim, outs); }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return zeros_like(g[0]).scatter_add(c.dim, c.result(1), g[0]);
  }
  static void samples(S& s) {
    s.add({s->apart({7}), 0});
    s.add({s->apart({2, 3, 4}), 1});
    s.add({s->apart({2, 3, 4}), -1});
    s.add({s->apart({}), 0});
    s.add({s->apart({0, 3}), 0});
    s.add({s->integer({4, 5}, 0, 3), 0});
    s.fails({s->real({3, 4}), 2}, "cummax: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Cummax)

struct Cummin : Kernel<CumminArgs> {
  static constexpr auto schema = "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)";
  static constexpr auto doc =
      "The smallest of the first elements along dim (NaN once there was one) and its index, the last of equal ones.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) { return running_metas("cummin", a.self, a.dim); }
  static void run(const Args& a, std::span<Tensor> outs) { running_extreme(false, a.self, a.dim, outs); }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return zeros_like(g[0]).scatter_add(c.dim, c.result(1), g[0]);
  }
  static void samples(S& s) {
    s.add({s->apart({7}), 0});
    s.add({s->apart({2, 3, 4}), 1});
    s.add({s->integer({4, 5}, 0, 3), 1});
    s.fails({s->real({3, 4}), 2}, "cummin: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Cummin)

}  // namespace argand::ops
