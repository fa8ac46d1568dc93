// One optimizer step over all parameters of a group: each element is read and written once.
//
// Formulas: SGD with momentum (Sutskever et al., 2013), Adam (Kingma and Ba, 2015), AdamW (Loshchilov and Hutter,
// 2019), RMSprop (Hinton, 2012; centred form of Graves, 2013), as torch.optim writes them.
#include <cmath>
#include <deque>
#include <optional>

#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/optim/args.h"
#include "argand/ops/optim/flat.h"
#include "argand/ops/optim/step_loops.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::ops {
namespace {

using List = std::vector<Tensor>;

void check_list(const char* op, const char* name, const List& list, const List& self) {
  ARGAND_CHECK(ValueError, list.size() == self.size(), op, ": expected ", self.size(), " tensors in ", name, ", got ",
               list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    ARGAND_CHECK(ShapeError, list[i].sizes() == self[i].sizes(), op, ": expected ", name, "[", i, "] of shape ",
                 self[i].sizes(), ", got ", list[i].sizes());
    ARGAND_CHECK(DtypeError, list[i].dtype() == self[i].dtype(), op, ": expected ", name, "[", i, "] of dtype ",
                 self[i].dtype(), ", got ", list[i].dtype());
  }
}

constexpr int64_t kGrain = 32768;

// update(tag of the element type, index of the parameter) -> body(i) for its elements.
template <class Update>
void for_each_parameter(const char* op, const List& self, Update update) {
  for (size_t p = 0; p < self.size(); ++p) {
    dispatch<kFloatingTypes>(self[p].dtype(), op, [&](auto tag) {
      update(tag, p, [&](const auto& body) {
        parallel_for(0, self[p].numel(), kGrain, [&](int64_t begin, int64_t end) { vectorized(body, begin, end); });
      });
    });
    self[p].storage()->bump_version(op);
  }
}

// On a GPU: all tensors of a dtype together.  `states` are the lists that the kind and its options use.
void run_on_device(const char* op, const FusedStep& step, const List& self, const List& grads,
                   std::initializer_list<const List*> states) {
  std::vector<bool> done(self.size(), false);
  for (size_t first = 0; first < self.size(); ++first) {
    if (done[first]) continue;
    const ScalarType type = self[first].dtype();
    std::deque<Flat> flats;
    std::vector<FusedTensor> table;
    std::vector<const Flat*> written;
    table.reserve(self.size() - first);
    written.reserve((self.size() - first) * (1 + states.size()));
    const auto flat = [&](const Tensor& t) -> const Flat& { return flats.emplace_back(t); };
    for (size_t p = first; p < self.size(); ++p) {
      if (done[p] || self[p].dtype() != type) continue;
      done[p] = true;
      FusedTensor t{};
      t.numel = self[p].numel();
      written.push_back(&flat(self[p]));
      t.param = written.back()->address();
      t.grad = flat(grads[p]).address();
      int at = 0;
      for (const List* list : states) {
        written.push_back(&flat((*list)[p]));
        t.states[at++] = written.back()->address();
      }
      table.push_back(t);
    }
    blocks::run_fused_step.on(self[first].device())(step, type, table.data(), static_cast<int64_t>(table.size()));
    for (const Flat* f : written) f->write_back();
  }
  for (const Tensor& t : self) t.storage()->bump_version(op);
}

bool on_device(const List& self) { return !self.empty() && !self[0].is_cpu(); }

}  // namespace

struct FusedSgd : Kernel<FusedSgdArgs> {
  static constexpr auto schema =
      "_fused_sgd_(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffers, *, float lr, float weight_decay, float "
      "momentum, float "
      "dampening, bool nesterov, bool maximize, bool is_first_step) -> ()";
  static constexpr auto doc =
      "A step of SGD on every tensor of self, in place; momentum_buffers may be empty if momentum is 0.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    check_list("_fused_sgd_", "grads", a.grads, a.self);
    if (a.momentum != 0) check_list("_fused_sgd_", "momentum_buffers", a.momentum_buffers, a.self);
    return {};
  }
  static void run(const Args& a, std::span<Tensor>) {
    if (on_device(a.self)) {
      const bool momentum = a.momentum != 0;
      const FusedStep step{FusedStep::kSgd,
                           momentum ? FusedStep::kMomentum | (a.nesterov ? FusedStep::kNesterov : 0) : 0,
                           {a.lr, a.weight_decay, a.maximize ? -1.0 : 1.0, a.momentum, a.is_first_step ? 0 : a.momentum,
                            a.dampening, a.is_first_step ? 1.0 : 0.0}};
      if (momentum) return run_on_device("_fused_sgd_", step, a.self, a.grads, {&a.momentum_buffers});
      return run_on_device("_fused_sgd_", step, a.self, a.grads, {});
    }
    for_each_parameter("_fused_sgd_", a.self, [&](auto tag, size_t p, auto run) {
      using T = typename decltype(tag)::type;
      using M = op_math_t<T>;
      const Flat param(a.self[p]), grad(a.grads[p]);
      T* w = param.template data<T>();
      const T* g = grad.template data<T>();
      const M lr = static_cast<M>(a.lr), decay = static_cast<M>(a.weight_decay), sign = a.maximize ? M(-1) : M(1);
      if (a.momentum == 0) {
        run([=](int64_t i) {
          const M x = static_cast<M>(w[i]);
          w[i] = static_cast<T>(x - lr * (sign * static_cast<M>(g[i]) + decay * x));
        });
      } else {
        const Flat buffer(a.momentum_buffers[p]);
        T* m = buffer.template data<T>();
        const M momentum = static_cast<M>(a.momentum), keep = a.is_first_step ? M(0) : momentum;
        const M take = a.is_first_step ? M(1) : M(1) - static_cast<M>(a.dampening);
        const bool nesterov = a.nesterov;
        run([=](int64_t i) {
          const M x = static_cast<M>(w[i]), d = sign * static_cast<M>(g[i]) + decay * x;
          const M b = keep * static_cast<M>(m[i]) + take * d;
          m[i] = static_cast<T>(b);
          w[i] = static_cast<T>(x - lr * (nesterov ? d + momentum * b : b));
        });
        buffer.write_back();
      }
      param.write_back();
    });
  }
};
ARGAND_OP(FusedSgd)

