// Connectionist temporal classification ("Connectionist Temporal Classification: Labelling Unsegmented Sequence Data
// with Recurrent Neural Networks", Graves et al. 2006).
#include <algorithm>
#include <cmath>
#include <limits>

#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/target.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::ops {
namespace {

int64_t longest(const Dims& lengths) { return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end()); }

void check_ctc(const char* op, const Tensor& log_probs, const Tensor& targets, const Dims& input_lengths,
               const Dims& target_lengths, int64_t blank) {
  ARGAND_CHECK(ShapeError, log_probs.dim() == 3, op, ": expected log_probs [T, N, C], got ", log_probs.sizes());
  const int64_t steps = log_probs.size(0), batch = log_probs.size(1), classes = log_probs.size(2);
  ARGAND_CHECK(DtypeError, targets.dtype() == kLong || targets.dtype() == kInt, op,
               ": expected targets of dtype int32 or int64, got ", targets.dtype());
  ARGAND_CHECK(ValueError, blank >= 0 && blank < classes, op, ": blank must be in label range, [0, ", classes,
               "), got ", blank);
  for (const auto& [name, lengths] :
       {std::pair("input_lengths", input_lengths), std::pair("target_lengths", target_lengths)}) {
    ARGAND_CHECK(ValueError, static_cast<int64_t>(lengths.size()) == batch, op, ": ", name,
                 " must be of size batch_size, ", batch, ", got ", lengths.size());
    for (const int64_t n : lengths)
      ARGAND_CHECK(ValueError, n >= 0, op, ": Expected ", name, " to have value at least 0, but got value ", n);
  }
  ARGAND_CHECK(ValueError, longest(input_lengths) <= steps, op, ": Expected input_lengths to have value at most ",
               steps, ", but got value ", longest(input_lengths));
  if (targets.dim() == 1) {
    int64_t total = 0;
    for (const int64_t n : target_lengths) total += n;
    ARGAND_CHECK(ShapeError, targets.size(0) == total, op,
                 ": expected targets to have as many elements as target_lengths add up to, ", total, ", got ",
                 targets.sizes());
    return;
  }
  ARGAND_CHECK(ShapeError, targets.dim() == 2 && targets.size(0) == batch, op,
               ": expected targets [N, S] or the targets of all one after the other, got ", targets.sizes());
  ARGAND_CHECK(ShapeError, targets.size(1) >= longest(target_lengths), op, ": Expected tensor to have size at least ",
               longest(target_lengths), " at dimension 1, but got size ", targets.size(1), " for argument targets");
}

// Labels of one target with blanks around them, and the numbers of one pass over one sequence.
struct Lattice {
  const int64_t* labels;
  int64_t count, blank;  // labels without blanks
  int64_t states() const { return 2 * count + 1; }
  int64_t label(int64_t s) const { return s % 2 == 0 ? blank : labels[s / 2]; }
  // Whether a path may go from state s - 2 to s: a blank must stand between equal labels.
  bool skips(int64_t s) const { return s >= 2 && label(s) != label(s - 2); }
};

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

// log(e^a + e^b + e^c)
template <class T>
T log_sum(T a, T b, T c = kNever<T>) {
  const T top = std::max({a, b, c}), shift = top == kNever<T> ? T(0) : top;
  return std::log(std::exp(a - shift) + std::exp(b - shift) + std::exp(c - shift)) + shift;
}

// The tensors of a call as one pointer for each sequence.
template <class T>
class Sequences {
 public:
  Sequences(const char* op, const Tensor& log_probs, const Tensor& targets, const Dims& input_lengths,
            const Dims& target_lengths, int64_t blank)
      : probs_(exec::dense(log_probs)),
        targets_(exec::dense(targets, kLong)),
        batch_(log_probs.size(1)),
        classes_(log_probs.size(2)),
        input_lengths_(input_lengths),
        width_(2 * longest(target_lengths) + 1) {
    int64_t begin = 0;
    for (int64_t n = 0; n < batch_; ++n) {
      const int64_t count = target_lengths[static_cast<size_t>(n)];
      const int64_t* labels = raw<int64_t>(targets_) + (targets.dim() == 2 ? n * targets.size(1) : begin);
      begin += count;
      for (int64_t i = 0; i < count; ++i)
        ARGAND_CHECK(IndexError, labels[i] >= 0 && labels[i] < classes_, op, ": expected targets in [0, ", classes_,
                     "), got ", labels[i]);
      lattices_.push_back({labels, count, blank});
    }
  }
  int64_t size() const { return batch_; }
  int64_t classes() const { return classes_; }
  int64_t width() const { return width_; }  // states of the longest target
  int64_t steps(int64_t n) const { return input_lengths_[static_cast<size_t>(n)]; }
  const Lattice& lattice(int64_t n) const { return lattices_[static_cast<size_t>(n)]; }
  const T* probs(int64_t n, int64_t t) const { return raw<T>(probs_) + (t * batch_ + n) * classes_; }

