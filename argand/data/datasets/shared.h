// One data set for all workers, which must be safe to use from several threads: make_shared_dataset<Set>(arguments...).
#pragma once
#include <memory>

#include "argand/data/datasets/base.h"

namespace argand::data::datasets {

template <class UnderlyingDataset>
class SharedBatchDataset
    : public BatchDataset<SharedBatchDataset<UnderlyingDataset>, typename UnderlyingDataset::BatchType,
                          typename UnderlyingDataset::BatchRequestType> {
 public:
  using BatchType = typename UnderlyingDataset::BatchType;
  using BatchRequestType = typename UnderlyingDataset::BatchRequestType;

  SharedBatchDataset(std::shared_ptr<UnderlyingDataset> dataset) : dataset_(std::move(dataset)) {}
  BatchType get_batch(BatchRequestType request) override { return dataset_->get_batch(std::move(request)); }
  std::optional<size_t> size() const override { return dataset_->size(); }
  void reset() { dataset_->reset(); }

  UnderlyingDataset& operator*() { return *dataset_; }
  const UnderlyingDataset& operator*() const { return *dataset_; }
  UnderlyingDataset* operator->() { return dataset_.get(); }
  const UnderlyingDataset* operator->() const { return dataset_.get(); }

 private:
  std::shared_ptr<UnderlyingDataset> dataset_;
};

template <class UnderlyingDataset, class... Arguments>
SharedBatchDataset<UnderlyingDataset> make_shared_dataset(Arguments&&... arguments) {
  return std::make_shared<UnderlyingDataset>(std::forward<Arguments>(arguments)...);
}

}  // namespace argand::data::datasets