struct FusedAdam : Kernel<FusedAdamArgs> {
  static constexpr auto schema =
      "_fused_adam_(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, "
      "*, int step, float "
      "lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool decoupled, bool maximize) -> ()";
  static constexpr auto doc =
      "A step of Adam (decoupled: AdamW) on every tensor of self, in place; step counts from 1; max_exp_avg_sqs may be "
      "empty without amsgrad.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    check_list("_fused_adam_", "grads", a.grads, a.self);
    check_list("_fused_adam_", "exp_avgs", a.exp_avgs, a.self);
    check_list("_fused_adam_", "exp_avg_sqs", a.exp_avg_sqs, a.self);
    if (a.amsgrad) check_list("_fused_adam_", "max_exp_avg_sqs", a.max_exp_avg_sqs, a.self);
    ARGAND_CHECK(ValueError, a.step >= 1, "_fused_adam_: step counts from 1, got ", a.step);
    return {};
  }
  static void run(const Args& a, std::span<Tensor>) {
    const double correction1 = 1 - std::pow(a.beta1, static_cast<double>(a.step));
    const double correction2 = 1 - std::pow(a.beta2, static_cast<double>(a.step));
    if (on_device(a.self)) {
      const FusedStep step{
          FusedStep::kAdam,
          a.amsgrad ? FusedStep::kAmsgrad : 0,
          {a.beta1, 1 - a.beta1, a.beta2, 1 - a.beta2, a.lr / correction1, std::sqrt(correction2), a.eps,
           a.maximize ? -1.0 : 1.0, a.decoupled ? 0 : a.weight_decay, a.decoupled ? 1 - a.lr * a.weight_decay : 1}};
      if (a.amsgrad)
        return run_on_device("_fused_adam_", step, a.self, a.grads, {&a.exp_avgs, &a.exp_avg_sqs, &a.max_exp_avg_sqs});
      return run_on_device("_fused_adam_", step, a.self, a.grads, {&a.exp_avgs, &a.exp_avg_sqs});
    }
    for_each_parameter("_fused_adam_", a.self, [&](auto tag, size_t p, auto run) {
      using T = typename decltype(tag)::type;
      using M = op_math_t<T>;
      const Flat param(a.self[p]), grad(a.grads[p]), avg(a.exp_avgs[p]), avg_sq(a.exp_avg_sqs[p]);
      std::optional<Flat> max_sq;
      if (a.amsgrad) max_sq.emplace(a.max_exp_avg_sqs[p]);
      T *w = param.template data<T>(), *m = avg.template data<T>(), *v = avg_sq.template data<T>(),
        *top = max_sq ? max_sq->template data<T>() : v;
      const T* g = grad.template data<T>();
      const M beta1 = static_cast<M>(a.beta1), beta2 = static_cast<M>(a.beta2), rest1 = static_cast<M>(1 - a.beta1),
              rest2 = static_cast<M>(1 - a.beta2);
      const M step_size = static_cast<M>(a.lr / correction1), root2 = static_cast<M>(std::sqrt(correction2)),
              eps = static_cast<M>(a.eps);
      const M sign = a.maximize ? M(-1) : M(1);
      const M l2 = a.decoupled ? M(0) : static_cast<M>(a.weight_decay),
              shrink = a.decoupled ? static_cast<M>(1 - a.lr * a.weight_decay) : M(1);
      const auto step = [=](int64_t i, auto amsgrad) __attribute__((always_inline)) {
        const M x = static_cast<M>(w[i]), d = sign * static_cast<M>(g[i]) + l2 * x;
        const M mi = beta1 * static_cast<M>(m[i]) + rest1 * d, vi = beta2 * static_cast<M>(v[i]) + rest2 * d * d;
        m[i] = static_cast<T>(mi);
        v[i] = static_cast<T>(vi);
        M largest = vi;
        if constexpr (amsgrad.value) {
          largest = static_cast<M>(top[i]) > vi ? static_cast<M>(top[i]) : vi;
          top[i] = static_cast<T>(largest);
        }
        w[i] = static_cast<T>(x * shrink - step_size * (mi / (std::sqrt(largest) / root2 + eps)));
      };
      // Two loops: a store that depends on a flag would keep the common one from being vectorised.
      if (a.amsgrad)
        run([=](int64_t i) { step(i, std::true_type()); });
      else
        run([=](int64_t i) { step(i, std::false_type()); });
      for (const Flat* f : {&param, &avg, &avg_sq}) f->write_back();
      if (max_sq) max_sq->write_back();
    });
  }
};
ARGAND_OP(FusedAdam)

