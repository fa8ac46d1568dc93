// Averages the gradients of one model over the processes of a group, and sends them while backward still runs.
//
// Note [Buckets]
// Parameters are cut into buckets, the last parameter first, since backward reaches it first.  When backward has added
// to the .grad of all parameters of a bucket, and the buckets before it have been sent, the gradients are copied into
// its memory, which is sent.  After backward, .grad of each parameter is a part of that memory, in the memory order of
// the parameter.  The next backward reuses that memory if nothing holds a gradient any more (zero_grad()), so that
// addresses repeat from step to step; otherwise it allocates new memory, and a gradient that the program keeps stays as
// it is.
//
// A gradient of 1 MiB or more on a GPU, a large one, is not copied: it is sent from the memory in which backward has
// put it, together with the bucket's memory.  A hook gets all gradients of a bucket in one tensor, so with a hook all
// are copied.
//
// A parameter that this backward did not use counts as zeros.  After its gradients, a bucket has one number for each
// parameter, 1 if this process used it.  If the sum is 0, no process used it, and .grad stays as it was.  So unused
// parameters need not be known in advance, and the graph is not searched for them.
//
// Note [Parameters that are used again]
// Checkpointing with use_reentrant=True computes parts of a backward by backwards within it.  A parameter of several
// such parts gets a gradient from each, and its bucket may be sent after the last one only.  How many there are is
// counted: the first gradient that comes from a backward within another one waits for the end of the outermost
// backward, and later backwards wait for as many gradients as the most that came before.  With `static_graph` all
// parameters wait for the end the first time, so that one that such a part and the rest of the graph both use is
// counted, too.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "argand/parallel/process_group.h"

namespace argand::parallel {

// The gradients that are sent in one message.
struct GradBucket {
  size_t index = 0;
  bool is_last = false;
  Tensor buffer;                  // flat: the concatenated gradients
  std::vector<Tensor> gradients;  // parts of it, in the shapes of the parameters
  std::vector<Tensor> parameters;
};

// Replaces the mean: starts to compute the bucket's common result, of the buffer's size, and returns a function that
// waits for it.
using CommHook = std::function<std::function<Tensor()>(const GradBucket&)>;

struct ReducerOptions {
  // The sizes of the buckets, at most; the last one holds for all that follow.  The first is small, so that sending
  // begins early.  0: one parameter in each bucket.
  std::vector<size_t> bucket_bytes{size_t{1} << 20, size_t{25} << 20};
  bool static_graph = false;  // see Note [Parameters that are used again]
};

class Reducer {
 public:
  // The parameters require gradients, are floating point or complex, and have the same order in all processes.
  Reducer(std::vector<Tensor> parameters, std::shared_ptr<ProcessGroup> group, const ReducerOptions& options = {});
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // Whether later backwards send their gradients.  Gradients that were not sent are part of the next ones that are,
  // because .grad holds their sum.
  void set_enabled(bool enabled);
  // Call it before the first backward; an empty hook restores the mean.
  void set_hook(CommHook hook);
  // Sets the divisor of the sums: the number of processes, unless some of them have no batches left.
  void set_divisor(double divisor);
  // The indices of the parameters in each bucket.
  std::vector<std::vector<size_t>> buckets() const;
  // The parameters that no process used in the last backward that was sent.
  std::vector<size_t> unused() const;
  // Takes part in one backward with zeros, for a process that has no batch left.
  void shadow();

 private:
  class State;
  const std::shared_ptr<State> state_;
  std::vector<Tensor> parameters_;
  std::vector<unsigned> hooks_;
};

}  // namespace argand::parallel
