// Fourier transforms of CUDA tensors: cuFFT does up to three adjacent dimensions at a time, and kernels of ours the
// rest.  All plans are made before anything is launched, so that a call that cuFFT does not take has no effect.
#include "argand/kernels/api/fourier.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "argand/core/shape.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/fourier_shape.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/cufft.h"
#include "argand/runtime/cuda/scratch.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/fourier.cuh";
constexpr unsigned kThreads = 256;
// Numbers of a slice from which on a call for each slice is faster than transposing the tensor twice.
constexpr int64_t kLargeSlice = 1 << 18;

int64_t product(IntArrayRef sizes, size_t begin, size_t end) {
  return std::accumulate(sizes.begin() + begin, sizes.begin() + end, int64_t{1}, std::multiplies<>());
}

// ---- the kernels beside cuFFT, for real numbers of type T and complex ones of two of them

template <class T>
constexpr ScalarType kReal = sizeof(T) == sizeof(float) ? kFloat : kDouble;
template <class T>
constexpr const char* kRealName = sizeof(T) == sizeof(float) ? "float" : "double";
template <class T>
constexpr const char* kComplexName = sizeof(T) == sizeof(float) ? "Complex<float>" : "Complex<double>";

template <class F>
void with_index(int64_t n, F f) {
  if (n <= std::numeric_limits<int>::max())
    f("unsigned", unsigned{});
  else
    f("unsigned long long", 0ull);
}

template <class T>
const char* number_name(bool complex) {
  return complex ? kComplexName<T> : kRealName<T>;
}

// to = scale * from, n numbers.
template <class T>
void scale_numbers(bool from_complex, const void* from, bool to_complex, void* to, int64_t n, double scale) {
  with_index(n, [&](const char* index, auto i) {
    launch(kernel_instance(kHeader, "scale_numbers", number_name<T>(to_complex), number_name<T>(from_complex),
                           kRealName<T>, index),
           {blocks_for(n, kThreads), kThreads}, from, to, static_cast<decltype(i)>(n), static_cast<T>(scale));
  });
}

// Matrices [rows, columns] become [columns, rows].
template <class T>
void transpose(bool complex, const void* from, void* to, int64_t matrices, int64_t rows, int64_t columns,
               double scale) {
  const int64_t row_tiles = (rows + kTransposeTile - 1) / kTransposeTile;
  const int64_t column_tiles = (columns + kTransposeTile - 1) / kTransposeTile;
  launch(kernel_instance(kHeader, "transpose_numbers", number_name<T>(complex), kRealName<T>),
         {blocks_for(matrices * row_tiles * column_tiles, 1), kTransposeThreads}, from, to, rows, columns, row_tiles,
         column_tiles, static_cast<T>(scale));
}

MirrorDims mirror_dims(IntArrayRef sizes, const Dims& dims) {
  MirrorDims m{};
  for (const int64_t d : dims) {
    const auto at = static_cast<size_t>(d);
    if (sizes[at] <= 2) continue;
    ARGAND_ASSERT(m.count < MirrorDims::kMost);
    m.size[m.count] = sizes[at];
    m.stride[m.count++] = product(sizes, at + 1, sizes.size());
  }
  return m;
}

// `sizes`: those of the real side; `last`: of its dimensions the one of which there is half.
template <class T>
void symmetric_half(const void* from, void* to, IntArrayRef half_sizes, int64_t points, int64_t last,
                    const Dims& others, double scale) {
  const int64_t n = numel_of(half_sizes);
  const int64_t inner = product(half_sizes, static_cast<size_t>(last) + 1, half_sizes.size());
  with_index(n, [&](const char* index, auto i) {
    using I = decltype(i);
    launch(kernel_instance(kHeader, "symmetric_half", kRealName<T>, index), {blocks_for(n, kThreads), kThreads}, from,
           to, static_cast<I>(n), static_cast<I>(points), static_cast<I>(inner), mirror_dims(half_sizes, others),
           static_cast<T>(scale));
  });
}

