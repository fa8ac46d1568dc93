#include "argand/autograd/engine.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "argand/autograd/accumulate.h"
#include "argand/exec/autocast_scope.h"
#include "argand/exec/invoke.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::autograd {
namespace {

struct LaterFirst {
  bool operator()(const Node* a, const Node* b) const { return a->sequence_nr() < b->sequence_nr(); }
};

// An input of a node whose gradient is wanted instead of being passed on.
struct Capture {
  size_t input;  // position among the inputs of grad()
  uint32_t nr;
};

class Walk {
 public:
  Walk(bool keep_graph, bool create_graph) : keep_graph_(keep_graph), create_graph_(create_graph) {}

  void add_root(const Edge& edge, Tensor gradient) {
    roots_.push_back(edge.function);
    pending_gradient(edge.function.get(), edge.input_nr, std::move(gradient));
  }
  // The gradient of `t` is wanted as result `input`, and nothing that is not asked for so.  False: it has none.
  bool capture(const Tensor& t, size_t input) {
    Edge edge = gradient_edge(t);
    if (!edge.is_valid()) return false;
    limited_ = true;
    captures_[edge.function.get()].push_back({input, edge.input_nr});
    targets_.push_back(std::move(edge.function));
    return true;
  }

  // Everything runs in the grad mode of this backward: gradients, hooks and the sums between them.
  void run(Grads& captured) {
    const AutoGradMode mode(create_graph_);
    const exec::AutocastScope no_autocast;  // a gradient is computed in the dtypes of its forward op
    count_dependencies();
    if (limited_) find_needed();
    std::priority_queue<Node*, std::vector<Node*>, LaterFirst> ready;
    for (const auto& root : roots_)
      if (dependencies_[root.get()] == 0 && queued_.insert(root.get()).second) ready.push(root.get());
    while (!ready.empty()) {
      Node* node = ready.top();
      ready.pop();
      step(node, captured, ready);
    }
    exec::joint();
  }

 private:
  // Also lists the nodes, each after those it leads to.
  void count_dependencies() {
    struct Visit {
      Node* node;
      size_t edge;
    };
    std::vector<Visit> path;
    std::unordered_set<Node*> seen;
    for (const auto& root : roots_) {
      if (seen.insert(root.get()).second) path.push_back({root.get(), 0});
      while (!path.empty()) {
        Visit& visit = path.back();
        if (visit.edge == visit.node->next_edges().size()) {
          order_.push_back(visit.node);
          path.pop_back();
          continue;
        }
        Node* next = visit.node->next_edges()[visit.edge++].function.get();
        if (!next) continue;
        ++dependencies_[next];
        if (seen.insert(next).second) path.push_back({next, 0});
      }
    }
  }

  // Nodes from which a target can be reached; the others need not run.
  void find_needed() {
    for (const auto& target : targets_) needed_.insert(target.get());
    for (Node* node : order_)
      if (leads_to_needed(*node)) needed_.insert(node);
  }
  bool leads_to_needed(Node& node) const {
    return std::any_of(node.next_edges().begin(), node.next_edges().end(),
                       [&](const Edge& e) { return e.is_valid() && needed_.count(e.function.get()); });
  }

  Grads& inputs_of(Node* node) {
    Grads& g = gradients_[node];
    if (g.size() < node->num_inputs()) g.resize(node->num_inputs());
    return g;
  }

  void pending_gradient(Node* node, uint32_t nr, Tensor gradient) {
    Tensor& slot = inputs_of(node)[nr];
    if (!slot.defined()) {
      slot = std::move(gradient);
    } else {
      slot = slot + gradient;
    }
  }

  static void run_hooks(Node* node, Grads& grads) {
    const std::vector<Node::Hook> hooks(node->hooks().begin(), node->hooks().end());  // a hook may add and remove hooks
    for (const Node::Hook& h : hooks) {
      Tensor& g = grads[h.input_nr];
      if (!g.defined()) continue;
      const Tensor replaced = h.call(g);
      if (!replaced.defined()) continue;
      ARGAND_CHECK(GradError, replaced.sizes() == g.sizes(), "a hook on a result of ", node->name(),
                   " changed the shape of its gradient from ", g.sizes(), " to ", replaced.sizes());
      g = replaced;
    }
  }

