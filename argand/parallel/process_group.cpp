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
#include "argand/parallel/collectives.h"
#include "argand/parallel/messages.h"
#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/tags.h"
#include "argand/parallel/world.h"

namespace argand::parallel {
namespace {

thread_local std::string call_site;

std::string describe(const Tensor& t) { return str(t.dtype(), " ", t.sizes()); }
std::string describe(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const Tensor& t : tensors) text += str(text.empty() ? "" : ", ", describe(t));
  return text;
}

// A user's tensor as the algorithms take it: contiguous and in host memory, with what was written to it.  In a group of
// one process nothing is sent, so it stays on its device.
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
std::vector<Tensor> hosts_of(const std::vector<Hosted>& all) {
  std::vector<Tensor> hosts;
  for (const Hosted& h : all) hosts.push_back(h.host);
  return hosts;
}
std::vector<Tensor> equal_parts(const Tensor& flat, int size) {
  const int64_t length = flat.numel() / size;
  std::vector<Tensor> parts;
  for (int r = 0; r < size; ++r) parts.push_back(flat.slice(0, r * length, (r + 1) * length));
  return parts;
}

const std::string kOfAll = "0";  // the name of the group of all ranks

class Group final : public ProcessGroup {
 public:
  Group(std::shared_ptr<World> world, std::vector<int> world_ranks, const GroupOptions& options,
        const std::string& name)
      : world_(std::move(world)),
        world_ranks_(std::move(world_ranks)),
        options_(options),
        name_(name),
        number_(world_->group_number(name)),
        store_(std::make_shared<PrefixStore>("group/" + name, world_->store())),
        messages_(world_->transport(), world_->message_numbers(), number_) {
    rank_ = rank_in_group(world_->rank());
    if (size() > 1) thread_ = std::thread([this] { run(); });
  }

  ~Group() override {
    if (getpid() != process_) {  // after a fork the threads are the parent's
      if (thread_.joinable()) thread_.detach();
      (void)new (std::nothrow) std::shared_ptr<World>(std::move(world_));
      return;
    }
    shutdown();
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_ranks_.size()); }
  const std::vector<int>& world_ranks() const override { return world_ranks_; }
  const std::string& name() const override { return name_; }
  const std::string& backend() const override { return world_->backend(); }
  std::shared_ptr<Store> store() const override { return store_; }

  WorkPtr all_reduce(std::vector<Tensor> tensors, ReduceOp op) override {
    check_tensors("all_reduce", tensors, op);
    const auto views = hosted(tensors);
    return submit(str("all_reduce(", name_of(op.kind), ", ", describe(tensors), ")"), views, [views, op](Channel& c) {
      for (const Hosted& v : views) parallel::all_reduce(c, v.host, op);
    });
  }

  WorkPtr reduce(std::vector<Tensor> tensors, int root, ReduceOp op) override {
    check_rank("reduce", "root", root);
    check_tensors("reduce", tensors, op);
    const auto views = hosted(tensors);
    return submit(str("reduce(to rank ", root, ", ", name_of(op.kind), ", ", describe(tensors), ")"),
                  root == rank_ ? views : std::vector<Hosted>(), [views, op, root](Channel& c) {
                    for (const Hosted& v : views) parallel::reduce(c, v.host, root, op);
                  });
  }

  WorkPtr broadcast(std::vector<Tensor> tensors, int root) override {
    check_rank("broadcast", "root", root);
    check_tensors("broadcast", tensors);
    const auto views = hosted(tensors);
    return submit(str("broadcast(from rank ", root, ", ", describe(tensors), ")"),
                  root == rank_ ? std::vector<Hosted>() : views, [views, root](Channel& c) {
                    for (const Hosted& v : views) parallel::broadcast(c, v.host, root);
                  });
  }

  WorkPtr all_gather(std::vector<Tensor> outputs, const Tensor& input) override {
    check_lists("all_gather", "outputs", outputs, input);
    check_same("all_gather", "the output of its own rank", outputs[static_cast<size_t>(rank_)], input);
    const auto outs = hosted(outputs);
    const auto in = hosted(input);
    return submit(str("all_gather(", describe(outputs), ")"), outs,
                  [outs, in](Channel& c) { parallel::all_gather(c, hosts_of(outs), in.host); });
  }

