// A data set that decides itself what comes next, and ends by giving no batch.  All workers of a loader call one
// object, so get_batch() must lock what it shares.
#pragma once
#include "argand/data/datasets/base.h"

namespace argand::serialize {
class InputArchive;
class OutputArchive;
}  // namespace argand::serialize

namespace argand::data::datasets {

template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  // A new pass begins.
  virtual void reset() = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class Self, class Batch, class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const StatefulDataset<Self, Batch, BatchRequest>& dataset) {
  dataset.save(archive);
  return archive;
}
template <class Self, class Batch, class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    StatefulDataset<Self, Batch, BatchRequest>& dataset) {
  dataset.load(archive);
  return archive;
}

}  // namespace argand::data::datasets
