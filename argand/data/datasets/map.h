// A data set whose batches go through a transform: set.map(transforms::Normalize<>(0.5,
// 0.5)).map(transforms::Stack<>())
#pragma once
#include <type_traits>

#include "argand/data/datasets/base.h"

namespace argand::data::datasets {
namespace detail {

// A stateful source may be exhausted, so its batches are optional.
template <bool is_stateful, class Batch>
using optional_if_t = std::conditional_t<is_stateful, std::optional<Batch>, Batch>;

}  // namespace detail

template <class SourceDataset, class Transform>
class MapDataset
    : public BatchDataset<MapDataset<SourceDataset, Transform>,
                          detail::optional_if_t<SourceDataset::is_stateful, typename Transform::OutputBatchType>,
                          typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = Transform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = detail::optional_if_t<SourceDataset::is_stateful, typename Transform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType indices) override {
    if constexpr (SourceDataset::is_stateful) {
      auto batch = dataset_.get_batch(std::move(indices));
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(indices)));
    }
  }
  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  // Only for a stateful source.
  void reset() { dataset_.reset(); }
  const SourceDataset& dataset() noexcept { return dataset_; }
  const TransformType& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  TransformType transform_;
};

template <class D, class T>
MapDataset<D, T> map(D dataset, T transform) {
  static_assert(
      std::is_same_v<std::conditional_t<D::is_stateful, typename D::BatchType, std::optional<typename D::BatchType>>,
                     std::optional<typename T::InputBatchType>>,
      "BatchType type of dataset does not match input type of transform");
  return {std::move(dataset), std::move(transform)};
}

}  // namespace argand::data::datasets
