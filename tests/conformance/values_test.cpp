// Every op on every sample: dtype x layout of each tensor argument x {eager, windowed} against the contiguous float64
// result.  With ARGAND_TEST_BRIEF=1, for tools that make everything slow: float32 (or the sample's own dtype),
// contiguous, eager.
#include <gtest/gtest.h>

#include <random>

#include "argand/base/env.h"
#include "tests/conformance/checks.h"
#include "tests/conformance/compare.h"

namespace argand::conformance {
namespace {

using exec::WindowMode;

struct Variant {
  const OpCase& c;
  size_t sample;
  ScalarType dtype;
  Layouts layouts;
  WindowMode mode;

  std::string reproducer() const {
    std::string text = str("op=", c.name, " sample=", sample, " dtype=", dtype, " layouts=[");
    for (size_t i = 0; i < layouts.size(); ++i) text += str(i ? ", " : "", name_of(layouts[i]));
    return text + str("] mode=", mode == WindowMode::kAlways ? "windowed" : "eager");
  }
};

const bool brief = env_flag("ARGAND_TEST_BRIEF", false);

class ValuesOf {
 public:
  explicit ValuesOf(const OpCase& c) : c_(c), op_(*c.op), ulps_(ulps_of(op_)), up_to_phases_(is_up_to_phases(op_)) {
    SampleSink sink(op_.name.c_str());
    op_.samples(sink);
    why_values_differ_ = sink.why_values_differ();
    why_one_dtype_ = sink.why_one_dtype();
    why_strides_count_ = sink.why_strides_count();
    values_count_ = !sink.are_values_unset() && (!op_.random || test_device().is_cpu());  // a GPU has another generator
  }

  void run() {
    const std::vector<Sample> samples = samples_of(op_);
    for (size_t i = 0; i < samples.size(); ++i) {
      if (!samples[i].error.empty()) continue;
      sample_ = i;
      args_ = samples[i].args.get();
      lead_ = lead_dtype(*args_, op_);
      for (const ScalarType t : dtypes()) all_layouts(t);
    }
  }

 private:
  std::vector<ScalarType> dtypes() const {
    if (lead_ == ScalarType::Undefined || lead_ == kBool) return {lead_};
    if (brief) return {lead_ == kDouble && claims(op_, *args_, lead_, kFloat) ? kFloat : lead_};
    std::vector<ScalarType> out;
    for (int t = 0; t < kNumScalarTypes; ++t) {
      const auto type = static_cast<ScalarType>(t);
      if (lead_ != kDouble && !is_integral(type, true)) continue;
      if (!test_device().is_cpu() && differs_by_size_alone(type)) continue;
      if (claims(op_, *args_, lead_, type)) out.push_back(type);
    }
    return out;
  }

  // A GPU's kernels are compiled for each dtype and form, which takes longer than running them: there one of each kind
  // of dtype is enough, and float32 alone runs windowed as well.
  static bool differs_by_size_alone(ScalarType t) {
    return t == kByte || t == kChar || t == kShort || t == kInt || t == kComplexDouble;
  }
  static bool has_mode(ScalarType t, WindowMode mode) {
    return mode == WindowMode::kEager || (!brief && (test_device().is_cpu() || t == kFloat));
  }

  // The dtype the reference computes in.
  ScalarType reference_type(ScalarType t) const {
    if (lead_ != kDouble || op_.random) return t;
    return is_complex(t) ? kComplexDouble : kDouble;
  }

  void all_layouts(ScalarType dtype) {
    TensorSlots slots = slots_of(*args_, op_);
    const size_t n = slots.size();
    values_ = values_in(op_, *args_, lead_, dtype);
    for (size_t i = 0; i < n; ++i)  // what the op sees, rounded to half precision or not, is what the reference sees
      if (varies(*slots[i].tensor, lead_)) values_[i] = read(arranged(values_[i], dtype, Arrangement::kContiguous));
    references_.clear();
    if (!one_layout(dtype, Layouts(n, Arrangement::kContiguous)) || brief) return;
    if (!why_strides_count_.empty()) return skipped(c_, str("no other layouts: ", why_strides_count_));
    for (const Arrangement a : kArrangements) {
      if (a == Arrangement::kContiguous) continue;
      Layouts all(n, Arrangement::kContiguous);
      size_t changed = 0;
      for (size_t i = 0; i < n; ++i) {
        if (!can_have(i, a)) continue;
        all[i] = a;
        ++changed;
      }
      if (changed > 0) one_layout(dtype, all);
      if (changed < 2 || (dtype != lead_ && dtype != kFloat)) continue;
      for (size_t i = 0; i < n; ++i) {
        if (all[i] != a) continue;
        Layouts one(n, Arrangement::kContiguous);
        one[i] = a;
        one_layout(dtype, one);
      }
    }
  }

