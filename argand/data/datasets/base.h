// Data sets as class templates, source-compatible with LibTorch's torch::data::datasets:
//
//   struct Squares : data::datasets::Dataset<Squares> {
//     data::Example<> get(size_t i) override { return {full({1}, i), full({1}, i * i)}; }
//     std::optional<size_t> size() const override { return 100; }
//   };
//   auto set = Squares().map(data::transforms::Stack<>());
//   auto loader = data::make_data_loader(std::move(set), 16);
//
// Thread safety: each worker of a loader has a copy of the data set, so copies must be able to work side by side.
// data::AnyDataset, with one object for all workers and batches of tensors, is simpler where it suffices.
#pragma once
#include <optional>
#include <vector>

#include "argand/base/array_ref.h"
#include "argand/data/example.h"

namespace argand::data::datasets {

template <class SourceDataset, class Transform>
class MapDataset;
template <class D, class T>
MapDataset<D, T> map(D dataset, T transform);

namespace detail {
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
}  // namespace detail

// Gives a batch for a request, which need not be a list of indices.
template <class Self, class Batch, class BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  // An optional batch, as StatefulDataset gives, may be the end of the data.
  static constexpr bool is_stateful = detail::kIsOptional<BatchType>;

  virtual ~BatchDataset() = default;
  virtual Batch get_batch(BatchRequest request) = 0;
  // The number of examples, if it is known.
  virtual std::optional<size_t> size() const = 0;

  // A data set whose batches go through the transform.
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) & {
    return datasets::map(static_cast<Self&>(*this), std::move(transform));
  }
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) && {
    return datasets::map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }
};

// Gives examples by index; a batch is a vector of them.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;
  virtual ExampleType get(size_t index) = 0;
  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t i : indices) batch.push_back(get(i));
    return batch;
  }
};

// Gives the next so many examples.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, /*BatchRequest=*/size_t>;

}  // namespace argand::data::datasets

namespace argand::data {

using datasets::BatchDataset;
using datasets::Dataset;

}  // namespace argand::data
