#include "argand/ops/conv/conv_shape.h"

namespace argand::ops {
namespace {

std::string name(const char* op, size_t spatial) {
  return std::string_view(op) == "conv" ? str("conv", spatial, "d") : op;
}

// "4 x 5": a number of each dimension.
template <class F>
std::string by_dims(size_t spatial, const F& number) {
  std::string text;
  for (size_t i = 0; i < spatial; ++i) text += str(i ? " x " : "", number(i));
  return text;
}

void check_options(const std::string& op, size_t spatial, const ConvOptions& o) {
  const auto check = [&](const char* what, IntArrayRef values, int64_t least) {
    ARGAND_CHECK(ValueError, values.size() == spatial, op, ": expected ", spatial, " numbers for ", what, ", got ",
                 values);
    for (const int64_t v : values)
      ARGAND_CHECK(ValueError, v >= least, op, ": ", least > 0 ? "non-positive " : "negative ", what,
                   " is not supported, got ", values);
  };
  check("stride", o.stride, 1);
  check("padding", o.padding, 0);
  check("dilation", o.dilation, 1);
  ARGAND_CHECK(ValueError, o.groups > 0, op, ": groups must be positive, got ", o.groups);
}

}  // namespace

ConvShape conv_shape(const char* given_op, IntArrayRef input, IntArrayRef weight, const ConvOptions& o) {
  const size_t spatial = weight.size() < 2 ? 0 : weight.size() - 2;
  const std::string op = name(given_op, spatial);
  ARGAND_CHECK(ShapeError, spatial >= 1 && spatial <= 3, op, ": expected weight with 1 to 3 spatial dimensions, got ",
               weight);
  ARGAND_CHECK(ShapeError, input.size() == weight.size(), op, ": Expected ", spatial + 1, "D (unbatched) or ",
               spatial + 2, "D (batched) input to ", op, ", but got input of size: ", input);
  check_options(op, spatial, o);
  ARGAND_CHECK(ShapeError, input[1] == weight[1] * o.groups, op, ": expected input with ", weight[1] * o.groups,
               " channels (weight is ", weight, o.groups > 1 ? str(", groups ", o.groups) : std::string(), "), got ",
               input);
  ARGAND_CHECK(ShapeError, weight[0] % o.groups == 0, op, ": the output channels (", weight[0],
               ") must be divisible by groups (", o.groups, ")");
  ConvShape s;
  s.n = input[0];
  s.c = input[1];
  s.o = weight[0];
  s.groups = o.groups;
  for (size_t i = 0; i < spatial; ++i) {
    const size_t d = 3 - spatial + i;
    s.in[d] = input[2 + i];
    s.kernel[d] = weight[2 + i];
    s.stride[d] = o.stride[i];
    s.padding[d] = o.padding[i];
    s.dilation[d] = o.dilation[i];
    const int64_t reach = s.in[d] + 2 * s.padding[d] - s.dilation[d] * (s.kernel[d] - 1) - 1;
    ARGAND_CHECK(ShapeError, s.kernel[d] > 0 && reach >= 0, op, ": Calculated padded input size per channel: (",
                 by_dims(spatial, [&](size_t j) { return input[2 + j] + 2 * o.padding[j]; }), "). Kernel size: (",
                 by_dims(spatial, [&](size_t j) { return o.dilation[j] * (weight[2 + j] - 1) + 1; }),
                 "). Kernel size can't be greater than actual input size");
    s.out[d] = reach / s.stride[d] + 1;
  }
  return s;
}

Dims conv_output_sizes(const ConvShape& s, size_t spatial) {
  Dims out{s.n, s.o};
  for (size_t d = 3 - spatial; d < 3; ++d) out.push_back(s.out[d]);
  return out;
}

Dims conv_transpose_sizes(const char* op, IntArrayRef input, IntArrayRef weight, const ConvOptions& o,
                          IntArrayRef output_padding) {
  const size_t spatial = weight.size() < 2 ? 0 : weight.size() - 2;
  ARGAND_CHECK(ShapeError, spatial >= 1 && spatial <= 3 && input.size() == weight.size(), op,
               ": expected an input and a weight of one rank with 1 to 3 spatial dimensions, got ", input, " and ",
               weight);
  check_options(op, spatial, o);
  ARGAND_CHECK(ShapeError, input[1] == weight[0], op, ": expected input with ", weight[0], " channels (weight is ",
               weight, "), got ", input);
  ARGAND_CHECK(ValueError, output_padding.size() == spatial, op, ": expected ", spatial,
               " numbers for output_padding, got ", output_padding);
  Dims out{input[0], weight[1] * o.groups};
  for (size_t i = 0; i < spatial; ++i) {
    ARGAND_CHECK(
        ValueError, output_padding[i] >= 0 && (output_padding[i] < o.stride[i] || output_padding[i] < o.dilation[i]),
        op, ": output padding must be smaller than either stride or dilation, but got output_padding ", output_padding);
    const int64_t n = (input[2 + i] - 1) * o.stride[i] - 2 * o.padding[i] + o.dilation[i] * (weight[2 + i] - 1) +
                      output_padding[i] + 1;
    ARGAND_CHECK(ShapeError, n > 0, op, ": the output would be empty: input ", input, ", weight ", weight, ", padding ",
                 o.padding);
    out.push_back(n);
  }
  return out;
}

}  // namespace argand::ops