  bool can_have(size_t i, Arrangement a) {
    TensorSlots slots = slots_of(*args_, op_);
    const Tensor& t = *slots[i].tensor;
    if (!t.defined() || t.impl().wrapped_number) return false;
    if (!applies(a, t.impl().sizes)) return false;
    if (a != Arrangement::kExpanded) return true;
    if (op_.inplace_only && i == 0) return false;  // what is written has its elements for itself
    if (!why_values_differ_.empty()) skipped(c_, str("no expanded tensors: ", why_values_differ_));
    return why_values_differ_.empty();
  }

  // The contiguous eager results for the values that arguments laid out like this have; null if it fails.
  const std::vector<Array>* reference(ScalarType dtype, const Layouts& layouts) {
    std::vector<bool> key;
    for (const Arrangement a : layouts) key.push_back(a == Arrangement::kExpanded);
    const auto found = references_.find(key);
    if (found != references_.end()) return found->second ? &*found->second : nullptr;
    auto& result = references_[key];
    try {
      result = reference_of(dtype, laid_out(layouts));
    } catch (const Error& e) {
      reference_error_ = e.what();
    }
    return result ? &*result : nullptr;
  }

  std::vector<Array> laid_out(const Layouts& layouts) const {
    std::vector<Array> values;
    for (size_t i = 0; i < layouts.size(); ++i) values.push_back(restricted(values_[i], layouts[i]));
    return values;
  }

  std::vector<Array> reference_of(ScalarType dtype, const std::vector<Array>& values) {
    const OnDevice on_cpu(kCPU);
    const auto args = args_->clone();
    place(op_, *args, values, lead_, reference_type(dtype), Layouts(values.size(), Arrangement::kContiguous));
    std::vector<Array> arrays;
    for (const Tensor& t : call(op_, *args)) arrays.push_back(t.defined() ? read(t) : Array{});
    return arrays;
  }

  // How far rounding the inputs moves the elements of result `k`; see compare.h.
  std::vector<double> shift(ScalarType dtype, const Layouts& layouts, size_t k, const Array& expected,
                            ScalarType result) {
    constexpr double kShare = 0x1p-22;  // small enough to be linear, large enough that float64 does not round it away
    std::vector<double> out(expected.values.size());
    if (reference_type(dtype) != kDouble && reference_type(dtype) != kComplexDouble) return out;
    const double steps = (op_.kind == OpKind::kPointwise ? kPointwiseSteps : kSteps) * ulps_ / kUlps;
    std::mt19937_64 random(1);
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<Array> moved = laid_out(layouts);
      TensorSlots slots = slots_of(*args_, op_);
      for (size_t i = 0; i < slots.size(); ++i) {
        if (!varies(*slots[i].tensor, lead_)) continue;
        for (auto& v : moved[i].values) v *= 1 - kShare * static_cast<double>(random() & 1);
      }
      std::vector<Array> results;
      try {
        results = reference_of(dtype, moved);
      } catch (const Error&) {
        continue;  // these are out of its domain
      }
      if (k >= results.size() || results[k].values.size() != out.size()) continue;
      for (size_t i = 0; i < out.size(); ++i) {
        const double change = std::abs(results[k].values[i] - expected.values[i]);
        if (std::isfinite(change)) out[i] = std::max(out[i], change * steps * working_epsilon(op_, result) / kShare);
      }
    }
    return out;
  }

  // Both modes; false if the op does not take the dtype.
  bool one_layout(ScalarType dtype, const Layouts& layouts) {
    std::vector<Tensor> eager;
    for (const WindowMode mode : {WindowMode::kEager, WindowMode::kAlways}) {
      if (!has_mode(dtype, mode)) continue;
      const Variant v{c_, sample_, dtype, layouts, mode};
      SCOPED_TRACE(v.reproducer());
      std::vector<Tensor> got;
      if (!run_variant(v, got)) return false;
      if (mode == WindowMode::kEager) {
        eager = std::move(got);
      } else if (values_count_) {
        for (size_t i = 0; i < got.size(); ++i) {
          if (!got[i].defined()) continue;
          EXPECT_EQ(bit_difference(got[i], eager[i]), "") << "windowed differs from eager in result " << i;
        }
      }
    }
    return true;
  }

  bool run_variant(const Variant& v, std::vector<Tensor>& got) {
    const WindowScope scope(v.mode);
    const auto args = args_->clone();
    const std::vector<Array> values = laid_out(v.layouts);
    place(op_, *args, values, lead_, v.dtype, v.layouts);
    std::vector<Tensor> inputs;
    TensorSlots slots = slots_of(*args, op_);
    for (const TensorSlot& s : slots) inputs.push_back(*s.tensor);
    try {
      got = call(op_, *args);
    } catch (const InternalError& e) {
      ADD_FAILURE() << e.what();
      return false;
    } catch (const Error& e) {
      return refused(v, e);
    }
    const std::vector<Array>* expected = nullptr;
    {
      const WindowScope eager(WindowMode::kEager);  // flushes what is pending
      expected = reference(v.dtype, v.layouts);
    }
    if (!expected) {
      if (is_floating_point(v.dtype))
        ADD_FAILURE() << "the float64 reference failed: " << reference_error_;
      else
        skipped(c_, "integers are taken where float64 is not");
      return true;
    }
    EXPECT_EQ(got.size(), expected->size());
    for (size_t i = 0; i < std::min(got.size(), expected->size()); ++i) {
      Tolerance tolerance{.ulps = ulps_, .up_to_phases = up_to_phases_};
      if (op_.kind != OpKind::kView)
        tolerance.shift = [&] {
          const WindowScope eager(WindowMode::kEager);
          return shift(v.dtype, v.layouts, i, (*expected)[i], got[i].dtype());
        };
      check_result(i, got[i], (*expected)[i], tolerance);
    }
    check_aliasing(inputs, got);
    check_inputs(inputs, values);
    return true;
  }