  WorkPtr all_gather_into(const Tensor& output, const Tensor& input) override {
    check_tensors("all_gather_into_tensor", {output, input});
    check_parts("all_gather_into_tensor", "output", output, "input", input);
    const auto out = hosted(output), in = hosted(input);
    return submit(str("all_gather_into_tensor(", describe(input), ")"), {out},
                  [out, in](Channel& c) { parallel::all_gather(c, equal_parts(out.host, c.size()), in.host); });
  }

  WorkPtr gather(std::vector<Tensor> outputs, const Tensor& input, int root) override {
    check_rank("gather", "root", root);
    check_tensors("gather", {input});
    check_root_list("gather", "outputs", outputs, input, root);
    const auto outs = hosted(outputs);
    const auto in = hosted(input);
    return submit(str("gather(to rank ", root, ", ", describe(input), ")"), outs,
                  [outs, in, root](Channel& c) { parallel::gather(c, hosts_of(outs), in.host, root); });
  }

  WorkPtr scatter(const Tensor& output, std::vector<Tensor> inputs, int root) override {
    check_rank("scatter", "root", root);
    check_tensors("scatter", {output});
    check_root_list("scatter", "inputs", inputs, output, root);
    const auto out = hosted(output);
    const auto ins = hosted(inputs);
    return submit(str("scatter(from rank ", root, ", ", describe(output), ")"), {out},
                  [out, ins, root](Channel& c) { parallel::scatter(c, out.host, hosts_of(ins), root); });
  }

  WorkPtr reduce_scatter(const Tensor& output, std::vector<Tensor> inputs, ReduceOp op) override {
    check_tensors("reduce_scatter", {output}, op);
    check_lists("reduce_scatter", "inputs", inputs, output);
    check_same("reduce_scatter", "the input for its own rank", inputs[static_cast<size_t>(rank_)], output);
    const auto out = hosted(output);
    const auto ins = hosted(inputs);
    return submit(str("reduce_scatter(", name_of(op.kind), ", ", describe(inputs), ")"), {out},
                  [out, ins, op](Channel& c) { parallel::reduce_scatter(c, out.host, hosts_of(ins), op); });
  }

  WorkPtr reduce_scatter_from(const Tensor& output, const Tensor& input, ReduceOp op) override {
    check_tensors("reduce_scatter_tensor", {output, input}, op);
    check_parts("reduce_scatter_tensor", "input", input, "output", output);
    const auto out = hosted(output), in = hosted(input);
    return submit(
        str("reduce_scatter_tensor(", name_of(op.kind), ", ", describe(output), ")"), {out},
        [out, in, op](Channel& c) { parallel::reduce_scatter(c, out.host, equal_parts(in.host, c.size()), op); });
  }

  WorkPtr all_to_all(std::vector<Tensor> outputs, std::vector<Tensor> inputs) override {
    for (const auto* list : {&outputs, &inputs})
      ARGAND_CHECK(ValueError, static_cast<int>(list->size()) == size(), "all_to_all: expected ", size(),
                   " tensors, one for each rank, in each list, got ", list->size());
    check_tensors("all_to_all", outputs);
    check_tensors("all_to_all", inputs);
    const auto outs = hosted(outputs), ins = hosted(inputs);
    return submit(str("all_to_all(", outputs[0].dtype(), ")"), outs,
                  [outs, ins](Channel& c) { parallel::all_to_all(c, hosts_of(outs), hosts_of(ins)); });
  }

  WorkPtr all_to_all_single(const Tensor& output, const Tensor& input, std::vector<int64_t> output_splits,
                            std::vector<int64_t> input_splits) override {
    check_tensors("all_to_all_single", {output, input});
    const auto out = hosted(output), in = hosted(input);
    const std::vector<Tensor> outs = rows_of("output", out, output_splits), ins = rows_of("input", in, input_splits);
    return submit(str("all_to_all_single(", output.dtype(), ")"), {out},
                  [out, outs, ins](Channel& c) { parallel::all_to_all(c, outs, ins); });
  }

  WorkPtr barrier() override {
    return submit("barrier()", {}, [](Channel& c) { parallel::barrier(c); });
  }

