// c10d::Backend: what makes collectives and messages among some processes.  Programs may implement one; those of this
// library are behind ProcessGroupGloo.hpp, ProcessGroupMPI.hpp and ProcessGroupNCCL.hpp.
#pragma once
#include <string>
#include <vector>

#include "torch/csrc/distributed/c10d/Types.hpp"
#include "torch/csrc/distributed/c10d/Work.hpp"

constexpr auto kBackendDefaultTimeout = std::chrono::milliseconds(30 * 60 * 1000);

namespace c10d {

class Backend : public c10::intrusive_ptr_target {
 public:
  using Work = c10d::Work;

  struct Options : c10::intrusive_ptr_target {
    explicit Options(std::string backend_name, std::chrono::milliseconds timeout_of_calls = kBackendDefaultTimeout)
        : timeout(timeout_of_calls), backend(std::move(backend_name)) {}
    std::chrono::milliseconds timeout;
    const std::string backend;
    std::string group_name;
  };

  Backend(int rank, int size) : rank_(rank), size_(size) {}
  ~Backend() override = default;

  virtual int getRank() const { return rank_; }
  virtual int getSize() const { return size_; }
  int64_t getID() const { return static_cast<int64_t>(reinterpret_cast<intptr_t>(this)); }
  virtual const std::string getBackendName() const { return "undefined"; }
  virtual const std::string& getGroupName() const { return name_; }
  virtual void setGroupName(const std::string& name) { name_ = name; }
  virtual const std::string& getGroupDesc() const { return description_; }
  virtual void setGroupDesc(const std::string& description) { description_ = description; }

  using Tensors = std::vector<at::Tensor>;
  using TensorLists = std::vector<Tensors>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  virtual WorkPtr broadcast(Tensors&, const BroadcastOptions& = {}) { lacks("broadcast"); }
  virtual WorkPtr allreduce(Tensors&, const AllreduceOptions& = {}) { lacks("allreduce"); }
  virtual WorkPtr allreduce_coalesced(Tensors&, const AllreduceCoalescedOptions& = {}) { lacks("allreduce_coalesced"); }
  virtual WorkPtr reduce(Tensors&, const ReduceOptions& = {}) { lacks("reduce"); }
  virtual WorkPtr allgather(TensorLists&, Tensors&, const AllgatherOptions& = {}) { lacks("allgather"); }
  virtual WorkPtr allgather_coalesced(TensorLists&, Tensors&, const AllgatherOptions& = {}) {
    lacks("allgather_coalesced");
  }
  virtual WorkPtr gather(TensorLists&, Tensors&, const GatherOptions& = {}) { lacks("gather"); }
  virtual WorkPtr scatter(Tensors&, TensorLists&, const ScatterOptions& = {}) { lacks("scatter"); }
  virtual WorkPtr reduce_scatter(Tensors&, TensorLists&, const ReduceScatterOptions& = {}) { lacks("reduce_scatter"); }
  virtual WorkPtr alltoall(Tensors&, Tensors&, const AllToAllOptions& = {}) { lacks("alltoall"); }
  virtual WorkPtr send(Tensors&, int /*dstRank*/, int /*tag*/) { lacks("send"); }
  virtual WorkPtr recv(Tensors&, int /*srcRank*/, int /*tag*/) { lacks("recv"); }
  virtual WorkPtr recvAnysource(Tensors&, int /*tag*/) { lacks("recvAnysource"); }
  virtual WorkPtr barrier(const BarrierOptions& = {}) { lacks("barrier"); }
  virtual void monitoredBarrier(const BarrierOptions&, bool /*waitAllRanks*/ = false) { lacks("monitoredBarrier"); }

  // Each has two names, of newer and of older releases; a backend implements one of them.
  virtual WorkPtr all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& options = {}) {
    static thread_local bool again = false;
    const OtherName guard(*this, again, "all_gather_single");
    return _allgather_base(output, input, options);
  }
  virtual WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const AllgatherOptions& options = {}) {
    return all_gather_single(output, input, options);
  }
  virtual WorkPtr reduce_scatter_single(at::Tensor& output, at::Tensor& input,
                                        const ReduceScatterOptions& options = {}) {
    static thread_local bool again = false;
    const OtherName guard(*this, again, "reduce_scatter_single");
    return _reduce_scatter_base(output, input, options);
  }
  virtual WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                       const ReduceScatterOptions& options = {}) {
    return reduce_scatter_single(output, input, options);
  }
  using Splits = std::vector<int64_t>;
  virtual WorkPtr all_to_all_single(at::Tensor& output, at::Tensor& input, Splits& outputSplitSizes,
                                    Splits& inputSplitSizes, const AllToAllOptions& options = {}) {
    static thread_local bool again = false;
    const OtherName guard(*this, again, "all_to_all_single");
    return alltoall_base(output, input, outputSplitSizes, inputSplitSizes, options);
  }
  virtual WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, Splits& outputSplitSizes,
                                Splits& inputSplitSizes, const AllToAllOptions& options = {}) {
    return all_to_all_single(output, input, outputSplitSizes, inputSplitSizes, options);
  }

  // A backend of these ranks of this one, in their order.  They call it, and this rank must be among them.
  virtual c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<Store>& /*store*/,
                                            const std::vector<int>& /*ranks*/,
                                            const c10::intrusive_ptr<Options>& /*options*/) {
    lacks("split");
  }

  // Work that is not done fails, and every later call.
  virtual void abort() { lacks("abort"); }
  virtual void shutdown() { lacks("shutdown"); }

 protected:
  [[noreturn]] void lacks(const char* call) const {
    throw argand::NotImplementedError("Backend " + getBackendName() + " does not support " + call);
  }

  const int rank_, size_;

 private:
  // Throws where neither of the two names is implemented, so that they would call each other for ever.
  class OtherName {
   public:
    OtherName(const Backend& backend, bool& again, const char* call) : again_(again) {
      if (again) backend.lacks(call);
      again = true;
    }
    ~OtherName() { again_ = false; }
    OtherName(const OtherName&) = delete;
    OtherName& operator=(const OtherName&) = delete;

   private:
    bool& again_;
  };

  std::string name_, description_;
};

}  // namespace c10d
