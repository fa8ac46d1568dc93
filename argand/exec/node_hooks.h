// The hooks of a node of the graph, which threads may add and remove while a backward pass runs in another, and what
// else programs attach to a node.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "argand/exec/graph.h"

namespace argand::autograd {

// Hooks on the node itself, which see all gradients at once, and what a front keeps as long as the node lives.
struct NodeExtras {
  // Called with the gradients of the forward op's results; what it returns takes their place.
  struct Before {
    unsigned handle;
    std::function<Grads(Grads grads)> call;
  };
  // Called with the gradients of the op's arguments, which its result replaces, and those of the op's results.
  struct After {
    unsigned handle;
    std::function<Grads(Grads found, const Grads& grads)> call;
  };
  std::vector<Before> before;
  std::vector<After> after;
  std::shared_ptr<void> kept;    // kept for a front
  void* front_object = nullptr;  // the front's object for the node, while there is one
};

// The node's extras, made if missing.  With several threads, hold what edit_extras and the copies of hooks lock.
NodeExtras& make_extras(Node& node);
void edit_extras(Node& node, const std::function<void(NodeExtras&)>& edit);

// Copies of the node's current hooks: those before its work, and those after it.
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

// Explains failures of nodes in anomaly detection; `current` is null without it.
class NodeWatch {
 public:
  virtual ~NodeWatch() = default;
  // A node is being made, of which only the address may be used yet; on a thread that runs `within`, if not null.
  virtual void made(Node& node, Node* within) = 0;
  // The node or one of its hooks threw the exception that is being handled.
  virtual void failed(Node& node) = 0;

  static std::atomic<NodeWatch*> current;
};

// The node whose work or hooks run on this thread; null outside of a backward.
Node*& running_node();

}  // namespace argand::autograd
