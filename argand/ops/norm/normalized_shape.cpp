#include "argand/ops/norm/normalized_shape.h"

#include "argand/ops/norm/parameters.h"

namespace argand::ops {

RowSplit::RowSplit(IntArrayRef sizes, IntArrayRef normalized_shape) {
  const size_t axis = sizes.size() - normalized_shape.size();
  for (size_t d = 0; d < sizes.size(); ++d) (d < axis ? rows : n) *= sizes[d];
}

void check_normalized_shape(const char* op, const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                            const Tensor& bias) {
  ARGAND_CHECK(ShapeError, !normalized_shape.empty(), op,
               ": Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but "
               "got normalized_shape = ",
               normalized_shape);
  const auto check = [&](const char* name, const Tensor& t) {
    if (!t.defined()) return;
    ARGAND_CHECK(ShapeError, t.sizes() == normalized_shape, op, ": Expected ", name,
                 " to be of same shape as normalized_shape, but got ", name, " of shape ", t.sizes(),
                 " and normalized_shape = ", normalized_shape);
    check_parameter_dtype(op, name, t, input);
  };
  check("weight", weight);
  check("bias", bias);
  const IntArrayRef sizes = input.sizes();
  const bool fits = sizes.size() >= normalized_shape.size() &&
                    sizes.slice(sizes.size() - normalized_shape.size()) == normalized_shape;
  if (fits) return;
  std::string expected = "[*";
  for (const int64_t s : normalized_shape) expected += str(", ", s);
  ARGAND_THROW(ShapeError, op, ": Given normalized_shape=", normalized_shape, ", expected input with shape ", expected,
               "], but got input of size", sizes);
}

Dims statistics_sizes(IntArrayRef sizes, IntArrayRef normalized_shape) {
  Dims out(sizes);
  for (size_t d = sizes.size() - normalized_shape.size(); d < sizes.size(); ++d) out[d] = 1;
  return out;
}

RowNormCall row_call(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, bool centered) {
  const RowSplit s(input.sizes(), normalized_shape);
  return {input.dtype(), s.rows, 1, s.n, 1, centered, data_or_null(weight)};
}

NormShape layer_norm_shape(IntArrayRef sizes, IntArrayRef normalized_shape) {
  const RowSplit s(sizes, normalized_shape);
  return {{s.rows, s.n}, {s.rows, 1}, {1, s.n}, {1}, {0}};
}

}  // namespace argand::ops
