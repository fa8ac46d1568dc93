// deform_conv2d: a convolution whose window reads the input at positions that are moved by offsets (Dai et al. 2017;
// with masks, Zhu et al. 2018).  The values it reads are written as a matrix, which is multiplied by the weight.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/operand.h"
#include "argand/ops/vision/args.h"
#include "argand/ops/vision/autocast.h"
#include "argand/ops/vision/functions.h"

namespace argand::ops {
namespace {

// The parts of a call that are common to all ops of this file.
template <class Args>
DeformShape shape_of(const Args& a, IntArrayRef input) {
  const auto places = a.offsets.sizes().slice(2);
  return {input[0],
          input[1],
          a.offset_groups,
          {input[2], input[3]},
          {places[0], places[1]},
          {a.kernel_size[0], a.kernel_size[1]},
          {a.stride[0], a.stride[1]},
          {a.padding[0], a.padding[1]},
          {a.dilation[0], a.dilation[1]}};
}

template <class Args>
void check_call(const Args& a, IntArrayRef input, ScalarType dtype) {
  constexpr auto op = Args::kName;
  ARGAND_CHECK(ShapeError, input.size() == 4, op, ": expected input [N, C, H, W], got sizes ", input);
  ARGAND_CHECK(ShapeError, a.offsets.dim() == 4, op, ": expected offsets [N, 2 * groups * taps, h, w], got sizes ",
               a.offsets.sizes());
  for (const Dims* pair : {&a.kernel_size, &a.stride, &a.dilation})
    ARGAND_CHECK(ValueError, pair->size() == 2 && (*pair)[0] > 0 && (*pair)[1] > 0, op,
                 ": expected kernel_size, stride and dilation above 0, got ", a.kernel_size, ", ", a.stride, " and ",
                 a.dilation);
  ARGAND_CHECK(ValueError, a.padding.size() == 2 && a.padding[0] >= 0 && a.padding[1] >= 0, op,
               ": expected a padding of 0 or more, got ", a.padding);
  ARGAND_CHECK(ValueError, a.offset_groups > 0 && input[1] % a.offset_groups == 0, op,
               ": input channels must be divisible by the number of offset groups, got ", input[1], " and ",
               a.offset_groups);
  const DeformShape s = shape_of(a, input);
  Dims places;
  for (size_t d = 0; d < 2; ++d)
    places.push_back((s.in[d] + 2 * s.padding[d] - (s.dilation[d] * (s.kernel[d] - 1) + 1)) / s.stride[d] + 1);
  ARGAND_CHECK(ShapeError, places[0] > 0 && places[1] > 0, op, ": calculated output size too small, ", places);
  const Dims offset{s.batch, s.groups * s.taps() * 2, places[0], places[1]};
  check_operand(op, "offsets", a.offsets, offset, dtype);
  if (a.mask.defined()) check_operand(op, "mask", a.mask, {s.batch, s.groups * s.taps(), places[0], places[1]}, dtype);
}

Dims column_sizes(const DeformShape& s) { return {s.batch, s.channels * s.taps(), s.places()}; }

ScalarType type_on(const Tensor& t) { return t.is_cpu() ? op_math_type(t.dtype()) : t.dtype(); }

struct Operands {
  Tensor offset, mask;
  DeformCall call;
  template <class Args>
  Operands(const Args& a, IntArrayRef input, ScalarType type) : offset(exec::dense(a.offsets, type)) {
    if (a.mask.defined()) mask = exec::dense(a.mask, type);
    call = {type, shape_of(a, input), offset.impl().data(), data_or_null(mask)};
  }
};

// For samples: away from whole numbers, where the slope by an offset jumps.
template <class S>
Tensor sample_offsets(S& s, IntArrayRef sizes) {
  return s->integer(sizes, -20, 20).to(kDouble) / 8 + 1.0 / 16;
}

}  // namespace

struct DeformColumns : Kernel<DeformColumnsArgs> {
  static constexpr auto schema =
      "_deform_columns(Tensor input, Tensor offsets, Tensor? mask, int[2] kernel_size, int[2] stride, int[2] padding, "
      "int[2] dilation, int offset_groups) -> Tensor";
  static constexpr auto doc =
      "What each tap of a deformable convolution's window reads of input [N, C, H, W] at each place: [N, C * taps, h * "
      "w].";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    check_call(a, a.input.sizes(), a.input.dtype());
    return {column_sizes(shape_of(a, a.input.sizes())), a.input.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    if (out.numel() == 0) return;
    const ScalarType type = type_on(out);
    const Tensor input = exec::dense(a.input, type);
    const Operands operands(a, a.input.sizes(), type);
    const StagedResult staged(out, true, type);
    blocks::deform_columns.on(out.device())(operands.call, input.impl().data(), staged.data());
    staged.finish();
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    Grads out(3);
    if (c.needs(0))
      out[0] = _deform_columns_input_grad(g, c.offsets, c.mask, c.sizes(kInput), c.kernel_size, c.stride, c.padding,
                                          c.dilation, c.offset_groups);
    if (!c.needs(1) && !c.needs(2)) return out;
    auto [offset, mask] = _deform_columns_place_grads(g, c.input, c.offsets, c.mask, c.kernel_size, c.stride, c.padding,
                                                      c.dilation, c.offset_groups);
    out[1] = offset;
    if (c.mask.defined()) out[2] = mask;
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({2, 2, 4, 5}), sample_offsets(s, {2, 12, 4, 3}), {}, {2, 3}, {1, 2}, {1, 1}, {2, 1}, 1});
    s.add({s->real({1, 4, 3, 3}),
           sample_offsets(s, {1, 16, 2, 2}),
           s->real({1, 8, 2, 2}),
           {2, 2},
           {1, 1},
           {0, 0},
           {1, 1},
           2});
    s.fails({s->real({1, 4, 3, 3}), s->real({1, 8, 3, 2}), {}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, 1},
            "_deform_columns: expected offsets of shape [1, 8, 2, 2], got [1, 8, 3, 2]");
    s.fails({s->real({1, 4, 3, 3}), s->real({1, 8, 2, 2}), {}, {2, 2}, {0, 1}, {0, 0}, {1, 1}, 1},
            "_deform_columns: expected kernel_size, stride and dilation above 0");
    s.fails({s->real({1, 4, 3, 3}), s->real({1, 8, 2, 2}), {}, {4, 2}, {1, 1}, {0, 0}, {1, 1}, 1},
            "calculated output size too small");
    s.fails({s->real({1, 3, 3, 3}), s->real({1, 16, 2, 2}), {}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, 2},
            "input channels must be divisible by the number of offset groups, got 3 and 2");
  }
};
ARGAND_OP(DeformColumns)