  template <class Queue>
  void step(Node* node, Grads& captured, Queue& ready) {
    Grads grads = std::move(inputs_of(node));
    gradients_.erase(node);
    const bool any = std::any_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); });
    if (any) run_hooks(node, grads);
    if (const auto it = captures_.find(node); it != captures_.end())
      for (const Capture& c : it->second) captured[c.input] = grads[c.nr];
    Grads out(node->next_edges().size());
    // A node that only captures is where the walk ends, unless something behind it is wanted too.
    const bool wanted = !limited_ || leads_to_needed(*node);
    if (any && wanted) {
      out = node->apply(std::move(grads));
      if (!keep_graph_) node->release_variables();
    }
    for (size_t i = 0; i < node->next_edges().size(); ++i) {
      const Edge edge = node->next_edges()[i];
      if (!edge.is_valid()) continue;
      Node* next = edge.function.get();
      if (out[i].defined())
        pending_gradient(next, edge.input_nr, fit(std::move(out[i]), next->input_meta(edge.input_nr), *node));
      if (--dependencies_[next] == 0 && queued_.insert(next).second) ready.push(next);
    }
  }

  // A gradient in the shape, in the dtype and on the device of the tensor it belongs to: broadcasting is summed,
  // promotion undone.
  static Tensor fit(Tensor g, const GradMeta& meta, const Node& from) {
    if (!(g.impl().sizes == meta.sizes)) {
      try {
        g = g.sum_to_size(meta.sizes);
      } catch (const ShapeError&) {
        ARGAND_THROW(GradError, from.name(), ": returned a gradient of shape ", g.sizes(), " for a tensor of shape ",
                     meta.sizes);
      }
    }
    if (!(g.dtype() == meta.dtype)) g = g.to(meta.dtype);  // complex to real keeps the real part
    if (g.device() == meta.device) return g;
    // Only a 0-dim tensor of the CPU joins operands of another device.
    ARGAND_CHECK(GradError, g.dim() == 0, from.name(), ": returned a gradient on ", g.device(), " for a tensor on ",
                 meta.device);
    return g.to(meta.device);
  }

  const bool keep_graph_, create_graph_;
  bool limited_ = false;
  std::vector<intrusive_ptr<Node>> roots_, targets_;
  std::vector<Node*> order_;
  std::unordered_map<Node*, int> dependencies_;
  std::unordered_map<Node*, Grads> gradients_;
  std::unordered_map<Node*, std::vector<Capture>> captures_;
  std::unordered_set<Node*> queued_, needed_;
};

Tensor root_gradient(const Tensor& root, const Tensor& given) {
  if (!given.defined()) {
    ARGAND_CHECK(GradError, root.numel() == 1,
                 "grad can be implicitly created only for scalar outputs, got a tensor of shape ", root.sizes());
    return ones_like(root);
  }
  ARGAND_CHECK(GradError, given.sizes() == root.sizes(), "Mismatch in shape: the gradient has shape ", given.sizes(),
               " and the output has shape ", root.sizes());
  ARGAND_CHECK(GradError, given.is_complex() == root.is_complex(), "the gradient of a ", root.dtype(),
               " output must not be ", given.dtype());
  return given;
}

void add_roots(Walk& walk, TensorList roots, TensorList gradients) {
  ARGAND_CHECK(GradError, gradients.empty() || gradients.size() == roots.size(), "backward: got ", roots.size(),
               " tensors and ", gradients.size(), " gradients");
  for (size_t i = 0; i < roots.size(); ++i) {
    const Edge edge = gradient_edge(roots[i]);
    ARGAND_CHECK(GradError, edge.is_valid(), "element ", i,
                 " of tensors does not require grad and does not have a grad_fn");
    walk.add_root(edge, root_gradient(roots[i], gradients.empty() ? Tensor() : gradients[i]));
  }
}

}  // namespace

void backward(TensorList roots, TensorList gradients, std::optional<bool> retain_graph, bool create_graph,
              TensorList inputs) {
  exec::joint();
  Walk walk(retain_graph.value_or(create_graph), create_graph);
  add_roots(walk, roots, gradients);
  for (size_t i = 0; i < inputs.size(); ++i)
    ARGAND_CHECK(GradError, walk.capture(inputs[i], i), "backward: element ", i, " of inputs does not require grad");
  Grads captured(inputs.size());
  walk.run(captured);
  const AutoGradMode mode(create_graph);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (captured[i].defined()) accumulate_grad(inputs[i], std::exchange(captured[i], Tensor()));
}

Grads grad(TensorList outputs, TensorList inputs, TensorList grad_outputs, std::optional<bool> retain_graph,
           bool create_graph, bool allow_unused) {
  exec::joint();
  Walk walk(retain_graph.value_or(create_graph), create_graph);
  add_roots(walk, outputs, grad_outputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    ARGAND_CHECK(GradError, walk.capture(inputs[i], i), "One of the differentiated Tensors does not require grad");
  Grads captured(inputs.size());
  walk.run(captured);
  for (const Tensor& g : captured)
    ARGAND_CHECK(
        GradError, g.defined() || allow_unused,
        "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this "
        "is the desired behavior.");
  return captured;
}

}  // namespace argand::autograd
