#include "argand/optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "argand/core/grad_mode.h"
#include "argand/exec/copy.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::optim {
namespace {

void each_whole(const char* name, int64_t& n, const std::function<void(const char*, double&)>& f) {
  auto value = static_cast<double>(n);
  f(name, value);
  n = static_cast<int64_t>(value);
}

// A number of the state as a tensor, which may be replaced by another.
template <class T>
void visit_number(const char* name, T& value, ScalarType dtype,
                  const std::function<void(const char*, Tensor&, bool)>& f) {
  Tensor t = full(IntArrayRef(), value, dtype);
  f(name, t, true);
  ARGAND_CHECK(ValueError, t.numel() == 1, "LBFGS: expected one number for ", name, ", got shape ", t.sizes());
  value = t.to(dtype).template item<T>();
}

void visit_list(const char* name, std::deque<Tensor>& list, const std::function<void(const char*, Tensor&, bool)>& f) {
  Tensor t = list.empty() ? Tensor() : stack(std::vector<Tensor>(list.begin(), list.end()), 0);
  const Tensor before = t;
  f(name, t, false);
  if (!t.defined() || t.is_same(before)) return;
  ARGAND_CHECK(ValueError, t.dim() > 0, "LBFGS: expected a list for ", name, ", got a number");
  const std::vector<Tensor> loaded = t.unbind(0);
  list.assign(loaded.begin(), loaded.end());
}

// The real and imaginary parts of complex numbers, which are minimised over each.
Tensor real_numbers(const Tensor& t) { return is_complex(t.dtype()) ? view_as_real(t) : t; }

double largest(const Tensor& t) { return t.numel() == 0 ? 0 : t.abs().max().item<double>(); }

bool searches_lines(const LBFGSOptions& o) { return o.line_search_fn().has_value(); }

// The parameters before a step; the destructor restores them unless forget() was called.  On the CPU that allocates
// nothing.
class ParametersBefore {
 public:
  explicit ParametersBefore(const std::vector<Tensor>& params) : params_(params) {
    for (const Tensor& p : params) copies_.push_back(p.clone());
    for (const Tensor& c : copies_) c.impl().data();
  }
  ~ParametersBefore() {
    if (forgotten_) return;
    for (size_t i = 0; i < params_.size(); ++i) put_back(params_[i], copies_[i]);
  }
  ParametersBefore(const ParametersBefore&) = delete;
  ParametersBefore& operator=(const ParametersBefore&) = delete;
  void forget() { forgotten_ = true; }

 private:
  static void put_back(const Tensor& p, const Tensor& copy) noexcept {
    try {
      if (!p.is_cpu()) return exec::copy_elements(p, copy);
      p.impl().data();  // issues the work that waits for it; its allocations may fail
    } catch (...) {
    }
    p.storage()->recover();  // also replaces lost contents (Note [Lost writes])
    if (p.is_cpu()) exec::store_elements(p, copy);
  }

  const std::vector<Tensor>& params_;
  std::vector<Tensor> copies_;
  bool forgotten_ = false;
};

// The requirements on a loaded state for the current parameters.
void check_state(const LBFGSParamState& s, int64_t elements) {
  const auto check = [&](const char* name, const Tensor& t) {
    ARGAND_CHECK(ValueError, t.defined() && t.sizes() == IntArrayRef({elements}), "LBFGS: expected ", name,
                 " of shape [", elements, "] in the state, got ", t.defined() ? str(t.sizes()) : "none");
  };
  check("d", s.d());
  check("prev_flat_grad", s.prev_flat_grad());
  ARGAND_CHECK(ValueError, s.H_diag().defined() && s.H_diag().numel() == 1, "LBFGS: expected one number for H_diag");
  ARGAND_CHECK(ValueError, s.old_dirs().size() == s.old_stps().size() && s.ro().size() == s.old_dirs().size(),
               "LBFGS: expected as many old_dirs as old_stps and ro, got ", s.old_dirs().size(), ", ",
               s.old_stps().size(), " and ", s.ro().size());
  for (const Tensor& t : s.old_dirs()) check("old_dirs", t);
  for (const Tensor& t : s.old_stps()) check("old_stps", t);
  for (const Tensor& t : s.ro())
    ARGAND_CHECK(ValueError, t.numel() == 1, "LBFGS: expected one number for each ro, got shape ", t.sizes());
}

}  // namespace

void LBFGSOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  each_whole("max_iter", max_iter_, f);
  int64_t evaluations = max_eval_.value_or(max_iter_ * 5 / 4);
  each_whole("max_eval", evaluations, f);
  max_eval_ = evaluations;
  f("tolerance_grad", tolerance_grad_);
  f("tolerance_change", tolerance_change_);
  each_whole("history_size", history_size_, f);
  bool wolfe = line_search_fn_.has_value();
  each_flag("strong_wolfe", wolfe, f);
  line_search_fn_ = wolfe ? std::optional<std::string>("strong_wolfe") : std::nullopt;
}

void LBFGSParamState::each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) {
  visit_number("func_evals", func_evals_, kLong, f);
  visit_number("t", t_, kDouble, f);
  visit_number("prev_loss", prev_loss_, kDouble, f);
  f("d", d_, false);
  f("H_diag", H_diag_, false);
  f("prev_flat_grad", prev_flat_grad_, false);
  visit_list("old_dirs", old_dirs_, f);
  visit_list("old_stps", old_stps_, f);
  visit_list("ro", ro_, f);
}

LBFGS::LBFGS(const std::vector<OptimizerParamGroup>& groups, LBFGSOptions d)
    : Optimizer(groups, std::make_unique<LBFGSOptions>(d)) {
  ARGAND_CHECK(ValueError, groups.size() == 1, "LBFGS doesn't support per-parameter options (parameter groups)");
  ARGAND_CHECK(ValueError, !d.line_search_fn() || *d.line_search_fn() == "strong_wolfe",
               "only 'strong_wolfe' is supported, got ", *d.line_search_fn());
  check_numbers(param_groups()[0].options());
}

// A parameter without a gradient counts as one whose gradient is zero.
Tensor LBFGS::flat_grad() {
  std::vector<Tensor> parts;
  for (const Tensor& p : params())
    parts.push_back(real_numbers(p.grad().defined() ? p.grad().detach() : zeros_like(p)).reshape({-1}));
  return cat(parts, 0);
}

// No delayed write to a parameter is left when this returns or throws (class ParametersBefore).
void LBFGS::move(double t, const Tensor& direction) {
  exec::flush();
  int64_t done = 0;
  for (const Tensor& p : params()) {
    const Tensor numbers = real_numbers(p);
    numbers.add_(direction.narrow(0, done, numbers.numel()).view(numbers.sizes()), t);
    done += numbers.numel();
  }
  exec::flush();
}

double LBFGS::evaluate(const LossClosure& closure) { return run_closure(closure).item<double>(); }

// The negative gradient times the inverse Hessian, approximated from the last changes of gradient and parameters.
void LBFGS::choose_direction(LBFGSParamState& s, const LBFGSOptions& o, const Tensor& grad) {
  if (s.n_iter() == 1) {
    s.d(grad.neg()).H_diag(ones({}, grad.options()));
    s.old_dirs().clear();
    s.old_stps().clear();
    s.ro().clear();
    return;
  }
  const Tensor y = grad - s.prev_flat_grad(), moved = s.d() * s.t(), product = y.dot(moved);
  if (product.item<double>() > 1e-10) {
    for (std::deque<Tensor>* list : {&s.old_dirs(), &s.old_stps(), &s.ro()})
      if (!list->empty() && static_cast<int64_t>(list->size()) >= o.history_size()) list->pop_front();
    s.old_dirs().push_back(y);
    s.old_stps().push_back(moved);
    s.ro().push_back(product.reciprocal());
    s.H_diag(product / y.dot(y));
  }
  const size_t count = s.old_dirs().size();
  std::vector<Tensor> factors(count);
  Tensor q = grad.neg();
  for (size_t i = count; i-- > 0;) {
    factors[i] = s.old_stps()[i].dot(q) * s.ro()[i];
    q = q - s.old_dirs()[i] * factors[i];
  }
  q = q * s.H_diag();
  for (size_t i = 0; i < count; ++i) q = q + s.old_stps()[i] * (factors[i] - s.old_dirs()[i].dot(q) * s.ro()[i]);
  s.d(q);
}

