// Data sets: random access to examples, one by one or a batch at a time.
//
// Thread safety: loaders call get() and get_batch() from several threads at once; they must not change the data set.
#pragma once
#include <functional>
#include <memory>

#include "argand/data/example.h"

namespace argand::data {

// One object for all workers, behind a virtual interface; datasets/base.h has LibTorch's class templates.
class AnyDataset {
 public:
  virtual ~AnyDataset() = default;
  virtual int64_t size() const = 0;
  // REQUIRES: 0 <= index < size().
  virtual Example<> get(int64_t index) const = 0;
  // The examples of these indices, stacked.  Overridden where a batch can be gathered without making each sample.
  virtual Example<> get_batch(IntArrayRef indices) const;
};

// Rows of tensors: data[i] and target[i].  A batch is one gather of rows.
class TensorDataset final : public AnyDataset {
 public:
  // ShapeError unless both have a first dimension of one size; target may be undefined.
  explicit TensorDataset(Tensor data, Tensor target = {});
  int64_t size() const override { return data_.size(0); }
  Example<> get(int64_t index) const override;
  Example<> get_batch(IntArrayRef indices) const override;
  const Tensor& data() const { return data_; }
  const Tensor& target() const { return target_; }

 private:
  Tensor data_, target_;
};

// A data set whose batches go through a function.  The function sees examples with a batch dimension, also from get().
class MapDataset final : public AnyDataset {
 public:
  using Transform = std::function<Example<>(Example<>)>;
  MapDataset(std::shared_ptr<const AnyDataset> from, Transform transform)
      : from_(std::move(from)), transform_(std::move(transform)) {}
  int64_t size() const override { return from_->size(); }
  Example<> get(int64_t index) const override;
  Example<> get_batch(IntArrayRef indices) const override { return transform_(from_->get_batch(indices)); }

 private:
  std::shared_ptr<const AnyDataset> from_;
  Transform transform_;
};

// Some of the examples of a data set, in a given order.  IndexError for an index outside it.
class Subset final : public AnyDataset {
 public:
  Subset(std::shared_ptr<const AnyDataset> from, std::vector<int64_t> indices);
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  Example<> get(int64_t index) const override { return from_->get(indices_[static_cast<size_t>(index)]); }
  Example<> get_batch(IntArrayRef indices) const override;

 private:
  std::shared_ptr<const AnyDataset> from_;
  std::vector<int64_t> indices_;
};

}  // namespace argand::data
