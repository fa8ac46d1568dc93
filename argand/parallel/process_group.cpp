#include "argand/parallel/process_group.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <new>
#include <numeric>
#include <utility>

#include "argand/core/grad_mode.h"
#include "argand/exec/invoke.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/parallel/call_check.h"
#include "argand/parallel/call_timeout.h"
#include "argand/parallel/collectives.h"
#include "argand/parallel/device_calls.h"
#include "argand/parallel/device_collectives.h"
#include "argand/parallel/group_arguments.h"
#include "argand/parallel/messages.h"
#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/tags.h"
#include "argand/parallel/world.h"

namespace argand::parallel {
namespace {

using Tensors = std::vector<Tensor>;

thread_local std::string call_site;

std::string describe(const Tensor& t) { return str(t.dtype(), " ", t.sizes()); }
std::string describe(const Tensors& tensors) {
  std::string text;
  for (const Tensor& t : tensors) text += str(text.empty() ? "" : ", ", describe(t));
  return text;
}

// A user's tensor as the algorithms take it: contiguous and in host memory, with pending writes done.  A group of one
// process sends nothing, so the tensor stays on its device.
struct Hosted {
  Tensor user, host;
  bool is_copy() const { return !host.is_alias_of(user); }
};

Hosted hosted(const Tensor& t, bool stays) {
  const NoGradGuard no_grad;
  const Tensor plain = t.detach();
  Tensor host = stays || plain.is_cpu() ? plain : plain.cpu();
  if (!host.is_contiguous()) host = host.clone(MemoryFormat::Contiguous);
  if (!stays) raw<void>(host);
  return {t, host.view({-1})};
}
Tensors hosts_of(const std::vector<Hosted>& all) {
  Tensors hosts;
  for (const Hosted& h : all) hosts.push_back(h.host);
  return hosts;
}
int rank_in(const std::vector<int>& world_ranks, int world_rank) {
  const auto found = std::find(world_ranks.begin(), world_ranks.end(), world_rank);
  return found == world_ranks.end() ? -1 : static_cast<int>(found - world_ranks.begin());
}

const std::string kOfAll = "0";  // the name of the group of all ranks

class Group final : public ProcessGroup, private GroupArguments {
 public:
  Group(std::shared_ptr<World> world, std::vector<int> world_ranks, const GroupOptions& options,
        const std::string& name)
      : GroupArguments(rank_in(world_ranks, world->rank()), static_cast<int>(world_ranks.size())),
        world_(std::move(world)),
        world_ranks_(std::move(world_ranks)),
        options_(options),
        name_(name),
        number_(world_->group_number(name)),
        store_(std::make_shared<PrefixStore>("group/" + name, world_->store())),
        messages_(world_->transport(), world_->message_numbers(), number_) {
    if (size() > 1 && !options.device_backend.empty())
      device_ = std::make_unique<DeviceCollectives>(*world_, store_, rank_, size(), options);
    if (size() > 1) thread_ = std::thread([this] { run(); });
  }