  WorkPtr send(const Tensor& tensor, int to, int tag) override {
    check_rank("send", "dst", to);
    ARGAND_CHECK(ValueError, to != rank_, "send: rank ", to, " is this process; a message needs another one");
    check_tensors("send", {tensor});
    const Hosted view = hosted(tensor);
    const std::string call = str("send(", describe(tensor), ", to rank ", to, ")", site());
    check_open(call);
    const auto work = std::make_shared<Work>(call, std::vector<Tensor>());
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
    const auto work = std::make_shared<Work>(call, std::vector<Tensor>{tensor});
    tensor.storage()->bump_version("recv");
    messages_.receive(view.host, from < 0 ? from : world_ranks_[static_cast<size_t>(from)], tag,
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
    const std::string full = name.empty() ? str(name_, ".", ++subgroups_) : name;
    if (std::find(ranks.begin(), ranks.end(), rank_) == ranks.end()) return nullptr;
    std::vector<int> in_world;
    for (const int r : ranks) in_world.push_back(world_ranks_[static_cast<size_t>(r)]);
    return std::make_shared<Group>(world_, in_world, options, full);
  }

  void shutdown() override {
    if (name_ == kOfAll && is_busy())
      world_->transport().abort(std::make_exception_ptr(BackendError("the process group was destroyed")));
    stop();
  }

 private:
  struct Task {
    Call call;
    std::shared_ptr<Work> work;
    std::vector<Hosted> written;
    std::function<void(Channel&)> run;
  };

  // ---- what a user can do wrong

  void check_rank(const char* call, const char* name, int rank) const {
    ARGAND_CHECK(ValueError, rank >= 0 && rank < size(), call, ": expected ", name, " to be a rank of the group, 0 to ",
                 size() - 1, ", got ", rank);
  }
  static void check_tensors(const char* call, const std::vector<Tensor>& tensors, std::optional<ReduceOp> op = {}) {
    ARGAND_CHECK(ValueError, !tensors.empty(), call, ": expected at least one tensor");
    for (const Tensor& t : tensors) {
      ARGAND_CHECK(ValueError, t.defined(), call, ": expected a tensor, got an undefined one");
      ARGAND_CHECK(NotImplementedError, !t.is_meta(), call, ": a meta tensor has no values to send");
      if (op) check_dtype(call, *op, t.dtype());
    }
  }
  void check_lists(const char* call, const char* name, const std::vector<Tensor>& list, const Tensor& other) const {
    ARGAND_CHECK(ValueError, static_cast<int>(list.size()) == size(), call, ": expected ", size(), " ", name,
                 ", one for each rank, got ", list.size());
    check_tensors(call, list);
    check_tensors(call, {other});
    for (const Tensor& t : list)
      ARGAND_CHECK(DtypeError, t.dtype() == other.dtype(), call, ": expected all tensors to be ", other.dtype(),
                   ", got ", t.dtype());
  }
  static void check_same(const char* call, const char* name, const Tensor& of_list, const Tensor& other) {
    ARGAND_CHECK(ShapeError, of_list.numel() == other.numel(), call, ": expected ", name, " to have ", other.numel(),
                 " elements, got ", of_list.sizes());
  }
  // The root has a tensor for each rank, the others none.
  void check_root_list(const char* call, const char* name, const std::vector<Tensor>& list, const Tensor& other,
                       int root) const {
    if (rank_ != root) {
      ARGAND_CHECK(ValueError, list.empty(), call, ": expected no ", name, " on rank ", rank_, ": only rank ", root,
                   " has them");
      return;
    }
    check_lists(call, name, list, other);
    for (const Tensor& t : list) check_same(call, "each tensor", t, other);
  }
  void check_parts(const char* call, const char* whole_name, const Tensor& whole, const char* part_name,
                   const Tensor& part) const {
    ARGAND_CHECK(ShapeError, whole.numel() == part.numel() * size(), call, ": expected ", whole_name, " to have ",
                 size(), " times the elements of ", part_name, ", got sizes ", whole.sizes(), " and ", part.sizes());
    ARGAND_CHECK(DtypeError, whole.dtype() == part.dtype(), call, ": expected ", whole_name, " and ", part_name,
                 " to have one dtype, got ", whole.dtype(), " and ", part.dtype());
  }
  // Cuts a tensor along dimension 0 into the rows that go to each rank, or come from it.
  std::vector<Tensor> rows_of(const char* name, const Hosted& view, const std::vector<int64_t>& splits) const {
    const int64_t rows = view.user.dim() > 0 ? view.user.size(0) : 1;
    const int64_t row = rows > 0 ? view.user.numel() / rows : 0;
    if (splits.empty()) {
      ARGAND_CHECK(ShapeError, rows % size() == 0, "all_to_all_single: expected the size of ", name,
                   " in dimension 0 to be a multiple of ", size(), ", got sizes ", view.user.sizes());
      return equal_parts(view.host, size());
    }
    ARGAND_CHECK(ValueError, static_cast<int>(splits.size()) == size(), "all_to_all_single: expected ", size(), " ",
                 name, " split sizes, got ", splits.size());
    std::vector<Tensor> parts;
    int64_t begin = 0;
    for (const int64_t n : splits) {
      ARGAND_CHECK(ValueError, n >= 0 && n <= rows - begin, "all_to_all_single: expected the ", name,
                   " split sizes to sum to ", rows, ", got ", IntArrayRef(splits));
      parts.push_back(view.host.slice(0, begin * row, (begin + n) * row));
      begin += n;
    }
    ARGAND_CHECK(ValueError, begin == rows, "all_to_all_single: expected the ", name, " split sizes to sum to ", rows,
                 ", got ", IntArrayRef(splits));
    return parts;
  }

  Hosted hosted(const Tensor& t) const { return parallel::hosted(t, size() == 1); }
  std::vector<Hosted> hosted(const std::vector<Tensor>& tensors) const {
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
    } catch (const PeerLost& e) {
      throw PeerLost(call + ": " + e.what(), e.rank());
    } catch (const BackendError& e) {
      throw BackendError(call + ": " + e.what());
    }
  }

