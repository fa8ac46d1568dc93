// Backward: walks the graph from the roots in reverse order of recording.
//
// The engine is iterative: the depth of a graph costs memory, not stack.  Nodes run latest recorded first, each when
// all gradients that flow into it have arrived; sums are formed in that order, so results do not depend on timing.  All
// run in the calling thread, unless there are nodes of several GPUs: then each GPU's run in a thread of its own, hooks
// included; or the call comes from deep within other backwards: Note [Backward within backward].  Which streams they
// use: Note [Streams in backward].
#pragma once
#include <functional>

#include "argand/exec/graph.h"

namespace argand::autograd {

// Sums gradients of `roots` into `.grad` of the leaves, or of `inputs` alone, if any are given (any tensor of the
// graph).  An undefined gradient stands for 1 and needs a root of one element.  The graph's saved tensors are freed
// unless `retain_graph` (default: create_graph).
void backward(TensorList roots, TensorList gradients = {}, std::optional<bool> retain_graph = std::nullopt,
              bool create_graph = false, TensorList inputs = {});

// The gradients of `outputs` with respect to `inputs`, leaving `.grad` alone.  An input the outputs do not depend on is
// a GradError unless `allow_unused`, which gives an undefined tensor.
Grads grad(TensorList outputs, TensorList inputs, TensorList grad_outputs = {},
           std::optional<bool> retain_graph = std::nullopt, bool create_graph = false, bool allow_unused = false);

// For a node's work or a hook: f is called once the backward, or the outermost of those that are under way on this
// thread, is over: on the thread that called it, with true, or with false, when it must not throw, if that failed.
// GradError outside of a backward.
void after_backward(std::function<void(bool well)> f);

}  // namespace argand::autograd
