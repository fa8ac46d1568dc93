// Names of nodes that differ from those of their ops: PyTorch's, where an op is called otherwise or has several forms.
#pragma once
#include <string>

#include "argand/exec/graph.h"

namespace argand::autograd {

// What the node of an op is called, "SumBackward1" with the number of the form; both must live for ever.  ARGAND_NODE
// (ops/node_name.h) sets the op's while the library is loaded.
struct NodeNaming {
  // Of its arguments; null: the name that is made from the op's.  What the node of an op that is recorded as one does
  // not keep is undefined; `node` is null of a composite.
  const char* (*name)(const void* args, const OpNode* node);
  // Of a composite: gives `name` to the nodes of the results that were made since then.
  void (*label)(const void* result, const char* name, uint64_t since);
};

// What the node of the op `log_softmax` is called if nothing else is said: "LogSoftmaxBackward0".
std::string node_name_of(std::string_view op);

// Every node made after this call has at least this number (Node::sequence_nr).
uint64_t next_sequence_nr();
// Calls the node of `t` so, if it was made since.
void label_node(const Tensor& t, const char* name, uint64_t since);

// name() as PyTorch's Python and its profiler have it: numbers come as tensors there, so that there is no AddBackward1.
std::string traced_name(const Node& node);
// The name of the node's class in Python, without namespaces; "CppFunction" for Functions written in C++.
std::string class_name(const Node& node);

}  // namespace argand::autograd
