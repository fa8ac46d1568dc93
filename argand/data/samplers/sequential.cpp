#include "argand/data/samplers/sequential.h"

#include <algorithm>
#include <numeric>

#include "argand/serialize/archive.h"

namespace argand::data::samplers {

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ >= size_) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, size_ - index_));
  std::iota(indices.begin(), indices.end(), index_);
  index_ += indices.size();
  return indices;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", static_cast<int64_t>(index_));
}

void SequentialSampler::load(serialize::InputArchive& archive) {
  IValue index;
  archive.read("index", index);
  index_ = static_cast<size_t>(index.toInt());
}

}  // namespace argand::data::samplers
