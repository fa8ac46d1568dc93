// Views written over the tensor itself: squeeze_, unsqueeze_, transpose_, t_.  No element moves; the handle's sizes and
// strides change, and its history becomes that of the view.
#include "argand/exec/forward_mode.h"
#include "argand/ops/define.h"
#include "argand/ops/view/args.h"
#include "argand/ops/view/become.h"

namespace argand::ops {

Tensor become(PermanentName op, const Tensor& self, const Tensor& view) {
  ARGAND_CHECK(
      GradError, !self.is_inference() || InferenceMode::is_enabled(), op,
      "_: Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
      "normal tensor before doing inplace update.");
  check_inplace(op, self, GradMode::is_enabled() && self.requires_grad());
  const auto node = view.grad_fn();
  TensorImpl& impl = self.impl();
  impl.sizes = view.impl().sizes;
  impl.strides = view.impl().strides;
  impl.offset = view.impl().offset;
  impl.refresh();
  self.storage()->bump_version(op);
  exec::share_tangents(self, view);
  if (node && GradMode::is_enabled()) {
    AutogradMeta& meta = autograd_meta(self);
    meta.grad_fn = node;
    meta.output_nr = 0;
    meta.view_version = self._version();
  }
  return self;
}

struct SqueezeInplace : Composite<SqueezeInplaceArgs> {
  static constexpr auto schema = "squeeze_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto doc = "squeeze of the tensor itself; elements stay where they are.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return become("squeeze", a.self, a.self.squeeze()); }
};
ARGAND_OP(SqueezeInplace)

struct SqueezeDimInplace : Composite<SqueezeDimInplaceArgs> {
  static constexpr auto schema = "squeeze_.dim(Tensor(a!) self, int[1] dim) -> Tensor(a!)";
  static constexpr auto doc = "squeeze of the tensor itself; elements stay where they are.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return become("squeeze", a.self, a.self.squeeze(a.dim)); }
};
ARGAND_OP(SqueezeDimInplace)

struct UnsqueezeInplace : Composite<UnsqueezeInplaceArgs> {
  static constexpr auto schema = "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)";
  static constexpr auto doc = "unsqueeze of the tensor itself; elements stay where they are.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return become("unsqueeze", a.self, a.self.unsqueeze(a.dim)); }
};
ARGAND_OP(UnsqueezeInplace)

struct TransposeInplace : Composite<TransposeInplaceArgs> {
  static constexpr auto schema = "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)";
  static constexpr const char* overloads[] = {"swapaxes_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
                                              "swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)"};
  static constexpr auto doc = "transpose of the tensor itself; elements stay where they are.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return become("transpose", a.self, a.self.transpose(a.dim0, a.dim1)); }
};
ARGAND_OP(TransposeInplace)

struct TInplace : Composite<TInplaceArgs> {
  static constexpr auto schema = "t_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto doc = "t of the tensor itself; elements stay where they are.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return become("t", a.self, a.self.t()); }
};
ARGAND_OP(TInplace)

}  // namespace argand::ops
