// Names of nodes that differ from those of their ops, because PyTorch names the op differently or has several forms.
#pragma once
#include <string>

#include "argand/exec/graph.h"

namespace argand::autograd {

// How the nodes of an op are named.  ARGAND_NODE (ops/node_name.h) sets this for an op while the library is loaded.
struct NodeNaming {
  // The name for a call with these arguments, as "SumBackward1"; the text must stay valid for ever.  Null means the
  // name that node_name_of() makes.  For an op that is recorded as one node, `node` is this node, and tensors that it
  // does not keep are undefined among the arguments.  For a composite `node` is null.
  const char* (*name)(const void* args, const OpNode* node);
  // For composites: `result` points to what the composite returned.  Names the nodes of these tensors, if they were
  // made since the node number `since`.
  void (*label)(const void* result, const char* name, uint64_t since);
};

// The name that is made from the name of an op: "LogSoftmaxBackward0" for "log_softmax".
std::string node_name_of(std::string_view op);

// Every node made after this call has at least this number (Node::sequence_nr).
uint64_t next_sequence_nr();
// Gives the node of `t` this name, if the node was made since the node number `since`.
void label_node(const Tensor& t, const char* name, uint64_t since);

// name() as PyTorch's Python and its profiler have it: numbers come as tensors there, so that there is no AddBackward1.
std::string traced_name(const Node& node);
// The name of the node's class in Python, without namespaces; "CppFunction" for Functions written in C++.
std::string class_name(const Node& node);

}  // namespace argand::autograd
