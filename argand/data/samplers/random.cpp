#include "argand/data/samplers/random.h"

#include <algorithm>

#include "argand/ops/functions.h"
#include "argand/serialize/archive.h"

namespace argand::data::samplers {

RandomSampler::RandomSampler(int64_t size, Dtype index_dtype) : indices_(randperm(size, index_dtype)) {}

void RandomSampler::reset(std::optional<size_t> new_size) {
  const int64_t size = new_size ? static_cast<int64_t>(*new_size) : indices_.numel();
  indices_ = randperm(size, indices_.options());
  index_ = 0;
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const int64_t left = indices_.numel() - index_;
  if (left <= 0) return std::nullopt;
  const auto count = static_cast<int64_t>(std::min(batch_size, static_cast<size_t>(left)));
  const Tensor chosen = indices_.slice(0, index_, index_ + count).to(kLong).contiguous();
  const auto* first = chosen.data_ptr<int64_t>();
  index_ += count;
  return std::vector<size_t>(first, first + count);
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", full(IntArrayRef(), index_, kLong), /*is_buffer=*/true);
  archive.write("indices", indices_, /*is_buffer=*/true);
}

void RandomSampler::load(serialize::InputArchive& archive) {
  Tensor index = empty(IntArrayRef(), kLong);
  archive.read("index", index, /*is_buffer=*/true);
  archive.read("indices", indices_, /*is_buffer=*/true);
  index_ = index.item<int64_t>();
}

}  // namespace argand::data::samplers
