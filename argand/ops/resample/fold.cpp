// im2col and col2im: the windows of an image as columns of a matrix, and back by adding them up.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/numbers_on.h"
#include "argand/ops/resample/args.h"

namespace argand::ops {
namespace {

// Windows along both dimensions.
struct Windows {
  Dims image, kernel, dilation, padding, stride, count;

  int64_t kernel_elements() const { return kernel[0] * kernel[1]; }
  int64_t windows() const { return count[0] * count[1]; }
  int64_t padded(size_t d) const { return image[d] + 2 * padding[d]; }

  // For each element k of the kernel and each window i, in this order, its position in the padded dimension.
  Tensor positions(size_t d, const Device& device) const {
    Dims at;
    for (int64_t k = 0; k < kernel[d]; ++k)
      for (int64_t i = 0; i < count[d]; ++i) at.push_back(k * dilation[d] + i * stride[d]);
    return numbers_on(device, at);
  }
};

Windows make_windows(const char* op, Dims image, const Dims& kernel, const Dims& dilation, const Dims& padding,
                     const Dims& stride) {
  Windows w{std::move(image), kernel, dilation, padding, stride, {}};
  for (size_t d = 0; d < 2; ++d) {
    ARGAND_CHECK(ValueError, kernel[d] > 0, op, ": kernel size should be greater than zero, but got ", kernel);
    ARGAND_CHECK(ValueError, dilation[d] > 0, op, ": dilation should be greater than zero, but got ", dilation);
    ARGAND_CHECK(ValueError, padding[d] >= 0, op, ": padding should be non-negative, but got ", padding);
    ARGAND_CHECK(ValueError, stride[d] > 0, op, ": stride should be greater than zero, but got ", stride);
    const int64_t reach = w.padded(d) - dilation[d] * (kernel[d] - 1) - 1;
    w.count.push_back(reach < 0 ? 0 : reach / stride[d] + 1);
  }
  ARGAND_CHECK(ShapeError, w.count[0] > 0 && w.count[1] > 0, op, ": Given input with spatial size ", w.image,
               ", kernel_size=", kernel, ", dilation=", dilation, ", padding=", padding, ", stride=", stride,
               ", calculated shape of the array of sliding blocks as ", w.count,
               ", but its components must be at least one.");
  return w;
}

// Without a batch, as a batch of one.
Tensor with_batch(const Tensor& t, int64_t dims) { return t.dim() == dims ? t.unsqueeze(0) : t; }

}  // namespace

struct Im2col : Composite<Im2colArgs> {
  static constexpr auto schema =
      "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor";
  static constexpr auto doc =
      "The windows of [N, C, H, W] as columns: [N, C * kernel elements, windows]. A batch may be missing.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const int64_t dim = a.self.dim();
    ARGAND_CHECK(ShapeError, dim == 3 || dim == 4, "im2col: Expected 3D or 4D input tensor, got ", a.self.sizes());
    const Tensor x = with_batch(a.self, 3);
    const int64_t n = x.size(0), channels = x.size(1);
    ARGAND_CHECK(
        ShapeError, channels > 0 && x.size(2) > 0 && x.size(3) > 0,
        "im2col: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
        "for input, but got: ",
        a.self.sizes());
    const Windows w = make_windows("im2col", {x.size(2), x.size(3)}, a.kernel_size, a.dilation, a.padding, a.stride);
    const Tensor padded = constant_pad_nd(x, {a.padding[1], a.padding[1], a.padding[0], a.padding[0]});
    const Tensor taken = padded.index_select(2, w.positions(0, x.device())).index_select(3, w.positions(1, x.device()));
    const Tensor columns = taken.view({n, channels, w.kernel[0], w.count[0], w.kernel[1], w.count[1]})
                               .permute({0, 1, 2, 4, 3, 5})
                               .reshape({n, channels * w.kernel_elements(), w.windows()});
    return dim == 3 ? columns.squeeze(0) : columns;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4, 5}), {2, 3}, {1, 1}, {0, 0}, {1, 1}});
    s.add({s->real({2, 5, 4}), {2, 2}, {2, 1}, {1, 1}, {2, 1}});
    s.fails({s->real({4, 5}), {2, 3}, {1, 1}, {0, 0}, {1, 1}}, "im2col: Expected 3D or 4D input tensor, got [4, 5]");
    s.fails({s->real({1, 1, 2, 2}), {3, 3}, {1, 1}, {0, 0}, {1, 1}},
            "calculated shape of the array of sliding blocks as [0, 0], but its components must be at least one.");
    s.fails({s->real({1, 1, 2, 2}), {2, 2}, {1, 1}, {0, 0}, {0, 1}}, "stride should be greater than zero");
  }
};
ARGAND_OP(Im2col)
ARGAND_NODE(Im2col)