template <class T>
void fill_mirrored(void* to, IntArrayRef sizes, int64_t last, const Dims& others, double scale) {
  const auto d = static_cast<size_t>(last);
  const int64_t points = sizes[d], inner = product(sizes, d + 1, sizes.size());
  const int64_t numel = numel_of(sizes), n = numel / points * (points / 2 + 1);
  with_index(numel, [&](const char* index, auto i) {
    using I = decltype(i);
    launch(kernel_instance(kHeader, "fill_mirrored", kRealName<T>, index), {blocks_for(n, kThreads), kThreads}, to,
           static_cast<I>(n), static_cast<I>(points), static_cast<I>(inner), mirror_dims(sizes, others),
           static_cast<T>(scale));
  });
}

// ---- passes of cuFFT

// One plan along the dimensions begin ... end of a tensor: [outer, points..., inner] on either side.
struct Pass {
  CufftKind kind = CufftKind::kComplex;
  std::shared_ptr<CufftPlan> plan;
  bool transposes = false;  // the dimensions come last then, in memory of its own
  int64_t outer = 1, inner = 1, from_points = 1, to_points = 1, slices = 1;
};

struct PassShape {
  CufftKind kind;
  bool in_double;
  IntArrayRef n, from, to;  // sizes of the real side, and of the tensor on either side
  size_t begin, end;
};

std::shared_ptr<CufftPlan> plan_of(const PassShape& s, const Pass& p, int64_t inner, int64_t batch) {
  CufftProblem problem{s.kind, s.in_double, static_cast<int>(s.end - s.begin), {}, {}, {}, batch};
  for (size_t i = s.begin; i < s.end; ++i) {
    problem.n[i - s.begin] = s.n[i];
    problem.from.embed[i - s.begin] = s.from[i];
    problem.to.embed[i - s.begin] = s.to[i];
  }
  problem.from.stride = problem.to.stride = inner;
  problem.from.distance = inner == 1 ? p.from_points : 1;
  problem.to.distance = inner == 1 ? p.to_points : 1;
  return cufft_plan(problem);
}

// cuFFT has one level of batches, with a stride of its own for the elements of each: [outer, n] or [n, inner].  Both
// at once are slices, one call each, or are transposed.
Pass make_pass(const PassShape& s) {
  Pass p;
  p.kind = s.kind;
  p.outer = product(s.from, 0, s.begin);
  p.inner = product(s.from, s.end, s.from.size());
  p.from_points = product(s.from, s.begin, s.end);
  p.to_points = product(s.to, s.begin, s.end);
  const int64_t points = std::max(p.from_points, p.to_points);
  // Each slice begins at an address that is aligned to complex numbers.
  const bool aligned = s.kind == CufftKind::kComplex || points * p.inner % 2 == 0;
  const bool in_slices = p.outer > 1 && p.inner > 1 && aligned && points * p.inner >= kLargeSlice;
  if (p.inner == 1) {
    p.plan = plan_of(s, p, 1, p.outer);
  } else if (p.outer == 1 || in_slices) {
    p.slices = p.outer;
    p.plan = plan_of(s, p, p.inner, p.inner);
  }
  if (!p.plan && p.inner > 1) {
    p.slices = 1;
    p.transposes = true;
    p.plan = plan_of(s, p, 1, p.outer * p.inner);
  }
  if (!p.plan) throw NotOnDevice("sizes that cuFFT does not take");
  return p;
}

// A run of adjacent dimensions.
struct Range {
  size_t begin, end;
};
// The run that ends with the dimension `last`.  The dimensions of `dims` that stand directly before it, as many as a
// plan has room for, belong to it and are removed from `dims`, which ascend.
Range take_run(Dims& dims, size_t last) {
  constexpr size_t kMostDims = 3;
  Range run{last, last + 1};
  for (size_t i = dims.size(); i-- > 0 && run.end - run.begin < kMostDims;)
    if (dims[i] == static_cast<int64_t>(run.begin) - 1) {
      dims.erase(dims.begin() + i);
      --run.begin;
    }
  return run;
}

// A call without dimensions of one point, which change nothing.
struct Problem {
  Dims sizes, others;  // others: the dimensions that are transformed, ascending, but for `last`
  int64_t last = -1;   // the one of which one side has half, if any
  Dims spectrum;       // the sizes of the complex side

