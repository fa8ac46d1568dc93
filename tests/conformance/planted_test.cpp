// Each check bites: ops with one planted bug, which it must find.
#include <gtest/gtest-spi.h>

#include "argand/ops/create/literal.h"
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "tests/conformance/checks.h"
#include "tests/conformance/compare.h"

namespace argand::ops {
namespace {

// neg with nothing wrong, to be spoilt below.
struct Good : Pointwise<NegArgs> {
  static constexpr auto schema = "good(Tensor self) -> Tensor";
  static constexpr auto compute = kRealBody | kComplexTypes;
  ARGAND_BODY((x), -x)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return -g; }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
struct WrongHalf : Good {  // loses precision where it computes in float32
  template <class T>
  static T body(T x) {
    if constexpr (std::is_same_v<T, float>)
      return T(Half(-x)) * T(1.001);
    else
      return -x;
  }
};
struct WrongGradient : Good {
  static Tensor grad_self(const Ctx&, const Tensor& g) { return -g * 1.01; }
};
struct GradientIgnoresStrides : Good {
  static Tensor grad_self(const Ctx&, const Tensor& g) {
    const Tensor out = exec::new_tensor({g.impl().sizes, kDouble}, g.device());
    for (int64_t i = 0; i < out.numel(); ++i) raw<double>(out)[i] = -raw<double>(g)[i];
    return out;
  }
};
struct WrongMessage : Good {
  static void samples(S& s) {
    s.fails({s->boolean({2})}, "neg: another text");
    s.fails({s->real({2})}, "no error at all");
  }
};

struct NegKernel : Kernel<NegArgs> {
  static constexpr auto schema = "neg_kernel(Tensor self) -> Tensor";
  static constexpr DtypeSet dtypes = kFloatTypes;
  static TensorMeta infer(const Args& a) { return {a.self.impl().sizes, a.self.dtype()}; }
  template <class T>
  static void negate(const T* in, Tensor& out) {
    for (int64_t i = 0; i < out.numel(); ++i) raw<T>(out)[i] = -in[i];
  }
  static void cpu(const Args& a, Tensor& out) {
    const Tensor x = exec::dense(a.self);
    dispatch<kFloatTypes>(x.dtype(), "neg_kernel",
                          [&](auto tag) { negate(raw<typename decltype(tag)::type>(x), out); });
  }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
struct IgnoresStrides : NegKernel {
  static void cpu(const Args& a, Tensor& out) {
    dispatch<kFloatTypes>(out.dtype(), "", [&](auto tag) { negate(raw<typename decltype(tag)::type>(a.self), out); });
  }
};
struct ReadsTooEarly : NegKernel {  // does not wait for what is pending
  static void cpu(const Args& a, Tensor& out) {
    dispatch<kFloatTypes>(out.dtype(), "", [&](auto tag) {
      using T = typename decltype(tag)::type;
      negate(a.self.is_contiguous() ? static_cast<const T*>(a.self.impl().issued_data()) : raw<T>(exec::dense(a.self)),
             out);
    });
  }
};
struct WritesItsInput : NegKernel {
  static void cpu(const Args& a, Tensor& out) {
    NegKernel::cpu(a, out);
    exec::copy_elements(a.self, out);
  }
};
struct WrongMetaShape : NegKernel {  // the shape comes from the kernel, not from infer
  static void cpu(const Args& a, Tensor& out) {
    NegKernel::cpu(a, out);
    out.impl().sizes[0] = 1;
    out.impl().refresh();
  }
};
struct DependsOnThreads : NegKernel {
  static void cpu(const Args& a, Tensor& out) {
    NegKernel::cpu(a, out);
    exec::copy_elements(out, exec::wrapped_number(get_num_threads()));
  }
};
struct DependsOnThreadsWhereTheyShare : NegKernel {  // small tensors are all right
  static void cpu(const Args& a, Tensor& out) {
    NegKernel::cpu(a, out);
    if (out.numel() > 65536) exec::copy_elements(out.select(0, 0), exec::wrapped_number(get_num_threads()));
  }
};
struct LosesSmallElements : NegKernel {  // by a millionth of the largest, which is a tenth of a percent of these
  static void cpu(const Args& a, Tensor& out) {
    NegKernel::cpu(a, out);
    if (out.dtype() != kFloat) return;
    float* p = raw<float>(out);
    for (int64_t i = 0; i < out.numel(); ++i)
      if (std::abs(p[i]) < 0.01F) p[i] += 2e-6F;
  }
  static void samples(S& s) { s.add({s->real({8}, -2, 2) * s->real({8}, 0, 0.02)}); }
};
struct ForgetsOddities : NegKernel {  // trusts the user
  static TensorMeta infer(const Args& a) {
    ARGAND_ASSERT(a.self.dim() == 2);
    return NegKernel::infer(a);
  }
};
struct LosesADtype : NegKernel {
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.self.dtype() != kHalf, "no half today");
    return NegKernel::infer(a);
  }
};
struct NamesNothing : NegKernel {
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static void cpu(const Args& a, Tensor& out) {
    dispatch<kFloatTypes>(out.dtype(), "", [&](auto) { NegKernel::cpu(a, out); });
  }
};

template <class Op>
OpInfo info_of() {
  OpInfo info = detail::make_info<Op>();
  info.schema = Op::schema;
  return info;
}

}  // namespace
}  // namespace argand::ops

