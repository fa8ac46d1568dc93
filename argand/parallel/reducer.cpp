#include "argand/parallel/reducer.h"

#include <algorithm>

#include "argand/autograd/accumulate.h"
#include "argand/autograd/engine.h"
#include "argand/autograd/pass.h"
#include "argand/core/accessor.h"
#include "argand/core/grad_mode.h"
#include "argand/exec/copy_each.h"
#include "argand/exec/invoke.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"

namespace argand::parallel {
namespace {

constexpr size_t kLarge = size_t{1} << 20;  // bytes of a large gradient (Note [Buckets])

struct Place {
  size_t bucket = 0;
  int64_t number = 0;  // in the bucket
  int64_t begin = 0;   // where its elements start in the bucket's memory
  bool large = false;  // they are not there
};

struct Bucket {
  std::vector<size_t> parameters;
  int64_t elements = 0;  // in its memory
  // The state of the backward pass that is under way:
  std::vector<Tensor> gradients;  // of this process; only large ones when the bucket has been packed
  Tensor buffer;                  // the elements, and one number for each parameter
  Tensor last;                    // buffer of the backward before; reused if nobody holds a gradient in it
  size_t missing = 0;
  std::vector<float> used;  // 1 for each parameter that this process used, else 0
  std::function<Tensor()> sent;
};

// Parameters of one dtype and device, the last first, as many as fit.
std::vector<Bucket> cut(const std::vector<Tensor>& parameters, const ReducerOptions& options) {
  std::vector<Bucket> buckets;
  size_t bytes = 0;
  for (size_t i = parameters.size(); i-- > 0;) {
    const Tensor& p = parameters[i];
    const size_t number = buckets.empty() ? 0 : buckets.size() - 1;  // of the bucket that is being filled
    const size_t limit = options.bucket_bytes[std::min(number, options.bucket_bytes.size() - 1)];
    const bool fits = !buckets.empty() && bytes < limit &&
                      parameters[buckets.back().parameters.back()].dtype() == p.dtype() &&
                      parameters[buckets.back().parameters.back()].device() == p.device();
    if (!fits) {
      buckets.emplace_back();
      bytes = 0;
    }
    buckets.back().parameters.push_back(i);
    bytes += p.nbytes();
  }
  return buckets;
}

}  // namespace

class Reducer::State : public std::enable_shared_from_this<Reducer::State> {
 public:
  State(std::vector<Tensor> parameters, std::shared_ptr<ProcessGroup> group, const ReducerOptions& options)
      : parameters_(std::move(parameters)),
        group_(std::move(group)),
        buckets_(cut(parameters_, options)),
        places_(parameters_.size()),
        ready_(parameters_.size()),
        arrived_(parameters_.size()),
        expected_(parameters_.size()),
        used_before_(parameters_.size()),
        static_graph_(options.static_graph) {
    lay_out();
  }

  void set_enabled(bool enabled) {
    const std::lock_guard lock(mutex_);
    enabled_ = enabled;
  }
  void set_hook(CommHook hook) {
    const std::lock_guard lock(mutex_);
    ARGAND_CHECK(Error, !under_way_, "register_comm_hook: a backward is under way");
    hook_ = std::move(hook);
    lay_out();
  }
  void set_divisor(double divisor) {
    const std::lock_guard lock(mutex_);
    divisor_ = divisor;
  }
  std::vector<std::vector<size_t>> buckets() const {
    std::vector<std::vector<size_t>> all;
    for (const Bucket& b : buckets_) all.push_back(b.parameters);
    return all;
  }
  std::vector<size_t> unused() const {
    const std::lock_guard lock(mutex_);
    return unused_;
  }

  // Backward has added to the .grad of parameter i.
  void ready(size_t i) {
    const std::lock_guard lock(mutex_);
    if (!enabled_) {
      used_before_[i] = true;
      return;
    }
    if (!under_way_) {
      begin();
      autograd::after_backward([self = shared_from_this()](bool well) { self->end(well); });
    }
    ++arrived_[i];
    fill(i, parameters_[i].grad(), has_all(i));
    send_full_ones();
  }

