// One backward pass: the nodes that take part, their order, and the work at each of them.  The engine decides which
// threads run them.
//
// Note [Streams in backward]
// A node runs on the GPU and the stream of its forward op (Node::place).  A node without edges, which adds a gradient
// to a tensor's .grad, runs on the caller's current stream, whatever stream was current when it was made.  When a
// gradient moves from one stream to another, the second waits for the first, and at the end the caller's streams wait
// for all streams that were used.  So the caller of backward() sees its results in order on its current streams.
#pragma once
#include <functional>
#include <mutex>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "argand/base/small_allocator.h"
#include "argand/exec/graph.h"
#include "argand/exec/saved_hooks_state.h"

namespace argand::autograd {

struct HooksBefore;  // exec/node_hooks.h

class Pass final : public WantedEdges {
 public:
  // The state of a node in this pass.
  struct State {
    Node* node = nullptr;
    int to_come = 0;  // edges that lead here and have not been followed
    bool queued = false, needed = false;
    bool target = false;  // runs although no node behind it is needed
    Grads grads;          // the sums of the gradients so far, one entry per input
  };

  Pass(bool keep_graph, bool create_graph);

  void add_root(const Edge& edge, Tensor gradient);
  // Asks for the gradient that flows along `edge` as result `input`.  The pass then computes only what is asked for so.
  void capture(Edge edge, size_t input);
  // Asks for this node and the nodes that lead to it.  The pass then runs only nodes that are asked for so.
  void run_up_to(intrusive_ptr<Node> node);
  // Called once, after all roots and captures are set.
  void prepare();

  bool creates_graph() const { return create_graph_; }
  // The GPUs of the nodes, without repetitions.
  const std::vector<DeviceIndex>& gpus() const { return gpus_; }
  State& state_of(const Edge& edge) { return states_.find(edge.function.get())->second; }
  // Runs hooks, captures and the node itself.  Returns one gradient per edge, with the shape, dtype and device of the
  // tensor that the edge belongs to.
  Grads step(Node* node, Grads grads, Grads& captured);
  // Edges to nodes that are not in the pass are wanted: a node that runs as a part of another one may have such edges.
  bool wants(const Edge& edge) const override;
  // Whether the pass that runs a step or a hook on this thread computes the gradient along `edge`.
  static bool reaches(const Edge& edge);
  // Whether the pass that runs a step or a hook on this thread was asked for the gradients of certain tensors only.
  static bool takes_inputs() { return running() && running()->limited_; }
  // Whether that pass keeps the graph's saved tensors; false outside of a pass.
  static bool keeps_graph() { return running() && running()->keep_graph_; }
  // Whether that pass runs `node`.  GradError outside of a pass, and for a leaf whose gradient it returns instead.
  static bool executes(const Node& node);
  // The nodes that it runs, in their order.  GradError outside of one, or if several threads run them.
  static std::vector<intrusive_ptr<Node>> execution_order();
  // The number of that pass, unique in the process; 0 outside of a pass.
  static uint64_t current();
  // Exists while a part of the pass runs on this thread.
  class Part {
   public:
    explicit Part(Pass& pass);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Pass* const before_;
    const SavedHooksState::Scope hooks_;  // removes the hooks that the program's code leaves behind
  };
  // See after_backward() in engine.h.  False outside of a pass.
  static bool call_after(std::function<void(bool)> f);
  // Whether another pass encloses the running one.
  static bool is_enclosed() { return running() && running()->enclosing_; }
  // Called once, when this pass is over: calls the functions that were registered, if no other pass encloses it.
  void over(bool well);

  // The nodes of a prepared pass, latest recorded first, each after all edges that lead to it were followed.  Called
  // once.
  class Order {
   public:
    explicit Order(Pass& pass);
    State* next();  // null at the end
    void follow(State& to) {
      if (--to.to_come == 0) push(to);
    }

   private:
    struct EarlierLast {
      bool operator()(const State* a, const State* b) const { return a->node->sequence_nr() < b->node->sequence_nr(); }
    };
    void push(State& state) {
      if (!std::exchange(state.queued, true)) ready_.push(&state);
    }
    std::priority_queue<State*, ShortVector<State*>, EarlierLast> ready_;
  };

  // ---- Note [Streams in backward]
  // The device and stream on which `node` runs.
  exec::Place place_of(const Node& node) const;
  // Makes the place of `next` wait for a gradient that the calling thread computed for this input.
  void hand_over(const Tensor& gradient, const Node& next, uint32_t input_nr) const;
  // Adds it there to the gradients that arrived before.
  void add(Tensor& sum, Tensor gradient, const Node& next, uint32_t input_nr) const;
  // Whether the calling thread must be moved to the place of each node.
  bool moves() const { return moves_; }
  // The streams of all devices that were current when the pass was prepared; empty if only default streams are in use.
  const std::vector<StreamRef>& caller_streams() const { return caller_streams_; }
  // Makes the caller's streams wait for the streams of all nodes.
  void join_streams() const;

 private:
  void count_dependencies();
  void find_needed();
  bool leads_to_needed(const Node& node);
  void note_place(const exec::Place& place);
  exec::Place place_of(const Node& node, const Device& device) const;
  static Pass* running();
  static void run_hooks(Node* node, const std::vector<Node::Hook>& hooks, Grads& grads);
  Grads run_node(Node& node, const HooksBefore& hooks, Grads grads);
  bool runs(const State& state);
  static Tensor fit(Tensor g, const GradMeta& meta, const Node& from);

  // An input of a node whose gradient is wanted instead of being passed on.
  struct Capture {
    size_t input;  // position among the inputs of grad()
    uint32_t nr;
  };

  const uint64_t number_;
  Pass* const enclosing_;  // whose node calls this one's backward
  std::mutex after_mutex_;
  std::vector<std::function<void(bool)>> after_;  // functions to call after an outermost pass
  const bool keep_graph_, create_graph_;
  bool limited_ = false, moves_ = false;
  ShortVector<intrusive_ptr<Node>> roots_, targets_;
  std::unordered_map<Node*, State, std::hash<Node*>, std::equal_to<>, SmallAllocator<std::pair<Node* const, State>>>
      states_;
  ShortVector<State*> nodes_;  // each node comes after the nodes that it leads to
  std::unordered_map<Node*, std::vector<Capture>> captures_;
  std::vector<DeviceIndex> gpus_;
  std::vector<StreamRef> caller_streams_;
};

}  // namespace argand::autograd
