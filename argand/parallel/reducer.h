// Gradients of one model in all processes of a group: the mean of each, sent while backward still computes others.
//
// Note [Buckets]
// Parameters are cut into buckets, the last parameter first, since backward reaches it first.  When backward has added
// to a parameter's .grad, the gradient is copied into its bucket; when a bucket is full and those before it are on
// their way, it is sent.  After backward, .grad of each parameter is a part of its bucket's memory.  The next backward
// uses that memory again if nothing holds a gradient any more (zero_grad()), so that addresses repeat from step to
// step; otherwise it gets other memory, and a gradient that the program keeps stays as it is.
//
// A parameter that this backward did not use counts as zeros.  Behind its gradients a bucket has one number for each
// parameter, 1 if this process used it: where the sum is 0 no process did, and .grad stays as it was.  So nothing has
// to be known about unused parameters before, and nothing is searched.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "argand/parallel/process_group.h"

namespace argand::parallel {

// What is sent at once.
struct GradBucket {
  size_t index = 0;
  bool is_last = false;
  Tensor buffer;                  // flat: the gradients, one behind the other
  std::vector<Tensor> gradients;  // parts of it, in the shapes of the parameters
  std::vector<Tensor> parameters;
};

// Instead of the mean: begins to make of the bucket's buffer what all processes are to have, of the same size; waiting
// for it is the function that it returns.
using CommHook = std::function<std::function<Tensor()>(const GradBucket&)>;

struct ReducerOptions {
  size_t bucket_bytes = size_t{25} << 20;
  size_t first_bucket_bytes = size_t{1} << 20;  // so that sending begins early
};

class Reducer {
 public:
  // Parameters that require gradients, all of floating point or complex, in the same order in all processes.
  Reducer(std::vector<Tensor> parameters, std::shared_ptr<ProcessGroup> group, const ReducerOptions& options = {});
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // Whether backwards from now on are sent.  Gradients that were not are part of the next ones that are, as .grad holds
  // their sum.
  void set_enabled(bool enabled);
  // Before the first backward, or an empty one to go back to the mean.
  void set_hook(CommHook hook);
  // By what sums are divided: the number of processes, unless some of them have no batches left.
  void set_divisor(double divisor);
  // Parameters by buckets, as indices.
  std::vector<std::vector<size_t>> buckets() const;
  // The parameters that no process used in the last backward that was sent.
  std::vector<size_t> unused() const;
  // Takes part in the sending of one backward with zeros: what a process does that has no batch left.
  void shadow();

 private:
  class State;
  const std::shared_ptr<State> state_;
  std::vector<Tensor> parameters_;
  std::vector<unsigned> hooks_;
};

}  // namespace argand::parallel
