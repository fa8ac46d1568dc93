// The two device steps of loss scaling (Micikevicius et al., 2018), under PyTorch's names; optim/grad_scaler.h uses
// them.
#include <atomic>
#include <cmath>
#include <deque>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/multiversion.h"
#include "argand/ops/define.h"
#include "argand/ops/optim/args.h"
#include "argand/ops/optim/flat.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::ops {
namespace {

void check_number(const char* op, const char* name, const Tensor& t, ScalarType dtype) {
  ARGAND_CHECK(DtypeError, t.dtype() == dtype, op, ": expected ", name, " of dtype ", dtype, ", got ", t.dtype());
  ARGAND_CHECK(ShapeError, t.numel() == 1, op, ": expected one number as ", name, ", got a tensor of shape ",
               t.sizes());
}

// Whether all elements were finite before.
template <class T>
struct Unscale {
  using M = op_math_t<T>;
  ARGAND_INLINE static bool run(T* p, M by, int64_t begin, int64_t end) {
    M bad = 0;  // stays 0 as long as all are finite: inf - inf and NaN - NaN are NaN
    ARGAND_VECTORIZE
    for (int64_t i = begin; i < end; ++i) {
      const M x = static_cast<M>(p[i]);
      bad = x - x != M(0) ? M(1) : bad;
      p[i] = static_cast<T>(x * by);
    }
    return bad == M(0);
  }
};

bool unscale_on_cpu(const Tensor& t, float by) {
  constexpr int64_t kGrain = 32768;
  const Flat flat(t);
  std::atomic<bool> finite{true};
  dispatch<kFloatingTypes>(t.dtype(), "_amp_foreach_non_finite_check_and_unscale_", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using M = op_math_t<T>;
    T* const p = flat.template data<T>();
    parallel_for(0, t.numel(), kGrain, [&](int64_t begin, int64_t end) {
      if (!cpu::on_vector_unit<Unscale<T>>(p, static_cast<M>(by), begin, end)) finite = false;
    });
  });
  flat.write_back();
  return finite;
}

}  // namespace

struct AmpUnscale : Kernel<AmpUnscaleArgs> {
  static constexpr auto schema =
      "_amp_foreach_non_finite_check_and_unscale_(Tensor[] self, Tensor found_inf, Tensor inv_scale) -> ()";
  static constexpr auto doc =
      "Multiplies every tensor of self by inv_scale, in place, and sets found_inf to 1 if one had an infinity or NaN. "
      "found_inf may have one number for each tensor instead. Both are float32 on self's device; nothing waits.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    constexpr const char* kOp = "_amp_foreach_non_finite_check_and_unscale_";
    check_number(kOp, "inv_scale", a.inv_scale, kFloat);
    ARGAND_CHECK(DtypeError, a.found_inf.dtype() == kFloat, kOp, ": expected found_inf of dtype float32, got ",
                 a.found_inf.dtype());
    ARGAND_CHECK(ShapeError,
                 a.found_inf.is_contiguous() &&
                     (a.found_inf.numel() == 1 || a.found_inf.numel() == static_cast<int64_t>(a.self.size())),
                 kOp, ": expected found_inf of one number or of one for each of ", a.self.size(),
                 " tensors, got a tensor of shape ", a.found_inf.sizes());
    for (const Tensor& t : a.self)
      if (!is_floating_point(t.dtype())) throw_unsupported_dtype(kOp, t.dtype());
    return {};
  }
  static void run(const Args& a, std::span<Tensor>) {
    const int64_t step = a.found_inf.numel() == 1 ? 0 : 1;
    if (a.found_inf.is_cpu()) {
      float* const found = raw<float>(a.found_inf);
      const float by = *raw<float>(a.inv_scale);
      for (size_t i = 0; i < a.self.size(); ++i)
        if (!unscale_on_cpu(a.self[i], by)) found[static_cast<int64_t>(i) * step] = 1;
    } else {
      run_on_device(a, step);
    }
    a.found_inf.storage()->bump_version(Args::kName);
    for (const Tensor& t : a.self) t.storage()->bump_version(Args::kName);
  }
  // Handles all tensors of a dtype together.
  static void run_on_device(const Args& a, int64_t step) {
    auto* const found = static_cast<float*>(a.found_inf.impl().data());
    const auto* const by = static_cast<const float*>(a.inv_scale.impl().data());
    std::deque<Flat> flats;
    for (const ScalarType type : {kFloat, kHalf, kBFloat16, kDouble}) {
      std::vector<ScaledGradient> table;
      for (size_t i = 0; i < a.self.size(); ++i)
        if (a.self[i].dtype() == type)
          table.push_back(
              {flats.emplace_back(a.self[i]).address(), a.self[i].numel(), found + static_cast<int64_t>(i) * step});
      if (!table.empty())
        blocks::unscale_gradients.on(a.found_inf.device())(type, table.data(), static_cast<int64_t>(table.size()), by);
    }
    for (const Flat& f : flats) f.write_back();
  }
};
ARGAND_OP(AmpUnscale)

struct AmpUpdateScale : Kernel<AmpUpdateScaleArgs> {
  static constexpr auto schema =
      "_amp_update_scale_(Tensor self, Tensor growth_tracker, Tensor found_inf, float scale_growth_factor, float "
      "scale_backoff_factor, int growth_interval) -> ()";
  static constexpr auto doc =
      "The scale of the next step, in place: self times scale_backoff_factor if found_inf is not 0, else self times "
      "scale_growth_factor (unless that is infinite) after every growth_interval calls, which growth_tracker (int32) "
      "counts. All are one number on one device; nothing waits.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    constexpr const char* kOp = "_amp_update_scale_";
    check_number(kOp, "self", a.self, kFloat);
    check_number(kOp, "growth_tracker", a.growth_tracker, kInt);
    check_number(kOp, "found_inf", a.found_inf, kFloat);
    return {};
  }
  static void run(const Args& a, std::span<Tensor>) {
    const ScaleRule rule{a.scale_growth_factor, a.scale_backoff_factor, static_cast<int>(a.growth_interval)};
    auto* const scale = static_cast<float*>(a.self.impl().data());
    auto* const tracker = static_cast<int*>(a.growth_tracker.impl().data());
    const auto* const found = static_cast<const float*>(a.found_inf.impl().data());
    if (a.self.is_cpu())
      update(scale, tracker, found, rule);
    else
      blocks::update_scale.on(a.self.device())(scale, tracker, found, rule);
    a.self.storage()->bump_version(Args::kName);
    a.growth_tracker.storage()->bump_version(Args::kName);
  }
  static void update(float* scale, int* tracker, const float* found_inf, const ScaleRule& rule) {
    if (*found_inf != 0) {
      *scale = static_cast<float>(*scale * rule.backoff_factor);
      *tracker = 0;
    } else if (++*tracker == rule.growth_interval) {
      const auto grown = static_cast<float>(*scale * rule.growth_factor);
      if (std::isfinite(grown)) *scale = grown;
      *tracker = 0;
    }
  }
};
ARGAND_OP(AmpUpdateScale)

}  // namespace argand::ops