  // Whether the op may reject these arguments.
  bool refused(const Variant& v, const Error& e) {
    const bool contiguous =
        std::all_of(v.layouts.begin(), v.layouts.end(), [](Arrangement a) { return a == Arrangement::kContiguous; });
    if (op_.kind == OpKind::kView && !contiguous && dynamic_cast<const ShapeError*>(&e))
      return skipped(c_, "not a view of these strides"), false;
    if (v.dtype != lead_ && !why_one_dtype_.empty() && dynamic_cast<const DtypeError*>(&e))
      return skipped(c_, why_one_dtype_), false;
    if (v.dtype != lead_ && v.dtype != kFloat) {
      if (dynamic_cast<const DtypeError*>(&e)) return skipped(c_, str("no kernel for ", v.dtype)), false;
      if (is_integral(v.dtype, true)) return skipped(c_, "these integers are out of its domain"), false;
    }
    if (!reference(v.dtype, v.layouts))
      return skipped(c_, "the values of an expanded tensor are out of its domain"), false;
    ADD_FAILURE() << "refused a sample: " << e.what();
    return false;
  }

  void check_result(size_t i, const Tensor& got, const Array& expected, const Tolerance& tolerance) {
    if (!got.defined()) return;
    const std::string wrong = values_count_ ? difference(got, expected, tolerance) : "";
    EXPECT_EQ(wrong, "") << "result " << i;
    EXPECT_TRUE(got.impl().sizes == expected.sizes) << "result " << i;
  }

  // A view shares its argument's storage; a kernel's results share nothing.
  void check_aliasing(const std::vector<Tensor>& inputs, const std::vector<Tensor>& got) {
    if (op_.kind == OpKind::kComposite) return;
    for (const Tensor& out : got) {
      if (op_.kind == OpKind::kView || op_.inplace_only) {
        EXPECT_TRUE(out.is_alias_of(inputs[0]));
        continue;
      }
      for (const Tensor& in : inputs) {
        const bool shared = in.defined() && out.defined() && out.numel() > 0 && out.is_alias_of(in);
        EXPECT_FALSE(shared) << "a result shares memory with an argument";
      }
    }
  }

  // Arguments keep their values, and the bytes between their elements.
  void check_inputs(const std::vector<Tensor>& inputs, const std::vector<Array>& values) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& t = inputs[i];
      if (!t.defined() || t.impl().wrapped_number) continue;
      if (i == 0 && op_.inplace_only) {
        EXPECT_TRUE(padding_intact(t)) << "argument " << i << " was written outside its elements";
        continue;
      }
      const Tensor fresh = arranged(values[i], t.dtype(), Arrangement::kContiguous);
      EXPECT_EQ(bit_difference(t, fresh), "") << "argument " << i << " was changed";
      EXPECT_TRUE(padding_intact(t)) << "argument " << i << " was written outside its elements";
    }
  }

  static bool padding_intact(const Tensor& t) {
    std::vector<char> bytes = bytes_of(t);
    std::vector<bool> covered(bytes.size());
    const auto mark = [&](int64_t element) {
      for (int64_t b = 0; b < t.itemsize(); ++b) covered[static_cast<size_t>(element * t.itemsize() + b)] = true;
    };
    for (int64_t i = 0; i < t.numel(); ++i) {
      int64_t rest = i, offset = t.storage_offset();
      for (size_t d = t.sizes().size(); d-- > 0;) {
        offset += rest % t.sizes()[d] * t.strides()[d];
        rest /= t.sizes()[d];
      }
      mark(offset);
    }
    for (size_t i = 0; i < bytes.size(); ++i)
      if (!covered[i] && bytes[i] != static_cast<char>(0xFF)) return false;
    return true;
  }

  const OpCase& c_;
  const OpInfo& op_;
  double ulps_;
  bool up_to_phases_;
  std::string why_values_differ_, why_one_dtype_, why_strides_count_;
  bool values_count_ = true;
  size_t sample_ = 0;
  AnyArgs* args_ = nullptr;
  ScalarType lead_ = ScalarType::Undefined;
  std::vector<Array> values_;
  std::map<std::vector<bool>, std::optional<std::vector<Array>>> references_;
  std::string reference_error_;
};

}  // namespace

void check_values(const OpCase& c) { ValuesOf(c).run(); }
static const bool registered = register_tests("Values", check_values);

}  // namespace argand::conformance
