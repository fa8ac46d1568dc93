// The frequencies to which the results of transforms belong.
#include "argand/ops/create/args.h"
#include "argand/ops/define.h"

namespace argand::ops {
namespace {

// 0 ... n - 1; in the dtype of floating point even where none is given, as numbers n alone would not be.
Tensor counted(const char* op, int64_t n, const TensorOptions& options) {
  ARGAND_CHECK(DtypeError, is_floating_point(options.dtype()) || is_complex(options.dtype()), op,
               ": requires a floating point or complex dtype, got ", options.dtype());
  return arange(n, TensorOptions(options).dtype(options.dtype()).requires_grad(false));
}

template <class S>
void frequency_samples(S& s, const std::string& op) {
  s.add({6});
  s.add({7, 0.25});
  s.add({1});
  s.add({0});
  s.fails({4, 1, TensorOptions().dtype(kLong)}, op + ": requires a floating point or complex dtype, got int64");
}

}  // namespace

struct FftFftfreq : Composite<FftFftfreqArgs> {
  static constexpr auto schema =
      "fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc =
      "0, 1, ... (n - 1) / 2, -(n / 2), ... -1, divided by n d: the frequencies of fft of n samples that are d apart.";
  static constexpr bool out_is_counted = true;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor result = counted("fftfreq", a.n, a.options);
    result.slice(0, (a.n + 1) / 2).sub_(a.n);
    return result.mul_(1 / (static_cast<double>(a.n) * a.d));
  }
  static void samples(S& s) { frequency_samples(s, "fftfreq"); }
};
ARGAND_OP(FftFftfreq)

struct FftRfftfreq : Composite<FftRfftfreqArgs> {
  static constexpr auto schema =
      "fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "0, 1, ... n / 2, divided by n d: the frequencies of rfft of n samples that are d apart.";
  static constexpr bool out_is_counted = true;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    return counted("rfftfreq", a.n / 2 + 1, a.options).mul_(1 / (static_cast<double>(a.n) * a.d));
  }
  static void samples(S& s) { frequency_samples(s, "rfftfreq"); }
};
ARGAND_OP(FftRfftfreq)

}  // namespace argand::ops