  explicit Problem(const FourierCall& c) {
    const bool one_real = c.kind != FourierKind::kComplex;
    for (size_t d = 0; d < c.sizes.size(); ++d) {
      if (c.sizes[d] == 1) continue;
      const auto at = static_cast<int64_t>(sizes.size()), dim = static_cast<int64_t>(d);
      sizes.push_back(c.sizes[d]);
      if (one_real && c.dims.back() == dim)
        last = at;
      else if (std::find(c.dims.begin(), c.dims.end(), dim) != c.dims.end())
        others.push_back(at);
    }
    spectrum = sizes;
    if (last >= 0 && c.kind != FourierKind::kRealToAll)
      spectrum[static_cast<size_t>(last)] = sizes[static_cast<size_t>(last)] / 2 + 1;
  }
};

// The passes along `dims` of complex numbers.
std::vector<Pass> complex_passes(bool in_double, IntArrayRef sizes, Dims dims) {
  std::vector<Pass> passes;
  while (!dims.empty()) {
    const auto last = static_cast<size_t>(dims.back());
    dims.pop_back();
    const Range run = take_run(dims, last);
    passes.push_back(make_pass({CufftKind::kComplex, in_double, sizes, sizes, sizes, run.begin, run.end}));
  }
  return passes;
}

// ---- a call

template <class T>
class Transform {
 public:
  explicit Transform(const FourierCall& call) : call_(call), problem_(call), scale_(call.scale) {}

  void run() {
    switch (call_.kind) {
      case FourierKind::kComplex:
        return complex();
      case FourierKind::kHalfToReal:
        return to_real();
      default:
        return from_real();
    }
  }

 private:
  static constexpr bool kInDouble = sizeof(T) == sizeof(double);
  static constexpr int64_t kRealSize = sizeof(T), kComplexSize = 2 * sizeof(T);

  int64_t numel() const { return numel_of(problem_.sizes); }
  int64_t spectrum_numel() const { return numel_of(problem_.spectrum); }
  // The first kernel that reads and writes all numbers multiplies them.
  double take_scale() { return std::exchange(scale_, 1.0); }

  void complex() {
    const auto passes = complex_passes(kInDouble, problem_.sizes, problem_.others);
    if (passes.empty() && call_.from != call_.to)
      scale_numbers<T>(true, call_.from, true, call_.to, numel(), take_scale());
    run_complex(passes, call_.from, call_.to, call_.forward);
    finish();
  }

  void from_real() {
    if (problem_.last < 0) {
      const auto passes = complex_passes(kInDouble, problem_.spectrum, problem_.others);
      scale_numbers<T>(false, call_.from, true, call_.to, numel(), take_scale());
      return run_complex(passes, call_.to, call_.to, true);
    }
    Dims others = problem_.others, mirrored;
    const Range run = take_run(others, static_cast<size_t>(problem_.last));
    for (size_t d = run.begin; d + 1 < run.end; ++d) mirrored.push_back(static_cast<int64_t>(d));
    const Pass first = make_pass(
        {CufftKind::kRealToComplex, kInDouble, problem_.sizes, problem_.sizes, problem_.spectrum, run.begin, run.end});
    const auto passes = complex_passes(kInDouble, problem_.spectrum, others);
    const bool copies = !is_aligned(call_.from);
    const Scratch copy(copies ? numel() * kRealSize : 0);
    if (copies) scale_numbers<T>(false, call_.from, false, copy.data(), numel(), take_scale());
    run_pass(first, copies ? copy.data() : call_.from, call_.to, true);
    if (call_.kind == FourierKind::kRealToAll)
      fill_mirrored<T>(call_.to, problem_.sizes, problem_.last, mirrored, take_scale());
    run_complex(passes, call_.to, call_.to, true);
    finish();
  }

  // cuFFT expects the symmetry of the spectrum of real numbers, and overwrites what it reads: so it gets a copy of
  // which the symmetry has been made true.
  void to_real() {
    Dims others = problem_.others;
    Range run{0, 0};
    if (problem_.last >= 0) run = take_run(others, static_cast<size_t>(problem_.last));
    const auto passes = complex_passes(kInDouble, problem_.spectrum, others);
    Pass final_pass;
    if (problem_.last >= 0)
      final_pass = make_pass({CufftKind::kComplexToReal, kInDouble, problem_.sizes, problem_.spectrum, problem_.sizes,
                              run.begin, run.end});
    const Scratch half(spectrum_numel() * kComplexSize);
    prepare(half.data());
    run_complex(passes, half.data(), half.data(), false);
    if (problem_.last < 0) return scale_numbers<T>(true, half.data(), false, call_.to, numel(), 1);
    if (is_aligned(call_.to)) return run_pass(final_pass, half.data(), call_.to, false);
    const Scratch real(numel() * kRealSize);
    run_pass(final_pass, half.data(), real.data(), false);
    scale_numbers<T>(false, real.data(), false, call_.to, numel(), 1);
  }

