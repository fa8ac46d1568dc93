#include "argand/nn/functional/padding.h"

#include <algorithm>
#include <functional>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {
namespace {

Tensor pad_constant(Tensor x, const std::vector<int64_t>& pad, double value) {
  ARGAND_CHECK(ShapeError, static_cast<int64_t>(pad.size()) <= 2 * x.dim(),
               "pad: length of pad should be no more than twice the number of dimensions of the input, got ",
               pad.size(), " amounts for input ", x.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = x.dim() - 1 - static_cast<int64_t>(i), before = pad[2 * i], after = pad[2 * i + 1];
    const int64_t taken = std::max<int64_t>(-before, 0) + std::max<int64_t>(-after, 0);
    ARGAND_CHECK(ShapeError, taken <= x.size(dim), "pad: the amounts ", before, " and ", after,
                 " take more than all of dimension ", dim, " of input ", x.sizes());
    if (taken > 0) x = x.narrow(dim, std::max<int64_t>(-before, 0), x.size(dim) - taken);
    std::vector<Tensor> parts;
    const auto add = [&](int64_t amount) {
      if (amount <= 0) return;
      Dims sizes(x.sizes());
      sizes[static_cast<size_t>(dim)] = amount;
      parts.push_back(full(sizes, value, x.options()));
    };
    add(before);
    parts.push_back(x);
    add(after);
    if (parts.size() > 1) x = cat(parts, dim);
  }
  return x;
}

// Where element i of the padded dimension comes from; i counts from the first element of the input.
using Source = std::function<int64_t(int64_t i, int64_t size)>;

Tensor pad_from_input(Tensor x, const std::vector<int64_t>& pad, const Source& source) {
  for (size_t k = 0; k < pad.size() / 2; ++k) {
    const int64_t dim = x.dim() - 1 - static_cast<int64_t>(k), before = pad[2 * k], after = pad[2 * k + 1],
                  size = x.size(dim);
    if (before == 0 && after == 0) continue;
    ARGAND_CHECK(ShapeError, size > 0 && size + before + after > 0, "pad: the amounts ", before, " and ", after,
                 " leave nothing of dimension ", dim, " of input ", x.sizes());
    const Tensor index = empty({size + before + after}, kLong);
    int64_t* at = index.data_ptr<int64_t>();
    for (int64_t i = -before; i < size + after; ++i) *at++ = source(i, size);
    x = index_select(x, dim, index.to(x.device()));
  }
  return x;
}

// The amounts of the modes that read the input must leave something to read.
void check_amounts(const Tensor& x, const std::vector<int64_t>& pad, bool reflect) {
  for (size_t k = 0; k < pad.size() / 2; ++k) {
    const int64_t dim = x.dim() - 1 - static_cast<int64_t>(k), most = reflect ? x.size(dim) - 1 : x.size(dim);
    if (pad[2 * k] <= most && pad[2 * k + 1] <= most) continue;
    ARGAND_CHECK(ShapeError, !reflect,
                 "Padding size should be less than the corresponding input dimension, but got: padding (", pad[2 * k],
                 ", ", pad[2 * k + 1], ") at dimension ", dim, " of input ", x.sizes());
    ARGAND_THROW(ShapeError, "Padding value causes wrapping around more than once.");
  }
}

Tensor pad_by(const Tensor& x, const std::vector<int64_t>& pad, const std::string& mode, double value) {
  ARGAND_CHECK(ValueError, pad.size() % 2 == 0, "Padding length must be divisible by 2");
  if (mode == "kConstant") return pad_constant(x, pad, value);
  const auto dims = static_cast<int64_t>(pad.size() / 2);
  ARGAND_CHECK(ShapeError, dims >= 1 && dims <= 3 && (x.dim() == dims + 1 || x.dim() == dims + 2), "Padding size ",
               pad.size(), " is not supported for ", x.dim(),
               "D input tensor.\nSupported combinations for non-constant padding:\n",
               "  - 2D or 3D input: padding size = 2 (pads last dimension)\n",
               "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n",
               "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)");
  if (mode == "kReflect") {
    check_amounts(x, pad, true);
    return pad_from_input(x, pad, [](int64_t i, int64_t n) { return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i; });
  }
  if (mode == "kReplicate")
    return pad_from_input(x, pad, [](int64_t i, int64_t n) { return std::clamp<int64_t>(i, 0, n - 1); });
  ARGAND_CHECK(ValueError, mode == "kCircular", "pad: unknown mode ", mode);
  check_amounts(x, pad, false);
  return pad_from_input(x, pad, [](int64_t i, int64_t n) { return (i + n) % n; });
}

}  // namespace

Tensor pad(const Tensor& input, const PadFuncOptions& o) {
  return pad_by(input, o.pad(), enumtype::get_enum_name(o.mode()), o.value());
}
Tensor pad_like(const Tensor& input, const std::vector<int64_t>& amounts, const std::string& mode_name) {
  return pad_by(input, amounts, mode_name, 0);
}

}  // namespace argand::nn::functional
