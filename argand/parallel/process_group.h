// Collectives among the processes of a world, or some of them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "argand/parallel/reduce_op.h"
#include "argand/parallel/store/store.h"
#include "argand/parallel/work.h"

namespace argand::parallel {

struct GroupOptions {
  std::string backend = "gloo";
  std::string device_backend;  // "nccl": collectives of tensors on GPUs; empty: these go through host memory
  // The timeout of each collective, unless CallTimeout sets another, and of waits for messages.
  std::chrono::milliseconds timeout{std::chrono::minutes(30)};
  // The address at which this host listens.  Empty: the one by which it reaches a TCPStore; with another store, that of
  // its host name.
  std::string host;
  std::string interface;  // or its network interface; empty: GLOO_SOCKET_IFNAME, if it is set
};

// Calls return before their work is done; until then, tensors must not be changed.  Unless a call says otherwise,
// dtypes and numbers of elements must be the same on all ranks.  If they are not, or if ranks make different calls, all
// ranks get an error that shows both.  Ranks are those of the group.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const std::vector<int>& world_ranks() const = 0;  // the world ranks of the members, in their order
  virtual const std::string& name() const = 0;
  virtual const std::string& backend() const = 0;
  virtual std::shared_ptr<Store> store() const = 0;  // for this group only: its keys have a prefix

  // In place.
  virtual WorkPtr all_reduce(std::vector<Tensor> tensors, ReduceOp op = {}) = 0;
  virtual WorkPtr reduce(std::vector<Tensor> tensors, int root, ReduceOp op = {}) = 0;  // others keep their tensors
  virtual WorkPtr broadcast(std::vector<Tensor> tensors, int root) = 0;
  // For several tensors per rank of one shape and dtype: each becomes the one result over all tensors of all ranks, or
  // tensors[root_tensor] of the root.
  virtual WorkPtr all_reduce_to_each(std::vector<Tensor> tensors, ReduceOp op = {}) = 0;
  virtual WorkPtr broadcast_to_each(std::vector<Tensor> tensors, int root, int root_tensor) = 0;
  // outputs[r] becomes rank r's input; shapes may differ between ranks if each rank gives the same list.
  virtual WorkPtr all_gather(std::vector<Tensor> outputs, const Tensor& input) = 0;
  virtual WorkPtr all_gather_into(const Tensor& output, const Tensor& input) = 0;           // concatenated
  virtual WorkPtr gather(std::vector<Tensor> outputs, const Tensor& input, int root) = 0;   // outputs of the root only
  virtual WorkPtr scatter(const Tensor& output, std::vector<Tensor> inputs, int root) = 0;  // inputs of the root only
  virtual WorkPtr reduce_scatter(const Tensor& output, std::vector<Tensor> inputs, ReduceOp op = {}) = 0;
  virtual WorkPtr reduce_scatter_from(const Tensor& output, const Tensor& input, ReduceOp op = {}) = 0;
  virtual WorkPtr all_to_all(std::vector<Tensor> outputs, std::vector<Tensor> inputs) = 0;
  // Rows of dimension 0; empty splits: equal parts.
  virtual WorkPtr all_to_all_single(const Tensor& output, const Tensor& input, std::vector<int64_t> output_splits,
                                    std::vector<int64_t> input_splits) = 0;
  virtual WorkPtr barrier() = 0;
  // Messages are not ordered with the collectives, and not checked against other ranks' calls.
  virtual WorkPtr send(const Tensor& tensor, int to, int tag = 0) = 0;
  virtual WorkPtr receive(const Tensor& tensor, int from, int tag = 0) = 0;  // from -1: of any rank

  // A group of these ranks of this group, in their order; null on other ranks.  All ranks of this group must call it,
  // in the same order.  If `name` is given, only the members must call it; they pass one name, which is used once.
  virtual std::shared_ptr<ProcessGroup> subgroup(const std::vector<int>& ranks, const GroupOptions& options,
                                                 const std::string& name = "") = 0;
  // Unfinished work, and every later call, throws.  For the group of all, other ranks learn that this one has left.
  virtual void shutdown() = 0;
};

// Joins a world of `size` processes that share the store.  Waits for all of them.  ValueError for ranks and sizes that
// cannot be; NotImplementedError for a backend that is not here.
std::shared_ptr<ProcessGroup> make_process_group(const std::shared_ptr<Store>& store, int rank, int size,
                                                 const GroupOptions& options = {});

// The same for processes that the backend's own launcher started (mpirun), which knows ranks and size.
std::shared_ptr<ProcessGroup> make_launched_process_group(const GroupOptions& options);

// The line of the program that is named in errors of collectives of this thread, until the next call; the Python front
// sets it.
void set_call_site(std::string file_and_line);

}  // namespace argand::parallel
