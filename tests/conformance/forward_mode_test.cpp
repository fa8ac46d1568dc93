// Tangents of every op that can be differentiated, on its samples, out of place and in place: those that travel with
// tensors (exec/forward_mode.h) against those of two backward passes through the whole call.
#include "argand/exec/forward_mode.h"

#include <gtest/gtest.h>

#include "argand/autograd/engine.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/conformance/checks.h"

namespace argand::conformance {
namespace {

using exec::ForwardLevel;
using exec::ForwardMode;

// Numbers of either sign, the same on every run, none near zero.
Tensor made_up(const Tensor& like, double salt) {
  const Tensor at = arange(like.numel(), TensorOptions(kDouble)) * 2.4 + salt;
  const Tensor values = at.cos() * 1.5 + 0.25;
  return (like.is_complex() ? complex(values, at.sin() + 0.5) : values).to(like.options()).reshape(like.sizes());
}

bool is_result(const Tensor& t) { return t.defined() && is_differentiable(t.dtype()); }

// The call with these tensors in the places of its differentiated arguments.
std::vector<Tensor> results_of(const OpInfo& op, AnyArgs& args, const std::vector<size_t>& positions,
                               const std::vector<Tensor>& in, bool in_place) {
  const auto call_args = args.clone();
  TensorSlots slots = slots_of(*call_args, op);
  for (size_t k = 0; k < in.size(); ++k) *slots[positions[k]].tensor = in[k];
  if (!in_place && !op.inplace_only) return call(op, *call_args);
  const Tensor self = slots[0].tensor->clone();
  *slots[0].tensor = self;
  if (op.inplace_only)
    call(op, *call_args);
  else
    call_inplace(op, *call_args, self);
  return {self};
}

// J t from the gradient of the whole call; undefined where a result depends on no input.
std::vector<Tensor> by_backward(const std::vector<Tensor>& results, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& tangents) {
  std::vector<Tensor> roots, vectors, found(results.size());
  for (const Tensor& r : results) {
    if (!is_result(r) || !r.requires_grad()) continue;
    roots.push_back(r);
    vectors.push_back(zeros_like(r).set_requires_grad(true));
  }
  if (roots.empty()) return found;
  const Grads back = autograd::grad(roots, inputs, vectors, true, true, true);
  std::vector<Tensor> products, along;
  for (size_t i = 0; i < back.size(); ++i) {
    if (!back[i].defined() || !back[i].requires_grad()) continue;
    products.push_back(back[i]);
    along.push_back(tangents[i]);
  }
  const Grads forward =
      products.empty() ? Grads(vectors.size()) : autograd::grad(products, vectors, along, true, false, true);
  for (size_t k = 0, next = 0; k < results.size(); ++k) {
    if (!is_result(results[k]) || !results[k].requires_grad()) continue;
    found[k] = forward[next].defined() ? forward[next] : zeros_like(results[k]);
    ++next;
  }
  return found;
}

void check_one(const OpCase& c, AnyArgs& sample, size_t index, ScalarType dtype, bool in_place) {
  SCOPED_TRACE(str("op=", c.name, " sample=", index, " dtype=", dtype, in_place ? " in place" : ""));
  const OpInfo& op = *c.op;
  const auto args = sample.clone();
  const std::vector<Array> values = values_in(op, *args, kDouble, dtype);
  place(op, *args, values, kDouble, dtype, Layouts(values.size(), Arrangement::kContiguous));
  TensorSlots slots = slots_of(*args, op);
  std::vector<size_t> positions;
  std::vector<Tensor> inputs, tangents;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor& t = *slots[i].tensor;
    if (!varies(t, dtype) || is_constant(op, *args, i)) continue;
    positions.push_back(i);
    inputs.push_back(t);
    tangents.push_back(made_up(t, 0.3 + static_cast<double>(i)));
  }
  if (inputs.empty()) return;
  std::vector<Tensor> expected, plain;
  try {
    std::vector<Tensor> leaves;
    for (const Tensor& t : inputs) leaves.push_back(t.clone().set_requires_grad(true));
    plain = results_of(op, *args, positions, leaves, in_place);
    expected = by_backward(plain, leaves, tangents);
  } catch (const Error&) {
    return;  // Gradient.* says what is wrong
  }
  const intrusive_ptr<ForwardLevel> level(new ForwardLevel(1));
  ForwardMode::enter(level);
  try {
    std::vector<Tensor> duals;
    for (size_t i = 0; i < inputs.size(); ++i) {
      duals.push_back(inputs[i].clone());
      exec::set_tangent(duals[i], *level, tangents[i]);
    }
    const std::vector<Tensor> results = results_of(op, *args, positions, duals, in_place);
    for (size_t k = 0; k < results.size(); ++k) {
      if (!is_result(results[k]) || !expected[k].defined()) continue;
      EXPECT_FALSE(results[k].requires_grad());
      Tensor tangent = exec::tangent_of(results[k], *level);
      if (!tangent.defined()) tangent = zeros_like(results[k]);
      EXPECT_FALSE(tangent.requires_grad());
      EXPECT_EQ(tangent.dtype(), results[k].dtype());
      const bool near = allclose(tangent, expected[k].detach(), 1e-6, 1e-9, /*equal_nan=*/true);
      EXPECT_TRUE(near) << str("result ", k, ": ", to_string(tangent), "\nexpected ", to_string(expected[k]));
    }
  } catch (const NotImplementedError& e) {
    skipped(c, e.what());
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
  }
  ForwardMode::exit(level);
  level->end();
}

}  // namespace

void check_forward_mode(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  bool in_place = c.op->has_inplace;
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& args = *samples[i].args;
    // A sample that asks for no gradient has a kink, or a gradient that is no Jacobian's.
    if (!samples[i].error.empty() || !samples[i].gradient || lead_dtype(args, *c.op) != kDouble) continue;
    check_one(c, args, i, kDouble, false);
    if (claims(*c.op, args, kDouble, kComplexDouble)) check_one(c, args, i, kComplexDouble, false);
    if (std::exchange(in_place, false)) check_one(c, args, i, kDouble, true);
  }
}

static const bool registered = register_tests("ForwardMode", check_forward_mode);

}  // namespace argand::conformance
