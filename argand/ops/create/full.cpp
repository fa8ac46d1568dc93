// Tensors of one value: empty, full, zeros, ones, their *_like forms, fill, fill_ and zero_.
#include <cstring>

#include "argand/ops/create/args.h"
#include "argand/ops/create/meta.h"
#include "argand/ops/create/uninitialized.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"

namespace argand::ops {
namespace {

// Writes `value` to every element, whatever the strides.
void fill_elements(const Tensor& out, const Scalar& value) { exec::copy_elements(out, exec::wrapped_number(value)); }

ScalarType dtype_for(const Scalar& value) {
  if (value.isBoolean()) return kBool;
  if (value.isIntegral(false)) return kLong;
  return value.isComplex() ? to_complex_type(get_default_dtype()) : get_default_dtype();
}

}  // namespace

struct Empty : Kernel<EmptyArgs> {
  static constexpr auto schema =
      "empty(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "A tensor of the given sizes whose elements are not set.";
  static TensorMeta infer(const Args& a) {
    return meta_of(Args::kName, a.size, a.memory_format ? a.options.memory_format(a.memory_format) : a.options,
                   a.options.dtype());
  }
  static void run(const Args&, Tensor& out) { fill_uninitialized(out); }
  static void samples(S& s) {
    s->values_unset();
    s.add({{2, 3}});
  }
};
ARGAND_OP(Empty)

struct Full : Kernel<FullArgs> {
  static constexpr auto schema =
      "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "A tensor filled with one value; without a dtype, that of the value.";
  static TensorMeta infer(const Args& a) {
    const ScalarType dtype = a.options.dtype_opt().value_or(dtype_for(a.fill_value));
    check_fits(Args::kName, a.fill_value, overflowing_type(dtype));
    return meta_of(Args::kName, a.size, a.options, dtype);
  }
  static void run(const Args& a, Tensor& out) { fill_elements(out, a.fill_value); }
  static void samples(S& s) {
    s.add({{2, 3}, 1.5});
    s.add({{}, 2});
    s.add({{0, 2}, true});
    s.fails({{2, -1}, 0}, "full: Trying to create tensor with negative dimension -1: [2, -1]");
  }
};
ARGAND_OP(Full)

struct Zeros : Composite<ZerosArgs> {
  static constexpr auto schema =
      "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
      "-> Tensor";
  static constexpr auto doc = "A tensor filled with 0.";
  static Tensor compose(const Args& a) {
    check_sizes(Args::kName, a.size);
    return full(a.size, 0, a.options.dtype(a.options.dtype()));
  }
  static void samples(S& s) {
    s.add({{2, 3}});
    s.fails({{-1}}, "zeros: Trying to create tensor with negative dimension -1: [-1]");
  }
};
ARGAND_OP(Zeros)

struct Ones : Composite<OnesArgs> {
  static constexpr auto schema =
      "ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
      "Tensor";
  static constexpr auto doc = "A tensor filled with 1.";
  static Tensor compose(const Args& a) {
    check_sizes(Args::kName, a.size);
    return full(a.size, 1, a.options.dtype(a.options.dtype()));
  }
  static void samples(S& s) {
    s.add({{2, 3}});
    s.fails({{-1}}, "ones: Trying to create tensor with negative dimension -1: [-1]");
  }
};
ARGAND_OP(Ones)

struct EmptyLike : Kernel<EmptyLikeArgs> {
  static constexpr auto schema =
      "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "An unset tensor with the sizes, dtype, device and memory order of self.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) { return meta_like(a.self, a.options, a.memory_format); }
  static void run(const Args&, Tensor& out) { fill_uninitialized(out); }
  static void samples(S& s) {
    s->values_unset();
    s.add({s->real({2, 3})});
    s.add({s->integer({3}, 0, 5), {}, MemoryFormat::Contiguous});
  }
};
ARGAND_OP(EmptyLike)

