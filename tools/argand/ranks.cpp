#include "tools/argand/ranks.h"

#include <cstring>

#include "argand/exec/cuda.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/parallel/backends.h"
#include "argand/runtime/backend.h"
#include "tools/argand/device.h"

namespace argand::cli {
namespace {

// Each worker of a machine takes a GPU of its own, unless --device names one.
Device device_of_worker(const std::string& text, const parallel::Launch& launch) {
  if (text != "cuda" && !(text == "auto" && why_no_gpu().empty())) return choose_device(text);
  const int gpus = backend_of(kCUDA).device_count();
  ARGAND_CHECK(DeviceError, launch.local_rank < gpus, "worker ", launch.local_rank,
               " of this machine has no GPU: there ", gpus == 1 ? "is 1" : str("are ", gpus),
               "; start one worker for each GPU, or give --device cpu or cuda:N");
  const auto gpu = static_cast<DeviceIndex>(launch.local_rank);
  cuda::set_device(gpu);  // so that nothing of this process is on another worker's
  return Device(kCUDA, gpu);
}

}  // namespace

std::vector<int64_t> ShareSampler::next_order(int64_t size) {
  const std::vector<int64_t> all = data::RandomSampler().next_order(size);
  if (size_ == 1) return all;
  std::vector<int64_t> mine;
  for (int64_t begin = 0; begin < size; begin += batch_size_)
    for (int64_t i = begin + rank_; i < std::min(size, begin + batch_size_); i += size_)
      mine.push_back(all[static_cast<size_t>(i)]);
  return mine;
}

Ranks::Ranks(const std::string& text) : device_(kCPU) {
  const std::optional<parallel::Launch> launch = parallel::find_launch();
  if (!launch || launch->size == 1) {
    device_ = choose_device(text);
    return;
  }
  device_ = device_of_worker(text, *launch);
  const std::string why_no_nccl = device_.is_cuda() ? parallel::why_no_backend("nccl") : "no GPU";
  group_ = parallel::init_process_group(*launch, why_no_nccl.empty() ? "nccl" : "");
  way_ = why_no_nccl.empty() ? "gradients go from GPU to GPU (nccl)"
                             : str("gradients go through host memory (", group_->backend(), ")");
  if (device_.is_cuda() && !why_no_nccl.empty()) way_ += ": " + why_no_nccl;
  rank_ = group_->rank();
  size_ = group_->size();
  // All are connected before one may end with an error about its options: others would report the broken connection.
  group_->barrier()->wait();
}

Ranks::~Ranks() {
  if (group_) parallel::destroy_process_group();
}

std::vector<std::vector<double>> Ranks::all_gather(const std::vector<double>& mine) const {
  if (alone()) return {mine};
  const auto n = static_cast<int64_t>(mine.size());
  const Tensor all = empty({size_, n}, kDouble), here = tensor(mine).to(kDouble);
  group_->all_gather_into(all, here)->wait();
  std::vector<std::vector<double>> out;
  const auto* values = static_cast<const double*>(all.data_ptr());
  for (int r = 0; r < size_; ++r) out.emplace_back(values + r * n, values + (r + 1) * n);
  return out;
}

void Ranks::take_from_first(std::vector<uint8_t>& bytes) const {
  if (alone()) return;
  bytes.resize(static_cast<size_t>(all_gather({static_cast<double>(bytes.size())})[0][0]));
  if (bytes.empty()) return;
  const Tensor t = empty({static_cast<int64_t>(bytes.size())}, kByte);
  std::memcpy(t.data_ptr(), bytes.data(), bytes.size());
  group_->broadcast({t}, 0)->wait();
  std::memcpy(bytes.data(), t.data_ptr(), bytes.size());
}

void Ranks::wait_for_all() const {
  if (group_) group_->barrier()->wait();
}

}  // namespace argand::cli
