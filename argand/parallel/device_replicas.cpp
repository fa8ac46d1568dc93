#include "argand/parallel/device_replicas.h"

#include <mutex>

#include "argand/core/grad_mode.h"
#include "argand/exec/copy_each.h"
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
    std::vector<Tensor> source = tensors;
    for (size_t k = 0; k < n; ++k) {
      source = bring(k, devices[k], forget, tensors, source);
      for (size_t i = 0; i < source.size(); ++i)
        if (source[i].defined()) lists[k][i] = exec::alias(source[i]);
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

  // The copies on device k, made from `source`: the tensors themselves, or their copies on the device before.  Tensors
  // that are on the first device already stand for themselves there.
  std::vector<Tensor> bring(size_t k, const Device& device, bool forget, const std::vector<Tensor>& tensors,
                            const std::vector<Tensor>& source) {
    std::vector<Tensor> copies(tensors.size());
    std::vector<Bucket*> stale;
    for (Bucket& bucket : buckets_) {
      const bool stays = k == 0 && source[bucket.members[0]].device() == device;
      There& there = bucket.there[k];
      for (size_t m = 0; m < bucket.members.size(); ++m)
        copies[bucket.members[m]] = stays ? source[bucket.members[m]] : there.copies[m];
      if (forget) there.seen.clear();
      if (!stays && !is_valid(bucket, there, tensors)) stale.push_back(&bucket);
    }
    std::vector<Tensor> to, from;
    for (Bucket* const bucket : stale) {
      bucket->there[k].seen.clear();
      send(*bucket, bucket->there[k], source, to, from);
    }
    exec::copy_each(to, from);
    if (!together_) spread(stale, k);
    for (Bucket* const bucket : stale) note(*bucket, bucket->there[k], tensors);
    return copies;
  }
  // Appends what has to be copied to the device.
  static void send(const Bucket& bucket, const There& there, const std::vector<Tensor>& source, std::vector<Tensor>& to,
                   std::vector<Tensor>& from) {
    if (bucket.members.size() == 1) {
      to.push_back(there.copies[0]);
      from.push_back(source[bucket.members[0]].detach());
    } else {
      std::vector<Tensor> parts;
      for (const size_t i : bucket.members) parts.push_back(flat(source[i]));
      to.push_back(there.memory);
      from.push_back(cat(parts));
    }
    to.back().storage()->bump_version("copy_");
  }
  // Copies what has arrived in the memory of buckets to the copies, which are no parts of it.
  static void spread(const std::vector<Bucket*>& buckets, size_t k) {
    std::vector<Tensor> to, parts;
    for (const Bucket* const bucket : buckets) {
      const There& there = bucket->there[k];
      if (bucket->members.size() == 1) continue;
      int64_t at = 0;
      for (const Tensor& copy : there.copies) {
        to.push_back(flat(copy));
        parts.push_back(exec::alias(there.memory, Dims{copy.numel()}, Dims{1}, at));
        copy.storage()->bump_version("copy_");
        at += copy.numel();
      }
    }
    exec::copy_each(to, parts);
  }
  static void note(const Bucket& bucket, There& there, const std::vector<Tensor>& tensors) {
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
