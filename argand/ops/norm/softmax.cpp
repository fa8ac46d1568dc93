// softmax, log_softmax, softmin, and the gradients of the first two as ops of their own.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/norm/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

TensorMeta softmax_meta(const char* op, const Tensor& self, int64_t dim, bool half_to_float) {
  wrap_dim(dim, self.dim(), op);
  ARGAND_CHECK(DtypeError, !half_to_float || self.dtype() == kHalf, op,
               ": conversion is supported for float16 to float32 only, got ", self.dtype());
  return {self.impl().sizes, half_to_float ? kFloat : self.dtype()};
}

SoftmaxShape shape_of(const Tensor& t, int64_t dim) {
  const DimSplit s(t.sizes(), wrap_dim(dim, t.dim(), "softmax"));
  return {s.outer, s.size, s.inner};
}

void run_softmax(bool log, const Tensor& self, int64_t dim, const Tensor& out) {
  const Tensor in = exec::dense(self, out.dtype());
  blocks::softmax.on(out.device())(log, in.impl().data(), out.impl().data(), out.dtype(), shape_of(in, dim));
}

TensorMeta backward_meta(const char* op, const Tensor& grad, const Tensor& output, int64_t dim,
                         ScalarType input_dtype) {
  wrap_dim(dim, grad.dim(), op);
  ARGAND_CHECK(ShapeError, grad.sizes() == output.sizes(), op, ": expected grad_output and output of one shape, got ",
               grad.sizes(), " and ", output.sizes());
  ARGAND_CHECK(DtypeError, grad.dtype() == output.dtype(), op, ": expected grad_output and output of one dtype, got ",
               grad.dtype(), " and ", output.dtype());
  return {grad.impl().sizes, input_dtype};
}

void run_backward(bool log, const Tensor& grad, const Tensor& output, int64_t dim, const Tensor& out) {
  // In the wider of the dtypes of gradient and input.
  const ScalarType type = promote_types(grad.dtype(), out.dtype());
  const Tensor g = exec::dense(grad, type), y = exec::dense(output, type);
  const Tensor to = out.dtype() == type ? out : exec::new_tensor({out.impl().sizes, type}, out.device());
  blocks::softmax_backward.on(out.device())(log, g.impl().data(), y.impl().data(), to.impl().data(), type,
                                            shape_of(g, dim));
  if (!to.is_same(out)) exec::copy_elements(out, to);
}

Tensor in_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype ? self.to(TensorOptions(*dtype)) : self;
}

}  // namespace

struct SoftmaxForward : Kernel<SoftmaxForwardArgs> {
  static constexpr auto schema = "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor";
  static constexpr auto doc = "softmax of floating-point numbers; with half_to_float, float16 gives float32.";
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMeta infer(const Args& a) { return softmax_meta("softmax", a.self, a.dim, a.half_to_float); }
  static void run(const Args& a, Tensor& out) { run_softmax(false, a.self, a.dim, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return _softmax_backward_data(g, c.result(), c.dim, c.dtype(kSelf));
  }
  static void samples(S& s) {
    s.add({s->real({3, 5}), 1, false});
    s.add({s->real({2, 3, 4}), 1, false});
    s.add({s->real({2, 129}), 0, false});  // the last column is alone
  }
};
ARGAND_OP(SoftmaxForward)

struct SoftmaxBackward : Kernel<SoftmaxBackwardArgs> {
  static constexpr auto schema =
      "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor";
  static constexpr auto doc = "(grad_output - sum(grad_output * output)) * output, summed along dim.";
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    return backward_meta("_softmax_backward_data", a.grad_output, a.output, a.dim, a.input_dtype);
  }
  static void run(const Args& a, Tensor& out) { run_backward(false, a.grad_output, a.output, a.dim, out); }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return _softmax_backward_data(g.to(c.output.options()), c.output, c.dim, c.output.dtype());
  }
  static Tensor grad_output(const Ctx& c, const Tensor& g) {
    const Tensor sum = (c.grad_output * c.output).sum(c.dim, true);
    return g * (c.grad_output - sum) - c.grad_output * (g * c.output).sum(c.dim, true);
  }
  static void samples(S& s) {
    s.add({s->real({3, 5}), s->positive({3, 5}), 1, kDouble});
    s.add({s->real({2, 3, 4}), s->positive({2, 3, 4}), 0, kDouble});
    s.fails({s->real({3, 5}), s->real({3, 4}), 1, kDouble},
            "expected grad_output and output of one shape, got [3, 5] and [3, 4]");
  }
};
ARGAND_OP(SoftmaxBackward)

