#include "argand/ops/index/tensor_index.h"

#include <algorithm>
#include <ostream>

#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/print/print.h"

namespace argand::indexing {

TensorIndex::TensorIndex(const char* text) : type_(TensorIndexType::Ellipsis) {
  ARGAND_CHECK(ValueError, std::string_view(text) == "...",
               "Expected \"...\" to represent an ellipsis index, but got \"", text, "\"");
}

namespace {

bool is_mask(const Tensor& t) { return t.dtype() == kBool || t.dtype() == kByte; }

// The number of dimensions that an index consumes.
int64_t dims_taken(const TensorIndex& i) {
  switch (i.type()) {
    case TensorIndexType::Integer:
    case TensorIndexType::Slice:
      return 1;
    case TensorIndexType::Tensor:
      return is_mask(i.tensor()) ? i.tensor().dim() : 1;
    default:
      return 0;
  }
}

// A bool indexes a new dimension of size 1: all of it, or none.
Tensor as_index(bool value, const Device& device) {
  return zeros({value ? 1 : 0}, TensorOptions(kLong).device(device));
}

// The result after integers, slices, None and Ellipsis are applied as views: index tensors by dimension.
struct Sliced {
  Tensor view;
  std::vector<Tensor> indices;

  void record(int64_t dim, const Tensor& index) {
    if (indices.size() <= static_cast<size_t>(dim)) indices.resize(static_cast<size_t>(dim) + 1);
    indices[static_cast<size_t>(dim)] = index;
  }
};

Sliced apply_views(const Tensor& self, ArrayRef<TensorIndex> indices) {
  int64_t taken = 0;
  for (const TensorIndex& i : indices) taken += dims_taken(i);
  ARGAND_CHECK(IndexError, self.dim() > 0 || indices.size() != 1 || !indices[0].is_integer(),
               "invalid index of a 0-dim tensor. Use `tensor.item<T>()` to get its number");
  ARGAND_CHECK(IndexError, taken <= self.dim(), "index: too many indices for tensor of dimension ", self.dim(),
               " (got ", taken, ")");
  Sliced s{self, {}};
  int64_t dim = 0;
  int64_t selected = 0;  // dimensions that integers removed
  for (const TensorIndex& i : indices) {
    switch (i.type()) {
      case TensorIndexType::None:
        s.view = s.view.unsqueeze(dim++);
        break;
      case TensorIndexType::Ellipsis:
        dim += self.dim() - taken;
        break;
      case TensorIndexType::Integer: {
        const int64_t size = s.view.sizes()[dim];
        ARGAND_CHECK(IndexError, i.integer() >= -size && i.integer() < size, "index ", i.integer(),
                     " is out of bounds for dimension ", dim + selected, " with size ", size);
        s.view = s.view.select(dim, i.integer());
        ++selected;
        break;
      }
      case TensorIndexType::Slice:
        s.view = s.view.slice(dim++, i.slice().start(), i.slice().stop(), i.slice().step());
        break;
      case TensorIndexType::Boolean:
        s.view = s.view.unsqueeze(dim);
        s.record(dim++, as_index(i.boolean(), self.device()));
        break;
      case TensorIndexType::Tensor: {
        const Tensor& t = i.tensor();
        if (t.dim() == 0 && is_mask(t)) {
          s.view = s.view.unsqueeze(dim);
          s.record(dim++, as_index(t.item<bool>(), self.device()));
        } else if (t.dim() == 0 && is_integral(t.dtype())) {
          s.view = s.view.select(dim, t.item<int64_t>());
        } else {
          s.record(dim, t);
          dim += is_mask(t) ? t.dim() : 1;
        }
        break;
      }
    }
  }
  return s;
}

// A mask stands for as many dimensions as it has; index() counts it as one entry.
std::vector<Tensor> compact(const std::vector<Tensor>& by_dim) {
  std::vector<Tensor> out;
  for (size_t d = 0; d < by_dim.size();) {
    out.push_back(by_dim[d]);
    d += by_dim[d].defined() && is_mask(by_dim[d]) ? static_cast<size_t>(by_dim[d].dim()) : 1;
  }
  return out;
}

// Leading dimensions of size 1 that the target does not have are dropped.
Tensor fitted(const Tensor& value, IntArrayRef sizes) {
  Tensor v = value;
  while (v.dim() > static_cast<int64_t>(sizes.size()) && v.sizes()[0] == 1) v = v.squeeze(0);
  return v;
}

// As in NumPy, an assignment through index tensors drops all of them.
Tensor without_leading_ones(const Tensor& value) {
  Tensor v = value;
  while (v.dim() > 0 && v.sizes()[0] == 1) v = v.squeeze(0);
  return v;
}

void check_not_empty(ArrayRef<TensorIndex> indices, const char* method) {
  ARGAND_CHECK(ValueError, !indices.empty(), "Passing an empty index list to Tensor::", method,
               "() is not valid syntax");
}

// Whether it is a mask of bools for the first dimensions of `t`.
bool is_mask_of_leading(const Tensor& mask, const Tensor& t) {
  return mask.defined() && mask.dtype() == kBool && mask.device() == t.device() && mask.dim() <= t.dim() &&
         std::equal(mask.sizes().begin(), mask.sizes().end(), t.sizes().begin());
}
Tensor over_leading(Tensor mask, int64_t dims) {
  while (mask.dim() < dims) mask = mask.unsqueeze(-1);
  return mask;
}

// A number as one that fill_() takes, of which it fits each.  What an imaginary part of 0 drops is no loss.
Scalar as_element(const Tensor& given, ScalarType dtype, bool rounds) {
  const exec::DispatchStateGuard unseen(exec::DispatchHooks::kOff);
  if (rounds) return given.to(dtype).item();
  const Scalar number = given.item();
  const bool drops = number.isComplex() && !is_complex(dtype) && dtype != kBool;
  return drops ? Scalar(number.to<std::complex<double>>().real()) : number;
}

}  // namespace

Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices) {
  const Sliced s = apply_views(self, indices);
  if (!s.indices.empty()) return argand::index(s.view, compact(s.indices));
  return s.view.is_same(self) ? alias(self) : s.view;
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& given) {
  const Sliced s = apply_views(self, indices);
  const bool rounds = (self.dtype() == kHalf || self.dtype() == kBFloat16) && s.indices.empty() && s.view.dim() == 0 &&
                      !is_complex(given.dtype());  // a single element becomes infinite, as PyTorch's
  if (!rounds) ops::check_fits("index_put_", given, self.dtype());
  const bool is_number = given.impl().wrapped_number;
  const Scalar number = is_number ? as_element(given, self.dtype(), rounds) : Scalar();
  if (s.indices.empty()) {
    if (is_number)
      s.view.fill_(number);
    else if (given.dim() == 0 && given.storage().get() == self.storage().get())
      s.view.fill_(given);  // one of its own elements, which copy_() refuses
    else
      s.view.copy_(fitted(given, s.view.sizes()));
    return;
  }
  const std::vector<Tensor> by_index = compact(s.indices);
  if (is_number && by_index.size() == 1 && is_mask_of_leading(by_index[0], s.view)) {
    s.view.masked_fill_(over_leading(by_index[0], s.view.dim()), number);
    return;
  }
  const Tensor value = is_number ? full({}, number, s.view.options().requires_grad(false))
                                 : without_leading_ones(given).to(s.view.options());
  s.view.index_put_(TensorList(by_index), value);
}

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ':' << slice.stop() << ':' << slice.step();
}

