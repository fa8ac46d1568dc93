#include "argand/autograd/pass.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>

#include "argand/autograd/anomaly_mode.h"
#include "argand/autograd/engine.h"
#include "argand/autograd/function.h"
#include "argand/exec/node_hooks.h"
#include "argand/exec/profiler.h"
#include "argand/exec/stream.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::autograd {

// The pass that runs a step on this thread.
static thread_local Pass* running_pass = nullptr;

static uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

Pass::Pass(bool keep_graph, bool create_graph)
    : number_(next_number()), enclosing_(running_pass), keep_graph_(keep_graph), create_graph_(create_graph) {}

void Pass::add_root(const Edge& edge, Tensor gradient) {
  roots_.push_back(edge.function);
  State& state = states_[edge.function.get()];
  state.grads.resize(edge.function->num_inputs());
  Tensor& slot = state.grads[edge.input_nr];
  slot = slot.defined() ? slot + gradient : std::move(gradient);
}

void Pass::capture(Edge edge, size_t input) {
  limited_ = true;
  captures_[edge.function.get()].push_back({input, edge.input_nr});
  targets_.push_back(std::move(edge.function));
}

void Pass::run_up_to(intrusive_ptr<Node> node) {
  limited_ = true;
  states_[node.get()].target = true;
  targets_.push_back(std::move(node));
}

void Pass::prepare() {
  Backend* gpu = loaded_accelerator();
  if (gpu && StorageImpl::side_streams.load(std::memory_order_relaxed))
    for (int d = 0; d < gpu->device_count(); ++d)
      caller_streams_.push_back(gpu->current_stream(static_cast<DeviceIndex>(d)));
  count_dependencies();
  if (limited_) find_needed();
  if (!gpu) return;
  for (const State* s : nodes_) note_place(s->node->place());
  moves_ = !gpus_.empty() && (!caller_streams_.empty() || gpus_.size() > 1 || gpus_[0] != gpu->current_device());
  if (caller_streams_.empty()) return;
  for (const auto& root : roots_) {
    const Grads& grads = states_[root.get()].grads;
    for (uint32_t nr = 0; nr < grads.size(); ++nr)
      if (grads[nr].defined()) hand_over(grads[nr], *root, nr);
  }
}

void Pass::note_place(const exec::Place& place) {
  if (!place.device.is_accelerator()) return;
  const DeviceIndex index = place.device.index();
  if (std::find(gpus_.begin(), gpus_.end(), index) == gpus_.end()) gpus_.push_back(index);
}

// Also finds the nodes.
void Pass::count_dependencies() {
  struct Visit {
    State* state;
    size_t edge;
  };
  ShortVector<Visit> path;
  const auto enter = [&](Node* node, State& state) {
    state.node = node;
    if (state.grads.empty()) state.grads.resize(node->num_inputs());
    path.push_back({&state, 0});
  };
  for (const auto& root : roots_) {
    State& first = states_[root.get()];
    if (!first.node) enter(root.get(), first);
    while (!path.empty()) {
      Visit& visit = path.back();
      const std::vector<Edge>& edges = visit.state->node->next_edges();
      if (visit.edge == edges.size()) {
        nodes_.push_back(visit.state);
        path.pop_back();
        continue;
      }
      Node* next = edges[visit.edge++].function.get();
      if (!next) continue;
      State& state = states_[next];
      ++state.to_come;
      if (!state.node) enter(next, state);
    }
  }
}

// Nodes from which a target can be reached; the others need not run.
void Pass::find_needed() {
  for (const auto& target : targets_)
    if (const auto it = states_.find(target.get()); it != states_.end()) it->second.needed = true;
  for (State* s : nodes_) s->needed = s->needed || leads_to_needed(*s->node);
}
bool Pass::leads_to_needed(const Node& node) {
  return std::any_of(node.next_edges().begin(), node.next_edges().end(),
                     [&](const Edge& e) { return e.is_valid() && state_of(e).needed; });
}
// The pass ends at a node that only captures, unless a node behind it is needed too.
bool Pass::runs(const State& state) { return !limited_ || state.target || leads_to_needed(*state.node); }

