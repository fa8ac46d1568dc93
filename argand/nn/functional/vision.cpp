#include "argand/nn/functional/vision.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {

Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners) {
  ARGAND_CHECK(DtypeError, theta.is_floating_point(), "Expected theta to have floating point type, but got ",
               theta.dtype());
  const size_t spatial = size.size() - 2;
  ARGAND_CHECK(ValueError, size.size() == 4 || size.size() == 5,
               "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size ",
               size);
  const Dims matrix{theta.dim() == 0 ? 0 : theta.sizes()[0], static_cast<int64_t>(spatial),
                    static_cast<int64_t>(spatial + 1)};
  ARGAND_CHECK(ShapeError, theta.sizes() == IntArrayRef(matrix), "Expected a batch of ", spatial,
               "D affine matrices of shape Nx", spatial, "x", spatial + 1, " for size ", size, ". Got ", theta.sizes(),
               ".");
  for (int64_t n : size) ARGAND_CHECK(ValueError, n > 0, "Expected non-zero, positive output size. Got ", size);
  return affine_grid_generator(theta, size, align_corners);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& o) {
  // The alternatives stand in the order of the op's numbers.
  return grid_sampler(input, grid, static_cast<int64_t>(o.mode().index()),
                      static_cast<int64_t>(o.padding_mode().index()), o.align_corners().value_or(false));
}

}  // namespace argand::nn::functional
