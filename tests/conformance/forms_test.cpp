// The other forms of an op: in place and out= give the bits of the op itself.
#include <gtest/gtest.h>

#include "tests/conformance/checks.h"
#include "tests/conformance/compare.h"

namespace argand::conformance {
namespace {

std::string where(const OpCase& c, size_t sample, ScalarType dtype, Arrangement a) {
  return str("op=", c.name, " sample=", sample, " dtype=", dtype, " layout=", name_of(a));
}

// One sample in one dtype: its arguments, contiguous, and what the op makes of them.
struct Base {
  const OpCase& c;
  AnyArgs& sample;
  ScalarType lead, dtype;
  std::vector<Array> values;
  std::vector<Tensor> results;

  std::unique_ptr<AnyArgs> arguments(Arrangement first = Arrangement::kContiguous) const {
    auto args = sample.clone();
    Layouts layouts(values.size(), Arrangement::kContiguous);
    if (!layouts.empty()) layouts[0] = first;
    place(*c.op, *args, values, lead, dtype, layouts);
    return args;
  }
};

// Calls f for every valid sample in every dtype the op takes.
void each_base(const OpCase& c, void (*f)(const Base&, size_t sample)) {
  const OpInfo& op = *c.op;
  const std::vector<Sample> samples = samples_of(op);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].error.empty()) continue;
    AnyArgs& args = *samples[i].args;
    const ScalarType lead = lead_dtype(args, op);
    for (int t = 0; t < kNumScalarTypes; ++t) {
      const auto dtype = static_cast<ScalarType>(t);
      if (lead != kDouble && dtype != lead) continue;
      if (!claims(op, args, lead, dtype)) continue;
      Base base{c, args, lead, dtype, values_in(op, args, lead, dtype), {}};
      try {
        base.results = call(op, *base.arguments());
      } catch (const Error&) {
        continue;  // Values tells whether that is right
      }
      f(base, i);
    }
  }
}

// The result in another dtype, converted by plain loops.
Tensor in_dtype(const Tensor& t, ScalarType dtype) { return arranged(read(t), dtype, Arrangement::kContiguous); }

void check_inplace_on(const Base& base, size_t sample, Arrangement a) {
  const OpInfo& op = *base.c.op;
  SCOPED_TRACE(where(base.c, sample, base.dtype, a));
  const auto args = base.arguments(a);
  TensorSlots slots = slots_of(*args, op);
  const Tensor self = *slots[0].tensor;
  const bool fits = base.results[0].impl().sizes == self.impl().sizes;
  const ScalarType result = base.results[0].dtype();
  const bool parts = op.kind == OpKind::kPointwise && self.is_complex() && is_floating_point(result);  // abs alone
  const bool castable = can_cast(result, self.dtype()) && !parts;
  const uint32_t version = self._version();
  const bool stays = self.device() == base.results[0].device();  // a 0-dim CPU tensor may join operands of a GPU
  try {
    call_inplace(op, *args, self);
  } catch (const DeviceError& e) {
    EXPECT_FALSE(stays) << e.what();
    return;
  } catch (const ShapeError& e) {
    EXPECT_FALSE(fits) << e.what();
    return;
  } catch (const DtypeError& e) {
    EXPECT_FALSE(castable) << e.what();
    return;
  }
  EXPECT_TRUE(stays) << "in place wrote to another device";
  EXPECT_TRUE(fits) << "in place gave a tensor of another shape";
  EXPECT_TRUE(castable) << str("in place wrote ", base.results[0].dtype(), " into ", self.dtype());
  EXPECT_EQ(self._version(), version + 1);
  EXPECT_EQ(bit_difference(self, in_dtype(base.results[0], self.dtype())), "") << "in place differs from out of place";
}

}  // namespace

void check_inplace(const OpCase& c) {
  each_base(c, [](const Base& base, size_t sample) {
    for (const Arrangement a :
         {Arrangement::kContiguous, Arrangement::kTransposed, Arrangement::kSliced, Arrangement::kChannelsLast})
      if (applies(a, base.values[0].sizes)) check_inplace_on(base, sample, a);
  });
}

static void check_out_into(const Base& base, size_t sample, const std::vector<Tensor>& outs, const char* what) {
  const OpInfo& op = *base.c.op;
  SCOPED_TRACE(where(base.c, sample, base.dtype, Arrangement::kContiguous) + " out=" + what);
  const auto args = base.arguments();
  std::vector<Tensor> given = outs;
  call_out(op, *args, given);
  for (size_t i = 0; i < outs.size(); ++i)
    EXPECT_EQ(bit_difference(outs[i], in_dtype(base.results[i], outs[i].dtype())), "")
        << "out= differs in result " << i;
}

void check_out(const OpCase& c) {
  each_base(c, [](const Base& base, size_t sample) {
    if (base.dtype != kFloat && base.dtype != base.lead) return;
    std::vector<Tensor> empty, sliced, wider;
    for (const Tensor& r : base.results) {
      empty.push_back(exec::new_tensor({Dims{0}, r.dtype()}, test_device()));
      const Array zeros{r.impl().sizes, Values(static_cast<size_t>(r.numel()))};
      const bool can_slice = applies(Arrangement::kSliced, r.impl().sizes);
      sliced.push_back(arranged(zeros, r.dtype(), can_slice ? Arrangement::kSliced : Arrangement::kContiguous));
      wider.push_back(arranged(zeros, is_floating_point(r.dtype()) ? kDouble : r.dtype(), Arrangement::kContiguous));
    }
    check_out_into(base, sample, empty, "empty");
    check_out_into(base, sample, sliced, "sliced");
    if (!base.c.op->out.is_exact) return check_out_into(base, sample, wider, "wider dtype");
    const bool differs = std::any_of(base.results.begin(), base.results.end(), [](const Tensor& r) {
      return is_floating_point(r.dtype()) && r.dtype() != kDouble;
    });
    const auto args = base.arguments();
    if (differs) {
      EXPECT_THROW(call_out(*base.c.op, *args, wider), DtypeError) << base.c.name << ": a wider out=";
    }
  });
}

static const bool registered =
    register_tests("InPlace", check_inplace, [](const OpInfo& op) { return op.has_inplace; }) &&
    register_tests("Out", check_out, [](const OpInfo& op) { return op.has_out; });

}  // namespace argand::conformance
