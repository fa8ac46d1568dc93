// Gradients of copies of parameters, on several devices of one process, become those of the parameters.
//
// Note [Gradients of replicas]
// Parameters are cut into buckets (together()).  A bucket has a node per device, which adds the gradients of its own
// copies to what came from the next device and sends the sum to the device before: from the last to the first, so the
// order of the sum is fixed, and each byte crosses each link once.  The nodes run as soon as their gradients are there,
// on streams of their own, beside the rest of backward.  A last node per bucket hands the sums to the parameters.  It
// runs after all else on its device, so the stream that computes gradients waits for other devices at the end alone.
#pragma once
#include <vector>

#include "argand/core/tensor.h"

namespace argand::parallel {

// Indices of tensors that travel together: one of 1 MB or more by itself, smaller ones of one dtype and device in the
// order of the list.  Undefined ones are in no bucket.
std::vector<std::vector<size_t>> together(const std::vector<Tensor>& tensors);

// copies[k][i] is a copy of parameters[i], a leaf or a result without history; the same devices for all i.  Where
// parameters[i] requires gradients, copies[k][i] becomes a result whose gradients arrive at parameters[i].
void link_gradients(const std::vector<Tensor>& parameters, const std::vector<std::vector<Tensor>>& copies);

}  // namespace argand::parallel
