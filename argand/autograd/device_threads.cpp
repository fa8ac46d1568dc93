#include "argand/autograd/device_threads.h"

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "argand/exec/thread_state.h"

namespace argand::autograd {
namespace {

// ---- the threads

// Note [Engine threads]
// A pass leases a thread per GPU while it runs: an idle one or a new one.  So a backward pass inside a node of another
// pass, or beside another pass, has its own threads and cannot wait for a thread that waits for it. Threads end with
// the process.
class EngineThread {
 public:
  static EngineThread& lease(DeviceIndex gpu) {
    Idle& idle = all_idle();
    const std::lock_guard lock(idle.mutex);
    std::vector<EngineThread*>& threads = idle.of[gpu];
    if (threads.empty()) return *new EngineThread(gpu);
    EngineThread* thread = threads.back();
    threads.pop_back();
    return *thread;
  }
  DeviceIndex gpu() const { return gpu_; }
  // Runs `work`, which must not throw, and is idle again once it returned.
  void start(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    wake_.notify_one();
  }

 private:
  struct Idle {
    std::mutex mutex;
    std::map<DeviceIndex, std::vector<EngineThread*>> of;
  };
  static Idle& all_idle() {
    static Idle& idle = *new Idle;
    return idle;
  }

  explicit EngineThread(DeviceIndex gpu) : gpu_(gpu) {
    std::thread([this] { loop(); }).detach();
  }
  [[noreturn]] void loop() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return work_ != nullptr; });
        work = std::exchange(work_, nullptr);
      }
      work();
      work = nullptr;
      Idle& idle = all_idle();
      const std::lock_guard lock(idle.mutex);
      idle.of[gpu_].push_back(this);
    }
  }

  const DeviceIndex gpu_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::function<void()> work_;
};

// ---- the pass

// Note [Order of sums]
// Gradients of one input are added in the order in which serial execution would run the nodes that they come from,
// whatever the order of arrival: each has a position and waits for those before it.
struct Input {
  std::vector<std::optional<Tensor>> waiting;  // by position; undefined tensors have one, too
  size_t added = 0;                            // how many of them were added
  bool adding = false;                         // whether a thread is adding
  Tensor sum;
};

struct Task {
  Node* node = nullptr;
  size_t rank = 0;  // in the order of the pass
  exec::Place place{kCPU};
  size_t to_come = 0;  // gradients that have not been added yet
  std::vector<Input> inputs;
  std::vector<size_t> places;  // per edge: its gradient's position among those of the same input
};

class ThreadedPass {
 public:
  ThreadedPass(Pass& pass, Grads& captured) : pass_(pass), captured_(captured) {
    Pass::Order order(pass);
    while (Pass::State* state = order.next()) {
      add_task(*state);
      for (const Edge& edge : state->node->next_edges())
        if (edge.is_valid()) order.follow(pass.state_of(edge));
    }
    left_ = tasks_.size();
    queues_[kCpuQueue];  // the threads look queues up, and none is added after this
    for (auto& [node, task] : tasks_)
      if (task.to_come == 0) queue_of(task).tasks.push(&task);
  }