Pass::Order::Order(Pass& pass) {
  for (const auto& root : pass.roots_) {
    State& state = pass.states_[root.get()];
    if (state.to_come == 0) push(state);
  }
}

Pass::State* Pass::Order::next() {
  if (ready_.empty()) return nullptr;
  State* state = ready_.top();
  ready_.pop();
  return state;
}

// ---- one node

static bool is_alike(const Tensor& a, const Tensor& b) {
  return a.defined() && a.dtype() == b.dtype() && a.device() == b.device() && a.sizes() == b.sizes();
}

void check_replaced(const Tensor& gradient, const Tensor& by, const std::string& hook) {
  ARGAND_CHECK(GradError, gradient.defined(), hook, ": can't replace a None gradient with a non-None value");
  ARGAND_CHECK(GradError, by.dtype() == gradient.dtype(), hook, " has changed the type of value (was ",
               gradient.dtype(), " got ", by.dtype(), ")");
  ARGAND_CHECK(GradError, by.device() == gradient.device(), hook, " has changed the device of value (was ",
               gradient.device(), " got ", by.device(), ")");
  ARGAND_CHECK(GradError, by.sizes() == gradient.sizes(), hook, " has changed the size of value (was ",
               gradient.sizes(), " got ", by.sizes(), ")");
}

void Pass::run_hooks(Node* node, const std::vector<Node::Hook>& hooks, Grads& grads) {
  for (const Node::Hook& h : hooks) {
    Tensor& g = grads[h.input_nr];
    if (h.retains && !g.defined()) continue;
    const Tensor replaced = h.call(g);
    if (!replaced.defined()) continue;
    if (!is_alike(g, replaced)) check_replaced(g, replaced, str("a hook on a result of ", node->name()));
    g = replaced;
  }
}

static void refuse_nan(const Node& node, const Grads& grads) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < grads.size(); ++i)
    ARGAND_CHECK(GradError,
                 !grads[i].defined() || !is_differentiable(grads[i].dtype()) || !isnan(grads[i]).any().item<bool>(),
                 "Function '", node.name(), "' returned nan values in its ", i, "th output.");
}

bool Pass::wants(const Edge& edge) const {
  const auto it = states_.find(edge.function.get());
  return it == states_.end() || it->second.needed;
}

Pass* Pass::running() { return running_pass; }

Pass::Part::Part(Pass& pass) : before_(std::exchange(running_pass, &pass)) {}
Pass::Part::~Part() { running_pass = before_; }

bool Pass::call_after(std::function<void(bool)> f) {
  Pass* pass = running_pass;
  if (!pass) return false;
  while (pass->enclosing_) pass = pass->enclosing_;
  const std::lock_guard lock(pass->after_mutex_);
  pass->after_.push_back(std::move(f));
  return true;
}

