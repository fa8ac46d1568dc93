#include "argand/autograd/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "argand/autograd/engine.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"

namespace argand::autograd {
namespace {

// The real coordinates of a floating-point or complex tensor, of 32 or 64 bits a number: its elements, or their real
// and imaginary parts in turn.
class Coordinates {
 public:
  explicit Coordinates(const Tensor& t)
      : tensor_(t),
        host_(t.is_cpu() ? t : t.detach().cpu()),
        parts_(t.is_complex() ? 2 : 1),
        is_single_(t.dtype() == kFloat || t.dtype() == kComplexFloat) {}
  int64_t count() const { return tensor_.numel() * parts_; }
  double operator[](int64_t i) const { return is_single_ ? static_cast<double>(at<float>(i)) : at<double>(i); }
  void set(int64_t i, double value) const {
    if (is_single_)
      at<float>(i) = static_cast<float>(value);
    else
      at<double>(i) = value;
  }
  // Copies the changed values to a tensor on another device.
  void store() const {
    const NoGradGuard no_grad;
    if (!tensor_.is_cpu()) exec::copy_elements(tensor_, host_);
  }
  // "[0, 2]", "the imaginary part of [0, 2]".
  std::string name(int64_t i) const {
    int64_t element = i / parts_;
    Dims index(tensor_.sizes().size(), 0);
    for (size_t d = index.size(); d-- > 0;) {
      index[d] = element % tensor_.sizes()[d];
      element /= tensor_.sizes()[d];
    }
    return str(parts_ == 1 ? "" : i % 2 ? "the imaginary part of " : "the real part of ", index);
  }
  std::vector<double> values() const {
    std::vector<double> out(static_cast<size_t>(count()));
    for (int64_t i = 0; i < count(); ++i) out[static_cast<size_t>(i)] = (*this)[i];
    return out;
  }

 private:
  template <class T>
  T& at(int64_t i) const {
    int64_t element = i / parts_, offset = 0;
    for (size_t d = host_.sizes().size(); d-- > 0;) {
      offset += element % host_.sizes()[d] * host_.strides()[d];
      element /= host_.sizes()[d];
    }
    return static_cast<T*>(host_.impl().data())[offset * parts_ + i % parts_];
  }
  Tensor tensor_, host_;
  int64_t parts_;
  bool is_single_;
};

bool is_double(const Tensor& t) { return t.dtype() == kDouble || t.dtype() == kComplexDouble; }
bool is_single(const Tensor& t) { return t.dtype() == kFloat || t.dtype() == kComplexFloat; }

std::vector<double> values_of(const Tensor& t) {
  const NoGradGuard no_grad;
  return Coordinates(exec::dense_clone(t, t.is_complex() ? kComplexDouble : kDouble)).values();
}

Tensor zeros_as_double(const Tensor& t) {
  return zeros(t.sizes(), t.options().dtype(t.is_complex() ? kComplexDouble : kDouble));
}

// Input positions that require grad.
std::vector<size_t> checked_inputs(const std::vector<Tensor>& inputs, bool single) {
  std::vector<size_t> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    if (!t.defined() || !t.requires_grad()) continue;
    ARGAND_CHECK(ValueError, is_double(t) || (single && is_single(t)),
                 "gradcheck: expected inputs that require grad to be float64 or complex128, got ", t.dtype(),
                 " for input ", i);
    ARGAND_CHECK(ValueError, !may_overlap_itself(t.sizes(), t.strides()), "gradcheck: input ", i,
                 " has elements that share memory; please call .contiguous() on it");
    out.push_back(i);
  }
  ARGAND_CHECK(ValueError, !out.empty(),
               "gradcheck expects at least one input tensor to require gradient, but none of them have "
               "requires_grad=True.");
  return out;
}

// d(output coordinate)/d(input coordinate), one row per coordinate of one input; a row holds all outputs' coordinates.
using Jacobian = std::vector<std::vector<double>>;

class Check {
 public:
  Check(const CheckedFunction& fn, const std::vector<Tensor>& inputs, const GradcheckOptions& options)
      : fn_(fn), inputs_(inputs), options_(options), checked_(checked_inputs(inputs, options.allow_single)) {}

