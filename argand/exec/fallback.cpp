#include "argand/exec/fallback.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "argand/base/fork_mutex.h"
#include "argand/base/log.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::exec {
namespace {

void warn_once(const OpInfo& op, const Device& device, std::string_view missing) {
  static constinit ProcessMutex mutex;
  {
    const std::lock_guard lock(mutex);
    static auto& warned = *new std::set<std::pair<const OpInfo*, std::string>>;
    if (!warned.emplace(&op, missing).second) return;
  }
  warn(op.name, ": there is no kernel for ", device, missing.empty() ? "" : " that takes ", missing,
       "; it runs on the CPU and its results return, which is slow");
}

// Tensors and their CPU copies, in the same order of dimensions; a tensor that occurs twice has one copy.
class HostCopies {
 public:
  Tensor of(const Tensor& t, bool with_elements) {
    for (const Pair& p : pairs_)
      if (p.device.is_same(t)) return p.host;
    Dims strides = t.is_contiguous() ? Dims() : strides_like(t.sizes(), t.strides());
    const Tensor host = new_tensor({t.impl().sizes, t.dtype(), std::move(strides)}, kCPU);
    if (with_elements) copy_elements(host, t);
    pairs_.push_back({t, host, host.storage()->version()});
    return host;
  }
  // Copies back what was written.
  void return_written(std::span<Tensor> outs) {
    for (const Pair& p : pairs_) {
      const bool is_out = std::any_of(outs.begin(), outs.end(), [&](const Tensor& o) { return o.is_same(p.device); });
      if (!is_out && p.host.storage()->version() == p.version) continue;
      resize_output(p.device, p.host.sizes());
      copy_elements(p.device, p.host);
      if (!is_out) p.device.storage()->bump_version(p.host.storage()->last_writer());
    }
  }

 private:
  struct Pair {
    Tensor device, host;
    uint32_t version;
  };
  std::vector<Pair> pairs_;
};

thread_local Device fallback_device(kCPU);

class FallbackScope {
 public:
  explicit FallbackScope(const Device& device) : before_(std::exchange(fallback_device, device)) {}
  ~FallbackScope() { fallback_device = before_; }
  FallbackScope(const FallbackScope&) = delete;
  FallbackScope& operator=(const FallbackScope&) = delete;

 private:
  const Device before_;
};

}  // namespace

const Device& device_of_fallback() { return fallback_device; }

void run_on_cpu(const OpInfo& op, void* args, std::span<Tensor> outs, std::string_view missing) {
  TensorSlots slots;
  op.args.tensors(args, slots);
  HostCopies copies;
  std::vector<Tensor> given;  // put back however the kernel ends
  struct Restore {
    TensorSlots& slots;
    std::vector<Tensor>& given;
    ~Restore() {
      for (size_t i = 0; i < given.size(); ++i) *slots[i].tensor = given[i];
    }
  } restore{slots, given};
  std::vector<Tensor> hosts;
  for (const Tensor& out : outs) hosts.push_back(copies.of(out, op.starts_from_self));
  Device device = outs.empty() ? Device(kCPU) : outs[0].device();
  for (TensorSlot& s : slots) {
    given.push_back(*s.tensor);
    if (!s.tensor->defined() || s.tensor->is_cpu()) continue;
    device = s.tensor->device();
    *s.tensor = copies.of(*s.tensor, true);
  }
  warn_once(op, device, missing);
  {
    const FallbackScope of_device(device);
    op.kernel(args, hosts);
  }
  copies.return_written(outs);
}

}  // namespace argand::exec