 private:
  Tensor probs_, targets_;
  int64_t batch_, classes_;
  const Dims& input_lengths_;
  int64_t width_;
  std::vector<Lattice> lattices_;
};

// alpha[t][s]: the log-probability of all paths that are in state s at step t.  The result is minus that of all paths.
template <class T>
T forward_pass(const Sequences<T>& q, int64_t n, T* alpha) {
  const Lattice& l = q.lattice(n);
  const int64_t steps = q.steps(n), states = l.states(), width = q.width();
  if (steps == 0) return l.count == 0 ? T(0) : -kNever<T>;
  for (int64_t s = 0; s < std::min<int64_t>(2, states); ++s) alpha[s] = q.probs(n, 0)[l.label(s)];
  for (int64_t t = 1; t < steps; ++t) {
    const T *before = alpha + (t - 1) * width, *p = q.probs(n, t);
    for (int64_t s = 0; s < states; ++s)
      alpha[t * width + s] =
          log_sum(before[s], s > 0 ? before[s - 1] : kNever<T>, l.skips(s) ? before[s - 2] : kNever<T>) + p[l.label(s)];
  }
  const T* last = alpha + (steps - 1) * width;
  return -log_sum(last[states - 1], l.count > 0 ? last[states - 2] : kNever<T>);
}

// The gradient for one sequence, rows `row` elements apart; PyTorch's, which takes the inputs for outputs of
// log_softmax and adds the part of its gradient that log_softmax's backward would take away again.
template <class T>
void backward_pass(const Sequences<T>& q, int64_t n, const T* alpha, T loss, T grad_loss, T* grad, int64_t row) {
  const Lattice& l = q.lattice(n);
  const int64_t steps = q.steps(n), states = l.states(), classes = q.classes();
  std::vector<T> beta(static_cast<size_t>(states), kNever<T>), after(beta);
  for (int64_t t = steps; t-- > 0;) {
    const T* p = q.probs(n, t);
    T* g = grad + t * row;
    std::fill(g, g + classes, kNever<T>);
    for (int64_t s = 0; s < states; ++s) {
      const auto i = static_cast<size_t>(s);
      T sum = s >= states - 2 ? T(0) : kNever<T>;
      if (t + 1 < steps)
        sum = log_sum(after[i], s + 1 < states ? after[i + 1] : kNever<T>,
                      s + 2 < states && l.skips(s + 2) ? after[i + 2] : kNever<T>);
      beta[i] = sum + p[l.label(s)];
      T& of_label = g[l.label(s)];
      of_label = log_sum(of_label, alpha[t * q.width() + s] + beta[i]);
    }
    std::swap(beta, after);
    for (int64_t c = 0; c < classes; ++c) g[c] = (std::exp(p[c]) - std::exp(g[c] + loss - p[c])) * grad_loss;
  }
}

}  // namespace