  void run() {
    outputs_ = call();
    if (options_.fast_mode) return run_fast();
    for (const size_t i : checked_) numerical_.push_back(numerical(inputs_[i]));
    size_t column = 0;
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const int64_t width = Coordinates(outputs_[o]).count();
      if (outputs_[o].requires_grad()) compare(o, column);
      column += static_cast<size_t>(width);
    }
    // As PyTorch: with no differentiable result at all, the function must not depend on its inputs.
    if (any_requires_grad()) return;
    for (const Jacobian& j : numerical_)
      for (const auto& row : j) check_zero(row);
  }

 private:
  bool any_requires_grad() const {
    return std::any_of(outputs_.begin(), outputs_.end(), [](const Tensor& t) { return t.requires_grad(); });
  }
  static void check_zero(const std::vector<double>& derivative) {
    for (const double d : derivative)
      ARGAND_CHECK(GradError, d == 0,
                   "gradcheck: Numerical gradient for function expected to be zero, since no output requires grad, but "
                   "it is ",
                   d);
  }
  // Results with a meaningful gradient, as float64.
  std::vector<Tensor> call() const {
    std::vector<Tensor> out;
    for (Tensor& t : fn_(inputs_))
      if (t.defined() && is_differentiable(t.dtype())) out.push_back(std::move(t));
    return out;
  }
  std::vector<double> all_values() const {
    std::vector<double> out;
    const std::vector<Tensor> results = call();
    ARGAND_CHECK(ValueError, results.size() == outputs_.size(),
                 "gradcheck: expected the function to return as many outputs when inputs are perturbed, ",
                 outputs_.size(), ", got ", results.size());
    for (size_t o = 0; o < results.size(); ++o) {
      const Tensor& t = results[o];
      ARGAND_CHECK(ValueError, t.sizes() == outputs_[o].sizes() && t.dtype() == outputs_[o].dtype(),
                   "gradcheck: expected the function to return outputs with the same shape and dtype when inputs are "
                   "perturbed, ",
                   outputs_[o].sizes(), " and ", outputs_[o].dtype(), ", got ", t.sizes(), " and ", t.dtype());
      const std::vector<double> v = values_of(t);
      out.insert(out.end(), v.begin(), v.end());
    }
    return out;
  }

  Jacobian numerical(const Tensor& input) const {
    const Coordinates at(input);
    Jacobian out;
    for (int64_t i = 0; i < at.count(); ++i) {
      const double before = at[i];
      struct Coordinate {
        const Coordinates& at;
        int64_t i;
        double before;
        void move(double by) const {
          at.set(i, before + by);
          at.store();
        }
        ~Coordinate() { move(0); }
      } coordinate{at, i, before};
      coordinate.move(options_.eps);
      std::vector<double> row = all_values();
      coordinate.move(-options_.eps);
      const std::vector<double> low = all_values();
      for (size_t k = 0; k < row.size(); ++k) row[k] = (row[k] - low[k]) / (2 * options_.eps);
      out.push_back(std::move(row));
    }
    return out;
  }

  // Values of either sign, none near zero, of length one; `salt` sets two such vectors apart.
  static std::vector<double> direction(size_t n, double salt) {
    std::vector<double> u(n);
    double square = 0;
    for (size_t i = 0; i < n; ++i) {
      u[i] = std::cos(static_cast<double>(i) * 2.4 + salt) + (i % 2 ? 0.3 : -0.3);
      square += u[i] * u[i];
    }
    for (double& x : u) x /= std::sqrt(square);
    return u;
  }

  static double sum_of_magnitudes(const std::vector<double>& values) {
    double sum = 0;
    for (const double x : values) sum += std::abs(x);
    return sum;
  }

