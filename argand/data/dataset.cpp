#include "argand/data/dataset.h"

#include <cstring>

#include "argand/data/errors.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"

namespace argand::data {
namespace {

// Rows of a contiguous tensor in a new one: plain memory copies, whatever the dtype.
Tensor gather_rows(const Tensor& t, IntArrayRef indices) {
  if (!t.defined()) return {};
  Dims sizes(t.sizes());
  sizes[0] = static_cast<int64_t>(indices.size());
  const Tensor out = exec::new_tensor({sizes, t.dtype()}, kCPU);
  const int64_t rows = t.size(0);
  const size_t row_bytes = rows > 0 ? t.nbytes() / static_cast<size_t>(rows) : 0;
  const char* from = raw<char>(t);
  char* to = raw<char>(out);
  for (const int64_t i : indices) {
    ARGAND_CHECK(IndexError, i >= 0 && i < rows, "TensorDataset: index ", i, " is out of range for ", rows,
                 " examples");
    if (row_bytes > 0) std::memcpy(to, from + static_cast<size_t>(i) * row_bytes, row_bytes);
    to += row_bytes;
  }
  return out;
}

// One sample after the other along a new first dimension; ShapeError if one differs from the first.
Tensor stack_or_none(const std::vector<Tensor>& tensors, IntArrayRef indices) {
  const Tensor& first = tensors.front();
  if (!first.defined()) return {};
  Dims sizes(first.sizes());
  sizes.insert(sizes.begin(), static_cast<int64_t>(tensors.size()));
  const Tensor out = exec::new_tensor({sizes, first.dtype()}, kCPU);
  for (size_t i = 0; i < tensors.size(); ++i) {
    ARGAND_CHECK(ShapeError, tensors[i].defined() && tensors[i].sizes() == first.sizes(), "DataLoader: sample ",
                 indices[i], " does not have the shape ", first.sizes(), " of the first sample of its batch");
    exec::copy_elements(out.select(0, static_cast<int64_t>(i)), tensors[i]);
  }
  return out;
}

}  // namespace

Example<> AnyDataset::get_batch(IntArrayRef indices) const {
  std::vector<Tensor> data, targets;
  for (const int64_t i : indices) {
    Example<> e;
    try {
      e = get(i);
    } catch (...) {
      throw SampleError(i, std::current_exception());
    }
    data.push_back(std::move(e.data));
    targets.push_back(std::move(e.target));
  }
  if (data.empty()) return {};
  return {stack_or_none(data, indices), stack_or_none(targets, indices)};
}

TensorDataset::TensorDataset(Tensor data, Tensor target)
    : data_(exec::dense(data)), target_(target.defined() ? exec::dense(target) : target) {
  ARGAND_CHECK(ShapeError, data_.dim() > 0,
               "TensorDataset: data needs a first dimension that counts the examples, got a 0-dim tensor");
  ARGAND_CHECK(ShapeError, !target_.defined() || (target_.dim() > 0 && target_.size(0) == data_.size(0)),
               "TensorDataset: data has ", data_.size(0), " examples, target has shape ", target_.sizes());
}

Example<> TensorDataset::get(int64_t index) const {
  return {data_.select(0, index), target_.defined() ? target_.select(0, index) : Tensor()};
}

Example<> TensorDataset::get_batch(IntArrayRef indices) const {
  return {gather_rows(data_, indices), gather_rows(target_, indices)};
}

Example<> MapDataset::get(int64_t index) const {
  Example<> e = get_batch(index);
  return {e.data.select(0, 0), e.target.defined() ? e.target.select(0, 0) : Tensor()};
}

Subset::Subset(std::shared_ptr<const AnyDataset> from, std::vector<int64_t> indices)
    : from_(std::move(from)), indices_(std::move(indices)) {
  for (const int64_t i : indices_)
    ARGAND_CHECK(IndexError, i >= 0 && i < from_->size(), "Subset: index ", i, " is out of range for ", from_->size(),
                 " examples");
}

Example<> Subset::get_batch(IntArrayRef indices) const {
  std::vector<int64_t> inner;
  inner.reserve(indices.size());
  for (const int64_t i : indices) inner.push_back(indices_[static_cast<size_t>(i)]);
  return from_->get_batch(inner);
}

}  // namespace argand::data