void Pass::over(bool well) {
  // A function may call after_backward() again, so the list may grow.  All are called, even if one of them throws.
  std::exception_ptr error;
  const Part part(*this);
  for (size_t i = 0; i < after_.size(); ++i) {
    try {
      std::function<void(bool)>(std::move(after_[i]))(well);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

uint64_t Pass::current() { return running_pass ? running_pass->number_ : 0; }

bool Pass::reaches(const Edge& edge) {
  if (!running_pass) return false;
  const auto it = running_pass->states_.find(edge.function.get());
  return it != running_pass->states_.end() && it->second.node && (!running_pass->limited_ || it->second.needed);
}

bool Pass::executes(const Node& node) {
  ARGAND_CHECK(GradError, running_pass,
               "_will_engine_execute_node: which nodes run is known only during the backward pass");
  const auto it = running_pass->states_.find(const_cast<Node*>(&node));
  if (it == running_pass->states_.end() || !it->second.node) return false;
  ARGAND_CHECK(GradError, !running_pass->captures_.count(it->first) || !node.next_edges().empty(),
               "_will_engine_execute_node was asked about a leaf whose gradient you want, while you are currently "
               "running autograd.grad(), which gives it back instead of adding it up.");
  return running_pass->runs(it->second);
}

std::vector<intrusive_ptr<Node>> Pass::execution_order() {
  Pass* const pass = running_pass;
  ARGAND_CHECK(GradError, pass, "_current_graph_task_execution_order should only be called during the backward pass");
  ARGAND_CHECK(GradError, !is_multithreading_enabled(),
               "_current_graph_task_execution_order expects the current backward to be executed with multithreading "
               "disabled, e.g. by running:\n\n>>> with torch.autograd.set_multithreading_enabled(False):\n"
               "...     torch.autograd.grad(...)\n");
  std::unordered_map<Node*, int> to_come;
  for (const State* s : pass->nodes_)
    for (const Edge& e : s->node->next_edges())
      if (e.is_valid()) ++to_come[e.function.get()];
  const auto earlier = [](const Node* a, const Node* b) { return a->sequence_nr() < b->sequence_nr(); };
  std::priority_queue<Node*, std::vector<Node*>, decltype(earlier)> ready(earlier);
  for (const auto& root : pass->roots_)
    if (to_come[root.get()]-- == 0) ready.push(root.get());
  std::vector<intrusive_ptr<Node>> out;
  while (!ready.empty()) {
    Node* const node = ready.top();
    ready.pop();
    if (pass->captures_.count(node) || pass->runs(pass->states_.find(node)->second)) out.emplace_back(node);
    for (const Edge& e : node->next_edges())
      if (e.is_valid() && --to_come[e.function.get()] == 0) ready.push(e.function.get());
  }
  return out;
}

namespace {
struct RunningNode {
  explicit RunningNode(Node* node) : before(std::exchange(running_node(), node)) {}
  ~RunningNode() { running_node() = before; }
  Node* before;
};
}  // namespace

static Grads replaced(const Node& node, const char* hook, Grads by, const Grads& grads) {
  if (by.empty()) return grads;
  ARGAND_CHECK(GradError, by.size() == grads.size(), node.name(), ": a ", hook,
               " has returned an incorrect number of gradients (expected ", grads.size(), ", got ", by.size(), ")");
  for (size_t i = 0; i < by.size(); ++i)
    if (by[i].defined() && !is_alike(grads[i], by[i])) check_replaced(grads[i], by[i], str(node.name(), ": a ", hook));
  return by;
}

// Functions that programs write get to see that nothing flows in.
static bool sees_nothing(const Node& node) { return dynamic_cast<const FunctionNode*>(&node); }

// The node's own work, between the hooks on it.
Grads Pass::run_node(Node& node, const HooksBefore& hooks, Grads grads) {
  for (const NodeExtras::Before& h : hooks.of_node) grads = replaced(node, "prehook", h.call(grads), grads);
  Grads given;
  if (hooks.any_after) given = grads;  // a hook that is added by another hook gets none
  Grads out;
  {
    const WantedEdges::Scope limit(limited_ ? this : nullptr);
    const profiler::Span function(node, "", profiler::Scope::kBackwardFunction, grads);
    const bool any = std::any_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); });
    if (any || sees_nothing(node))  // a prehook may have taken all
      out = node.apply(std::move(grads));
    else
      out.resize(node.next_edges().size());
  }
  if (AnomalyMode::is_enabled()) [[unlikely]]
    refuse_nan(node, out);
  if (!keep_graph_) node.release_variables();
  const std::vector<NodeExtras::After> after = hooks_after(node);
  if (!after.empty()) given.resize(node.num_inputs());
  for (const NodeExtras::After& h : after) out = replaced(node, "posthook", h.call(out, given), out);
  return out;
}

