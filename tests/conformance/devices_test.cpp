// The meta device gives the same shapes, dtypes and strides without computing; one thread gives the bits of two.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "argand/ops/functions.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "tests/conformance/checks.h"
#include "tests/conformance/compare.h"

namespace argand::conformance {

void check_meta(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& sample = *samples[i].args;
    if (!samples[i].error.empty() || lead_dtype(sample, *c.op) == ScalarType::Undefined) continue;
    SCOPED_TRACE(str("op=", c.name, " sample=", i, " on the meta device"));
    const auto meta = sample.clone();
    TensorSlots slots = slots_of(*meta, *c.op);
    for (const TensorSlot& s : slots)
      if (s.tensor->defined() && !s.tensor->impl().wrapped_number)
        *s.tensor =
            exec::new_tensor({s.tensor->impl().sizes, s.tensor->dtype(), s.tensor->impl().strides}, Device(kMeta));
    std::vector<Tensor> got;
    try {
      got = call(*c.op, *meta);
    } catch (const NotImplementedError&) {
      skipped(c, "no meta tensors: the result's shape depends on values");
      return;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
      return;
    }
    const std::vector<Tensor> expected = call(*c.op, *sample.clone());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) {
      if (!expected[k].defined() || expected[k].impl().wrapped_number) continue;
      EXPECT_TRUE(got[k].is_meta());
      EXPECT_EQ(str(got[k].dtype()), str(expected[k].dtype()));
      EXPECT_EQ(str(got[k].sizes(), got[k].strides()), str(expected[k].sizes(), expected[k].strides()))
          << "result " << k;
    }
  }
}

namespace {

// More elements than kernels leave to one thread, the most that a test makes, and the time after which it makes no
// more.
constexpr int64_t kEnough = int64_t{1} << 17, kMost = int64_t{1} << 20;
constexpr std::chrono::seconds kLong{2};

// Whether the op's results for tensors of these shapes are of a size for a test.  What must see values to know is taken
// if it is a kernel: composites like `combinations` may make anything of them.
bool fits(const OpCase& c, AnyArgs& sample, const std::vector<Array>& values) {
  const auto args = sample.clone();
  TensorSlots slots = slots_of(*args, *c.op);
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].tensor->defined() && !slots[i].tensor->impl().wrapped_number)
      *slots[i].tensor = exec::new_tensor({values[i].sizes, slots[i].tensor->dtype()}, Device(kMeta));
  try {
    for (const Tensor& t : call(*c.op, *args))
      if (t.defined() && t.numel() > kMost) return false;
    return true;
  } catch (const NotImplementedError&) {
    return c.op->kind == OpKind::kKernel;
  } catch (const Error&) {
    return false;
  }
}

// The values again and again, for a tensor in which `size` became `grown`.
Array grown(const Array& a, int64_t size, int64_t grown_size) {
  Array out{a.sizes, {}};
  std::replace(out.sizes.begin(), out.sizes.end(), size, grown_size);
  const auto n = static_cast<size_t>(numel_of(out.sizes));
  out.values.reserve(n);
  for (size_t i = 0; i < n; ++i) out.values.push_back(a.values[i % a.values.size()]);
  return out;
}

// The sample's tensors, of which all dimensions of one size have become so long that the largest tensor has `enough`
// elements; nothing if that is no size of theirs, takes too much memory, or is not for the op.
std::optional<std::vector<Array>> grown(const OpCase& c, AnyArgs& sample, const std::vector<Array>& values,
                                        int64_t size, int64_t enough) {
  if (size == 0) return std::nullopt;
  int64_t to = size, largest = 0;
  std::vector<Array> shapes;
  while (largest < enough && to < enough) {
    to *= 2;
    shapes = values;
    largest = 0;
    for (Array& a : shapes) {
      std::replace(a.sizes.begin(), a.sizes.end(), size, to);
      largest = std::max(largest, numel_of(a.sizes));
    }
    if (largest > kMost || !fits(c, sample, shapes)) return std::nullopt;
  }
  if (largest < enough) return std::nullopt;
  std::vector<Array> out;
  for (const Array& a : values) out.push_back(a.values.empty() ? a : grown(a, size, to));
  return out;
}

// Whether the op is quick enough with tensors of an eighth: some take the square of a size.
bool is_quick(const OpCase& c, AnyArgs& sample, ScalarType lead, ScalarType dtype, const std::vector<Array>& values,
              int64_t size) {
  const auto smaller = grown(c, sample, values, size, kEnough / 8);
  if (!smaller) return false;
  const auto args = sample.clone();
  place(*c.op, *args, *smaller, lead, dtype, Layouts(values.size(), Arrangement::kContiguous));
  const auto begin = std::chrono::steady_clock::now();
  try {
    call(*c.op, *args);
  } catch (const Error&) {
    return false;
  }
  return std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(100);
}

// The same call by one thread and by two; false if the op does not take these tensors.
bool one_is_two(const OpCase& c, AnyArgs& sample, ScalarType lead, ScalarType dtype, const std::vector<Array>& values) {
  std::vector<Tensor> results[2];
  const int before = get_num_threads();
  try {
    for (const int threads : {1, 2}) {
      set_num_threads(threads);
      const auto args = sample.clone();
      place(*c.op, *args, values, lead, dtype, Layouts(values.size(), Arrangement::kContiguous));
      results[threads - 1] = call(*c.op, *args);
    }
  } catch (const Error&) {
    set_num_threads(before);
    return false;
  }
  set_num_threads(before);
  const bool unset = sink_of(*c.op).are_values_unset();
  for (size_t k = 0; k < results[0].size() && !unset; ++k)
    if (results[0][k].defined()) {
      EXPECT_EQ(bit_difference(results[1][k], results[0][k]), "") << "two threads differ from one";
    }
  return true;
}

}  // namespace

// Samples are small, so their tensors are made longer, one size of their dimensions after the other, until threads
// share the work; those that the op takes count.  The first sample that can grow along every size it has is enough.
void check_threads(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  std::set<std::pair<size_t, int64_t>> done;  // by number of dimensions of the first tensor, and size
  bool any = false;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < samples.size() && done.size() < 6; ++i) {
    AnyArgs& sample = *samples[i].args;
    if (!samples[i].error.empty()) continue;
    const ScalarType lead = lead_dtype(sample, *c.op);
    const ScalarType dtype = lead == kDouble ? kFloat : lead;
    if (!claims(*c.op, sample, lead, dtype)) continue;
    const std::vector<Array> values = values_in(*c.op, sample, lead, dtype);
    std::set<int64_t> sizes;
    for (const Array& a : values) sizes.insert(a.sizes.begin(), a.sizes.end());
    for (const int64_t size : sizes) {
      SCOPED_TRACE(str("op=", c.name, " sample=", i, " dtype=", dtype, " longer where it is ", size));
      if (done.count({values[0].sizes.size(), size})) continue;
      if (std::chrono::steady_clock::now() - begin > kLong) continue;
      if (!is_quick(c, sample, lead, dtype, values, size)) continue;
      const auto large = grown(c, sample, values, size, kEnough);
      if (!large || !one_is_two(c, sample, lead, dtype, *large)) continue;
      done.insert({values[0].sizes.size(), size});
      any = true;
    }
    SCOPED_TRACE(str("op=", c.name, " sample=", i, " dtype=", dtype));
    if (sizes.empty() || i == 0) one_is_two(c, sample, lead, dtype, values);
  }
  if (!any) skipped(c, "no sample whose tensors can grow until threads share the work");
}

static const bool registered = register_tests("Meta", check_meta) && register_tests("Threads", check_threads);

}  // namespace argand::conformance
