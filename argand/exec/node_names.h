// Names of nodes that differ from those of their ops: PyTorch's, where an op is called otherwise or has several forms.
#pragma once
#include <string>

#include "argand/exec/graph.h"

namespace argand::autograd {

// "SumBackward1", with the number of the form; empty: made from the name of the op.
using NodeName = std::string (*)(const OpNode& node);

// name() as PyTorch's Python and its profiler have it: numbers come as tensors there, so that there is no AddBackward1.
std::string traced_name(const Node& node);
// The name of the node's class in Python, without namespaces; "CppFunction" for Functions written in C++.
std::string class_name(const Node& node);

// While the library is loaded, before any node is named.
void name_nodes(const OpInfo& op, NodeName name);

}  // namespace argand::autograd