  void shadow() {
    {
      const std::lock_guard lock(mutex_);
      begin();
      used_before_.assign(parameters_.size(), false);
    }
    end(true);
  }

 private:
  void lay_out() {
    for (size_t b = 0; b < buckets_.size(); ++b) {
      Bucket& bucket = buckets_[b];
      bucket.elements = 0;
      bucket.last = Tensor();
      int64_t number = 0;
      for (const size_t i : bucket.parameters) {
        const Tensor& p = parameters_[i];
        const bool large = !hook_ && p.is_accelerator() && p.nbytes() >= kLarge;
        places_[i] = {b, number++, bucket.elements, large};
        if (!large) bucket.elements += p.numel();
      }
    }
  }

  void begin() {
    under_way_ = true;
    next_ = 0;
    std::fill(ready_.begin(), ready_.end(), false);
    std::fill(arrived_.begin(), arrived_.end(), 0);
    for (Bucket& b : buckets_) {
      b.missing = b.parameters.size();
      b.gradients.assign(b.missing, Tensor());
      b.buffer = Tensor();
      b.sent = nullptr;
      b.used.assign(b.parameters.size(), 0);
    }
  }

  // In the parameter's memory order, so that optimizers go through both in the same order.
  Tensor part_of(const Tensor& buffer, size_t i) const {
    const Tensor& p = parameters_[i];
    return exec::alias(buffer, p.impl().sizes, strides_of(p), buffer.storage_offset() + places_[i].begin);
  }
  static Dims strides_of(const Tensor& p) {
    return p.is_non_overlapping_and_dense() ? p.impl().strides : contiguous_strides(p.impl().sizes);
  }

  // Whether no gradient of the parameter is expected after the one that has arrived (Note [Parameters that are used
  // again]).
  bool has_all(size_t i) const {
    if (expected_[i] > 0) return arrived_[i] >= expected_[i];
    return !static_graph_ && !autograd::Pass::is_enclosed();
  }

  // An undefined gradient: this process did not use the parameter.
  void fill(size_t i, const Tensor& gradient, bool is_all) {
    Bucket& b = buckets_[places_[i].bucket];
    const auto number = static_cast<size_t>(places_[i].number);
    ARGAND_CHECK(Error, !ready_[i] || !b.sent,
                 "DistributedDataParallel: backward has added to the gradient of parameter ", i,
                 " after it was sent: a backward within another one used it again.  With static_graph=True it is sent "
                 "when all have been added");
    if (is_all && !ready_[i]) {
      ready_[i] = true;
      --b.missing;
    }
    if (!gradient.defined()) return;
    ARGAND_CHECK(NotImplementedError, !gradient.is_sparse(), "DistributedDataParallel: sparse gradients are not there");
    b.gradients[number] = gradient;
    b.used[number] = 1;
  }

  // Copies the small gradients into the bucket's memory, and sees to it that the large ones can be sent as they are.
  void pack(Bucket& b) {
    const auto n = static_cast<int64_t>(b.parameters.size());
    const bool free = b.last.defined() && b.last.storage().use_count() == 1;
    b.buffer = free ? b.last : empty({b.elements + n}, parameters_[b.parameters[0]].options().requires_grad(false));
    std::vector<Tensor> parts, gradients;
    for (size_t k = 0; k < b.parameters.size(); ++k) {
      const size_t i = b.parameters[k];
      Tensor& gradient = b.gradients[k];
      if (places_[i].large) {
        make_sendable(gradient, parameters_[i]);
      } else if (!gradient.defined()) {
        part_of(b.buffer, i).zero_();
      } else {
        parts.push_back(part_of(b.buffer, i));
        gradients.push_back(std::move(gradient));
      }
    }
    exec::copy_each(parts, gradients);
  }
  // Memory that nobody else sees, with the parameter's dtype and memory order.
  static void make_sendable(Tensor& gradient, const Tensor& p) {
    if (gradient.defined()) gradient.impl().data();  // work that waits in a window holds the memory, too
    if (gradient.defined() && gradient.dtype() == p.dtype() && gradient.device() == p.device() &&
        gradient.impl().strides == strides_of(p) && !gradient.requires_grad() && gradient.storage().use_count() == 1)
      return;
    const Tensor sent = exec::new_tensor({p.impl().sizes, p.dtype(), strides_of(p)}, p.device());
    gradient.defined() ? sent.copy_(gradient) : sent.zero_();
    gradient = sent;
  }

