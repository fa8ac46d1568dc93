#include "argand/parallel/replica_gradients.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "argand/autograd/engine.h"
#include "argand/exec/graph.h"
#include "argand/exec/invoke.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/parallel/side_stream.h"

namespace argand::parallel {
namespace {

constexpr int64_t kAlone = 1 << 20;  // bytes
constexpr size_t kMostTogether = 32;

// Per device where sums are made and sent; null for the CPU.
using SideStreams = std::vector<SideStream*>;

// Holds the gradients that side streams read until the backward is over. Then the stream that owns their memory waits
// for the side streams, and the memory goes back to the allocator, at the same point in each step (Note [Joined uses]).
class Kept {
 public:
  void keep(const Tensor& t, SideStream* side) {
    if (!side) return;
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) autograd::after_backward([this_one = self_.lock()](bool well) { this_one->release(well); });
    kept_.emplace_back(t, side);
  }
  static std::shared_ptr<Kept> make() {
    auto kept = std::make_shared<Kept>();
    kept->self_ = kept;
    return kept;
  }

 private:
  void release(bool well) {
    try {
      join();
    } catch (...) {  // after a failed backward, its own error matters
      if (well) throw;
    }
  }
  void join() {
    std::vector<std::pair<Tensor, SideStream*>> kept;
    {
      const std::lock_guard lock(mutex_);
      kept.swap(kept_);
    }
    std::set<SideStream*> sides;
    for (const auto& [tensor, side] : kept) sides.insert(side);
    for (SideStream* side : sides) {
      const Stream owner = current_stream(side->stream().device());
      uint64_t mark = 0;
      {
        const SideStream::Turn turn(*side);
        mark = side->mark();
      }
      owner.wait_stream(side->stream());
      side->joined(owner, mark);
    }
  }

  std::mutex mutex_;
  std::vector<std::pair<Tensor, SideStream*>> kept_;
  std::weak_ptr<Kept> self_;
};

// Data that all nodes of a bucket share.
struct Bucket {
  std::vector<Tensor> shapes;  // without bytes: one per parameter
  std::shared_ptr<const SideStreams> streams;
  std::shared_ptr<Kept> kept;  // shared by all buckets
  int64_t elements = 0;
};

// The node of device k.  Its first n inputs are the gradients of the copies on this device.  Then follow, except on the
// last device, the sums that come from device k + 1: one flat tensor of the whole bucket, or n tensors.  Its results go
// to device k - 1 in the same form; on the first device they are n tensors.
class SumBackward final : public autograd::Node {
 public:
  SumBackward(std::shared_ptr<const Bucket> bucket, size_t k, std::vector<Device> devices)
      : bucket_(std::move(bucket)), k_(k), devices_(std::move(devices)) {
    sequence_nr_ = UINT64_MAX;  // as soon as possible
  }
  std::string name() const override { return "BroadcastBackward"; }

  Grads apply(Grads grads) override {
    const size_t n = bucket_->shapes.size();
    grads.resize(2 * n + 1);
    SideStream* const side = (*bucket_->streams)[k_];
    SideStream* const before = k_ > 0 ? (*bucket_->streams)[k_ - 1] : nullptr;
    if (side) {
      for (size_t i = 0; i < n; ++i)
        if (grads[i].defined()) {
          if (!grads[i].is_sparse()) grads[i].impl().data();  // issues what computes it, on the current stream
          bucket_->kept->keep(grads[i], side);
        }
      side->stream().wait_stream(current_stream(side->stream().device()));
    }
    const SideStream::Turn turn(before, side);
    Grads out = k_ > 0 && is_whole(grads) ? send_flat(grads) : each(grads);
    grads.clear();
    exec::flush();  // all uses are noted in this turn
    return out;
  }

 private:
  bool is_last() const { return k_ + 1 == devices_.size(); }
  // Whether all gradients are there, and so can be sent as one tensor.
  bool is_whole(const Grads& grads) const {
    const size_t n = bucket_->shapes.size();
    if (n == 1 || (!is_last() && !grads[n].defined())) return false;
    for (size_t i = 0; i < n; ++i)
      if (!grads[i].defined() || grads[i].is_sparse()) return false;
    return true;
  }
  Grads send_flat(const Grads& grads) const {
    const size_t n = bucket_->shapes.size();
    std::vector<Tensor> parts;
    for (size_t i = 0; i < n; ++i) parts.push_back(grads[i].reshape({-1}));
    Tensor sum = cat(parts);
    if (!is_last()) sum = sum + grads[n];
    Grads out(n + 1);
    out[0] = sum.to(devices_[k_ - 1]);
    return out;
  }
  Grads each(Grads& grads) const {
    const size_t n = bucket_->shapes.size();
    const size_t first = k_ > 0 ? 1 : 0;
    Grads out(first + n);
    int64_t at = 0;
    for (size_t i = 0; i < n; ++i) {
      Tensor own = std::move(grads[i]), other = std::move(grads[n + 1 + i]);
      const int64_t count = bucket_->shapes[i].numel();
      if (grads[n].defined()) other = grads[n].narrow(0, at, count).view(bucket_->shapes[i].sizes());
      at += count;
      const bool both = own.defined() && other.defined();
      Tensor sum = both ? own + other : own.defined() ? std::move(own) : std::move(other);
      own = other = Tensor();
      if (sum.defined() && k_ > 0) sum = sum.to(devices_[k_ - 1]);
      out[first + i] = std::move(sum);
    }
    return out;
  }