struct Col2im : Composite<Col2imArgs> {
  static constexpr auto schema =
      "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> "
      "Tensor";
  static constexpr auto doc =
      "Columns [N, C * kernel elements, windows] added up where their windows lie in an image [N, C, output_size]. A "
      "batch may be missing.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const int64_t dim = a.self.dim();
    ARGAND_CHECK(ShapeError, dim == 2 || dim == 3, "col2im: Expected 2D or 3D input tensor, got ", a.self.sizes());
    const Windows w = make_windows("col2im", a.output_size, a.kernel_size, a.dilation, a.padding, a.stride);
    const Tensor x = with_batch(a.self, 2);
    const int64_t n = x.size(0), each = w.kernel_elements();
    ARGAND_CHECK(ShapeError, x.size(1) > 0 && x.size(1) % each == 0,
                 "col2im: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
                 "input.size(1)=",
                 x.size(1), " and kernel_size=", a.kernel_size, ".");
    ARGAND_CHECK(ShapeError, x.size(2) == w.windows(), "col2im: Given output_size=", a.output_size,
                 ", kernel_size=", a.kernel_size, ", dilation=", a.dilation, ", padding=", a.padding,
                 ", stride=", a.stride, ", expected size of input's dimension 2 to match the calculated number of ",
                 "sliding blocks ", w.count[0], " * ", w.count[1], " = ", w.windows(),
                 ", but got input.size(2)=", x.size(2), ".");
    const int64_t channels = x.size(1) / each, h = w.padded(0), width = w.padded(1);
    const Tensor parts = x.view({n, channels, w.kernel[0], w.kernel[1], w.count[0], w.count[1]})
                             .permute({0, 1, 2, 4, 3, 5})
                             .reshape({n, channels, w.kernel[0] * w.count[0], w.kernel[1] * w.count[1]});
    const Tensor columns =
        zeros({n, channels, parts.size(2), width}, x.options()).index_add(3, w.positions(1, x.device()), parts);
    const Tensor image = zeros({n, channels, h, width}, x.options()).index_add(2, w.positions(0, x.device()), columns);
    const Tensor inner =
        image.narrow(2, a.padding[0], a.output_size[0]).narrow(3, a.padding[1], a.output_size[1]).contiguous();
    return dim == 2 ? inner.squeeze(0) : inner;
  }
  static void samples(S& s) {
    s.add({s->real({2, 12, 12}), {4, 5}, {2, 2}, {1, 1}, {0, 0}, {1, 1}});
    s.add({s->real({8, 15}), {5, 4}, {2, 2}, {2, 1}, {1, 1}, {2, 1}});
    s.fails({s->real({2, 11, 12}), {4, 5}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
            "to be divisible by the product of kernel_size, but got input.size(1)=11 and kernel_size=[2, 2].");
    s.fails({s->real({2, 12, 11}), {4, 5}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
            "number of sliding blocks 3 * 4 = 12, but got input.size(2)=11.");
  }
};
ARGAND_OP(Col2im)
ARGAND_NODE(Col2im)

}  // namespace argand::ops