  // In the order of the buckets, which is the same in all processes.
  void send_full_ones() {
    for (; next_ < buckets_.size() && buckets_[next_].missing == 0; ++next_) {
      Bucket& b = buckets_[next_];
      const NoGradGuard no_grad;
      pack(b);
      const Tensor numbers = b.buffer.narrow(0, b.elements, static_cast<int64_t>(b.used.size()));
      if (uses_all(b)) {
        numbers.fill_(1);  // without a copy from the host
      } else {
        numbers.copy_(tensor(b.used));
      }
      b.sent = hook_ ? send_by_hook(b) : send_mean(b);
    }
  }

  // NCCL sends the tensors of one call together.
  std::function<Tensor()> send_mean(const Bucket& b) {
    std::vector<Tensor> sent{b.buffer};
    for (size_t k = 0; k < b.parameters.size(); ++k)
      if (const Tensor& g = b.gradients[k]; places_[b.parameters[k]].large)
        sent.push_back(exec::alias(g, Dims{g.numel()}, Dims{1}, g.storage_offset()));
    const WorkPtr work = group_->all_reduce(sent, means() ? CollectiveReduce::kAvg : CollectiveReduce::kSum);
    return [work, buffer = b.buffer] {
      work->wait();
      return buffer;
    };
  }

  // The hook has the gradients; the numbers of used parameters are sent separately.
  std::function<Tensor()> send_by_hook(const Bucket& b) {
    GradBucket bucket;
    bucket.index = next_;
    bucket.is_last = next_ + 1 == buckets_.size();
    bucket.buffer = b.buffer.narrow(0, 0, b.elements);
    for (const size_t i : b.parameters) {
      bucket.gradients.push_back(part_of(b.buffer, i));
      bucket.parameters.push_back(parameters_[i]);
    }
    const Tensor used = b.buffer.narrow(0, b.elements, static_cast<int64_t>(b.parameters.size())).clone();
    const WorkPtr work = group_->all_reduce({used});
    std::function<Tensor()> sent = hook_(bucket);
    return [work, used, sent = std::move(sent), elements = b.elements] {
      const Tensor result = sent();
      ARGAND_CHECK(ShapeError, result.numel() == elements, "comm hook: expected a tensor of ", elements,
                   " elements, as the bucket's, got one of sizes ", result.sizes());
      work->wait();
      return cat({result.reshape({-1}).to(used.dtype()), used});
    };
  }

  // After the outermost backward.
  void end(bool well) {
    const std::lock_guard lock(mutex_);
    under_way_ = false;
    if (!well) return drop(false);
    try {
      for (size_t i = 0; i < parameters_.size(); ++i)
        if (!ready_[i]) fill(i, arrived_[i] > 0 || used_before_[i] ? parameters_[i].grad() : Tensor(), true);
      send_full_ones();
      for (size_t i = 0; i < parameters_.size(); ++i) expected_[i] = std::max(expected_[i], arrived_[i]);
      used_before_.assign(parameters_.size(), false);
      unused_.clear();
      for (Bucket& b : buckets_) give_back(b);
    } catch (...) {
      drop(false);
      throw;
    }
    drop(true);
  }