LineSearchResult LBFGS::search_line(const LossClosure& closure, const LBFGSOptions& o, const LBFGSParamState& s,
                                    const LinePoint& start) {
  std::vector<Tensor> origin;
  for (const Tensor& p : params()) origin.push_back(p.clone());
  const auto return_to_origin = [&] {
    exec::flush();
    for (size_t i = 0; i < origin.size(); ++i) params()[i].copy_(origin[i]);
    exec::flush();
  };
  const LineFunction on_line = [&](double t) {
    move(t, s.d());
    const double value = evaluate(closure);
    const Tensor grad = flat_grad();
    return_to_origin();
    return LinePoint{t, value, grad, grad.dot(s.d()).item<double>()};
  };
  return strong_wolfe(on_line, start, s.t(), largest(s.d()), o.tolerance_change());
}

Tensor LBFGS::step(LossClosure closure) {
  ARGAND_CHECK(ValueError, closure, "LBFGS requires a closure function");
  ARGAND_CHECK(ValueError, param_groups().size() == 1,
               "LBFGS doesn't support per-parameter options (parameter groups)");
  const NoGradGuard no_grad;
  if (params().empty()) return run_closure(closure);
  ParametersBefore before(params());
  // The step works on a copy of the state, whose tensors are replaced, never written.
  void* const key = params()[0].unsafeGetTensorImpl();
  OptimizerStates next;
  StatePtr& s = next[key];
  s = state().contains(key) ? state().at(key)->clone() : make_state();
  state().reserve(state().size() + 1);
  const Tensor first_loss = iterate(closure, static_cast<LBFGSParamState&>(*s));
  exec::flush();
  // It is done, and nothing from here on allocates.
  before.forget();
  if (const auto found = state().find(key); found != state().end())
    found->second.swap(s);
  else
    state().merge(next);
  return first_loss;
}

Tensor LBFGS::iterate(const LossClosure& closure, LBFGSParamState& s) {
  const auto& o = static_cast<const LBFGSOptions&>(param_groups()[0].options());
  const Tensor first_loss = run_closure(closure);
  double loss = first_loss.item<double>();
  Tensor grad = flat_grad();
  if (s.n_iter() > 0) check_state(s, grad.numel());
  int64_t evaluations = 1;
  s.func_evals(s.func_evals() + 1);
  if (largest(grad) <= o.tolerance_grad()) return first_loss;
  for (int64_t i = 1; i <= o.max_iter(); ++i) {
    s.n_iter(s.n_iter() + 1);
    choose_direction(s, o, grad);
    s.prev_flat_grad(grad).prev_loss(loss);
    s.t(s.n_iter() == 1 ? std::min(1.0, grad.abs().sum().reciprocal().item<double>()) * o.lr() : o.lr());
    const double slope = grad.dot(s.d()).item<double>();
    if (slope > -o.tolerance_change()) break;
    int64_t evaluated = 0;
    if (searches_lines(o)) {
      const LineSearchResult found = search_line(closure, o, s, {0, loss, grad, slope});
      s.t(found.point.t);
      move(s.t(), s.d());
      loss = found.point.value;
      grad = found.point.gradient;
      evaluated = found.evaluations;
    } else {
      move(s.t(), s.d());
      if (i != o.max_iter()) {  // the next step does this after the last iteration
        loss = evaluate(closure);
        grad = flat_grad();
        evaluated = 1;
      }
    }
    evaluations += evaluated;
    s.func_evals(s.func_evals() + evaluated);
    if (evaluations >= *o.max_eval() || largest(grad) <= o.tolerance_grad()) break;
    if (largest(s.d() * s.t()) <= o.tolerance_change()) break;
    if (std::abs(loss - s.prev_loss()) < o.tolerance_change()) break;
  }
  return first_loss;
}

}  // namespace argand::optim
