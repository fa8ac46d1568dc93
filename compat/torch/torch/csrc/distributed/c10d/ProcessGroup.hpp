// c10d::ProcessGroup: some processes, in an order, and the backends that serve the tensors of each kind of device.
#pragma once
#include <map>

#include "torch/csrc/distributed/c10d/Backend.hpp"

namespace c10d {

// Each call goes to the backend of the device of its first tensor; barrier() to the default backend.
class ProcessGroup : public Backend {
 public:
  enum BackendType : uint8_t { UNDEFINED = 0, GLOO = 1, NCCL = 2, UCC = 3, MPI = 4, XCCL = 5, CUSTOM = 6 };

  ProcessGroup(int rank, int size) : Backend(rank, size) {}
  ProcessGroup(c10::intrusive_ptr<Store> store, int rank, int size) : Backend(rank, size), store_(std::move(store)) {}

  const c10::intrusive_ptr<Store>& getStore() const { return store_; }
  BackendType getBackendType() const { return default_type_; }
  const std::string getBackendName() const override {
    const auto found = by_type_.find(default_type_);
    return found == by_type_.end() ? "undefined" : found->second->getBackendName();
  }

  // The first becomes the default.
  void setBackend(c10::DeviceType device, BackendType type, const std::optional<c10::intrusive_ptr<Backend>>& backend) {
    if (backend) by_type_[type] = *backend;
    const auto found = by_type_.find(type);
    TORCH_CHECK(found != by_type_.end(), "ProcessGroup::setBackend: no backend was given for this type before");
    by_device_[device] = found->second;
    if (by_device_.size() == 1) default_type_ = type;
  }
  void setDefaultBackend(const BackendType& type) { default_type_ = type; }
  c10::intrusive_ptr<Backend> getDefaultBackend() const { return getBackend(default_type_); }
  bool hasBackends() const { return !by_device_.empty(); }
  c10::intrusive_ptr<Backend> getBackend(BackendType type) const {
    const auto found = by_type_.find(type);
    TORCH_CHECK(found != by_type_.end(), "ProcessGroup: no backend of type ", static_cast<int>(type));
    return found->second;
  }
  c10::intrusive_ptr<Backend> getBackend(c10::DeviceType device) const {
    const auto found = by_device_.find(device);
    TORCH_CHECK(found != by_device_.end(), "ProcessGroup: no backend for tensors of device type ", device);
    return found->second;
  }

  WorkPtr broadcast(Tensors& tensors, const BroadcastOptions& options = {}) override {
    return of("broadcast", tensors)->broadcast(tensors, options);
  }
  WorkPtr allreduce(Tensors& tensors, const AllreduceOptions& options = {}) override {
    return of("allreduce", tensors)->allreduce(tensors, options);
  }
  WorkPtr allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& options = {}) override {
    return of("allreduce_coalesced", tensors)->allreduce_coalesced(tensors, options);
  }
  WorkPtr reduce(Tensors& tensors, const ReduceOptions& options = {}) override {
    return of("reduce", tensors)->reduce(tensors, options);
  }
  WorkPtr allgather(TensorLists& outputs, Tensors& inputs, const AllgatherOptions& options = {}) override {
    return of("allgather", inputs)->allgather(outputs, inputs, options);
  }
  WorkPtr allgather_coalesced(TensorLists& outputs, Tensors& inputs, const AllgatherOptions& options = {}) override {
    return of("allgather_coalesced", inputs)->allgather_coalesced(outputs, inputs, options);
  }
  WorkPtr gather(TensorLists& outputs, Tensors& inputs, const GatherOptions& options = {}) override {
    return of("gather", inputs)->gather(outputs, inputs, options);
  }
  WorkPtr scatter(Tensors& outputs, TensorLists& inputs, const ScatterOptions& options = {}) override {
    return of("scatter", outputs)->scatter(outputs, inputs, options);
  }
  WorkPtr reduce_scatter(Tensors& outputs, TensorLists& inputs, const ReduceScatterOptions& options = {}) override {
    return of("reduce_scatter", outputs)->reduce_scatter(outputs, inputs, options);
  }
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& options = {}) override {
    return of("alltoall", outputs)->alltoall(outputs, inputs, options);
  }
  WorkPtr send(Tensors& tensors, int dstRank, int tag) override {
    return of("send", tensors)->send(tensors, dstRank, tag);
  }
  WorkPtr recv(Tensors& tensors, int srcRank, int tag) override {
    return of("recv", tensors)->recv(tensors, srcRank, tag);
  }
  WorkPtr recvAnysource(Tensors& tensors, int tag) override {
    return of("recvAnysource", tensors)->recvAnysource(tensors, tag);
  }
  WorkPtr barrier(const BarrierOptions& options = {}) override { return getDefaultBackend()->barrier(options); }
  void monitoredBarrier(const BarrierOptions& options, bool waitAllRanks = false) override {
    getDefaultBackend()->monitoredBarrier(options, waitAllRanks);
  }
  WorkPtr all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& options = {}) override {
    return getBackend(output.device().type())->all_gather_single(output, input, options);
  }
  WorkPtr reduce_scatter_single(at::Tensor& output, at::Tensor& input,
                                const ReduceScatterOptions& options = {}) override {
    return getBackend(output.device().type())->reduce_scatter_single(output, input, options);
  }
  WorkPtr all_to_all_single(at::Tensor& output, at::Tensor& input, Splits& outputSplitSizes, Splits& inputSplitSizes,
                            const AllToAllOptions& options = {}) override {
    return getBackend(output.device().type())
        ->all_to_all_single(output, input, outputSplitSizes, inputSplitSizes, options);
  }
  void abort() override {
    for (const auto& [type, backend] : by_type_) backend->abort();
  }
  void shutdown() override {
    for (const auto& [type, backend] : by_type_) backend->shutdown();
  }

 private:
  c10::intrusive_ptr<Backend> of(const char* call, const Tensors& tensors) const {
    TORCH_CHECK(!tensors.empty(), call, ": expected at least one tensor");
    return getBackend(tensors[0].device().type());
  }

  c10::intrusive_ptr<Store> store_;
  BackendType default_type_ = UNDEFINED;
  std::map<c10::DeviceType, c10::intrusive_ptr<Backend>> by_device_;
  std::map<BackendType, c10::intrusive_ptr<Backend>> by_type_;
};

}  // namespace c10d
