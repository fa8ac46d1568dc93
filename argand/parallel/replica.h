// Steps that DistributedDataParallel of C++ and of Python share: they keep a model the same in all processes of a
// group.
#pragma once
#include <string>
#include <vector>

#include "argand/base/ordered_dict.h"
#include "argand/parallel/process_group.h"

namespace argand::parallel {

// All processes must call it with their parameters.  All get an Error if numbers, shapes or dtypes differ.
void check_same_parameters(ProcessGroup& group, const OrderedDict<std::string, Tensor>& parameters);

// Copies the values of the root to all processes.
void broadcast_state(ProcessGroup& group, const std::vector<Tensor>& tensors, int root);

// The same for buffers before a forward: they get new memory, so that values saved by an earlier forward stay valid.
// One message for all buffers of a dtype and device.
void broadcast_buffers(ProcessGroup& group, const std::vector<Tensor>& buffers, int root);

}  // namespace argand::parallel