std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  switch (index.type()) {
    case TensorIndexType::None:
      return out << "None";
    case TensorIndexType::Ellipsis:
      return out << "...";
    case TensorIndexType::Integer:
      return out << index.integer();
    case TensorIndexType::Boolean:
      return out << (index.boolean() ? "true" : "false");
    case TensorIndexType::Slice:
      return out << index.slice();
    case TensorIndexType::Tensor:
      return out << index.tensor();
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  const char* before = "(";
  for (const TensorIndex& index : indices) {
    out << before << index;
    before = ", ";
  }
  return out << (indices.empty() ? "()" : ")");
}

}  // namespace argand::indexing

namespace argand {

using indexing::TensorIndex;

Tensor Tensor::operator[](const Tensor& i) const { return indexing::get_item(*this, TensorIndex(i)); }
Tensor Tensor::index(ArrayRef<TensorIndex> indices) const {
  indexing::check_not_empty(indices, "index");
  return indexing::get_item(*this, indices);
}
Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const { return index(ArrayRef<TensorIndex>(indices)); }

Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Tensor& value) {
  indexing::check_not_empty(indices, "index_put_");
  indexing::set_item(*this, indices, value);
  return *this;
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value) {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value) {
  return index_put_(indices, exec::wrapped_number(value));
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value) {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}

}  // namespace argand