  void give_back(Bucket& b) {
    const NoGradGuard no_grad;
    const Tensor result = b.sent();
    const std::vector<bool> used = uses_all(b) ? std::vector<bool>(b.parameters.size(), true) : used_by_any(b, result);
    for (const size_t i : b.parameters) {
      const auto number = static_cast<size_t>(places_[i].number);
      if (used[number]) {
        parameters_[i].mutable_grad() = divided(places_[i].large ? b.gradients[number] : part_of(result, i));
      } else {
        unused_.push_back(i);
      }
    }
  }

  static bool uses_all(const Bucket& b) { return std::find(b.used.begin(), b.used.end(), 0.f) == b.used.end(); }

  // Waits for a GPU; if this process used all parameters, it need not be called.
  std::vector<bool> used_by_any(const Bucket& b, const Tensor& result) const {
    const auto n = static_cast<int64_t>(b.parameters.size());
    const Tensor counts = result.narrow(0, b.elements, n).to(kCPU, kComplexDouble).abs();
    const auto values = counts.accessor<double, 1>();
    std::vector<bool> used;
    for (int64_t i = 0; i < n; ++i) used.push_back(values[i] != 0);
    return used;
  }

  Tensor divided(const Tensor& sum) const { return hook_ || means() ? sum : sum.div_(divisor_); }
  bool means() const { return divisor_ == group_->size(); }

  // After a failure the contents of the memory may be lost, and then it cannot be written in parts.
  void drop(bool keep_memory) {
    for (Bucket& b : buckets_) {
      b.last = std::exchange(b.buffer, Tensor());
      if (!keep_memory) b.last = Tensor();
      b.gradients.clear();
      b.sent = nullptr;
    }
  }

  const std::vector<Tensor> parameters_;
  const std::shared_ptr<ProcessGroup> group_;
  mutable std::mutex mutex_;
  std::vector<Bucket> buckets_;
  std::vector<Place> places_;
  std::vector<bool> ready_;
  std::vector<int> arrived_;       // gradients of each parameter in this backward
  std::vector<int> expected_;      // the most that arrived in an earlier backward; 0: none yet
  std::vector<bool> used_before_;  // by backwards that did not send, since the last one that did
  const bool static_graph_;
  CommHook hook_;
  bool enabled_ = true, under_way_ = false;
  double divisor_ = group_->size();
  size_t next_ = 0;  // the first bucket that was not sent
  std::vector<size_t> unused_;
};

Reducer::Reducer(std::vector<Tensor> parameters, std::shared_ptr<ProcessGroup> group, const ReducerOptions& options)
    : state_(std::make_shared<State>(parameters, std::move(group), options)) {
  for (const Tensor& p : parameters)
    ARGAND_CHECK(ValueError, p.defined() && p.is_leaf() && p.requires_grad(),
                 "DistributedDataParallel: expected parameters that are leaves and require gradients");
  for (size_t i = 0; i < parameters.size(); ++i)
    hooks_.push_back(
        autograd::add_post_accumulate_hook(parameters[i], [state = std::weak_ptr<State>(state_), i](const Tensor&) {
          if (const auto alive = state.lock()) alive->ready(i);
        }));
  parameters_ = std::move(parameters);
}

Reducer::~Reducer() {
  for (size_t i = 0; i < hooks_.size(); ++i) parameters_[i].remove_hook(hooks_[i]);
}

void Reducer::set_enabled(bool enabled) { state_->set_enabled(enabled); }
void Reducer::set_hook(CommHook hook) { state_->set_hook(std::move(hook)); }
void Reducer::set_divisor(double divisor) { state_->set_divisor(divisor); }
std::vector<std::vector<size_t>> Reducer::buckets() const { return state_->buckets(); }
std::vector<size_t> Reducer::unused() const { return state_->unused(); }
void Reducer::shadow() { state_->shadow(); }

}  // namespace argand::parallel