namespace argand::conformance {
namespace {

using Check = void (*)(const OpCase&);

// How often `check` fails on this op.
int failures(Check check, const OpInfo& info) {
  const OpCase c{&info, "planted"};
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check(c);
  }
  return results.size();
}
template <class Op>
int failures(Check check) {
  static const OpInfo info = ops::info_of<Op>();
  return failures(check, info);
}

// The planted faults are those of kernels of the CPU.
class Planted : public testing::Test {
  void SetUp() override {
    if (!test_device().is_cpu()) GTEST_SKIP() << "the planted kernels run on the CPU, the test device is another";
  }
};

TEST_F(Planted, NothingWrong) {
  for (const Check check :
       {check_values, check_inplace, check_out, check_gradient, check_gradient_layouts, check_error_samples,
        check_unsupported_dtypes, check_wrong_tensors, check_meta, check_threads}) {
    EXPECT_EQ(failures<ops::Good>(check), 0);
    if (check == check_gradient || check == check_gradient_layouts) continue;  // it has none
    EXPECT_EQ(failures<ops::NegKernel>(check), 0);
  }
}
TEST_F(Planted, Values) {
  EXPECT_GT(failures<ops::WrongHalf>(check_values), 0);
  EXPECT_GT(failures<ops::IgnoresStrides>(check_values), 0);
  EXPECT_GT(failures<ops::ReadsTooEarly>(check_values), 0);
  EXPECT_GT(failures<ops::WritesItsInput>(check_values), 0);
  EXPECT_GT(failures<ops::LosesADtype>(check_values), 0);
  EXPECT_GT(failures<ops::LosesSmallElements>(check_values), 0);
}
TEST_F(Planted, Forms) {
  // The in-place form computes another function than the op.
  static OpInfo info = ops::info_of<ops::Good>();
  static PointwiseInfo body = *info.pointwise;
  info.pointwise = &body;
  static int calls;
  static const cpu::LoopFn right = body.loops[compute_index(kFloat)];
  for (cpu::LoopFn& loop : body.loops) loop = nullptr;
  body.loops[compute_index(kFloat)] = [](void* out, const void* const* ins, const void* params, int64_t n) {
    right(out, ins, params, n);
    if (++calls % 2 == 0) static_cast<float*>(out)[0] += 1;
  };
  info.dtypes = dtype_bit(kFloat);
  EXPECT_GT(failures(check_inplace, info), 0);
  calls = 0;
  EXPECT_GT(failures(check_out, info), 0);
}
// What is compared up to phases: signs and the order do not count, and everything else does.
TEST_F(Planted, UpToPhases) {
  const Tolerance tolerance{.ulps = kUlps, .up_to_phases = true};
  const auto vector = [](std::initializer_list<double> x) { return tensor(std::vector<double>(x), kDouble); };
  const Array expected = read(vector({0.5, -2, NAN}));
  EXPECT_EQ(difference(vector({2, NAN, -0.5}), expected, tolerance), "");
  EXPECT_NE(difference(vector({2.001, NAN, -0.5}), expected, tolerance), "");
  EXPECT_NE(difference(vector({2, 2, -0.5}), expected, tolerance), "");
  EXPECT_NE(difference(vector({2, NAN}), expected, tolerance), "");
}

TEST_F(Planted, Gradient) { EXPECT_GT(failures<ops::WrongGradient>(check_gradient), 0); }
TEST_F(Planted, GradientLayout) { EXPECT_GT(failures<ops::GradientIgnoresStrides>(check_gradient_layouts), 0); }
TEST_F(Planted, NoGradient) { EXPECT_GT(failures<ops::NegKernel>(check_gradient), 0); }
TEST_F(Planted, Errors) {
  EXPECT_EQ(failures<ops::WrongMessage>(check_error_samples), 2);
  EXPECT_GT(failures<ops::ForgetsOddities>(check_wrong_tensors), 0);
}
TEST_F(Planted, Dtypes) {
  EXPECT_GT(failures<ops::NamesNothing>(check_unsupported_dtypes), 0);
  EXPECT_GT(failures<ops::LosesADtype>(check_unsupported_dtypes), 0);
}
TEST_F(Planted, Devices) {
  EXPECT_GT(failures<ops::WrongMetaShape>(check_meta), 0);
  EXPECT_GT(failures<ops::DependsOnThreads>(check_threads), 0);
  EXPECT_GT(failures<ops::DependsOnThreadsWhereTheyShare>(check_threads), 0);
}

}  // namespace
}  // namespace argand::conformance