  const std::shared_ptr<const Bucket> bucket_;
  const size_t k_;
  const std::vector<Device> devices_;
};

// Passes the sums on to the parameters.
class ArriveBackward final : public autograd::Node {
 public:
  explicit ArriveBackward(const SideStream* side) : side_(side) {
    sequence_nr_ = 0;  // after all other nodes
  }
  std::string name() const override { return "ReplicateBackward"; }
  Grads apply(Grads grads) override {
    if (side_) current_stream(side_->stream().device()).wait_stream(side_->stream());
    return grads;
  }

 private:
  const SideStream* const side_;
};

void link_bucket(const std::vector<size_t>& members, const std::vector<Tensor>& parameters,
                 const std::vector<std::vector<Tensor>>& copies, const std::shared_ptr<const SideStreams>& streams,
                 const std::shared_ptr<Kept>& kept) {
  const auto bucket = std::make_shared<Bucket>();
  bucket->streams = streams;
  bucket->kept = kept;
  std::vector<Device> devices;
  for (const auto& list : copies) devices.push_back(list[members[0]].device());
  const auto arrive = intrusive_ptr<autograd::Node>(new ArriveBackward((*streams)[0]));
  for (const size_t i : members) {
    const Tensor& p = parameters[i];
    bucket->shapes.push_back(exec::new_tensor({p.impl().sizes, p.dtype()}, kMeta));
    bucket->elements += p.numel();
    arrive->next_edges().push_back(gradient_edge(p));
    arrive->add_input(copies[0][i]);
  }
  intrusive_ptr<autograd::Node> before = arrive;
  for (size_t k = 0; k < devices.size(); ++k) {
    const auto node = intrusive_ptr<autograd::Node>(new SumBackward(bucket, k, devices));
    const auto first = static_cast<uint32_t>(k > 0 ? members.size() : 0);  // where sums arrive at the node before
    for (uint32_t nr = first; nr < before->num_inputs(); ++nr) node->next_edges().push_back({before, nr});
    for (const size_t i : members) {
      AutogradMeta& meta = autograd_meta(copies[k][i]);
      meta.requires_grad = false;  // no leaf any more
      meta.grad_fn = node;
      meta.output_nr = node->add_input(copies[k][i]);
    }
    if (k + 1 < devices.size()) {
      node->add_input(exec::new_tensor({Dims{bucket->elements}, copies[k][members[0]].dtype()}, devices[k]));
      for (const size_t i : members) node->add_input(copies[k][i]);
    }
    before = node;
  }
}

}  // namespace

std::vector<std::vector<size_t>> together(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<size_t>> buckets;
  std::vector<size_t> open;  // buckets of small tensors that take more
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (!t.defined()) continue;
    if (static_cast<int64_t>(t.nbytes()) >= kAlone) {
      buckets.push_back({i});
      continue;
    }
    const auto takes = [&](size_t b) {
      const Tensor& first = tensors[buckets[b][0]];
      return first.dtype() == t.dtype() && first.device() == t.device() && buckets[b].size() < kMostTogether;
    };
    const auto found = std::find_if(open.begin(), open.end(), takes);
    if (found != open.end()) {
      buckets[*found].push_back(i);
    } else {
      open.push_back(buckets.size());
      buckets.push_back({i});
    }
  }
  return buckets;
}

void link_gradients(const std::vector<Tensor>& parameters, const std::vector<std::vector<Tensor>>& copies) {
  if (!GradMode::is_enabled() || copies.empty()) return;
  std::vector<Tensor> wanted(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].defined() && parameters[i].requires_grad()) wanted[i] = parameters[i];
  const auto streams = std::make_shared<SideStreams>();
  const std::vector<std::vector<size_t>> buckets = together(wanted);
  if (buckets.empty()) return;
  for (const auto& list : copies) {
    const Device device = list[buckets[0][0]].device();
    streams->push_back(device.is_accelerator() ? &SideStream::of_replicas(device.index()) : nullptr);
  }
  const auto kept = Kept::make();
  for (const auto& members : buckets) link_bucket(members, wanted, copies, streams, kept);
}

}  // namespace argand::parallel