  WorkPtr submit(std::string text, std::vector<Hosted> written, std::function<void(Channel&)> run) {
    Call call{std::move(text), std::exchange(call_site, {}), 0};
    check_open(call.text);
    std::vector<Tensor> result;
    for (const Hosted& h : written) {
      result.push_back(h.user);
      h.user.storage()->bump_version("torch.distributed");
    }
    const std::lock_guard lock(mutex_);
    call.number = ++calls_;
    auto work = std::make_shared<Work>(to_string(call), std::move(result));
    Task task{std::move(call), work, std::move(written), std::move(run)};
    if (size() == 1) {
      work->finish(done(task));
    } else {
      tasks_.push_back(std::move(task));
      waiting_.notify_all();
    }
    return work;
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
      }
      const std::exception_ptr error = done(task);
      {
        const std::lock_guard lock(mutex_);
        running_ = false;
      }
      task.work->finish(error);
    }
    for (const Task& task : tasks_)
      task.work->finish(std::make_exception_ptr(BackendError(task.work->call() + ": the process group was destroyed")));
  }

  // Does it; what went wrong.
  std::exception_ptr done(Task& task) {
    const NoGradGuard no_grad;
    try {
      const World::Waiting waiting(*world_, task.work->call(), options_.timeout);
      Channel channel(world_->transport(), world_ranks_, rank_, collective_tag(number_, hash_of(task.call)));
      Channel comparing(world_->transport(), world_ranks_, rank_, collective_tag(number_, task.call.number));
      std::optional<CallCheck> check;
      if (size() > 1) check.emplace(comparing, task.call);
      // Two ranks compare with each other, so neither sends before both agree: receives may be posted before that.
      if (size() == 2) channel.before_sending([&] { check->finish(); });
      if (size() > 2) check->finish();
      task.run(channel);
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

  // Tells the other ranks; the error of this call.
  std::exception_ptr told(std::exception_ptr error, const std::string& call) {
    if (size() == 1) return error;  // nobody waits for this process
    Failure failure;
    try {
      std::rethrow_exception(error);
    } catch (const PeerLost& e) {
      failure = {e.rank(), e.what()};
    } catch (const std::exception& e) {
      failure = {-1, e.what()};
    } catch (...) {
      failure = {-1, "an exception that is no std::exception"};
    }
    try {
      World::raise(world_->fail(failure), call);
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

  int rank_in_group(int world_rank) const {
    const auto found = std::find(world_ranks_.begin(), world_ranks_.end(), world_rank);
    return found == world_ranks_.end() ? -1 : static_cast<int>(found - world_ranks_.begin());
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
  int rank_ = 0;

  std::mutex mutex_;
  std::condition_variable waiting_;
  bool stopped_ = false, running_ = false;
  std::deque<Task> tasks_;
  uint64_t calls_ = 0, subgroups_ = 0;
  std::thread thread_;
};

}  // namespace

void set_call_site(std::string file_and_line) { call_site = std::move(file_and_line); }

std::shared_ptr<ProcessGroup> group_of_all(std::shared_ptr<World> world, const GroupOptions& options) {
  std::vector<int> ranks(static_cast<size_t>(world->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return std::make_shared<Group>(std::move(world), ranks, options, kOfAll);
}

}  // namespace argand::parallel