struct FullLike : Kernel<FullLikeArgs> {
  static constexpr auto schema =
      "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? "
      "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "A tensor of one value with the sizes, dtype, device and memory order of self.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    const TensorMeta meta = meta_like(a.self, a.options, a.memory_format);
    check_fits(Args::kName, a.fill_value, overflowing_type(meta.dtype));
    return meta;
  }
  static void run(const Args& a, Tensor& out) { fill_elements(out, a.fill_value); }
  static void samples(S& s) { s.add({s->real({2, 3}), 2}); }
};
ARGAND_OP(FullLike)

struct ZerosLike : Composite<ZerosLikeArgs> {
  static constexpr auto schema =
      "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "Zeros with the sizes, dtype, device and memory order of self.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return full_like(a.self, 0, a.options, a.memory_format); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(ZerosLike)

struct OnesLike : Composite<OnesLikeArgs> {
  static constexpr auto schema =
      "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto doc = "Ones with the sizes, dtype, device and memory order of self.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return full_like(a.self, 1, a.options, a.memory_format); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(OnesLike)

struct Fill : Kernel<FillArgs> {
  static constexpr auto schema = "fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)";
  static constexpr auto doc = "Sets every element to value.";
  static constexpr bool starts_from_self = true, writes_strided = true, writes_one_value = true;
  static TensorMeta infer(const Args& a) {
    check_fits(Args::kName, a.value, overflowing_type(a.self.dtype()));
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) { fill_elements(out, a.value); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), 2});
    s.fails({s->integer({2}, 0, 3), NAN}, "value cannot be converted to type int64_t without overflow");
    s.fails({s->real({2}), std::complex<double>(1, 2)}, "value cannot be converted to type double without overflow");
  }
};
ARGAND_OP(Fill)
ARGAND_NODE(Fill, "FillBackward2")

struct FillTensor : Kernel<FillTensorArgs> {
  static constexpr auto schema = "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)";
  static constexpr auto doc = "Sets every element to the value of a tensor of no dimensions, on any device.";
  static constexpr bool starts_from_self = true, writes_strided = true, crosses_devices = true, writes_one_value = true;
  static constexpr uint32_t number_arguments = bits(kValue);
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
                 a.value.dim(), " dimensions.");
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) { exec::copy_elements(out, a.value); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static Tensor grad_value(const Ctx& c, const Tensor& g) {
    const autograd::Edge& edge = c.next_edges()[1];
    return g.sum().to(edge.function->input_meta(edge.input_nr).device);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({})});
    s.fails({s->real({2, 3}), s->real({3})}, "fill_ only supports 0-dimension value tensor but got tensor with 1");
  }
};
ARGAND_OP(FillTensor)
ARGAND_NODE(FillTensor, "FillBackward3")

struct Filled : Kernel<FilledArgs> {
  static constexpr auto schema = "fill(Tensor self, Tensor|Scalar value) -> Tensor";
  static constexpr auto doc = "A tensor like self with every element set to value, a number or a tensor of one.";
  static constexpr int variants = kFunction | kOut;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.value.dim() == 0, "fill: only supports 0-dimension value tensor but got tensor with ",
                 a.value.dim(), " dimensions.");
    check_fits(Args::kName, a.value, overflowing_type(a.self.dtype()));
    return meta_like(a.self, {}, {});
  }
  static void run(const Args& a, Tensor& out) { exec::copy_elements(out, a.value); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static Tensor grad_value(const Ctx&, const Tensor& g) { return g.sum(); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), exec::wrapped_number(2)});
    s.add({s->real({2, 3}), s->real({})});
    s.fails({s->real({2, 3}), s->real({3})}, "fill: only supports 0-dimension value tensor but got tensor with 1");
  }
};
ARGAND_OP(Filled)
ARGAND_NODE(Filled, [](const FilledArgs& a) { return is_number(a.value) ? nullptr : "FillBackward1"; })

struct ZeroInplace : Composite<ZeroInplaceArgs> {
  static constexpr auto schema = "zero_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto doc = "Sets every element to 0.";
  static Tensor compose(const Args& a) { return a.self.fill_(0); }
};
ARGAND_OP(ZeroInplace)
ARGAND_NODE(ZeroInplace)

}  // namespace argand::ops