  ~Group() override {
    if (getpid() != process_) {  // after a fork the threads are the parent's
      if (thread_.joinable()) thread_.detach();
      (void)device_.release();
      (void)new (std::nothrow) std::shared_ptr<World>(std::move(world_));
      return;
    }
    shutdown();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const std::vector<int>& world_ranks() const override { return world_ranks_; }
  const std::string& name() const override { return name_; }
  const std::string& backend() const override { return world_->backend(); }
  std::shared_ptr<Store> store() const override { return store_; }

  WorkPtr all_reduce(Tensors tensors, ReduceOp op) override {
    check_tensors("all_reduce", tensors, op);
    return start(
        str("all_reduce(", name_of(op.kind), ", ", describe(tensors), ")"), {}, tensors, op,
        [op](Channel& c, const Tensors&, const Tensors& out) {
          for (const Tensor& t : out) parallel::all_reduce(c, t, op);
        },
        [op](const Tensors&, const Tensors& out) { return device_calls::all_reduce(out, op); });
  }

  WorkPtr reduce(Tensors tensors, int root, ReduceOp op) override {
    check_rank("reduce", "root", root);
    check_tensors("reduce", tensors, op);
    const bool writes = root == rank_;
    return start(
        str("reduce(to rank ", root, ", ", name_of(op.kind), ", ", describe(tensors), ")"),
        writes ? Tensors() : tensors, writes ? tensors : Tensors(), op,
        [op, root, writes](Channel& c, const Tensors& in, const Tensors& out) {
          for (const Tensor& t : writes ? out : in) parallel::reduce(c, t, root, op);
        },
        [op, root, writes](const Tensors& in, const Tensors& out) {
          return device_calls::reduce(writes ? out : in, root, op);
        },
        tensors);
  }

  WorkPtr broadcast(Tensors tensors, int root) override {
    check_rank("broadcast", "root", root);
    check_tensors("broadcast", tensors);
    const bool writes = root != rank_;
    return start(
        str("broadcast(from rank ", root, ", ", describe(tensors), ")"), writes ? Tensors() : tensors,
        writes ? tensors : Tensors(), {},
        [root, writes](Channel& c, const Tensors& in, const Tensors& out) {
          for (const Tensor& t : writes ? out : in) parallel::broadcast(c, t, root);
        },
        [root, writes](const Tensors& in, const Tensors& out) {
          return device_calls::broadcast(writes ? out : in, root);
        },
        tensors);
  }

  WorkPtr all_reduce_to_each(Tensors tensors, ReduceOp op) override {
    check_tensors("all_reduce", tensors, op);
    for (const Tensor& t : tensors) check_same("all_reduce", "each tensor", t, tensors[0]);
    return start(str("all_reduce(", name_of(op.kind), ", all of ", describe(tensors), ")"), {}, tensors, op,
                 [op](Channel& c, const Tensors&, const Tensors& out) {
                   join_in_order(op, out, out[0]);
                   parallel::all_reduce(c, out[0], op.kind == CollectiveReduce::kPremulSum ? ReduceOp() : op);
                   copy_to_others(out, 0);
                 },
                 {});
  }

  WorkPtr broadcast_to_each(Tensors tensors, int root, int root_tensor) override {
    check_rank("broadcast", "root", root);
    check_tensors("broadcast", tensors);
    for (const Tensor& t : tensors) check_same("broadcast", "each tensor", t, tensors[0]);
    return start(str("broadcast(from rank ", root, ", tensor ", root_tensor, " of ", describe(tensors), ")"), {},
                 tensors, {},
                 [root, root_tensor](Channel& c, const Tensors&, const Tensors& out) {
                   parallel::broadcast(c, out[static_cast<size_t>(root_tensor)], root);
                   copy_to_others(out, static_cast<size_t>(root_tensor));
                 },
                 {});
  }

  WorkPtr all_gather(Tensors outputs, const Tensor& input) override {
    check_lists("all_gather", "outputs", outputs, input);
    check_same("all_gather", "the output of its own rank", outputs[static_cast<size_t>(rank_)], input);
    return start(
        str("all_gather(", describe(outputs), ")"), {input}, outputs, {},
        [](Channel& c, const Tensors& in, const Tensors& out) { parallel::all_gather(c, out, in[0]); },
        [rank = rank_](const Tensors& in, const Tensors& out) { return device_calls::all_gather(in[0], out, rank); });
  }

  WorkPtr all_gather_into(const Tensor& output, const Tensor& input) override {
    check_tensors("all_gather_into_tensor", {output, input});
    check_parts("all_gather_into_tensor", "output", output, "input", input);
    return start(
        str("all_gather_into_tensor(", describe(input), ")"), {input}, {output}, {},
        [](Channel& c, const Tensors& in, const Tensors& out) {
          parallel::all_gather(c, equal_parts(out[0], c.size()), in[0]);
        },
        [](const Tensors& in, const Tensors& out) { return device_calls::all_gather_into(in[0], out[0]); });
  }

  WorkPtr gather(Tensors outputs, const Tensor& input, int root) override {
    check_rank("gather", "root", root);
    check_tensors("gather", {input});
    check_root_list("gather", "outputs", outputs, input, root);
    return start(
        str("gather(to rank ", root, ", ", describe(input), ")"), {input}, outputs, {},
        [root](Channel& c, const Tensors& in, const Tensors& out) { parallel::gather(c, out, in[0], root); },
        [root](const Tensors& in, const Tensors& out) { return device_calls::gather(in[0], out, root); });
  }

  WorkPtr scatter(const Tensor& output, Tensors inputs, int root) override {
    check_rank("scatter", "root", root);
    check_tensors("scatter", {output});
    check_root_list("scatter", "inputs", inputs, output, root);
    return start(
        str("scatter(from rank ", root, ", ", describe(output), ")"), inputs, {output}, {},
        [root](Channel& c, const Tensors& in, const Tensors& out) { parallel::scatter(c, out[0], in, root); },
        [root](const Tensors& in, const Tensors& out) { return device_calls::scatter(in, out[0], root); });
  }

  WorkPtr reduce_scatter(const Tensor& output, Tensors inputs, ReduceOp op) override {
    check_tensors("reduce_scatter", {output}, op);
    check_lists("reduce_scatter", "inputs", inputs, output);
    check_same("reduce_scatter", "the input for its own rank", inputs[static_cast<size_t>(rank_)], output);
    return start(
        str("reduce_scatter(", name_of(op.kind), ", ", describe(inputs), ")"), inputs, {output}, op,
        [op](Channel& c, const Tensors& in, const Tensors& out) { parallel::reduce_scatter(c, out[0], in, op); },
        [op, rank = rank_](const Tensors& in, const Tensors& out) {
          return device_calls::reduce_scatter(in, out[0], rank, op);
        });
  }

  WorkPtr reduce_scatter_from(const Tensor& output, const Tensor& input, ReduceOp op) override {
    check_tensors("reduce_scatter_tensor", {output, input}, op);
    check_parts("reduce_scatter_tensor", "input", input, "output", output);
    return start(
        str("reduce_scatter_tensor(", name_of(op.kind), ", ", describe(output), ")"), {input}, {output}, op,
        [op](Channel& c, const Tensors& in, const Tensors& out) {
          parallel::reduce_scatter(c, out[0], equal_parts(in[0], c.size()), op);
        },
        [op](const Tensors& in, const Tensors& out) { return device_calls::reduce_scatter_from(in[0], out[0], op); });
  }

  WorkPtr all_to_all(Tensors outputs, Tensors inputs) override {
    for (const auto* list : {&outputs, &inputs})
      ARGAND_CHECK(ValueError, static_cast<int>(list->size()) == size(), "all_to_all: expected ", size(),
                   " tensors, one for each rank, in each list, got ", list->size());
    check_tensors("all_to_all", outputs);
    check_tensors("all_to_all", inputs);
    return start(
        str("all_to_all(", outputs[0].dtype(), ")"), inputs, outputs, {},
        [](Channel& c, const Tensors& in, const Tensors& out) { parallel::all_to_all(c, out, in); },
        &device_calls::all_to_all);
  }

  WorkPtr all_to_all_single(const Tensor& output, const Tensor& input, std::vector<int64_t> output_splits,
                            std::vector<int64_t> input_splits) override {
    check_tensors("all_to_all_single", {output, input});
    const Rows outs = rows_of("output", output, output_splits), ins = rows_of("input", input, input_splits);
    return start(
        str("all_to_all_single(", output.dtype(), ")"), {input}, {output}, {},
        [outs, ins](Channel& c, const Tensors& in, const Tensors& out) {
          parallel::all_to_all(c, outs.of(out[0]), ins.of(in[0]));
        },
        [outs, ins](const Tensors& in, const Tensors& out) {
          return device_calls::all_to_all(ins.of(in[0]), outs.of(out[0]));
        });
  }

  WorkPtr barrier() override {
    if (device_) current_stream(accelerator_type()).synchronize();
    return start("barrier()", {}, {}, {}, [](Channel& c, const Tensors&, const Tensors&) { parallel::barrier(c); }, {});
  }

  WorkPtr send(const Tensor& tensor, int to, int tag) override {
    check_rank("send", "dst", to);
    ARGAND_CHECK(ValueError, to != rank_, "send: rank ", to, " is this process; a message needs another one");
    check_tensors("send", {tensor});
    const Hosted view = hosted(tensor);
    const std::string call = str("send(", describe(tensor), ", to rank ", to, ")", site());
    check_open(call);
    const auto work = std::make_shared<Work>(call, std::vector<Tensor>(), options_.timeout);
    messages_.send(
        view.host, world_ranks_[static_cast<size_t>(to)], tag,
        [this, work, call](std::exception_ptr error, int) { work->finish(error ? told(error, call) : nullptr); });
    return work;
  }

  WorkPtr receive(const Tensor& tensor, int from, int tag) override {
    if (from != Transport::kAnyRank) check_rank("recv", "src", from);
    ARGAND_CHECK(ValueError, from != rank_, "recv: rank ", from, " is this process; a message needs another one");
    check_tensors("recv", {tensor});
    const Hosted view = hosted(tensor);
    const std::string call =
        str("recv(", describe(tensor), ", from ", from < 0 ? "any rank" : str("rank ", from), ")", site());
    check_open(call);
    const auto work = std::make_shared<Work>(call, std::vector<Tensor>{tensor}, options_.timeout);
    tensor.storage()->bump_version("recv");
    messages_.receive(view.host, from < 0 ? from : world_ranks_[static_cast<size_t>(from)], tag, call,
                      [this, work, call, view](std::exception_ptr error, int sender) {
                        if (!error) error = copied_back({view});
                        const bool lost = error && is_between_ranks(error);
                        work->finish(lost ? told(error, call) : error, sender < 0 ? -1 : rank_in_group(sender));
                      });
    return work;
  }

  std::shared_ptr<ProcessGroup> subgroup(const std::vector<int>& ranks, const GroupOptions& options,
                                         const std::string& name) override {
    for (size_t i = 0; i < ranks.size(); ++i) {
      check_rank("new_group", "each rank", ranks[i]);
      ARGAND_CHECK(ValueError,
                   std::find(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(i), ranks[i]) ==
                       ranks.begin() + static_cast<std::ptrdiff_t>(i),
                   "new_group: rank ", ranks[i], " is given twice");
    }
    if (name.empty()) {  // the world's ranks must agree, or members wait for some that are none
      std::string text = "new_group(";
      for (size_t i = 0; i < ranks.size(); ++i) text += str(i ? ", rank " : "rank ", ranks[i]);
      start(text + ")", {}, {}, {}, [](Channel& c, const Tensors&, const Tensors&) { parallel::barrier(c); }, {})
          ->wait();
    }
    const std::string full = name.empty() ? str(name_, ".", ++subgroups_) : name;
    if (std::find(ranks.begin(), ranks.end(), rank_) == ranks.end()) return nullptr;
    std::vector<int> in_world;
    for (const int r : ranks) in_world.push_back(world_ranks_[static_cast<size_t>(r)]);
    return std::make_shared<Group>(world_, in_world, options, full);
  }

  void shutdown() override {
    if (device_) finish_on_device();
    if (name_ == kOfAll && is_busy())
      world_->transport().abort(std::make_exception_ptr(
          PeerLost(str("the process group was destroyed by rank ", world_->rank()), world_->rank())));
    stop();
  }

 private:
  struct Task {
    Call call;
    std::shared_ptr<Work> work;
    std::vector<Hosted> written;
    std::chrono::milliseconds timeout;
    std::function<void(Channel&)> run;  // empty: the call is compared, and its device does the rest
  };

  Hosted hosted(const Tensor& t) const { return parallel::hosted(t, size() == 1); }
  std::vector<Hosted> hosted(const Tensors& tensors) const {
    std::vector<Hosted> all;
    for (const Tensor& t : tensors) all.push_back(hosted(t));
    return all;
  }

  // ---- the thread

  static std::string site() { return call_site.empty() ? "" : " at " + call_site; }

  void check_open(const std::string& call) {
    ARGAND_CHECK(BackendError, getpid() == process_, call,
                 ": the process was forked after init_process_group, and the connections belong to its parent");
    const std::lock_guard lock(mutex_);
    ARGAND_CHECK(BackendError, !stopped_, call, ": the process group was destroyed");
    try {
      world_->throw_if_failed();
    } catch (const BackendError&) {
      std::rethrow_exception(World::with_call(std::current_exception(), call));
    }
  }

  // A collective in host memory, or on a device.  Both get contiguous versions of the tensors, flat.
  using OnHost = std::function<void(Channel&, const Tensors& in, const Tensors& out)>;
  using OnDevice = std::function<std::vector<CommunicatorCall>(const Tensors& in, const Tensors& out)>;

  // `result`: of a call in place, where the written tensors of this rank are not all of it.
  WorkPtr start(std::string text, const Tensors& read, const Tensors& written, std::optional<ReduceOp> op,
                const OnHost& on_host, const OnDevice& on_device, const std::optional<Tensors>& result = {}) {
    Call call{std::move(text), std::exchange(call_site, {}), 0};
    check_open(call.text);
    if (device_ && on_device && device_->takes(read, written, op)) {
      note_writes(written);
      return start_on_device(std::move(call), read, written, result.value_or(written), on_device);
    }
    const std::vector<Hosted> in = hosted(read), out = hosted(written);
    note_writes(written);
    return submit(std::move(call), result.value_or(written), out,
                  [on_host, in, out](Channel& c) { on_host(c, hosts_of(in), hosts_of(out)); });
  }

  static void copy_to_others(const Tensors& tensors, size_t from) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (i == from) continue;
      Tensor(tensors[i]).copy_(tensors[from]);
      raw<void>(tensors[i]);  // copied now
    }
  }

