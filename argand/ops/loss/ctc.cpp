// Connectionist temporal classification ("Connectionist Temporal Classification: Labelling Unsegmented Sequence Data
// with Recurrent Neural Networks", Graves et al. 2006).
#include <algorithm>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/target.h"
#include "argand/ops/numbers_on.h"

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

// The tensors of a call in the form that kernels take.
class Sequences {
 public:
  Sequences(const char* op, const Tensor& log_probs, const Tensor& targets, const Dims& input_lengths,
            const Dims& target_lengths, int64_t blank)
      : probs_(exec::dense(log_probs)), targets_(exec::dense(targets, kLong)) {
    const int64_t batch = log_probs.size(1);
    Dims numbers;  // the start and number of labels, and the lengths
    int64_t begin = 0;
    for (int64_t n = 0; n < batch; ++n) {
      numbers.push_back(targets.dim() == 2 ? n * targets.size(1) : begin);
      begin += target_lengths[static_cast<size_t>(n)];
    }
    numbers.insert_all(target_lengths);
    numbers.insert_all(input_lengths);
    numbers_ = numbers_on(log_probs.device(), numbers);
    const auto* at = static_cast<const int64_t*>(numbers_.impl().data());
    call_ = {op,    log_probs.dtype(), probs_.impl().data(),    static_cast<const int64_t*>(targets_.impl().data()),
             at,    at + batch,        at + 2 * batch,          log_probs.size(0),
             batch, log_probs.size(2), longest(target_lengths), blank};
  }
  const CtcSequences& call() const { return call_; }

 private:
  Tensor probs_, targets_, numbers_;
  CtcSequences call_;
};

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
  static void run(const Args& a, std::span<Tensor> outs) {
    const Sequences q("ctc_loss", a.log_probs, a.targets, a.input_lengths, a.target_lengths, a.blank);
    blocks::ctc_loss.on(outs[0].device())(q.call(), outs[1].impl().data(), outs[0].impl().data());
  }
  static Tensor grad_log_probs(const Ctx& c, const Grads& g) {
    return _ctc_loss_backward(g[0], c.log_probs, c.targets, c.input_lengths, c.target_lengths, c.result(0), c.result(1),
                              c.blank, c.zero_infinity);
  }
  static void samples(S& s) {
    // This is the combined gradient of log_softmax and this op.
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
  static void run(const Args& a, Tensor& out) {
    const Sequences q("ctc_loss", a.log_probs, a.targets, a.input_lengths, a.target_lengths, a.blank);
    const Tensor grad = exec::dense(a.grad), losses = exec::dense(a.neg_log_likelihood),
                 alpha = exec::dense(a.log_alpha);
    blocks::ctc_loss_backward.on(out.device())(
        q.call(), {alpha.impl().data(), losses.impl().data(), grad.impl().data(), a.zero_infinity, out.impl().data()});
  }
  static void samples(S& s) {
    // Results of _ctc_loss, because the probabilities of all paths must be consistent.
    const auto add = [&](const Tensor& scores, const Tensor& targets, const Dims& lengths, const Dims& counts,
                         int64_t blank, bool zero_infinity) {
      const Tensor probs = log_softmax(scores, 2);
      const auto [loss, alpha] = _ctc_loss(probs, targets, lengths, counts, blank, zero_infinity);
      s.add_without_gradient(
          {s->real({probs.size(1)}), probs, targets, lengths, counts, loss, alpha, blank, zero_infinity});
    };
    add(s->real({6, 3, 4}, -2, 2), s->integer({3, 3}, 1, 4), {6, 5, 3}, {3, 2, 0}, 0, false);
    // Repeated labels in one row after the other; blank is the last class; a target longer than its steps.
    add(s->real({7, 3, 3}, -2, 2), s->integer({8}, 0, 2), {7, 7, 2}, {3, 2, 3}, 2, true);
    s.fails({s->real({2}),
             s->real({4, 2, 3}),
             s->integer({2, 2}, 1, 3),
             {4, 4},
             {2, 2},
             s->real({2}),
             s->real({2, 4, 4}),
             0,
             false},
            "_ctc_loss_backward: expected log_alpha of shape [2, 4, 5], got [2, 4, 4]");
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
    // Targets may stay on the CPU, as in PyTorch.
    const Tensor given = a.targets.to(probs.device());
    const Tensor targets = !batched && given.dim() == 1 ? given.unsqueeze(0) : given;
    Tensor loss = std::get<0>(_ctc_loss(probs, targets, a.input_lengths, a.target_lengths, a.blank, a.zero_infinity));
    if (a.zero_infinity) loss = where(loss.eq(std::numeric_limits<double>::infinity()), 0, loss);
    if (a.reduction == Reduction::Mean) {
      const Tensor lengths = numbers_on(loss.device(), a.target_lengths);
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