struct DeformColumnsInputGrad : Kernel<DeformColumnsInputGradArgs> {
  static constexpr auto schema =
      "_deform_columns_input_grad(Tensor grad_output, Tensor offsets, Tensor? mask, int[] input_size, int[2] "
      "kernel_size, int[2] stride, int[2] padding, int[2] dilation, int offset_groups) -> Tensor";
  static constexpr auto doc = "The gradient of _deform_columns's input, which had input_size.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    check_call(a, a.input_size, a.grad_output.dtype());
    check_operand(Args::kName, "grad_output", a.grad_output, column_sizes(shape_of(a, a.input_size)),
                  a.grad_output.dtype());
    return {a.input_size, a.grad_output.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    if (out.numel() == 0) return;
    const ScalarType type = type_on(out);
    const Tensor g = exec::dense(a.grad_output, type);
    const Operands operands(a, a.input_size, type);
    const StagedResult staged(out, true, type);
    blocks::deform_input_grad.on(out.device())(operands.call, g.impl().data(), staged.data());
    staged.finish();
  }
  // The sum of this times `g` is that of grad_output times the columns of `g`.
  static Grads grad(const Ctx& c, const Tensor& g) {
    Grads out(3);
    if (c.needs(0))
      out[0] = _deform_columns(g, c.offsets, c.mask, c.kernel_size, c.stride, c.padding, c.dilation, c.offset_groups);
    if (!c.needs(1) && !c.needs(2)) return out;
    auto [offset, mask] = _deform_columns_place_grads(c.grad_output, g, c.offsets, c.mask, c.kernel_size, c.stride,
                                                      c.padding, c.dilation, c.offset_groups);
    out[1] = offset;
    if (c.mask.defined()) out[2] = mask;
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({1, 16, 4}),
           sample_offsets(s, {1, 16, 2, 2}),
           s->real({1, 8, 2, 2}),
           {1, 4, 3, 3},
           {2, 2},
           {1, 1},
           {0, 0},
           {1, 1},
           2});
    s.add(
        {s->real({2, 12, 12}), sample_offsets(s, {2, 12, 4, 3}), {}, {2, 2, 4, 5}, {2, 3}, {1, 2}, {1, 1}, {2, 1}, 1});
    s.add(
        {s->real({1, 18, 81}), sample_offsets(s, {1, 18, 9, 9}), {}, {1, 2, 9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1});
    s.fails({s->real({1, 16, 3}), s->real({1, 16, 2, 2}), {}, {1, 4, 3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, 2},
            "expected grad_output of shape [1, 16, 4], got [1, 16, 3]");
  }
};
ARGAND_OP(DeformColumnsInputGrad)

