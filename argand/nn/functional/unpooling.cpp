#include "argand/nn/functional/unpooling.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {
namespace {

// The size of what was pooled: the one given, which must be near what the windows say, or just that.
template <size_t D>
Dims unpooled_size(const Tensor& input, const MaxUnpoolFuncOptions<D>& o) {
  const auto spatial = static_cast<int64_t>(D);
  ARGAND_CHECK(ShapeError, input.dim() == spatial + 1 || input.dim() == spatial + 2, "max_unpool: expected input with ",
               spatial + 1, " or ", spatial + 2, " dimensions, got ", input.sizes());
  Dims by_windows;
  for (size_t d = 0; d < D; ++d) {
    const int64_t count = input.size(input.dim() - spatial + static_cast<int64_t>(d));
    by_windows.push_back((count - 1) * o.stride()[d] + o.kernel_size()[d] - 2 * o.padding()[d]);
  }
  if (!o.output_size()) return by_windows;
  std::vector<int64_t> size = *o.output_size();
  if (size.size() == D + 2) size.erase(size.begin(), size.begin() + 2);
  ARGAND_CHECK(ValueError, size.size() == D, "max_unpool: output_size should be a sequence containing ", D, " or ",
               D + 2, " elements, but it has a length of '", o.output_size()->size(), "'");
  for (size_t d = 0; d < D; ++d) {
    const int64_t least = by_windows[d] - o.stride()[d], most = by_windows[d] + o.stride()[d];
    ARGAND_CHECK(ValueError, least < size[d] && size[d] < most, "max_unpool: invalid output_size ",
                 Dims(IntArrayRef(size)), " (dim ", d, " must be between ", least, " and ", most, ")");
  }
  return Dims(IntArrayRef(size));
}

template <size_t D>
Dims fractional_size(const Tensor& input, const FractionalMaxPoolOptions<D>& o) {
  ARGAND_CHECK(ValueError, o.output_size() || o.output_ratio(), "fractional_max_pool", D,
               "d requires specifying either an output_size or an output_ratio");
  if (o.output_size()) return Dims(IntArrayRef(*o.output_size()));
  ARGAND_CHECK(ShapeError, input.dim() >= static_cast<int64_t>(D), "fractional_max_pool", D, "d: expected at least ", D,
               " dimensions, got ", input.sizes());
  Dims out;
  for (size_t d = 0; d < D; ++d) {
    const int64_t in = input.size(input.dim() - static_cast<int64_t>(D - d));
    out.push_back(static_cast<int64_t>(static_cast<double>(in) * (*o.output_ratio())[d]));
  }
  return out;
}

template <size_t D>
Tensor places(const Tensor& input, const FractionalMaxPoolOptions<D>& o) {
  if (o._random_samples().defined()) return o._random_samples();
  const auto spatial = static_cast<int64_t>(D);
  ARGAND_CHECK(ShapeError, input.dim() == spatial + 1 || input.dim() == spatial + 2, "fractional_max_pool", D,
               "d: Expected ", D + 1, "D or ", D + 2, "D tensor, but got: ", input.sizes());
  const int64_t batch = input.dim() == spatial + 1 ? 1 : input.size(0);
  return rand({batch, input.size(input.dim() - spatial - 1), spatial}, input.options());
}

}  // namespace

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& o) {
  const Dims size = unpooled_size(input, o);
  return argand::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), {size[0], 1}).squeeze(-1);
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& o) {
  return argand::max_unpool2d(input, indices, unpooled_size(input, o));
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& o) {
  return argand::max_unpool3d(input, indices, unpooled_size(input, o), o.stride(), o.padding());
}

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input,
                                                              const FractionalMaxPool2dFuncOptions& o) {
  return argand::fractional_max_pool2d(input, o.kernel_size(), fractional_size(input, o), places(input, o));
}
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input,
                                                              const FractionalMaxPool3dFuncOptions& o) {
  return argand::fractional_max_pool3d(input, o.kernel_size(), fractional_size(input, o), places(input, o));
}
Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& o) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, o));
}
Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& o) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, o));
}

}  // namespace argand::nn::functional
