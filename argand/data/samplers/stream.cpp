#include "argand/data/samplers/stream.h"

#include <algorithm>

#include "argand/serialize/archive.h"

namespace argand::data::samplers {

void StreamSampler::reset(std::optional<size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  examples_retrieved_so_far_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (examples_retrieved_so_far_ >= epoch_size_) return std::nullopt;
  const size_t count = std::min(batch_size, epoch_size_ - examples_retrieved_so_far_);
  examples_retrieved_so_far_ += count;
  return BatchSize(count);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  archive.write("examples_retrieved_so_far", static_cast<int64_t>(examples_retrieved_so_far_));
}

void StreamSampler::load(serialize::InputArchive& archive) {
  IValue count;
  archive.read("examples_retrieved_so_far", count);
  examples_retrieved_so_far_ = static_cast<size_t>(count.toInt());
}

}  // namespace argand::data::samplers