struct DeformColumnsPlaceGrads : Kernel<DeformColumnsPlaceGradsArgs> {
  static constexpr auto schema =
      "_deform_columns_place_grads(Tensor grad_output, Tensor input, Tensor offsets, Tensor? mask, int[2] kernel_size, "
      "int[2] stride, int[2] padding, int[2] dilation, int offset_groups) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "The gradients of _deform_columns's offsets and mask; the second has no elements where there is no mask.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    check_call(a, a.input.sizes(), a.grad_output.dtype());
    check_operand(Args::kName, "input", a.input, a.input.impl().sizes, a.grad_output.dtype());
    check_operand(Args::kName, "grad_output", a.grad_output, column_sizes(shape_of(a, a.input.sizes())),
                  a.grad_output.dtype());
    return {{a.offsets.impl().sizes, a.grad_output.dtype()},
            {a.mask.defined() ? a.mask.impl().sizes : Dims{0}, a.grad_output.dtype()}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    if (outs[0].numel() == 0) return;
    const ScalarType type = type_on(outs[0]);
    const Tensor g = exec::dense(a.grad_output, type), input = exec::dense(a.input, type);
    const Operands operands(a, a.input.sizes(), type);
    const StagedResult offset(outs[0], true, type), mask(outs[1], a.mask.defined(), type);
    blocks::deform_place_grads.on(outs[0].device())(operands.call, g.impl().data(), input.impl().data(), offset.data(),
                                                    mask.data());
    offset.finish();
    if (a.mask.defined()) mask.finish();
  }
  static void samples(S& s) {
    s.add_without_gradient({s->real({1, 16, 4}),
                            s->real({1, 4, 3, 3}),
                            s->real({1, 16, 2, 2}),
                            s->real({1, 8, 2, 2}),
                            {2, 2},
                            {1, 1},
                            {0, 0},
                            {1, 1},
                            2});
    s.add_without_gradient(
        {s->real({2, 12, 12}), s->real({2, 2, 4, 5}), s->real({2, 12, 4, 3}), {}, {2, 3}, {1, 2}, {1, 1}, {2, 1}, 1});
    s.fails({s->real({1, 16, 3}), s->real({1, 4, 3, 3}), s->real({1, 16, 2, 2}), {}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, 2},
            "expected grad_output of shape [1, 16, 4], got [1, 16, 3]");
  }
};
ARGAND_OP(DeformColumnsPlaceGrads)

