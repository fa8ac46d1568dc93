// Adds the gradients of copies of parameters on several devices of one process to the parameters.
//
// Note [Gradients of replicas]
// Parameters are cut into buckets (together()).  A bucket has a node per device, which adds the gradients of its own
// copies to the sum from the next device and sends it to the device before.  It goes from the last device to the first,
// so the order of the sum is fixed, and each byte crosses each link once.  The nodes run as soon as their gradients are
// ready, on their own streams, beside the rest of backward.  A last node per bucket hands the sums to the parameters.
// It runs after all other work on its device, so the computing stream waits for other devices only at the end.
#pragma once
#include <vector>

#include "argand/core/tensor.h"

namespace argand::parallel {

// Groups the indices of tensors that are sent together: a tensor of 1 MB or more alone, smaller ones of one dtype and
// device together, in the order of the list.  Undefined tensors are in no bucket.
std::vector<std::vector<size_t>> together(const std::vector<Tensor>& tensors);

// copies[k][i] is a copy of parameters[i], a leaf or a result without history; the same devices for all i.  Where
// parameters[i] requires gradients, copies[k][i] becomes a result whose gradients arrive at parameters[i].
void link_gradients(const std::vector<Tensor>& parameters, const std::vector<std::vector<Tensor>>& copies);

}  // namespace argand::parallel
