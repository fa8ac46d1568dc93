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

class Pass {
 public:
  // What the pass knows of a node.
  struct State {
    Node* node = nullptr;
    int to_come = 0;  // edges that lead here and have not been followed
    bool queued = false, needed = false;
    bool target = false;  // runs though nothing behind it is wanted
    Grads grads;          // sums of what has come, one entry per input
  };

  Pass(bool keep_graph, bool create_graph);

  void add_root(const Edge& edge, Tensor gradient);
  // The gradient that flows along `edge` is wanted as result `input`, and nothing that is not asked for so.
  void capture(Edge edge, size_t input);
  // Nodes that lead to this one run, and it itself, and nothing that is not asked for so.
  void run_up_to(intrusive_ptr<Node> node);
  // Once, after all roots and captures.
  void prepare();

  bool creates_graph() const { return create_graph_; }
  // The GPUs of nodes, each once.
  const std::vector<DeviceIndex>& gpus() const { return gpus_; }
  State& state_of(const Edge& edge) { return states_.find(edge.function.get())->second; }
  // Hooks, captures and the node's own work.  One gradient per edge, in the shape and dtype and on the device of the
  // tensor it belongs to.
  Grads step(Node* node, Grads grads, Grads& captured);
  // Whether the pass whose step runs on this thread wants what goes along `edge`; true outside of one.
  static bool wants(const Edge& edge);
  // Whether the pass whose step, or a hook of it, runs on this thread computes what goes along `edge`.
  static bool reaches(const Edge& edge);
  // Whether the pass whose step, or a hook of it, runs on this thread was asked for the gradients of some tensors
  // alone.
  static bool takes_inputs() { return running() && running()->limited_; }
  // Whether that pass leaves the graph what its nodes keep; false outside of one.
  static bool keeps_graph() { return running() && running()->keep_graph_; }
  // Whether that pass runs `node`; GradError outside of one, and for a leaf whose gradient it gives back instead.
  static bool executes(const Node& node);
  // The nodes that it runs, in their order.  GradError outside of one, or if several threads run them.
  static std::vector<intrusive_ptr<Node>> execution_order();
  // Which pass that is: no two of a process have the same number; 0 outside of one.
  static uint64_t current();
  // While something of the pass runs on this thread.
  class Part {
   public:
    explicit Part(Pass& pass);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Pass* const before_;
    const SavedHooksState::Scope hooks_;  // those that the program's code leaves behind end with it
  };
  // See after_backward() in engine.h.  False outside of a pass.
  static bool call_after(std::function<void(bool)> f);
  // Once, when this pass is over: calls what was asked for, if no other pass encloses it.
  void over(bool well);

  // The nodes of a prepared pass: each when all edges that lead to it were followed, latest recorded first.  Once.
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
  std::vector<std::function<void(bool)>> after_;  // of an outermost pass
  const bool keep_graph_, create_graph_;
  bool limited_ = false, moves_ = false;
  ShortVector<intrusive_ptr<Node>> roots_, targets_;
  std::unordered_map<Node*, State, std::hash<Node*>, std::equal_to<>, SmallAllocator<std::pair<Node* const, State>>>
      states_;
  ShortVector<State*> nodes_;  // each after those it leads to
  std::unordered_map<Node*, std::vector<Capture>> captures_;
  std::vector<DeviceIndex> gpus_;
  std::vector<StreamRef> caller_streams_;
};

}  // namespace argand::autograd