  // J u, for one input.
  std::vector<double> derivative_along(const Tensor& input, const std::vector<double>& u) const {
    const Coordinates at(input);
    const std::vector<double> before = at.values();
    const auto move = [&](double by) {
      for (size_t i = 0; i < u.size(); ++i) at.set(static_cast<int64_t>(i), before[i] + by * u[i]);
      at.store();
    };
    struct Restore {
      const decltype(move)& f;
      ~Restore() { f(0); }
    } restore{move};
    move(options_.eps);
    std::vector<double> out = all_values();
    move(-options_.eps);
    const std::vector<double> low = all_values();
    for (size_t k = 0; k < out.size(); ++k) out[k] = (out[k] - low[k]) / (2 * options_.eps);
    return out;
  }

  void run_fast() const {
    for (const size_t i : checked_) {
      const std::vector<double> u = direction(Coordinates(inputs_[i]).values().size(), 0.5);
      const std::vector<double> derivative = derivative_along(inputs_[i], u);
      if (!any_requires_grad()) check_zero(derivative);
      size_t column = 0;
      for (size_t o = 0; o < outputs_.size(); ++o) {
        const size_t width = Coordinates(outputs_[o]).values().size();
        if (outputs_[o].requires_grad()) compare_product(i, o, u, derivative.data() + column);
        column += width;
      }
    }
  }

  void compare_product(size_t i, size_t o, const std::vector<double>& u, const double* derivative) const {
    const Tensor& output = outputs_[o];
    const Tensor cotangent = zeros_as_double(output);
    const Coordinates at(cotangent);
    const std::vector<double> v = direction(static_cast<size_t>(at.count()), 1.1);
    double numerical = 0, analytical = 0;
    for (size_t k = 0; k < v.size(); ++k) {
      at.set(static_cast<int64_t>(k), v[k]);
      numerical += v[k] * derivative[k];
    }
    at.store();
    const Tensor g = grad(output, inputs_[i], exec::dense_clone(cotangent, output.dtype()), true, false, true)[0];
    if (g.defined()) {
      check_meta_of(g, i);
      const std::vector<double> values = values_of(g);
      for (size_t k = 0; k < u.size(); ++k) analytical += u[k] * values[k];
    }
    // Without fast mode each element of the Jacobian may differ by atol.  This is how far v^T J u can be apart then.
    const double atol = options_.atol * sum_of_magnitudes(u) * sum_of_magnitudes(v);
    ARGAND_CHECK(GradError, std::abs(analytical - numerical) <= atol + options_.rtol * std::abs(numerical),
                 "gradcheck: Jacobian mismatch for output ", o, " with respect to input ", i,
                 " (v^T J u, fast mode): numerical ", numerical, ", analytical ", analytical);
  }

  void check_meta_of(const Tensor& g, size_t i) const {
    const Tensor& input = inputs_[i];
    ARGAND_CHECK(GradError, g.sizes() == input.sizes(), "gradcheck: the gradient of input ", i, " has shape ",
                 g.sizes(), ", the input ", input.sizes());
    ARGAND_CHECK(GradError, g.dtype() == input.dtype(), "gradcheck: the gradient of input ", i, " is ", g.dtype(),
                 ", the input ", input.dtype());
  }

  // Backward from each coordinate of output `o`, whose first coordinate is `column` of the numerical rows.
  void compare(size_t o, size_t column) const {
    const Tensor& output = outputs_[o];
    std::vector<Tensor> wanted;
    for (const size_t i : checked_) wanted.push_back(inputs_[i]);
    const Tensor cotangent = zeros_as_double(output);
    const Coordinates unit(cotangent), at(output);
    const int64_t parts = output.is_complex() ? 2 : 1;
    for (int64_t n = 0; n < unit.count(); ++n) {
      // The imaginary parts of all complex outputs are compared before the real parts, as in PyTorch.
      const int64_t half = unit.count() / 2, k = parts == 1 ? n : n < half ? 2 * n + 1 : 2 * (n - half);
      unit.set(k, 1);
      unit.store();
      const Grads g = grad(output, wanted, exec::dense_clone(cotangent, output.dtype()), true, false, true);
      unit.set(k, 0);
      for (size_t c = 0; c < checked_.size(); ++c) compare_row(c, g[c], column + static_cast<size_t>(k), o, k);
    }
  }