  static void note_writes(const Tensors& written) {
    for (const Tensor& t : written) t.storage()->bump_version("torch.distributed");
  }

  WorkPtr submit(Call call, const Tensors& result, std::vector<Hosted> written, std::function<void(Channel&)> run) {
    const std::lock_guard lock(mutex_);
    call.number = ++calls_;
    auto work = std::make_shared<Work>(to_string(call), result);
    Task task{std::move(call), work, std::move(written), CallTimeout::or_else(options_.timeout), std::move(run)};
    if (size() == 1) {
      work->finish(done(task));
    } else {
      tasks_.push_back(std::move(task));
      waiting_.notify_all();
    }
    return work;
  }

  // The thread only compares the ranks' calls, while the device works.
  WorkPtr start_on_device(Call call, const Tensors& read, const Tensors& written, const Tensors& result,
                          const OnDevice& make) {
    const std::lock_guard order(device_order_);
    const std::string text = submit(std::move(call), {}, {}, {})->call();
    try {
      return device_->start(text, read, written, result, make);
    } catch (...) {  // the other ranks wait for this one
      std::rethrow_exception(told(std::current_exception(), text));
    }
  }

  void run() {
    for (;;) {
      Task task;
      {
        std::unique_lock lock(mutex_);
        waiting_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
        if (stopped_) break;
        task = std::move(tasks_.front());
        tasks_.pop_front();
        running_ = true;
        comparing_ = !task.run;
      }
      const std::exception_ptr error = done(task);
      {
        const std::lock_guard lock(mutex_);
        running_ = comparing_ = false;
      }
      waiting_.notify_all();
      task.work->finish(error);
    }
    for (const Task& task : tasks_)
      task.work->finish(std::make_exception_ptr(BackendError(task.work->call() + ": the process group was destroyed")));
  }

