// Invalid calls: the samples that must fail, dtypes an op does not take, missing tensors, and tensors of any other
// shape. Whatever comes in, a typed error or a result comes out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "argand/autograd/engine.h"
#include "argand/ops/functions.h"
#include "tests/conformance/checks.h"

namespace argand::conformance {

void check_error_samples(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].error.empty()) continue;
    SCOPED_TRACE(str("op=", c.name, " sample=", i));
    try {
      for (const Tensor& t : call(*c.op, *samples[i].args->clone()))
        if (t.defined()) read(t);  // an error may come as late as the values
      ADD_FAILURE() << "expected an error: " << samples[i].error;
    } catch (const InternalError& e) {
      ADD_FAILURE() << e.what();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(samples[i].error), std::string::npos)
          << "got: " << e.what() << "\nexpected: " << samples[i].error;
    }
  }
}

// A dtype is taken, or refused by a DtypeError that names the op.
void check_unsupported_dtypes(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].error.empty()) continue;
    AnyArgs& sample = *samples[i].args;
    const ScalarType lead = lead_dtype(sample, *c.op);
    if (lead == ScalarType::Undefined) continue;
    for (int t = 0; t < kNumScalarTypes; ++t) {
      const auto dtype = static_cast<ScalarType>(t);
      SCOPED_TRACE(str("op=", c.name, " sample=", i, " dtype=", dtype));
      const auto args = sample.clone();
      const std::vector<Array> values = values_in(*c.op, *args, lead, dtype);
      place(*c.op, *args, values, lead, dtype, Layouts(values.size(), Arrangement::kContiguous));
      try {
        call(*c.op, *args);
        EXPECT_TRUE(claims(*c.op, sample, lead, dtype)) << "taken, though the definition says that it is not";
      } catch (const DtypeError& e) {
        const bool named =
            c.op->kind == OpKind::kComposite || std::string_view(e.what()).find(c.op->name) != std::string_view::npos;
        EXPECT_TRUE(named) << "the message does not name the op: " << e.what();
      } catch (const Error& e) {
        EXPECT_TRUE(is_integral(dtype, true)) << "expected a DtypeError, got: " << e.what();
      }
    }
  }
}

// Calls with the tensor at `slot` replaced; any typed error is all right, InternalError and other exceptions are not.
static void must_survive(const OpCase& c, const AnyArgs& sample, size_t sample_index, size_t slot, const Tensor& given,
                         const std::string& what, bool must_throw) {
  SCOPED_TRACE(str("op=", c.name, " sample=", sample_index, " tensor ", slot, ": ", what));
  const auto args = sample.clone();
  TensorSlots slots = slots_of(*args, *c.op);
  for (const TensorSlot& s : slots)  // what the call may write must not be the sample's own
    if (s.tensor->defined()) *s.tensor = arranged(read(*s.tensor), s.tensor->dtype(), Arrangement::kContiguous);
  *slots[slot].tensor = given;
  try {
    for (const Tensor& t : call(*c.op, *args))
      if (t.defined()) read(t);
    EXPECT_FALSE(must_throw) << "no error";
  } catch (const InternalError& e) {
    ADD_FAILURE() << "a user's mistake ended in: " << e.what();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()), "");
  } catch (const std::exception& e) {
    ADD_FAILURE() << "an untyped exception: " << e.what();
  }
}

static Tensor filled(const Dims& sizes, ScalarType dtype, double value) {
  return arranged({sizes, Values(static_cast<size_t>(numel_of(sizes)), value)}, dtype, Arrangement::kContiguous);
}

void check_wrong_tensors(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].error.empty()) continue;
    const AnyArgs& sample = *samples[i].args;
    const auto original = sample.clone();
    TensorSlots slots = slots_of(*original, *c.op);
    for (size_t k = 0; k < slots.size(); ++k) {
      const Tensor& t = *slots[k].tensor;
      if (!t.defined()) continue;
      const bool required = !c.op->signature.arguments[static_cast<size_t>(slots[k].argument)].may_be_undefined();
      must_survive(c, sample, i, k, Tensor(), "undefined", required);
      Dims longer = t.impl().sizes, more = t.impl().sizes;
      for (int64_t& s : longer) ++s;
      more.push_back(2);
      for (const Dims& sizes : {Dims{}, Dims{0}, Dims{1}, Dims{2, 0, 3}, Dims{2, 2, 2, 2, 2, 2}, longer, more})
        must_survive(c, sample, i, k, filled(sizes, t.dtype(), 1), str("shape ", sizes), false);
      for (const double value : {-1000.0, 1000.0, -1.0})
        must_survive(c, sample, i, k, filled(t.impl().sizes, t.dtype(), value), str("all ", value), false);
      for (const ScalarType dtype : {kBool, kLong, kHalf, kComplexDouble})
        must_survive(c, sample, i, k, filled(t.impl().sizes, dtype, 1), str("dtype ", dtype), false);
    }
  }
}

// A call whose tensors all have no elements along the dimensions of one size, and its gradient: a result or a typed
// error, but no division by a number of elements.
static void without_elements(const OpCase& c, const AnyArgs& sample, int64_t size, bool differentiates) {
  const auto args = sample.clone();
  TensorSlots slots = slots_of(*args, *c.op);
  for (size_t k = 0; k < slots.size(); ++k) {
    Tensor& t = *slots[k].tensor;
    if (!t.defined()) continue;
    Dims sizes = t.impl().sizes;
    std::replace(sizes.begin(), sizes.end(), size, int64_t{0});
    t = filled(sizes, t.dtype(), 0);
    if (differentiates && is_differentiable(t.dtype()) && !is_constant(*c.op, *sample.clone(), k)) t.requires_grad_();
  }
  try {
    std::vector<Tensor> roots, gradients;
    for (const Tensor& t : call(*c.op, *args)) {
      if (!t.defined()) continue;
      read(t);
      if (t.requires_grad()) roots.push_back(t), gradients.push_back(ones_like(t));
    }
    if (differentiates && !roots.empty()) autograd::backward(roots, gradients);
  } catch (const InternalError& e) {
    ADD_FAILURE() << "a user's mistake ended in: " << e.what();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()), "");
  }
}

void check_without_elements(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].error.empty()) continue;
    const AnyArgs& sample = *samples[i].args;
    std::set<int64_t> sizes;
    const auto original = sample.clone();
    for (const TensorSlot& s : slots_of(*original, *c.op))
      if (s.tensor->defined()) sizes.insert(s.tensor->sizes().begin(), s.tensor->sizes().end());
    for (const int64_t size : sizes)
      for (const bool differentiates : {false, true}) {
        SCOPED_TRACE(str("op=", c.name, " sample=", i, " without elements where there were ", size));
        without_elements(c, sample, size, differentiates && !c.op->inplace_only);
      }
  }
}

static const bool registered =
    register_tests("ErrorSamples", check_error_samples) && register_tests("WithoutElements", check_without_elements) &&
    register_tests("Dtypes", check_unsupported_dtypes) && register_tests("WrongTensors", check_wrong_tensors);

}  // namespace argand::conformance