  void compare_row(size_t n, const Tensor& g, size_t column, size_t o, int64_t element) const {
    const Tensor& input = inputs_[checked_[n]];
    if (g.defined()) check_meta_of(g, checked_[n]);
    const std::vector<double> analytical = g.defined() ? values_of(g) : std::vector<double>(numerical_[n].size(), 0.0);
    for (size_t i = 0; i < analytical.size(); ++i) {
      const double a = analytical[i], b = numerical_[n][i][column];
      if (std::abs(a - b) <= options_.atol + options_.rtol * std::abs(b)) continue;
      ARGAND_THROW(GradError, "gradcheck: ",
                   !outputs_[o].is_complex() ? ""
                   : element % 2             ? "While considering the imaginary part of complex outputs only, "
                                             : "While considering the real part of complex outputs only, ",
                   "Jacobian mismatch for output ", o, " with respect to input ", checked_[n], ", at output element ",
                   Coordinates(outputs_[o]).name(element), " and input element ",
                   Coordinates(input).name(static_cast<int64_t>(i)), ": numerical ", b, ", analytical ", a);
    }
  }

  const CheckedFunction& fn_;
  const std::vector<Tensor>& inputs_;
  const GradcheckOptions& options_;
  std::vector<size_t> checked_;
  std::vector<Tensor> outputs_;
  std::vector<Jacobian> numerical_;
};

// The same values on every run, of either sign and none near zero.
Tensor made_up_like(const Tensor& t) {
  const Tensor out = zeros(t.sizes(), t.options());
  const Coordinates at(out);
  for (int64_t i = 0; i < at.count(); ++i) at.set(i, std::cos(static_cast<double>(i) * 2.4 + 0.5) * 1.5 + 0.25);
  at.store();
  return out.set_requires_grad(true);
}

}  // namespace

bool gradcheck(const CheckedFunction& fn, const std::vector<Tensor>& inputs, const GradcheckOptions& options) {
  const EnableGradGuard on;
  try {
    Check(fn, inputs, options).run();
  } catch (const GradError&) {
    if (options.raise_exception) throw;
    return false;
  }
  return true;
}

bool gradgradcheck(const CheckedFunction& fn, const std::vector<Tensor>& inputs, std::vector<Tensor> grad_outputs,
                   const GradcheckOptions& options) {
  const EnableGradGuard on;
  const auto differentiable = [&fn](const std::vector<Tensor>& in) {
    std::vector<Tensor> out;
    for (Tensor& t : fn(in))
      if (t.defined() && t.requires_grad()) out.push_back(std::move(t));
    return out;
  };
  if (grad_outputs.empty()) {
    for (const Tensor& t : differentiable(inputs)) grad_outputs.push_back(made_up_like(t));
    if (grad_outputs.empty()) return true;
  }
  const std::vector<size_t> checked = checked_inputs(inputs, options.allow_single);
  const size_t count = inputs.size();
  std::vector<Tensor> all = inputs;
  all.insert(all.end(), grad_outputs.begin(), grad_outputs.end());
  const CheckedFunction gradient = [&](const std::vector<Tensor>& in) {
    const std::vector<Tensor> own(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(count));
    const std::vector<Tensor> cotangents(in.begin() + static_cast<std::ptrdiff_t>(count), in.end());
    std::vector<Tensor> wanted;
    for (const size_t i : checked) wanted.push_back(own[i]);
    return grad(differentiable(own), wanted, cotangents, true, true, true);
  };
  return gradcheck(gradient, all, options);
}

}  // namespace argand::autograd
