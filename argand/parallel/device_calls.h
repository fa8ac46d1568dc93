// Collectives as calls of a Communicator.  All tensors are contiguous, flat, and on one device.
#pragma once
#include "argand/parallel/reduce_op.h"

namespace argand::parallel::device_calls {

using Calls = std::vector<CommunicatorCall>;
using Tensors = std::vector<Tensor>;

Calls all_reduce(const Tensors& tensors, const ReduceOp& op);
Calls reduce(const Tensors& tensors, int root, const ReduceOp& op);
Calls broadcast(const Tensors& tensors, int root);
Calls all_gather(const Tensor& input, const Tensors& outputs, int rank);
Calls all_gather_into(const Tensor& input, const Tensor& output);
Calls gather(const Tensor& input, const Tensors& outputs, int root);   // only the root has outputs
Calls scatter(const Tensors& inputs, const Tensor& output, int root);  // only the root has inputs
Calls reduce_scatter(const Tensors& inputs, const Tensor& output, int rank, const ReduceOp& op);
Calls reduce_scatter_from(const Tensor& input, const Tensor& output, const ReduceOp& op);
Calls all_to_all(const Tensors& inputs, const Tensors& outputs);

}  // namespace argand::parallel::device_calls