  // Runs the call; returns its error.
  std::exception_ptr done(Task& task) {
    const NoGradGuard no_grad;
    try {
      const World::Waiting waiting(*world_, task.work->call(), task.timeout);
      Channel channel(world_->transport(), world_ranks_, rank_, collective_tag(number_, hash_of(task.call)));
      Channel comparing(world_->transport(), world_ranks_, rank_, collective_tag(number_, task.call.number));
      std::optional<CallCheck> check;
      if (size() > 1) check.emplace(comparing, task.call);
      // Two ranks compare with each other, so neither sends before both agree: receives may be posted before that.
      if (size() == 2) channel.before_sending([&] { check->finish(); });
      if (size() > 2) check->finish();
      if (task.run) task.run(channel);
      channel.settle();
    } catch (...) {
      return told(std::current_exception(), task.work->call());
    }
    if (const std::exception_ptr error = copied_back(task.written)) return told(error, task.work->call());
    return nullptr;
  }

  static std::exception_ptr copied_back(const std::vector<Hosted>& written) {
    const NoGradGuard no_grad;
    try {
      for (const Hosted& h : written)
        if (h.is_copy()) h.user.detach().copy_(h.host.view(h.user.sizes()));
      exec::flush();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  // Tells the other ranks; returns the error of this call.
  std::exception_ptr told(std::exception_ptr error, const std::string& call) {
    if (size() == 1) return error;  // nobody waits for this process
    try {
      World::raise(world_->fail(error), call);
    } catch (...) {
      return std::current_exception();
    }
  }

  static bool is_between_ranks(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const DistributedError&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  int rank_in_group(int world_rank) const { return rank_in(world_ranks_, world_rank); }

  // Other ranks wait for this one's calls to compare them with theirs; a failure of the world ends that.
  void finish_on_device() {
    device_->finish();
    std::unique_lock lock(mutex_);
    waiting_.wait(lock,
                  [this] { return stopped_ || !(running_ ? comparing_ : !tasks_.empty() && !tasks_.front().run); });
  }

  bool is_busy() {
    const std::lock_guard lock(mutex_);
    return running_ || !tasks_.empty() || messages_.any();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    waiting_.notify_all();
    if (thread_.joinable()) thread_.join();
    messages_.wait_for_all();
  }

  const pid_t process_ = getpid();
  std::shared_ptr<World> world_;
  const std::vector<int> world_ranks_;
  const GroupOptions options_;
  const std::string name_;
  const uint64_t number_;
  const std::shared_ptr<Store> store_;
  Messages messages_;
  std::unique_ptr<DeviceCollectives> device_;  // null: all data goes through host memory

  std::mutex mutex_;
  std::mutex device_order_;  // keeps calls on devices in the order of their numbers
  std::condition_variable waiting_;
  bool stopped_ = false, running_ = false, comparing_ = false;
  std::deque<Task> tasks_;
  uint64_t calls_ = 0, subgroups_ = 0;
  std::thread thread_;
};

}  // namespace

std::optional<std::chrono::milliseconds>& CallTimeout::current() {
  thread_local std::optional<std::chrono::milliseconds> timeout;
  return timeout;
}

void set_call_site(std::string file_and_line) { call_site = std::move(file_and_line); }

std::shared_ptr<ProcessGroup> group_of_all(std::shared_ptr<World> world, const GroupOptions& options) {
  std::vector<int> ranks(static_cast<size_t>(world->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return std::make_shared<Group>(std::move(world), ranks, options, kOfAll);
}

}  // namespace argand::parallel