  void run() {
    std::vector<EngineThread*> threads;
    for (const DeviceIndex gpu : pass_.gpus()) threads.push_back(&EngineThread::lease(gpu));
    working_ = threads.size();
    for (EngineThread* t : threads) t->start([this, gpu = t->gpu()] { work_in_thread_of(gpu); });
    work_through(queues_.at(kCpuQueue));
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return working_ == 0; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct LaterFirst {
    bool operator()(const Task* a, const Task* b) const { return a->rank > b->rank; }
  };
  // The tasks of one thread.  Only that thread is woken when a task arrives, because waking a thread costs more than
  // running most nodes.
  struct Queue {
    std::priority_queue<Task*, std::vector<Task*>, LaterFirst> tasks;
    std::condition_variable changed;
    bool waits = false;
    void push(Task* task) {
      tasks.push(task);
      if (waits) changed.notify_one();
    }
  };
  static constexpr DeviceIndex kCpuQueue = -1;

  Task& task_of(Node* node) {
    Task& task = tasks_[node];
    if (task.inputs.empty()) task.inputs.resize(node->num_inputs());
    return task;
  }
  // In the order of the pass, so that each edge knows how many gradients reach the same input before its own.
  void add_task(Pass::State& state) {
    Node* node = state.node;
    Task& task = task_of(node);
    task.node = node;
    for (size_t nr = 0; nr < state.grads.size(); ++nr) task.inputs[nr].sum = std::move(state.grads[nr]);
    task.rank = next_rank_++;
    task.place = pass_.place_of(*node);
    queue_of(task);
    for (const Edge& edge : node->next_edges()) {
      task.places.push_back(0);
      if (!edge.is_valid()) continue;
      Task& next = task_of(edge.function.get());
      auto& waiting = next.inputs[edge.input_nr].waiting;
      task.places.back() = waiting.size();
      waiting.emplace_back();
      ++next.to_come;
    }
  }
  Queue& queue_of(const Task& task) {
    return queues_[task.place.device.is_accelerator() ? task.place.device.index() : kCpuQueue];
  }

  void work_in_thread_of(DeviceIndex gpu) {
    try {
      const exec::ThreadState::Scope as_caller(caller_);
      const DeviceScope here(Device(accelerator_type(), gpu));
      work_through(queues_.at(gpu));
      exec::joint();
    } catch (...) {
      fail(std::current_exception(), SIZE_MAX);
    }
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) done_.notify_all();
  }

  // Runs the tasks of the queue until the pass ends.
  void work_through(Queue& queue) {
    std::unique_lock lock(mutex_);
    for (;;) {
      queue.waits = true;
      queue.changed.wait(lock, [&] { return left_ == 0 || error_ || !queue.tasks.empty(); });
      queue.waits = false;
      if (left_ == 0 || error_) return;
      Task& task = *queue.tasks.top();
      queue.tasks.pop();
      lock.unlock();
      try {
        step(task);
      } catch (...) {
        fail(std::current_exception(), task.rank);
      }
      lock.lock();
      if (--left_ == 0) wake_all();
    }
  }
  // Keeps the error that running the tasks one by one would have met first.
  void fail(std::exception_ptr error, size_t rank) {
    const std::lock_guard lock(mutex_);
    if (!error_ || rank < error_rank_) {
      error_ = std::move(error);
      error_rank_ = rank;
    }
    wake_all();
  }
  // REQUIRES mutex_.
  void wake_all() {
    for (auto& [index, queue] : queues_) queue.changed.notify_all();
  }

  void step(Task& task) {
    const exec::PlaceScope here(task.place);
    Grads grads;
    for (Input& input : task.inputs) grads.push_back(std::move(input.sum));
    Grads out = pass_.step(task.node, std::move(grads), captured_);
    for (size_t i = 0; i < task.node->next_edges().size(); ++i) {
      const Edge& edge = task.node->next_edges()[i];
      if (edge.is_valid()) pass_on(edge, task.places[i], std::move(out[i]));
    }
  }
  // Note [Order of sums]
  void pass_on(const Edge& edge, size_t place, Tensor gradient) {
    Task& next = tasks_.at(edge.function.get());
    Input& input = next.inputs[edge.input_nr];
    if (gradient.defined()) pass_.hand_over(gradient, *next.node, edge.input_nr);
    std::unique_lock lock(mutex_);
    input.waiting[place] = std::move(gradient);
    if (input.adding) return;  // the adding thread takes it too
    input.adding = true;
    while (input.added < input.waiting.size() && input.waiting[input.added]) {
      Tensor g = std::move(*input.waiting[input.added]);
      if (g.defined()) {
        lock.unlock();
        pass_.add(input.sum, std::move(g), *next.node, edge.input_nr);
        lock.lock();
      }
      ++input.added;
      if (--next.to_come == 0) queue_of(next).push(&next);
    }
    input.adding = false;
  }

  Pass& pass_;
  Grads& captured_;
  const exec::ThreadState caller_;
  std::unordered_map<Node*, Task> tasks_;
  size_t next_rank_ = 0;

  std::mutex mutex_;
  std::condition_variable done_;
  std::map<DeviceIndex, Queue> queues_;
  size_t left_ = 0;     // nodes that have not run
  size_t working_ = 0;  // engine threads
  std::exception_ptr error_;
  size_t error_rank_ = 0;
};

}  // namespace

void run_on_device_threads(Pass& pass, Grads& captured) { ThreadedPass(pass, captured).run(); }

}  // namespace argand::autograd
