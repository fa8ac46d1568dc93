// The groups of this library with LibTorch's names.
#pragma once
#include "argand/parallel/backends.h"
#include "argand/parallel/call_timeout.h"
#include "argand/parallel/process_group.h"
#include "torch/csrc/distributed/c10d/ProcessGroup.hpp"
#include "torch/csrc/distributed/c10d/wrapped_store.h"

namespace c10d::detail {

class WrappedGroup : public ProcessGroup {
 public:
  using Ours = std::shared_ptr<argand::parallel::ProcessGroup>;
  WrappedGroup(Ours ours, std::string backend, Ours parent = nullptr)
      : ProcessGroup(ours->rank(), ours->size()),
        ours_(std::move(ours)),
        backend_(std::move(backend)),
        parent_(std::move(parent)) {
    setGroupName(ours_->name());
  }
  const Ours& ours() const { return ours_; }
  const std::string getBackendName() const override { return backend_; }

  WorkPtr broadcast(Tensors& tensors, const BroadcastOptions& options = {}) override {
    const auto timeout = check("broadcast", options);
    check_alike("broadcast", tensors);
    TORCH_CHECK(options.rootTensor >= 0 && options.rootTensor < static_cast<int64_t>(tensors.size()),
                "broadcast: expected rootTensor to be 0 to ", tensors.size() - 1, ", got ", options.rootTensor);
    return made(OpType::BROADCAST,
                tensors.size() == 1
                    ? ours_->broadcast(tensors, root_of(options))
                    : ours_->broadcast_to_each(tensors, root_of(options), static_cast<int>(options.rootTensor)));
  }
  WorkPtr allreduce(Tensors& tensors, const AllreduceOptions& options = {}) override {
    const auto timeout = check("allreduce", options);
    check_dense("allreduce", options);
    check_alike("allreduce", tensors);
    return made(OpType::ALLREDUCE, tensors.size() == 1 ? ours_->all_reduce(tensors, to_ours(options.reduceOp))
                                                       : ours_->all_reduce_to_each(tensors, to_ours(options.reduceOp)));
  }
  WorkPtr allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& options = {}) override {
    const auto timeout = check("allreduce_coalesced", options);
    check_dense("allreduce_coalesced", options);
    return made(OpType::ALLREDUCE_COALESCED, ours_->all_reduce(tensors, to_ours(options.reduceOp)));
  }
  WorkPtr reduce(Tensors& tensors, const ReduceOptions& options = {}) override {
    const auto timeout = check("reduce", options, &tensors);
    check_root_tensor("reduce", options);
    return made(OpType::REDUCE, ours_->reduce(tensors, root_of(options), to_ours(options.reduceOp)));
  }
  WorkPtr allgather(TensorLists& outputs, Tensors& inputs, const AllgatherOptions& options = {}) override {
    const auto timeout = check("allgather", options, &inputs, &outputs);
    return made(OpType::ALLGATHER, ours_->all_gather(outputs[0], inputs[0]));
  }
  // outputs[r][i] becomes inputs[i] of rank r.
  WorkPtr allgather_coalesced(TensorLists& outputs, Tensors& inputs, const AllgatherOptions& options = {}) override {
    const auto timeout = check("allgather_coalesced", options);
    for (const Tensors& of_rank : outputs)
      TORCH_CHECK(of_rank.size() == inputs.size(), "allgather_coalesced: expected ", inputs.size(),
                  " outputs for each rank, got ", of_rank.size());
    WorkOfGroup::Ours parts;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Tensors of_input;
      for (const Tensors& of_rank : outputs) of_input.push_back(of_rank[i]);
      parts.push_back(ours_->all_gather(of_input, inputs[i]));
    }
    return c10::make_intrusive<WorkOfGroup>(rank_, OpType::ALLGATHER_COALESCED, std::move(parts));
  }
  WorkPtr gather(TensorLists& outputs, Tensors& inputs, const GatherOptions& options = {}) override {
    const auto timeout = check("gather", options, &inputs, root_of(options) == rank_ ? &outputs : nullptr);
    return made(OpType::GATHER, ours_->gather(list_of(outputs), inputs[0], root_of(options)));
  }
  WorkPtr scatter(Tensors& outputs, TensorLists& inputs, const ScatterOptions& options = {}) override {
    const auto timeout = check("scatter", options, &outputs, root_of(options) == rank_ ? &inputs : nullptr);
    return made(OpType::SCATTER, ours_->scatter(outputs[0], list_of(inputs), root_of(options)));
  }
  WorkPtr reduce_scatter(Tensors& outputs, TensorLists& inputs, const ReduceScatterOptions& options = {}) override {
    const auto timeout = check("reduce_scatter", options, &outputs, &inputs);
    return made(OpType::REDUCE_SCATTER, ours_->reduce_scatter(outputs[0], inputs[0], to_ours(options.reduceOp)));
  }
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& options = {}) override {
    const auto timeout = check("alltoall", options);
    return made(OpType::ALLTOALL, ours_->all_to_all(outputs, inputs));
  }
  WorkPtr all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& options = {}) override {
    const auto timeout = check("all_gather_single", options);
    return made(OpType::_ALLGATHER_BASE, ours_->all_gather_into(output, input));
  }
  WorkPtr reduce_scatter_single(at::Tensor& output, at::Tensor& input,
                                const ReduceScatterOptions& options = {}) override {
    const auto timeout = check("reduce_scatter_single", options);
    return made(OpType::_REDUCE_SCATTER_BASE, ours_->reduce_scatter_from(output, input, to_ours(options.reduceOp)));
  }
  WorkPtr all_to_all_single(at::Tensor& output, at::Tensor& input, Splits& outputSplitSizes, Splits& inputSplitSizes,
                            const AllToAllOptions& options = {}) override {
    const auto timeout = check("all_to_all_single", options);
    return made(OpType::ALLTOALL_BASE, ours_->all_to_all_single(output, input, outputSplitSizes, inputSplitSizes));
  }
  WorkPtr send(Tensors& tensors, int dstRank, int tag) override {
    check_one("send", tensors.size());
    return made(OpType::SEND, ours_->send(tensors[0], dstRank, tag));
  }
  WorkPtr recv(Tensors& tensors, int srcRank, int tag) override {
    check_one("recv", tensors.size());
    TORCH_CHECK(srcRank >= 0, "recv: expected srcRank to be a rank of the group, got ", srcRank);
    return made(OpType::RECV, ours_->receive(tensors[0], srcRank, tag));
  }
  WorkPtr recvAnysource(Tensors& tensors, int tag) override {
    check_one("recvAnysource", tensors.size());
    return made(OpType::RECVANYSOURCE, ours_->receive(tensors[0], -1, tag));
  }
  WorkPtr barrier(const BarrierOptions& options = {}) override {
    const auto timeout = check("barrier", options);
    return made(OpType::BARRIER, ours_->barrier());
  }
  // A part of this group's world, and with its connections: the store is not used.
  c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<Store>& /*store*/, const std::vector<int>& ranks,
                                    const c10::intrusive_ptr<Options>& options) override {
    rank_in_split(ranks);
    argand::parallel::GroupOptions ours;
    ours.device_backend = argand::parallel::backends_of(backend_).device;
    ours.timeout = options->timeout;
    const std::string name = options->group_name.empty() ? name_of_split(ranks) : options->group_name;
    return c10::make_intrusive<WrappedGroup>(ours_->subgroup(ranks, ours, name), backend_, ours_);
  }
  c10::intrusive_ptr<ProcessGroup> splitGroup(
      const std::vector<int>& ranks, const std::optional<std::chrono::milliseconds>& timeout = std::nullopt,
      const std::optional<c10::intrusive_ptr<Backend::Options>>& options = std::nullopt,
      const std::optional<std::string>& name = std::nullopt,
      const std::optional<std::string>& description = std::nullopt,
      const std::optional<std::vector<c10::Device>>& /*devices*/ = std::nullopt) override {
    rank_in_split(ranks);
    const std::string full = name ? *name : name_of_split(ranks);
    const auto made = split(getStore(), ranks, options_of_split(backend_, full, timeout, options));
    made->setGroupDesc(description.value_or(full));
    return c10::intrusive_ptr<ProcessGroup>(static_cast<ProcessGroup*>(made.get()));
  }
  // After the timeout, the error names all missing ranks.
  void monitoredBarrier(const BarrierOptions& options, bool /*waitAllRanks*/ = false) override {
    const auto timeout = check("monitoredBarrier", options);
    ours_->barrier()->wait();
  }
  // Ends the group here; other ranks that wait for this one get an error.
  void abort() override { ours_->shutdown(); }
  void shutdown() override { ours_->shutdown(); }

 private:
  static constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

  WorkPtr made(OpType type, argand::parallel::WorkPtr work) const {
    return c10::make_intrusive<WorkOfGroup>(rank_, type, WorkOfGroup::Ours{std::move(work)});
  }
  static void check_one(const char* call, size_t tensors) {
    TORCH_CHECK(tensors == 1, call, ": expected one tensor, got ", tensors);
  }
  // The tensors of a process, which is one; lists of tensors, too.  The timeout of the call, while it is made.
  template <class Options>
  static argand::parallel::CallTimeout check(const char* call, const Options& options, const Tensors* tensors = nullptr,
                                             const TensorLists* lists = nullptr) {
    if (tensors) check_one(call, tensors->size());
    TORCH_CHECK(!lists || lists->size() == 1, call, ": expected one list of tensors, got ", lists ? lists->size() : 0);
    if (options.timeout == kUnsetTimeout) return argand::parallel::CallTimeout(std::nullopt);
    return argand::parallel::CallTimeout(options.timeout > kNoTimeout ? options.timeout : kForever);
  }
  static void check_alike(const char* call, const Tensors& tensors) {
    const auto text = [](const at::Tensor& t) {
      return argand::str(argand::ScalarType(t.scalar_type()), " ", t.sizes());
    };
    TORCH_CHECK(!tensors.empty(), call, ": expected at least one tensor");
    for (size_t i = 1; i < tensors.size(); ++i)
      TORCH_CHECK(text(tensors[i]) == text(tensors[0]), call, ": expected tensors of one size and dtype, got ",
                  text(tensors[0]), " and, at index ", i, ", ", text(tensors[i]));
  }
  template <class Options>
  static void check_root_tensor(const char* call, const Options& options) {
    TORCH_CHECK(options.rootTensor == 0, call, ": expected rootTensor to be 0, for there is one tensor, got ",
                options.rootTensor);
  }
  static void check_dense(const char* call, const AllreduceOptions& options) {
    if (options.sparseIndices) throw argand::NotImplementedError(std::string(call) + ": no tensor is sparse");
  }
  template <class Options>
  static int root_of(const Options& options) {
    return static_cast<int>(options.rootRank);
  }
  static Tensors list_of(const TensorLists& lists) { return lists.empty() ? Tensors() : lists[0]; }

  const Ours ours_;
  const std::string backend_;
  const Ours parent_;  // leaves after the groups that were split from it
};

inline WrappedGroup::Ours join(const c10::intrusive_ptr<Store>& store, int rank, int size,
                               const argand::parallel::GroupOptions& options) {
  return argand::parallel::make_process_group(to_ours(store), rank, size, options);
}

}  // namespace c10d::detail