struct TorchvisionDeformConv2d : Composite<TorchvisionDeformConv2dArgs> {
  static constexpr auto schema =
      "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
      "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
      "SymInt offset_groups, bool use_mask) -> Tensor";
  static constexpr auto doc =
      "A convolution of input [N, C, H, W] with weight [out, C / groups, kh, kw] whose window reads at places moved by "
      "offset [N, 2 * offset_groups * kh * kw, h, w], y before x, multiplied by mask [N, offset_groups * kh * kw, h, "
      "w] with use_mask (Dai et al. 2017, Zhu et al. 2018).";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& given) {
    const Float32Region region(given.input, false);
    Args a = given;
    for (Tensor* tensor : {&a.input, &a.weight, &a.offset, &a.mask, &a.bias}) *tensor = region.argument(*tensor);
    check(a);
    return region.result(convolve(a));
  }
  static Tensor convolve(const Args& a) {
    const Tensor &input = a.input, &weight = a.weight;
    const int64_t kernel[] = {weight.sizes()[2], weight.sizes()[3]}, stride[] = {a.stride_h, a.stride_w},
                  padding[] = {a.pad_h, a.pad_w}, dilation[] = {a.dilation_h, a.dilation_w};
    const Tensor columns = _deform_columns(input, a.offset, a.use_mask ? std::optional<Tensor>(a.mask) : std::nullopt,
                                           kernel, stride, padding, dilation, a.offset_groups);
    const int64_t batch = input.sizes()[0], out = weight.sizes()[0], places = columns.sizes()[2];
    const int64_t taps = weight.sizes()[1] * kernel[0] * kernel[1];
    const Tensor product = weight.reshape({1, a.groups, out / a.groups, taps})
                               .matmul(columns.view({batch, a.groups, taps, places}))
                               .reshape({batch, out, a.offset.sizes()[2], a.offset.sizes()[3]});
    return product + a.bias.view({1, out, 1, 1});
  }
  static void check(const Args& a) {
    constexpr auto op = Args::kName;
    ARGAND_CHECK(ShapeError, a.input.dim() == 4 && a.weight.dim() == 4 && a.offset.dim() == 4, op,
                 ": expected 4 dimensions for input, weight and offset, got ", a.input.sizes(), ", ", a.weight.sizes(),
                 " and ", a.offset.sizes());
    ARGAND_CHECK(DtypeError, a.input.dtype() == a.weight.dtype() && a.input.dtype() == a.bias.dtype(), op,
                 ": expected input, weight and bias of one dtype, got ", a.input.dtype(), ", ", a.weight.dtype(),
                 " and ", a.bias.dtype());
    ARGAND_CHECK(ValueError, a.groups > 0 && a.weight.sizes()[0] % a.groups == 0, op,
                 ": expected groups to divide the output channels, got ", a.groups, " and ", a.weight.sizes()[0]);
    ARGAND_CHECK(ShapeError, a.weight.sizes()[1] * a.groups == a.input.sizes()[1], op, ": expected a weight for ",
                 a.input.sizes()[1], " input channels, got sizes ", a.weight.sizes(), " and ", a.groups, " groups");
    ARGAND_CHECK(ValueError, !a.use_mask || a.mask.defined(), op, ": expected a mask, as use_mask says, got none");
    check_operand(op, "bias", a.bias, {a.weight.sizes()[0]}, a.bias.dtype());
  }
  static void samples(S& s) {
    s.add({s->real({2, 2, 4, 5}), s->real({3, 2, 2, 3}), sample_offsets(s, {2, 12, 4, 3}), s->real({2, 6, 4, 3}),
           s->real({3}), 1, 2, 1, 1, 2, 1, 1, 1, true});
    s.add({s->real({1, 4, 3, 3}), s->real({6, 2, 2, 2}), sample_offsets(s, {1, 16, 2, 2}), s->real({1, 8, 2, 2}),
           s->real({6}), 1, 1, 0, 0, 1, 1, 2, 2, true});
    s.fails({s->real({1, 4, 3, 3}), s->real({6, 3, 2, 2}), s->real({1, 8, 2, 2}), s->real({1, 1}), s->real({6}), 1, 1,
             0, 0, 1, 1, 1, 1, false},
            "torchvision::deform_conv2d: expected a weight for 4 input channels");
    s.fails({s->real({1, 4, 3, 3}), s->real({6, 4, 2, 2}), s->real({1, 8, 2, 2}), s->real({1, 1}), s->real({5}), 1, 1,
             0, 0, 1, 1, 1, 1, false},
            "torchvision::deform_conv2d: expected bias of shape [6], got [5]");
  }
};
ARGAND_OP(TorchvisionDeformConv2d)

}  // namespace argand::ops