struct FusedRmsprop : Kernel<FusedRmspropArgs> {
  static constexpr auto schema =
      "_fused_rmsprop_(Tensor[] self, Tensor[] grads, Tensor[] square_avgs, Tensor[] grad_avgs, Tensor[] "
      "momentum_buffers, *, float lr, "
      "float alpha, float eps, float weight_decay, float momentum, bool centered, bool maximize) -> ()";
  static constexpr auto doc =
      "A step of RMSprop on every tensor of self, in place; grad_avgs is used if centered, momentum_buffers if "
      "momentum > 0.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    check_list("_fused_rmsprop_", "grads", a.grads, a.self);
    check_list("_fused_rmsprop_", "square_avgs", a.square_avgs, a.self);
    if (a.centered) check_list("_fused_rmsprop_", "grad_avgs", a.grad_avgs, a.self);
    if (a.momentum > 0) check_list("_fused_rmsprop_", "momentum_buffers", a.momentum_buffers, a.self);
    return {};
  }
  static void run(const Args& a, std::span<Tensor>) {
    if (on_device(a.self)) {
      const bool has_momentum = a.momentum > 0;
      const FusedStep step{FusedStep::kRmsprop,
                           (a.centered ? FusedStep::kCentered : 0) | (has_momentum ? FusedStep::kMomentum : 0),
                           {a.lr, a.alpha, 1 - a.alpha, a.eps, a.weight_decay, a.momentum, a.maximize ? -1.0 : 1.0}};
      const auto run_with = [&](std::initializer_list<const List*> states) {
        run_on_device("_fused_rmsprop_", step, a.self, a.grads, states);
      };
      if (a.centered && has_momentum) return run_with({&a.square_avgs, &a.grad_avgs, &a.momentum_buffers});
      if (a.centered) return run_with({&a.square_avgs, &a.grad_avgs});
      if (has_momentum) return run_with({&a.square_avgs, &a.momentum_buffers});
      return run_with({&a.square_avgs});
    }
    for_each_parameter("_fused_rmsprop_", a.self, [&](auto tag, size_t p, auto run) {
      using T = typename decltype(tag)::type;
      using M = op_math_t<T>;
      const Flat param(a.self[p]), grad(a.grads[p]), square(a.square_avgs[p]);
      const Flat mean(a.centered ? a.grad_avgs[p] : a.square_avgs[p]),
          buffer(a.momentum > 0 ? a.momentum_buffers[p] : a.square_avgs[p]);
      T *w = param.template data<T>(), *s = square.template data<T>(), *c = mean.template data<T>(),
        *b = buffer.template data<T>();
      const T* g = grad.template data<T>();
      const M lr = static_cast<M>(a.lr), alpha = static_cast<M>(a.alpha), rest = static_cast<M>(1 - a.alpha),
              eps = static_cast<M>(a.eps);
      const M decay = static_cast<M>(a.weight_decay), momentum = static_cast<M>(a.momentum);
      const M sign = a.maximize ? M(-1) : M(1);
      const bool centered = a.centered, has_momentum = a.momentum > 0;
      run([=](int64_t i) {
        const M x = static_cast<M>(w[i]), d = sign * static_cast<M>(g[i]) + decay * x;
        const M si = alpha * static_cast<M>(s[i]) + rest * d * d;
        s[i] = static_cast<T>(si);
        M variance = si;
        if (centered) {
          const M ci = static_cast<M>(c[i]) + rest * (d - static_cast<M>(c[i]));
          c[i] = static_cast<T>(ci);
          variance = si - ci * ci;
        }
        M update = d / (std::sqrt(variance) + eps);
        if (has_momentum) {
          update = momentum * static_cast<M>(b[i]) + update;
          b[i] = static_cast<T>(update);
        }
        w[i] = static_cast<T>(x - lr * update);
      });
      param.write_back();
      square.write_back();
      if (centered) mean.write_back();
      if (has_momentum) buffer.write_back();
    });
  }
};
ARGAND_OP(FusedRmsprop)

}  // namespace argand::ops
