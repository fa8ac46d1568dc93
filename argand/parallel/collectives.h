// The algorithms of collectives for tensors in host memory.  What each leaves where is said in process_group.h; the
// order of additions is that of the ranks (docs/design/0014-process-groups.md).
//
// Tensors are contiguous, in host memory, with nothing waiting to be written; `flat` ones have one dimension.  Sizes
// that must be equal between ranks were compared before (call_check.h), but for those of all_to_all, which exchanges
// them.
#pragma once
#include "argand/parallel/channel.h"
#include "argand/parallel/reduce_op.h"

namespace argand::parallel {

void all_reduce(Channel& channel, const Tensor& flat, const ReduceOp& op);
void reduce(Channel& channel, const Tensor& flat, int root, const ReduceOp& op);
void broadcast(Channel& channel, const Tensor& flat, int root);
void all_gather(Channel& channel, const std::vector<Tensor>& outputs, const Tensor& input);
void gather(Channel& channel, const std::vector<Tensor>& outputs, const Tensor& input, int root);
void scatter(Channel& channel, const Tensor& output, const std::vector<Tensor>& inputs, int root);
// inputs[j] goes to rank j.
void reduce_scatter(Channel& channel, const Tensor& output, const std::vector<Tensor>& inputs, const ReduceOp& op);
// ShapeError if what a rank sends is not what the other expects: on both of them.
void all_to_all(Channel& channel, const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);
void barrier(Channel& channel);

}  // namespace argand::parallel
