// L-BFGS, as torch.optim.LBFGS: each step evaluates the closure several times ("Updating quasi-Newton matrices with
// limited storage", Nocedal 1980).
#pragma once
#include <deque>
#include <string>

#include "argand/optim/line_search.h"
#include "argand/optim/optimizer.h"

namespace argand::optim {

struct LBFGSOptions : OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions() : lr_(1) {}
  LBFGSOptions(double lr) : lr_(lr) { note_set("lr"); }
  void each_number(const std::function<void(const char*, double&)>& f) override;
  ARGAND_OPTION(double, lr) = 1;
  ARGAND_OPTION(int64_t, max_iter) = 20;                           // per step
  ARGAND_OPTION(std::optional<int64_t>, max_eval) = std::nullopt;  // of the closure per step; max_iter * 5 / 4
  ARGAND_OPTION(double, tolerance_grad) = 1e-7;                    // stops when no element of the gradient is larger
  ARGAND_OPTION(double, tolerance_change) = 1e-9;                  // or when parameters and loss change no more
  ARGAND_OPTION(int64_t, history_size) = 100;
  ARGAND_OPTION(std::optional<std::string>, line_search_fn) = std::nullopt;  // "strong_wolfe", or steps of lr
};

// All parameters together, kept with the first one.  Vectors have the elements of all of them.
struct LBFGSParamState : OptimizerCloneableParamState<LBFGSParamState> {
  void each_tensor(const std::function<void(const char*, Tensor&, bool)>& f) override;
  int64_t step_count() const override { return n_iter_; }
  void set_step_count(int64_t n) override { n_iter_ = n; }
  bool is_shaped_as_parameter() const override { return false; }
  ARGAND_ARG(int64_t, func_evals) = 0;
  ARGAND_ARG(int64_t, n_iter) = 0;
  ARGAND_ARG(double, t) = 0;
  ARGAND_ARG(double, prev_loss) = 0;
  ARGAND_ARG(Tensor, d);       // the direction
  ARGAND_ARG(Tensor, H_diag);  // the initial inverse Hessian, a number
  ARGAND_ARG(Tensor, prev_flat_grad);
  ARGAND_ARG(std::deque<Tensor>, old_dirs);                           // differences of the gradient
  ARGAND_ARG(std::deque<Tensor>, old_stps);                           // changes of the parameters
  ARGAND_ARG(std::deque<Tensor>, ro);                                 // 1 over the products of both
  ARGAND_ARG(std::optional<std::vector<Tensor>>, al) = std::nullopt;  // harmless: LibTorch's scratch, empty here
};

class LBFGS : public Optimizer {
 public:
  // ValueError for more than one group, an unknown line search, or numbers below 0.
  explicit LBFGS(const std::vector<OptimizerParamGroup>& groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {})
      : LBFGS({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}
  // Needs a closure that computes the loss and its gradients.  Returns the loss before the step.  After an exception of
  // the closure or an allocation, parameters and state are as before; parameters on a GPU are so if copies there still
  // succeed.
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  StatePtr make_state() const override { return StatePtr(new LBFGSParamState); }

 private:
  std::vector<Tensor>& params() { return param_groups()[0].params(); }
  Tensor iterate(const LossClosure& closure, LBFGSParamState& s);
  Tensor flat_grad();
  void move(double t, const Tensor& direction);
  double evaluate(const LossClosure& closure);
  void choose_direction(LBFGSParamState& s, const LBFGSOptions& o, const Tensor& grad);
  LineSearchResult search_line(const LossClosure& closure, const LBFGSOptions& o, const LBFGSParamState& s,
                               const LinePoint& start);
};

}  // namespace argand::optim