struct CtcLossForward : Kernel<CtcLossForwardArgs> {
  static constexpr auto schema =
      "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool "
      "zero_infinity=False) -> (Tensor, Tensor)";
  static constexpr auto doc = "The losses of ctc_loss, one each, and the log-probabilities that its gradient needs.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatTypes;
  static constexpr uint32_t constant_results = bits(1);
  static TensorMetas infer(const Args& a) {
    check_ctc("ctc_loss", a.log_probs, a.targets, a.input_lengths, a.target_lengths, a.blank);
    const int64_t batch = a.log_probs.size(1);
    return {{{batch}, a.log_probs.dtype()},
            {{batch, a.log_probs.size(0), 2 * longest(a.target_lengths) + 1}, a.log_probs.dtype()}};
  }
  static void cpu(const Args& a, std::span<Tensor> outs) {
    dispatch<kFloatTypes>(a.log_probs.dtype(), "ctc_loss", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Sequences<T> q("ctc_loss", a.log_probs, a.targets, a.input_lengths, a.target_lengths, a.blank);
      T *loss = raw<T>(outs[0]), *alpha = raw<T>(outs[1]);
      const int64_t each = a.log_probs.size(0) * q.width();
      std::fill(alpha, alpha + outs[1].numel(), kNever<T>);
      parallel_for(0, q.size(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) loss[n] = forward_pass(q, n, alpha + n * each);
      });
    });
  }
  static Tensor grad_log_probs(const Ctx& c, const Grads& g) {
    return _ctc_loss_backward(g[0], c.log_probs, c.targets, c.input_lengths, c.target_lengths, c.result(0), c.result(1),
                              c.blank, c.zero_infinity);
  }
  static void samples(S& s) {
    // The gradient is that of log_softmax and this together.
    s.add_without_gradient({s->real({4, 2, 3}, -3, -0.1), s->integer({2, 2}, 1, 3), {4, 4}, {2, 2}, 0, false});
  }
};
ARGAND_OP(CtcLossForward)

struct CtcLossBackward : Kernel<CtcLossBackwardArgs> {
  static constexpr auto schema =
      "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
      "Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor";
  static constexpr auto doc =
      "The gradient of _ctc_loss for log_probs that come from log_softmax; zeros for infinite losses with "
      "zero_infinity.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatTypes;
  static TensorMeta infer(const Args& a) {
    constexpr const char* op = "_ctc_loss_backward";
    check_ctc(op, a.log_probs, a.targets, a.input_lengths, a.target_lengths, a.blank);
    const Dims each{a.log_probs.size(1)}, alpha{each[0], a.log_probs.size(0), 2 * longest(a.target_lengths) + 1};
    const auto check = [&](const char* name, const Tensor& t, const Dims& expected) {
      ARGAND_CHECK(ShapeError, t.sizes() == IntArrayRef(expected), op, ": expected ", name, " of shape ", expected,
                   ", got ", t.sizes());
      ARGAND_CHECK(DtypeError, t.dtype() == a.log_probs.dtype(), op, ": expected ", name, " of dtype ",
                   a.log_probs.dtype(), ", got ", t.dtype());
    };
    check("grad", a.grad, each);
    check("neg_log_likelihood", a.neg_log_likelihood, each);
    check("log_alpha", a.log_alpha, alpha);
    return {a.log_probs.impl().sizes, a.log_probs.dtype()};
  }
  static void cpu(const Args& a, Tensor& out) {
    dispatch<kFloatTypes>(out.dtype(), "_ctc_loss_backward", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Sequences<T> q("ctc_loss", a.log_probs, a.targets, a.input_lengths, a.target_lengths, a.blank);
      const Tensor g = exec::dense(a.grad), losses = exec::dense(a.neg_log_likelihood),
                   alpha = exec::dense(a.log_alpha);
      const T *grads = raw<T>(g), *loss = raw<T>(losses), *paths = raw<T>(alpha);
      T* to = raw<T>(out);
      std::fill(to, to + out.numel(), T(0));
      const int64_t each = a.log_probs.size(0) * q.width(), row = q.size() * q.classes();
      parallel_for(0, q.size(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n)
          if (!a.zero_infinity || loss[n] != -kNever<T>)
            backward_pass(q, n, paths + n * each, loss[n], grads[n], to + n * q.classes(), row);
      });
    });
  }
};
ARGAND_OP(CtcLossBackward)

