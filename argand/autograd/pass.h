// One backward pass: the nodes that take part, their order, and what happens at each of them.  Who runs them, and in
// which thread, is the engine's.
//
// Note [Streams in backward]
// A node runs on the GPU and the stream of its forward op (Node::place).  A node without edges, where gradients end in
// a tensor's .grad, runs on the stream that is current for the caller of backward, whatever was current when it was
// made.  A gradient on its way from one stream to another makes the second wait for the first, and in the end the
// caller's streams wait for all that were used.  So whoever calls backward() sees its results in order on its own
// current streams.
#pragma once
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "argand/exec/graph.h"

namespace argand::autograd {

class Pass {
 public:
  Pass(bool keep_graph, bool create_graph);

  void add_root(const Edge& edge, Tensor gradient);
  // The gradient of `t` is wanted as result `input`, and nothing that is not asked for so.  False: it has none.
  bool capture(const Tensor& t, size_t input);
  // Once, after all roots and captures.
  void prepare();

  bool creates_graph() const { return create_graph_; }
  // The GPUs of nodes, each once.
  const std::vector<DeviceIndex>& gpus() const { return gpus_; }
  // Calls visit(node) for every node, each when all that lead to it were visited, latest recorded first.
  template <class Visit>
  void in_order(Visit visit);
  // What flows into nodes from outside the graph.
  std::unordered_map<Node*, Grads> take_root_gradients() { return std::move(root_gradients_); }
  // Hooks, captures and the node's own work.  One gradient per edge, in the shape and dtype and on the device of the
  // tensor it belongs to.
  Grads step(Node* node, Grads grads, Grads& captured);

  // ---- Note [Streams in backward]
  // Where `node` runs.
  exec::Place place_of(const Node& node) const;
  // The place of `next` waits for a gradient that the calling thread computed for this input of it.
  void hand_over(const Tensor& gradient, const Node& next, uint32_t input_nr) const;
  // Adds it, there, to those that came before.
  void add(Tensor& sum, Tensor gradient, const Node& next, uint32_t input_nr) const;
  // Whether the calling thread must be moved to the place of each node.
  bool moves() const { return moves_; }
  // The streams that were current when the pass was prepared, of all devices; empty if none but default streams are
  // in use.
  const std::vector<StreamRef>& caller_streams() const { return caller_streams_; }
  // The caller's streams wait for those of all nodes.
  void join_streams() const;

 private:
  void count_dependencies();
  void find_needed();
  bool leads_to_needed(const Node& node) const;
  void note_place(const exec::Place& place);
  exec::Place place_of(const Node& node, const Device& device) const;
  static void run_hooks(Node* node, Grads& grads);
  static Tensor fit(Tensor g, const GradMeta& meta, const Node& from);

  // An input of a node whose gradient is wanted instead of being passed on.
  struct Capture {
    size_t input;  // position among the inputs of grad()
    uint32_t nr;
  };
  struct EarlierLast {
    bool operator()(const Node* a, const Node* b) const { return a->sequence_nr() < b->sequence_nr(); }
  };

  const bool keep_graph_, create_graph_;
  bool limited_ = false, moves_ = false;
  std::vector<intrusive_ptr<Node>> roots_, targets_;
  std::vector<Node*> order_;
  std::unordered_map<Node*, int> dependencies_;
  std::unordered_map<Node*, Grads> root_gradients_;
  std::unordered_map<Node*, std::vector<Capture>> captures_;
  std::unordered_set<Node*> needed_;
  std::vector<DeviceIndex> gpus_;
  std::vector<StreamRef> caller_streams_;
};

template <class Visit>
void Pass::in_order(Visit visit) {
  std::priority_queue<Node*, std::vector<Node*>, EarlierLast> ready;
  std::unordered_set<Node*> queued;
  for (const auto& root : roots_)
    if (dependencies_[root.get()] == 0 && queued.insert(root.get()).second) ready.push(root.get());
  while (!ready.empty()) {
    Node* node = ready.top();
    ready.pop();
    visit(node);
    for (const Edge& edge : node->next_edges()) {
      Node* next = edge.function.get();
      if (next && --dependencies_[next] == 0 && queued.insert(next).second) ready.push(next);
    }
  }
}

}  // namespace argand::autograd