  void prepare(void* half) {
    // Without `last` there is one point along it, which is its own mirror image along it.
    Dims sizes = problem_.spectrum;
    int64_t last = problem_.last, points = last < 0 ? 1 : problem_.sizes[static_cast<size_t>(last)];
    if (last < 0) {
      last = static_cast<int64_t>(sizes.size());
      sizes.push_back(1);
    }
    symmetric_half<T>(call_.from, half, sizes, points, last, problem_.others, take_scale());
  }

  static bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % kComplexSize == 0; }

  // The first pass from -> to, the others within `to`.
  void run_complex(const std::vector<Pass>& passes, const void* from, void* to, bool forward) {
    for (const Pass& pass : passes) {
      run_pass(pass, from, to, forward);
      from = to;
    }
  }

  void run_pass(const Pass& p, const void* from, void* to, bool forward) {
    const bool from_complex = p.kind != CufftKind::kRealToComplex, to_complex = p.kind != CufftKind::kComplexToReal;
    const int64_t from_size = from_complex ? kComplexSize : kRealSize, to_size = to_complex ? kComplexSize : kRealSize;
    if (!p.transposes) {
      for (int64_t i = 0; i < p.slices; ++i)
        cufft_transform(p.plan, forward, static_cast<const char*>(from) + i * p.inner * p.from_points * from_size,
                        static_cast<char*>(to) + i * p.inner * p.to_points * to_size);
      return;
    }
    const bool in_place = p.kind == CufftKind::kComplex;
    const int64_t lines = p.outer * p.inner;
    const Scratch turned(lines * p.from_points * from_size), result(in_place ? 0 : lines * p.to_points * to_size);
    void* const out = in_place ? turned.data() : result.data();
    transpose<T>(from_complex, from, turned.data(), p.outer, p.from_points, p.inner, 1);
    // The library writes half of each line, and all of it is turned back before the other half is filled.
    if (p.kind == CufftKind::kRealToComplex && call_.kind == FourierKind::kRealToAll)
      fill_bytes(out, 0, static_cast<size_t>(lines * p.to_points * to_size));
    cufft_transform(p.plan, forward, turned.data(), out);
    transpose<T>(to_complex, out, to, p.outer, p.inner, p.to_points, take_scale());
  }

  // Only complex results are left to scale: real ones are scaled before the transform.
  void finish() {
    if (scale_ != 1) scale_numbers<T>(true, call_.to, true, call_.to, spectrum_numel(), take_scale());
  }

  const FourierCall& call_;
  const Problem problem_;
  double scale_;
};

void fourier(const FourierCall& call) {
  if (!has_cufft()) throw NotOnDevice("Fourier transforms without libcufft");
  if (std::find(call.sizes.begin(), call.sizes.end(), 0) != call.sizes.end()) return;
  if (call.real == kFloat)
    Transform<float>(call).run();
  else
    Transform<double>(call).run();
}

class PlansOfDevice final : public FourierPlans {
 public:
  explicit PlansOfDevice(DeviceIndex device) : device_(kCUDA, device) {}
  int64_t size() override {
    const DeviceScope on(device_);
    return cufft_plans();
  }
  int64_t max_size() override {
    const DeviceScope on(device_);
    return most_cufft_plans();
  }
  void set_max_size(int64_t n) override {
    const DeviceScope on(device_);
    set_most_cufft_plans(n);
  }
  void clear() override {
    const DeviceScope on(device_);
    clear_cufft_plans();
  }

 private:
  const Device device_;
};

FourierPlans& fourier_plans() {
  static auto& all = *new std::vector<PlansOfDevice>([] {
    std::vector<PlansOfDevice> devices;
    for (int i = 0; i < kMaxDevices; ++i) devices.emplace_back(static_cast<DeviceIndex>(i));
    return devices;
  }());
  return all[static_cast<size_t>(thread_device())];
}

const bool registered = (blocks::fourier.set(kCUDA, fourier), blocks::fourier_plans.set(kCUDA, fourier_plans), true);

}  // namespace
}  // namespace argand::cuda
