// The processes that train together: under torchrun (argandrun), mpirun or srun, or as workers of `argand train
// --gpus`. Each does its part of every batch; rank 0 reports and writes.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "argand/core/device.h"
#include "argand/data/sampler.h"
#include "argand/parallel/default_group.h"

namespace argand::cli {

// Which of a batch's examples are a rank's: those at r, r + size, r + 2 * size, ...
constexpr int64_t share_of(int64_t batch, int rank, int size) { return (batch - rank + size - 1) / size; }

// The examples of a rank, in an order that is the same random permutation in all ranks, drawn from the default
// generator: a pass in batches of share_of(batch_size, rank, size) is that rank's part of the batches of one process.
class ShareSampler final : public data::Sampler {
 public:
  ShareSampler(int64_t batch_size, int rank, int size) : batch_size_(batch_size), rank_(rank), size_(size) {}
  std::vector<int64_t> next_order(int64_t size) override;

 private:
  const int64_t batch_size_;
  const int rank_, size_;
};

class Ranks {
 public:
  // Joins the others, if a launcher started any, and chooses a device: `text` is that of --device.  DeviceError if the
  // machine lacks a GPU for this process.
  explicit Ranks(const std::string& text);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool leads() const { return rank_ == 0; }
  bool alone() const { return size_ == 1; }
  const Device& device() const { return device_; }
  const std::shared_ptr<parallel::ProcessGroup>& group() const { return group_; }  // null if alone
  // How gradients go from one process to the others, as a sentence.
  const std::string& way_of_gradients() const { return way_; }

  // The numbers of all ranks, which all give as many.
  std::vector<std::vector<double>> all_gather(const std::vector<double>& mine) const;
  // Becomes that of rank 0.
  void take_from_first(std::vector<uint8_t>& bytes) const;
  void wait_for_all() const;

 private:
  int rank_ = 0, size_ = 1;
  std::shared_ptr<parallel::ProcessGroup> group_;
  Device device_;
  std::string way_;
};

}  // namespace argand::cli
