// The hooks of a node of the graph, which threads may add and remove while a backward pass runs in another, and what
// else programs attach to a node.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "argand/exec/graph.h"

namespace argand::autograd {

// Hooks on the node itself, which see all gradients at once, and what a front end keeps for as long as the node lives.
struct NodeExtras {
  // Called with the gradients of the forward op's results; what it returns takes their place.
  struct Before {
    unsigned handle;
    std::function<Grads(Grads grads)> call;
  };
  // Called with those of the op's arguments, which what it returns replaces, and those of its results.
  struct After {
    unsigned handle;
    std::function<Grads(Grads found, const Grads& grads)> call;
  };
  std::vector<Before> before;
  std::vector<After> after;
  std::shared_ptr<void> kept;    // a front end's
  void* front_object = nullptr;  // the object by which a front end shows the node, while there is one
};

// The node's own; made if missing.  For threads: under what edit_extras and the hooks' copies lock.
NodeExtras& make_extras(Node& node);
void edit_extras(Node& node, const std::function<void(NodeExtras&)>& edit);

// Copies of the hooks that the node has at this moment: those before its work, and those after it.
struct HooksBefore {
  std::vector<Node::Hook> of_tensors;
  std::vector<NodeExtras::Before> of_node;
  bool any_after = false;
};
HooksBefore hooks_before(const Node& node);
// GradError unless `by`, which `hook` returned to take the place of `gradient`, has its dtype, device and shape; an
// undefined one leaves nothing to replace.  `hook` begins the message.
void check_replaced(const Tensor& gradient, const Tensor& by, const std::string& hook);
std::vector<NodeExtras::After> hooks_after(const Node& node);

// Whoever explains failures of nodes, while anomalies are looked for; null if nobody does.
class NodeWatch {
 public:
  virtual ~NodeWatch() = default;
  // A node is made, of which nothing but the address is to be used yet; on a thread that runs `within`, if any.
  virtual void made(Node& node, Node* within) = 0;
  // The node's work, or its hooks', threw what is being handled.
  virtual void failed(Node& node) = 0;

  static std::atomic<NodeWatch*> current;
};

// The node whose work or hooks run on this thread; null outside of a backward.
Node*& running_node();

}  // namespace argand::autograd
