// One model in all processes of a group: the same initial parameters, and after each backward the mean of all
// gradients, so that N processes with batches of B train as one with batches of N * B.
//
//   parallel::init_process_group();
//   nn::Sequential net(...);
//   parallel::DistributedDataParallel model(net);
//   optim::SGD optimizer(net->parameters(), 0.1);
//   mse_loss(model(x), y).backward();   // x, y: this process's part of the batch
//   optimizer.step();
//
// The model stays what it is: optimizers, checkpoints and evaluation take it as before, under the same names.  Only
// forwards whose backwards are to be sent go through here.
#pragma once
#include <optional>
#include <set>
#include <utility>

#include "argand/base/arg.h"
#include "argand/parallel/default_group.h"
#include "argand/parallel/reducer.h"
#include "argand/parallel/replica.h"

namespace argand::parallel {

struct DistributedDataParallelOptions {
  ARGAND_ARG(std::shared_ptr<ProcessGroup>, process_group);  // null: that of init_process_group()
  ARGAND_ARG(bool, broadcast_buffers) = true;                // rank 0's buffers are copied to all before a forward
  ARGAND_ARG(bool, init_sync) = true;                        // the same for parameters and buffers at first
  ARGAND_ARG(double, bucket_cap_mb) = 25;                    // size of a bucket of gradients; the first one has 1 MB
  ARGAND_ARG(std::set<std::string>, ignore);                 // names of parameters and buffers to ignore
};

namespace detail {

using NamedTensors = OrderedDict<std::string, Tensor>;

// The part that does not depend on the type of the module.
class ReplicaOfModel {
 public:
  // ValueError if no parameter requires a gradient.
  ReplicaOfModel(const NamedTensors& parameters, const NamedTensors& buffers,
                 const DistributedDataParallelOptions& options);
  void before_forward(const NamedTensors& buffers, bool sends);
  void shadow(const NamedTensors& buffers, bool sends);
  Reducer& reducer();
  bool has_reducer() const { return reducer_ != nullptr; }
  ProcessGroup& group() const { return *group_; }

 private:
  void sync_buffers(const NamedTensors& buffers, bool sends_now);
  std::vector<Tensor> kept(const NamedTensors& tensors) const;

  DistributedDataParallelOptions options_;
  std::shared_ptr<ProcessGroup> group_;
  std::vector<Tensor> parameters_;  // those that require gradients
  std::unique_ptr<Reducer> reducer_;
  bool step_was_sent_ = true;
};

}  // namespace detail

// ModuleType: a shared_ptr to a module, or a handle (nn::Linear).  Forwards, backwards and the calls below are made by
// all processes in the same order.  A parameter that no process used keeps its .grad; one that some did not use counts
// as zeros there.
template <class ModuleType>
class DistributedDataParallel {
 public:
  // Error, in all processes, if their parameters differ in number, shape or dtype.
  explicit DistributedDataParallel(ModuleType module, const DistributedDataParallelOptions& options = {})
      : module_(std::move(module)), replica_(module_->named_parameters(), module_->named_buffers(), options) {}

  template <class... Args>
  auto forward(Args&&... args) {
    replica_.before_forward(module_->named_buffers(), sends_);
    return module_->forward(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto operator()(Args&&... args) {
    return forward(std::forward<Args>(args)...);
  }

  // While one exists, forwards and their backwards send no gradients: these add up in each process, until a backward
  // outside of it.
  class NoSync {
   public:
    explicit NoSync(bool& sends) : sends_(sends), before_(std::exchange(sends, false)) {}
    ~NoSync() { sends_ = before_; }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    bool& sends_;
    const bool before_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(sends_); }

  // Used by a process that has no examples left, during one forward and backward of the others: it sends zeros.
  void shadow() { replica_.shadow(module_->named_buffers(), sends_); }
  // Replaces the mean; before training.
  void register_comm_hook(CommHook hook) { replica_.reducer().set_hook(std::move(hook)); }

  const ModuleType& module() const { return module_; }
  ProcessGroup& process_group() const { return replica_.group(); }

 private:
  ModuleType module_;
  detail::ReplicaOfModel replica_;
  bool sends_ = true;
};

}  // namespace argand::parallel