struct LogSoftmaxForward : Kernel<LogSoftmaxForwardArgs> {
  static constexpr auto schema = "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor";
  static constexpr auto doc =
      "log(softmax(self)) of floating-point numbers; with half_to_float, float16 gives float32.";
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMeta infer(const Args& a) { return softmax_meta("log_softmax", a.self, a.dim, a.half_to_float); }
  static void run(const Args& a, Tensor& out) { run_softmax(true, a.self, a.dim, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return _log_softmax_backward_data(g, c.result(), c.dim, c.dtype(kSelf));
  }
  static void samples(S& s) {
    s->accuracy({4, "the device's exponential and logarithm are within two units each", kCUDA});
    s.add({s->real({3, 5}), 1, false});
    s.add({s->real({2, 3, 4}), 0, false});
  }
};
ARGAND_OP(LogSoftmaxForward)

struct LogSoftmaxBackward : Kernel<LogSoftmaxBackwardArgs> {
  static constexpr auto schema =
      "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor";
  static constexpr auto doc = "grad_output - exp(output) * sum(grad_output), summed along dim.";
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    return backward_meta("_log_softmax_backward_data", a.grad_output, a.output, a.dim, a.input_dtype);
  }
  static void run(const Args& a, Tensor& out) { run_backward(true, a.grad_output, a.output, a.dim, out); }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return g - (g * c.output.exp()).sum(c.dim, true); }
  static Tensor grad_output(const Ctx& c, const Tensor& g) {
    return -(g * c.output.exp() * c.grad_output.sum(c.dim, true));
  }
  static void samples(S& s) {
    s.add({s->real({3, 5}), s->real({3, 5}), 1, kDouble});
    s.fails({s->real({3, 5}), s->real({3, 4}), 1, kDouble},
            "expected grad_output and output of one shape, got [3, 5] and [3, 4]");
  }
};
ARGAND_OP(LogSoftmaxBackward)

struct Softmax : Composite<SoftmaxArgs> {
  static constexpr auto schema = "softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"};
  static constexpr auto doc = "exp(self) / sum(exp(self)) along dim, computed in dtype if given.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto without_out = "special_softmax";
  static constexpr bool out_is_exact = true;
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static Tensor compose(const Args& a) { return _softmax(in_dtype(a.self, a.dtype), a.dim, false); }
  static void samples(S& s) {
    s.add({s->real({3, 5}), 1});
    s.add({s->real({2, 3, 4}), -2});
    s.add({s->real({2, 3, 4}), 0, kFloat});
    s.add({s->real({}), 0});
    s.add({s->real({0, 3}), 1});
    s.fails({s->real({3, 5}), 2}, "softmax: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->integer({3, 5}, 0, 3), 1}, "softmax: not implemented for dtype int64");
  }
};
ARGAND_OP(Softmax)

struct LogSoftmax : Composite<LogSoftmaxArgs> {
  static constexpr auto schema = "log_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"};
  static constexpr auto doc = "log(softmax(self, dim)), computed stably, in dtype if given.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto without_out = "special_log_softmax";
  static constexpr bool out_is_exact = true;
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static Tensor compose(const Args& a) { return _log_softmax(in_dtype(a.self, a.dtype), a.dim, false); }
  static void samples(S& s) {
    s.add({s->real({3, 5}), 1});
    s.add({s->real({2, 3, 4}), -2});
    s.add({s->real({}), 0});
    s.fails({s->real({3, 5}), 2},
            "log_softmax: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(LogSoftmax)

}  // namespace argand::ops
