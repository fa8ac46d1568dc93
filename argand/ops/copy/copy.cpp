// Copies and conversions: copy_, clone, contiguous, to, detach.
#include "argand/ops/copy/args.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/runtime/backend.h"

namespace argand::ops {

// The gradient of argument `i` of an op that copies between devices, back where the argument is.
template <class Ctx>
static Tensor returned(const Ctx& c, size_t i, const Tensor& g) {
  const autograd::Edge& edge = c.next_edges()[i];
  return g.to(edge.function->input_meta(edge.input_nr).device);
}

struct CopyInplace : Kernel<CopyInplaceArgs> {
  static constexpr auto schema = "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)";
  static constexpr auto doc =
      "Writes src, broadcast and converted, into self. Overlapping memory behaves as if src were copied first.";
  static constexpr auto python_numbers = "src";
  static constexpr bool starts_from_self = true, writes_strided = true, crosses_devices = true;
  static TensorMeta infer(const Args& a) {
    const Dims sizes = broadcast_shapes(a.self.sizes(), a.src.sizes(), "copy_");
    return {sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) { exec::copy_elements(out, a.src, a.non_blocking); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static Tensor grad_src(const Ctx& c, const Tensor& g) { return returned(c, 1, g); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({2, 3}), s->real({3})});
    s.fails({s->real({3}), s->real({2, 3})}, "doesn't match the broadcast shape [2, 3]");
  }
};
ARGAND_OP(CopyInplace)
ARGAND_NODE(CopyInplace, "CopyBackwards")

// Strides of a copy of `self`; empty: contiguous.
static Dims strides_of_copy(const Tensor& self, std::optional<MemoryFormat> format) {
  const MemoryFormat f = format.value_or(MemoryFormat::Preserve);
  if (f != MemoryFormat::Preserve) return strides_of(self.sizes(), f);
  // Strides of dimensions of size 1 say whether channels are last.
  return self.is_contiguous() && self.dim() < 4 ? Dims() : strides_like(self.sizes(), self.strides());
}

struct Clone : Kernel<CloneArgs> {
  static constexpr auto schema = "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "A copy in new memory; in the memory order of self unless a format is given.";
  static TensorMeta infer(const Args& a) {
    TensorMeta meta{a.self.impl().sizes, a.self.dtype()};
    meta.strides = strides_of_copy(a.self, a.memory_format);
    return meta;
  }
  static void run(const Args& a, Tensor& out) { exec::copy_elements(out, a.self); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Clone)

struct Contiguous : Composite<ContiguousArgs> {
  static constexpr auto schema = "contiguous(Tensor self, *, MemoryFormat memory_format=contiguous_format) -> Tensor";
  static constexpr auto doc = "self if it is laid out in the format already, else a copy that is.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    return a.self.is_contiguous(a.memory_format) ? a.self : a.self.clone(a.memory_format);
  }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Contiguous)

struct ToCopy : Kernel<ToCopyArgs> {
  static constexpr auto schema =
      "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, bool "
      "non_blocking=False, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "A converted copy, also where nothing would change.";
  static TensorMeta infer(const Args& a) {
    TensorMeta meta{a.self.impl().sizes, a.options.dtype_opt().value_or(a.self.dtype())};
    meta.device = a.options.device_opt().value_or(a.self.device());
    meta.strides = strides_of_copy(a.self, a.memory_format);
    return meta;
  }
  static void run(const Args& a, Tensor& out) { exec::copy_elements(out, a.self, a.non_blocking); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return returned(c, 0, g); }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3}), kFloat});
    s.add({s->real({2, 3, 2, 2}), {}, false, MemoryFormat::ChannelsLast});
  }
};
ARGAND_OP(ToCopy)

struct To : Composite<ToArgs> {
  static constexpr auto schema =
      "to(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
      "bool "
      "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc =
      "self in another dtype or on another device; self itself if nothing changes and copy is false.";
  static constexpr int variants = kMethod;
  static constexpr auto not_python_methods = "to";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, !a.options.requires_grad(),
                 "to(options) expects unset requires_grad flag, but got options.requires_grad set as true");
    const bool same_dtype = a.options.dtype_opt().value_or(a.self.dtype()) == a.self.dtype();
    const bool same_device = !a.options.has_device() || with_index(a.options.device()) == a.self.device();
    // Strides of dimensions of size 1 count, as in PyTorch: later ops see by them that channels are last.
    const bool same_format = !a.memory_format || *a.memory_format == MemoryFormat::Preserve ||
                             (*a.memory_format == MemoryFormat::Contiguous
                                  ? a.self.is_contiguous()
                                  : a.self.is_contiguous(*a.memory_format) &&
                                        a.self.impl().strides == strides_of(a.self.sizes(), *a.memory_format));
    const bool same_memory = !a.options.pinned_memory() || a.self.is_pinned();
    if (same_dtype && same_device && same_format && same_memory && !a.copy) return a.self;
    return _to_copy(a.self, a.options, a.non_blocking, a.memory_format);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3}), TensorOptions(kFloat)});
    s.add({s->real({2, 3}), {}, false, true});
  }
};
ARGAND_OP(To)

struct Detach : Composite<DetachArgs> {
  static constexpr auto schema = "detach(Tensor self) -> Tensor";
  static constexpr auto doc = "The same elements without history; shares storage and version counter.";
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction | kMethod | kCopy;
  static Tensor compose(const Args& a) { return exec::alias(a.self); }
};
ARGAND_OP(Detach)

}  // namespace argand::ops
