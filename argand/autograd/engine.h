// Backward: walks the graph from the roots in reverse order of recording.
//
// The engine is iterative: the depth of a graph costs memory, not stack.  A node runs when all gradients that flow into
// it have arrived, latest recorded first; sums are formed in that order, so results do not depend on timing. All nodes
// run in the calling thread, with two exceptions: the nodes and hooks of several GPUs run in a thread per GPU, and
// deeply nested backwards change threads (Note [Backward within backward]).  For the streams, see
// Note [Streams in backward].
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

// A tensor or an edge of the graph: the start of a backward pass, or the tensor whose gradient is wanted.
struct Endpoint {
  Endpoint(const Tensor& t) : tensor(t), edge(gradient_edge(t)) {}
  explicit Endpoint(Edge e) : edge(std::move(e)) {}
  Tensor tensor;  // undefined for an edge
  Edge edge;
};
using Endpoints = std::vector<Endpoint>;

// Like backward() and grad(), whose roots and inputs may also be edges of the graph.  If an input of backward_from() is
// an edge, the nodes up to it run, but its gradient is not stored anywhere.
void backward_from(const Endpoints& roots, TensorList gradients, std::optional<bool> retain_graph, bool create_graph,
                   const Endpoints& inputs);
Grads grad_of(const Endpoints& outputs, const Endpoints& inputs, TensorList grad_outputs,
              std::optional<bool> retain_graph, bool create_graph, bool allow_unused);

// Whether backwards of the calling thread may run the nodes of several GPUs in threads of their own; true at first.
bool is_multithreading_enabled();
void set_multithreading_enabled(bool on);

// To be called by a node or a hook.  f is called when the outermost backward under way on this thread is over, on the
// thread that called it: with true if it succeeded, else with false, and then f must not throw. GradError outside of a
// backward.
void after_backward(std::function<void(bool well)> f);

}  // namespace argand::autograd