struct CtcLoss : Composite<CtcLossArgs> {
  static constexpr auto schema =
      "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int "
      "reduction=Mean, bool zero_infinity=False) -> Tensor";
  static constexpr auto doc =
      "-log of the probability that the first input_lengths[n] steps of log_probs [T, N, C] (or [T, C]) spell the "
      "first "
      "target_lengths[n] labels of targets ([N, S], or all one after the other), with blanks and repetitions left out. "
      "The mean is over losses divided by their target lengths. zero_infinity gives 0 where no path fits. The gradient "
      "takes log_probs for a result of log_softmax, as PyTorch's does.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    check_reduction("ctc_loss", a.reduction);
    const bool batched = a.log_probs.dim() == 3;
    const Tensor probs = a.log_probs.dim() == 2 ? a.log_probs.unsqueeze(1) : a.log_probs;
    const Tensor targets = !batched && a.targets.dim() == 1 ? a.targets.unsqueeze(0) : a.targets;
    Tensor loss = std::get<0>(_ctc_loss(probs, targets, a.input_lengths, a.target_lengths, a.blank, a.zero_infinity));
    if (a.zero_infinity) loss = where(loss.eq(std::numeric_limits<double>::infinity()), 0, loss);
    if (a.reduction == Reduction::Mean) {
      const Tensor lengths = exec::new_tensor({{static_cast<int64_t>(a.target_lengths.size())}, kLong}, kCPU);
      std::copy(a.target_lengths.begin(), a.target_lengths.end(), raw<int64_t>(lengths));
      return (loss / lengths.clamp_min(1).to(loss.options())).mean();
    }
    if (a.reduction == Reduction::Sum) return loss.sum();
    return batched ? loss : loss.squeeze(0);
  }
  static void samples(S& s) {
    s.add_without_gradient({s->real({5, 2, 4}, -3, -0.1), s->integer({2, 3}, 1, 4), {5, 4}, {3, 1}});
    s.add_without_gradient({s->real({5, 2, 4}, -3, -0.1), s->integer({3}, 0, 3), {5, 5}, {1, 2}, 3, Reduction::None});
    s.add_without_gradient({s->real({5, 4}, -3, -0.1), s->integer({2}, 1, 4), {5}, {2}, 0, Reduction::Sum});
    s.add_without_gradient({s->real({2, 1, 4}, -3, -0.1), s->integer({1, 3}, 1, 4), {2}, {3}, 0, Reduction::Sum, true});
    s.fails({s->real({5, 2, 4}), s->integer({2, 3}, 1, 4), {5, 6}, {3, 1}},
            "ctc_loss: Expected input_lengths to have value at most 5, but got value 6");
    s.fails({s->real({5, 2, 4}), s->integer({2, 3}, 1, 4), {5}, {3, 1}},
            "ctc_loss: input_lengths must be of size batch_size, 2, got 1");
    s.fails({s->real({5, 2, 4}), s->integer({2, 3}, 1, 4), {5, 5}, {3, 4}},
            "ctc_loss: Expected tensor to have size at least 4 at dimension 1, but got size 3 for argument targets");
    s.fails({s->real({5, 2, 4}), s->integer({2, 3}, 4, 5), {5, 5}, {3, 1}},
            "ctc_loss: expected targets in [0, 4), got 4");
    s.fails({s->real({5, 2, 4}), s->integer({2, 3}, 1, 4), {5, 5}, {3, 1}, 4},
            "ctc_loss: blank must be in label range, [0, 4), got 4");
  }
};
ARGAND_OP(CtcLoss)

struct CtcLossTensor : Composite<CtcLossTensorArgs> {
  static constexpr auto schema =
      "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int "
      "reduction=Mean, bool zero_infinity=False) -> Tensor";
  static constexpr auto doc = "The same with lengths as tensors of integers.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const auto numbers = [](const char* name, const Tensor& t) {
      ARGAND_CHECK(DtypeError, is_integral(t.dtype(), false), "ctc_loss: ", name, " must be integral, got ", t.dtype());
      const Tensor host = exec::dense(t.to(kCPU), kLong);
      const int64_t* p = raw<int64_t>(host);
      return Dims(p, p + host.numel());
    };
    return ctc_loss(a.log_probs, a.targets, numbers("input_lengths", a.input_lengths),
                    numbers("target_lengths", a.target_lengths), a.blank, a.reduction, a.zero_infinity);
  }
  static void samples(S& s) {
    s.add_without_gradient(
        {s->real({5, 2, 4}, -3, -0.1), s->integer({2, 3}, 1, 4), s->integer({2}, 4, 6), s->integer({2}, 1, 3)});
    s.fails({s->real({5, 2, 4}), s->integer({2, 3}, 1, 4), s->real({2}), s->integer({2}, 1, 3)},
            "ctc_loss: input_lengths must be integral, got float64");
  }
};
ARGAND_OP(CtcLossTensor)

}  // namespace argand::ops