Grads Pass::step(Node* node, Grads grads, Grads& captured) {
  const Part running(*this);
  const RunningNode current(node);
  State& state = states_.find(node)->second;
  if (limited_ && !state.needed) return Grads(node->next_edges().size());
  const bool any = std::any_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); });
  const HooksBefore hooks = hooks_before(*node);  // a copy, because a hook may add and remove hooks
  if (any) run_hooks(node, hooks.of_tensors, grads);
  if (limited_)
    if (const auto it = captures_.find(node); it != captures_.end())
      for (const Capture& c : it->second) captured[c.input] = grads[c.nr];
  const std::vector<Edge>& edges = node->next_edges();
  const bool idle = !any && !sees_nothing(*node);
  if (idle || !runs(state)) return Grads(edges.size());
  const profiler::Span evaluation(*node, "autograd::engine::evaluate_function: ", profiler::Scope::kFunction);
  Grads out;
  try {
    out = run_node(*node, hooks, std::move(grads));
  } catch (...) {
    if (NodeWatch* const watch = NodeWatch::current.load(std::memory_order_acquire)) watch->failed(*node);
    throw;
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!out[i].defined()) continue;
    const Edge& edge = edges[i];
    // In place of a gradient that is not wanted, an op may return anything.
    const bool wanted = edge.is_valid() && (!limited_ || wants(edge));
    out[i] = wanted ? fit(std::move(out[i]), edge.function->input_meta(edge.input_nr), *node) : Tensor();
  }
  return out;
}

// Converts a gradient to the shape, dtype and device of its tensor: sums over broadcast dimensions and undoes type
// promotion.
Tensor Pass::fit(Tensor g, const GradMeta& meta, const Node& from) {
  if (!(g.impl().sizes == meta.sizes)) {
    try {
      g = g.sum_to_size(meta.sizes);
    } catch (const ShapeError&) {
      ARGAND_THROW(GradError, from.name(), ": returned an invalid gradient, got ", g.sizes(),
                   " but expected shape compatible with ", meta.sizes);
    }
  }
  if (!(g.dtype() == meta.dtype)) g = g.to(meta.dtype);  // complex to real keeps the real part
  if (g.device() == meta.device) return g;
  // Only a 0-dim CPU tensor can be combined with operands on another device.
  ARGAND_CHECK(GradError, g.dim() == 0, from.name(), ": returned a gradient on ", g.device(), " for a tensor on ",
               meta.device);
  return g.to(meta.device);
}

// ---- Note [Streams in backward]

exec::Place Pass::place_of(const Node& node) const { return place_of(node, node.place().device); }

// The stream of `device` on which `node` works.
exec::Place Pass::place_of(const Node& node, const Device& device) const {
  exec::Place place = node.place();
  const bool own = place.device == device && !node.next_edges().empty();
  place.device = device;
  if (!own)
    place.stream = device.is_accelerator() && !caller_streams_.empty()
                       ? caller_streams_[static_cast<size_t>(device.index())].handle
                       : nullptr;
  return place;
}

void Pass::hand_over(const Tensor& gradient, const Node& next, uint32_t input_nr) const {
  const Device device = gradient.device();
  if (caller_streams_.empty() || !device.is_accelerator()) return;
  const exec::Place to = place_of(next, next.input_meta(input_nr).device), from(device);
  if (!(to.device == device) || to == from) return;
  const auto stream = [&](const exec::Place& place) { return Stream(device.type(), {device.index(), place.stream}); };
  stream(to).wait_stream(stream(from));
}

void Pass::add(Tensor& sum, Tensor gradient, const Node& next, uint32_t input_nr) const {
  if (!sum.defined()) {
    sum = std::move(gradient);
    return;
  }
  std::optional<exec::PlaceScope> there;
  if (moves_) there.emplace(place_of(next, next.input_meta(input_nr).device));
  sum = sum + gradient;
}

void Pass::join_streams() const {
  if (caller_streams_.empty()) return;
  std::vector<StreamRef> joined;
  for (const State* s : nodes_) {
    const exec::Place& place = s->node->place();
    if (!place.device.is_accelerator() || s->node->next_edges().empty()) continue;
    const StreamRef used{place.device.index(), place.stream};
    const StreamRef& mine = caller_streams_[static_cast<size_t>(used.device)];
    if (used == mine || std::find(joined.begin(), joined.end(), used) != joined.end()) continue;
    joined.push_back(used);
    const DeviceType type = place.device.type();
    Stream(type, mine).wait_stream(Stream(type, used));
  }
}

}  // namespace argand::autograd
