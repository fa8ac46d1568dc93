#include "argand/data/samplers/distributed.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "argand/serialize/archive.h"

namespace argand::data::samplers {
namespace {

void save_position(serialize::OutputArchive& archive, size_t index, size_t epoch) {
  archive.write("sample_index_", static_cast<int64_t>(index));
  archive.write("epoch_", static_cast<int64_t>(epoch));
}

size_t read_number(serialize::InputArchive& archive, const char* key) {
  IValue value;
  archive.read(key, value);
  return static_cast<size_t>(value.toInt());
}

}  // namespace

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  reset(size_);
}

void DistributedRandomSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  populate_indices();
  std::mt19937 random(static_cast<std::mt19937::result_type>(epoch_));
  std::shuffle(all_indices_.begin(), all_indices_.end(), random);
  at_ = begin_;
}

void DistributedRandomSampler::populate_indices() {
  const size_t count = local_sample_count();
  const size_t total = count * num_replicas_;  // without duplicates the last ones are left out
  all_indices_.resize(total);
  std::iota(all_indices_.begin(), all_indices_.end(), size_t{0});
  for (size_t i = size_; i < total; ++i) all_indices_[i] = i - size_;  // the first ones again
  begin_ = rank_ * count;
  end_ = begin_ + count;
}

std::optional<std::vector<size_t>> DistributedRandomSampler::next(size_t batch_size) {
  if (at_ >= end_) return std::nullopt;
  const auto first = all_indices_.begin() + static_cast<std::ptrdiff_t>(at_);
  const size_t count = std::min(batch_size, end_ - at_);
  at_ += count;
  return std::vector<size_t>(first, first + static_cast<std::ptrdiff_t>(count));
}

void DistributedRandomSampler::save(serialize::OutputArchive& archive) const { save_position(archive, at_, epoch_); }

void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  epoch_ = read_number(archive, "epoch_");
  reset(size_);  // the order is that of the epoch
  at_ = read_number(archive, "sample_index_");
}

DistributedSequentialSampler::DistributedSequentialSampler(size_t size, size_t num_replicas, size_t rank,
                                                           bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  reset(size_);
}

void DistributedSequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  populate_indices();
  at_ = begin_;
}

void DistributedSequentialSampler::populate_indices() {
  const size_t count = local_sample_count();
  begin_ = rank_ * count;
  end_ = begin_ + count;
}

std::optional<std::vector<size_t>> DistributedSequentialSampler::next(size_t batch_size) {
  if (at_ >= end_) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, end_ - at_));
  for (size_t& i : indices) i = at_++ % size_;
  return indices;
}

void DistributedSequentialSampler::save(serialize::OutputArchive& archive) const {
  save_position(archive, at_, epoch_);
}

void DistributedSequentialSampler::load(serialize::InputArchive& archive) {
  epoch_ = read_number(archive, "epoch_");
  at_ = read_number(archive, "sample_index_");
}

}  // namespace argand::data::samplers
