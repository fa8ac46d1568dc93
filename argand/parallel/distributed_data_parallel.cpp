#include "argand/parallel/distributed_data_parallel.h"

#include <algorithm>

#include "argand/core/grad_mode.h"

namespace argand::parallel::detail {

ReplicaOfModel::ReplicaOfModel(const NamedTensors& parameters, const NamedTensors& buffers,
                               const DistributedDataParallelOptions& options)
    : options_(options), group_(options.process_group() ? options.process_group() : default_process_group()) {
  ARGAND_CHECK(ValueError, options.bucket_cap_mb() > 0,
               "DistributedDataParallel: expected bucket_cap_mb to be above 0, got ", options.bucket_cap_mb());
  NamedTensors trained;
  for (const auto& p : parameters) {
    const Tensor& t = p.value();
    if (!t.defined() || !t.requires_grad() || options.ignore().count(p.key())) continue;
    // One tensor may have several names.
    if (std::any_of(parameters_.begin(), parameters_.end(), [&](const Tensor& o) { return o.is_same(t); })) continue;
    trained.insert(p.key(), t);
    parameters_.push_back(t);
  }
  ARGAND_CHECK(ValueError, !parameters_.empty(),
               "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
               "gradient.");
  if (group_->size() == 1) return;
  check_same_parameters(*group_, trained);
  if (options.init_sync()) {
    std::vector<Tensor> state;
    for (const auto* tensors : {&parameters, &buffers})
      for (const Tensor& t : kept(*tensors)) state.push_back(t.detach());
    broadcast_state(*group_, state, 0);
  }
  (void)reducer();
}

std::vector<Tensor> ReplicaOfModel::kept(const NamedTensors& tensors) const {
  std::vector<Tensor> out;
  for (const auto& t : tensors)
    if (t.value().defined() && !options_.ignore().count(t.key())) out.push_back(t.value());
  return out;
}

Reducer& ReplicaOfModel::reducer() {
  if (!reducer_) {
    const auto cap = static_cast<size_t>(options_.bucket_cap_mb() * (1 << 20));
    ReducerOptions buckets;
    for (size_t& bytes : buckets.bucket_bytes) bytes = std::min(bytes, cap);
    buckets.bucket_bytes.back() = cap;
    reducer_ = std::make_unique<Reducer>(parameters_, group_, buckets);
  }
  return *reducer_;
}

void ReplicaOfModel::before_forward(const NamedTensors& buffers, bool sends) {
  if (!reducer_) return;
  if (GradMode::is_enabled()) reducer_->set_enabled(sends);
  sync_buffers(buffers, GradMode::is_enabled() ? sends : step_was_sent_);
}

// The buffers of a step, if the step before sent gradients.
void ReplicaOfModel::sync_buffers(const NamedTensors& buffers, bool sends_now) {
  if (step_was_sent_ && options_.broadcast_buffers()) broadcast_buffers(*group_, kept(buffers), 0);
  step_was_sent_ = sends_now;
}

void ReplicaOfModel::shadow(const NamedTensors& buffers, bool sends) {
  if (!reducer_) return;
  sync_buffers(buffers, sends);
  if (sends) reducer_->shadow();
}

}  // namespace argand::parallel::detail
