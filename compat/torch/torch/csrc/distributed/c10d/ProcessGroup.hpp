// c10d::ProcessGroup: some processes, in an order, and the backends that serve the tensors of each kind of device.
#pragma once
#include <algorithm>
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
  // A group of these ranks of this one, in their order.  They call it, and this rank must be among them.  The timeout
  // is that of the options if none is given; `devices` keeps the backends of these.
  virtual c10::intrusive_ptr<ProcessGroup> splitGroup(
      const std::vector<int>& ranks, const std::optional<std::chrono::milliseconds>& timeout = std::nullopt,
      const std::optional<c10::intrusive_ptr<Backend::Options>>& options = std::nullopt,
      const std::optional<std::string>& name = std::nullopt,
      const std::optional<std::string>& description = std::nullopt,
      const std::optional<std::vector<c10::Device>>& devices = std::nullopt) {
    const int rank = rank_in_split(ranks);
    const std::string full = name ? *name : name_of_split(ranks);
    const auto made = c10::make_intrusive<ProcessGroup>(store_, rank, static_cast<int>(ranks.size()));
    std::map<BackendType, c10::intrusive_ptr<Backend>> split;
    for (const auto& [device, backend] : by_device_) {
      const bool wanted = !devices || std::any_of(devices->begin(), devices->end(),
                                                  [&, type = device](const auto& d) { return d.type() == type; });
      if (!wanted) continue;
      BackendType type = UNDEFINED;
      for (const auto& [t, b] : by_type_)
        if (b.get() == backend.get()) type = t;
      auto& part = split[type];
      if (!part)
        part = backend->split(store_, ranks, options_of_split(backend->getBackendName(), full, timeout, options));
      made->setBackend(device, type, part);
    }
    made->setGroupName(full);
    made->setGroupDesc(description.value_or(full));
    return made;
  }
  void abort() override {
    for (const auto& [type, backend] : by_type_) backend->abort();
  }
  void shutdown() override {
    for (const auto& [type, backend] : by_type_) backend->shutdown();
  }

 protected:
  // The place of this rank among those of a split; what they must be.
  int rank_in_split(const std::vector<int>& ranks) const {
    TORCH_CHECK(!ranks.empty(), "splitGroup: expected at least one rank");
    for (const int r : ranks) {
      TORCH_CHECK(r >= 0 && r < getSize(), "splitGroup: expected ranks to be 0 to ", getSize() - 1, ", got ", r);
      TORCH_CHECK(std::count(ranks.begin(), ranks.end(), r) == 1, "splitGroup: rank ", r, " is given twice");
    }
    const auto mine = std::find(ranks.begin(), ranks.end(), getRank());
    TORCH_CHECK(mine != ranks.end(), "splitGroup: expected this rank, ", getRank(), ", to be among the ranks");
    return static_cast<int>(mine - ranks.begin());
  }
  // One that these ranks have not used in this group.
  std::string name_of_split(const std::vector<int>& ranks) {
    std::string name = getGroupName() + ":split:";
    for (const int r : ranks) name += argand::str(r, "_");
    return name + argand::str(++splits_[name]);
  }
  static c10::intrusive_ptr<Backend::Options> options_of_split(
      const std::string& backend, const std::string& name, const std::optional<std::chrono::milliseconds>& timeout,
      const std::optional<c10::intrusive_ptr<Backend::Options>>& options) {
    const auto own = c10::make_intrusive<Backend::Options>(backend);
    if (options && *options) own->timeout = (*options)->timeout;
    if (timeout) own->timeout = *timeout;
    own->group_name = name;
    return own;
  }

 private:
  std::map<std::string, int> splits_;

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
