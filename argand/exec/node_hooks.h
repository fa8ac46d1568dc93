// The hooks of a node of the graph, which threads may add and remove while a backward pass runs in another.
#pragma once
#include <vector>

#include "argand/exec/graph.h"

namespace argand::autograd {

// A copy of the hooks that the node has at this moment.
std::vector<Node::Hook> hooks_of(const Node& node);

}  // namespace argand::autograd
