#include "argand/parallel/device_replicas.h"

#include <mutex>

#include "argand/core/grad_mode.h"
#include "argand/exec/cuda_graph.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "argand/parallel/replica_gradients.h"

namespace argand::parallel {
namespace {

// All elements in the order in which they lie in memory; of a tensor with gaps, in the order of its indices.
Tensor flat(const Tensor& t) {
  if (t.is_non_overlapping_and_dense()) return exec::alias(t, Dims{t.numel()}, Dims{1}, t.storage_offset());
  return t.detach().contiguous().view({-1});
}

Dims dense_strides(const Tensor& t) { return t.is_non_overlapping_and_dense() ? t.impl().strides : Dims(); }

// A tensor and its copy at the time of copying.  The storage is held, so that no other can have its address.
struct Seen {
  StoragePtr storage;
  int64_t offset = 0;
  uint32_t version = 0, version_of_copy = 0;
};

}  // namespace

// The copies of one list of tensors on all devices.
class DeviceReplicas::Copies {
 public:
  // together: the copies of a bucket of small tensors are parts of one storage, and share its version counter.
  explicit Copies(bool together) : together_(together) {}

  Lists on(const std::vector<Device>& devices, const std::vector<Tensor>& tensors, size_t n) {
    const NoGradGuard no_grad;
    const std::lock_guard lock(mutex_);
    lay_out(devices, tensors);
    const uint64_t replays = cuda::replays_started();
    const bool forget = std::exchange(replays_, replays) != replays;
    Lists lists(n, std::vector<Tensor>(tensors.size()));
    for (Bucket& bucket : buckets_) {
      std::vector<Tensor> from = pick(tensors, bucket.members);
      for (size_t k = 0; k < n; ++k) {
        if (k == 0 && from[0].device() == devices[0]) {
          put(lists[0], bucket, from);
          continue;
        }
        There& there = bucket.there[k];
        if (forget) there.seen.clear();
        bring(bucket, there, tensors, from);
        from = there.copies;
        put(lists[k], bucket, from);
      }
    }
    return lists;
  }

 private:
  struct There {
    Tensor memory;  // for a bucket of several tensors: receives what is sent
    std::vector<Tensor> copies;
    std::vector<Seen> seen;  // empty: the copies have to be made
  };
  struct Bucket {
    std::vector<size_t> members;
    std::vector<There> there;  // per device
  };

  static std::vector<Tensor> pick(const std::vector<Tensor>& tensors, const std::vector<size_t>& members) {
    std::vector<Tensor> some;
    for (const size_t i : members) some.push_back(tensors[i]);
    return some;
  }
  static void put(std::vector<Tensor>& list, const Bucket& bucket, const std::vector<Tensor>& tensors) {
    for (size_t m = 0; m < tensors.size(); ++m) list[bucket.members[m]] = exec::alias(tensors[m]);
  }

  // Makes new copies if shapes, layouts, dtypes or devices of the tensors have changed.
  void lay_out(const std::vector<Device>& devices, const std::vector<Tensor>& tensors) {
    const auto same = [](const Tensor& a, const Tensor& b) {
      if (!a.defined() || !b.defined()) return a.defined() == b.defined();
      return a.sizes() == b.sizes() && dense_strides(a) == dense_strides(b) && a.dtype() == b.dtype() &&
             a.device() == b.device();
    };
    if (std::equal(tensors.begin(), tensors.end(), kinds_.begin(), kinds_.end(), same)) return;
    kinds_.clear();
    buckets_.clear();
    for (const Tensor& t : tensors)
      kinds_.push_back(!t.defined() ? Tensor()
                                    : exec::new_tensor({t.impl().sizes, t.dtype(), t.impl().strides}, t.device()));
    for (const auto& members : parallel::together(tensors)) {
      buckets_.push_back({members, std::vector<There>(devices.size())});
      for (size_t k = 0; k < devices.size(); ++k) make(buckets_.back(), buckets_.back().there[k], tensors, devices[k]);
    }
  }
  // Without bytes until they are written.
  void make(const Bucket& bucket, There& there, const std::vector<Tensor>& tensors, const Device& device) const {
    int64_t elements = 0, at = 0;
    for (const size_t i : bucket.members) elements += tensors[i].numel();
    const bool several = bucket.members.size() > 1;
    if (several) there.memory = exec::new_tensor({Dims{elements}, tensors[bucket.members[0]].dtype()}, device);
    for (const size_t i : bucket.members) {
      const Tensor& t = tensors[i];
      Tensor copy = exec::new_tensor({t.impl().sizes, t.dtype(), dense_strides(t)}, device);
      if (several && together_) copy = exec::alias(there.memory, copy.impl().sizes, copy.impl().strides, at);
      at += t.numel();
      there.copies.push_back(std::move(copy));
    }
  }

  static bool is_valid(const Bucket& bucket, const There& there, const std::vector<Tensor>& tensors) {
    if (there.seen.empty()) return false;
    for (size_t m = 0; m < there.seen.size(); ++m) {
      const Seen& seen = there.seen[m];
      const Tensor& t = tensors[bucket.members[m]];
      const StorageImpl& storage = *t.storage();
      if (seen.storage != t.storage() || seen.offset != t.storage_offset() || storage.exposed() ||
          seen.version != storage.version() || seen.version_of_copy != there.copies[m]._version() ||
          there.copies[m].storage()->exposed())
        return false;
    }
    return true;
  }

  // From `from`, the tensors themselves or their copies on the device before.
  void bring(const Bucket& bucket, There& there, const std::vector<Tensor>& tensors,
             const std::vector<Tensor>& from) const {
    if (is_valid(bucket, there, tensors)) return;
    there.seen.clear();
    if (bucket.members.size() == 1) {
      there.copies[0].copy_(from[0], true);
    } else {
      std::vector<Tensor> parts;
      for (const Tensor& t : from) parts.push_back(flat(t));
      there.memory.copy_(cat(parts), true);
      int64_t at = 0;
      for (const Tensor& copy : there.copies) {
        if (!together_) flat(copy).copy_(there.memory.narrow(0, at, copy.numel()));
        at += copy.numel();
      }
    }
    for (size_t m = 0; m < bucket.members.size(); ++m) {
      const Tensor& t = tensors[bucket.members[m]];
      there.seen.push_back(
          {t.storage(), t.storage_offset(), t.storage()->version(), there.copies[m].storage()->version()});
    }
  }

  const bool together_;
  std::mutex mutex_;
  std::vector<Tensor> kinds_;  // without bytes
  std::vector<Bucket> buckets_;
  uint64_t replays_ = 0;
};

DeviceReplicas::DeviceReplicas(std::vector<Device> devices)
    : devices_(std::move(devices)),
      parameters_(std::make_unique<Copies>(true)),
      buffers_(std::make_unique<Copies>(false)) {
  ARGAND_CHECK(ValueError, !devices_.empty(), "replicate: expected at least one device");
}
DeviceReplicas::~DeviceReplicas() = default;

DeviceReplicas::Lists DeviceReplicas::parameters(const std::vector<Tensor>& parameters, size_t n) {
  Lists lists = parameters_->on(devices_, parameters, n);
  link_gradients(parameters, lists);
  return lists;
}

DeviceReplicas::Lists DeviceReplicas::buffers(const std::vector<Tensor>& buffers, size_t n) {
  return buffers_->on(devices_, buffers, n);
}

}  // namespace argand::parallel
