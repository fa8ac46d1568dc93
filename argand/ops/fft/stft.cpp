// Transforms of overlapping windows of a signal, and the signal from them.
#include <algorithm>

#include "argand/base/log.h"
#include "argand/exec/has_values.h"
#include "argand/ops/define.h"
#include "argand/ops/fft/args.h"
#include "argand/ops/fft/transform.h"
#include "argand/ops/maybe.h"
#include "argand/ops/overlap_add.h"

namespace argand::ops {
namespace {

void check_window(const char* op, const Tensor& window, int64_t win_length) {
  if (window.defined())
    ARGAND_CHECK(ShapeError, window.dim() == 1 && window.sizes()[0] == win_length, op,
                 ": expected a 1D window tensor of size equal to win_length=", win_length,
                 ", but got window with size ", window.sizes());
}

// In the middle of n_fft points.
Tensor centred(const Tensor& window, int64_t n_fft) {
  const int64_t spare = n_fft - window.sizes()[0], left = spare / 2;
  return spare == 0 ? window : constant_pad_nd(window, {left, spare - left});
}

Tensor padded(const Tensor& signal, int64_t n, const std::string& mode) {
  return pad(signal.unsqueeze(0), {n, n}, mode).squeeze(0);
}

}  // namespace

struct Stft : Composite<StftArgs> {
  static constexpr auto schema =
      "stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
      "center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? return_complex=None, "
      "bool? align_to_window=None) -> Tensor";
  static constexpr auto doc =
      "The transforms of windows of n_fft points of signals [L] or [B, L], hop_length (n_fft / 4) apart: [B, "
      "frequencies, windows]. window has win_length (n_fft) points; center: the signal is padded, so that window t is "
      "around point t hop_length; onesided: without the half that mirrors the other, as is usual for real signals.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kFloatTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    constexpr const char* op = "stft";
    const int64_t hop = a.hop_length.value_or(a.n_fft / 4), win_length = a.win_length.value_or(a.n_fft);
    ARGAND_CHECK(ValueError, !a.center || !a.align_to_window, op,
                 ": align_to_window should only be set when center = false");
    ARGAND_CHECK(ShapeError, a.self.dim() == 1 || a.self.dim() == 2, op, ": expected a 1D or 2D tensor, got ",
                 a.self.sizes());
    ARGAND_CHECK(ValueError, a.return_complex || a.self.is_complex() || (a.window.defined() && a.window.is_complex()),
                 op,
                 " requires the return_complex parameter be given for real inputs, and will further require that "
                 "return_complex=True in a future PyTorch release.");
    Tensor signal = a.self.dim() == 1 ? a.self.unsqueeze(0) : a.self;
    ARGAND_CHECK(ValueError, a.n_fft > 0, op, ": expected n_fft > 0, but got n_fft=", a.n_fft);
    if (a.center) signal = padded(signal, a.n_fft / 2, a.pad_mode);
    ARGAND_CHECK(ValueError, a.n_fft <= signal.sizes()[1], op, ": expected 0 < n_fft <= ", signal.sizes()[1],
                 ", but got n_fft=", a.n_fft);
    ARGAND_CHECK(ValueError, hop > 0, op, ": expected hop_length > 0, but got hop_length=", hop);
    ARGAND_CHECK(ValueError, win_length > 0 && win_length <= a.n_fft, op,
                 ": expected 0 < win_length <= n_fft, but got win_length=", win_length);
    check_window(op, a.window, win_length);
    if (!a.window.defined())
      ARGAND_WARN_ONCE(
          "A window was not provided. A rectangular window will be applied, which is known to cause spectral "
          "leakage. To suppress this warning, explicitly set window=torch.ones(n_fft).");
    Tensor window = a.window;
    if (win_length < a.n_fft)
      window = centred(window.defined() ? window : ones({win_length}, signal.options().requires_grad(false)), a.n_fft);
    if (a.align_to_window.value_or(false)) signal = padded(signal, (a.n_fft - win_length) / 2, a.pad_mode);
    Tensor frames = signal.unfold(-1, a.n_fft, hop);
    if (window.defined()) frames = frames * window;
    const bool onesided = a.onesided.value_or(!frames.is_complex());
    ARGAND_CHECK(ValueError, !onesided || !frames.is_complex(), op,
                 ": Cannot have onesided output if window or input is complex");
    const int64_t normalization = a.normalized ? kByRootN : kUnscaled;
    Tensor out =
        frames.is_complex() ? _fft_c2c(frames, 2, normalization, true) : _fft_r2c(frames, 2, normalization, onesided);
    out = out.transpose(1, 2);
    if (a.self.dim() == 1) out = out.squeeze(0);
    return a.return_complex.value_or(true) ? out : view_as_real(out);
  }
  static void samples(S& s) {
    const auto call = [&](Tensor self, int64_t n) {
      Args a{.self = std::move(self), .n_fft = n};
      a.return_complex = true;
      return a;
    };
    s.add(call(s->real({13}), 4));
    Args windowed = call(s->real({2, 14}), 5);
    windowed.hop_length = 2, windowed.window = s->positive({5}), windowed.normalized = true;
    s.add(windowed);
    Args narrow = call(s->real({14}), 6);
    narrow.win_length = 3, narrow.center = false, narrow.onesided = false, narrow.align_to_window = true;
    s.add(narrow);
    Args pairs = call(s->real({13}), 4);
    pairs.return_complex = false, pairs.pad_mode = "constant";
    s.add(pairs);
    s.fails({.self = s->real({8}), .n_fft = 4}, "stft requires the return_complex parameter be given for real inputs");
    Args wrong = call(s->real({8}), 4);
    wrong.window = s->real({3});
    s.fails(wrong, "stft: expected a 1D window tensor of size equal to win_length=4, but got window with size [3]");
    wrong = call(s->real({8}), 4);
    wrong.hop_length = 0;
    s.fails(wrong, "stft: expected hop_length > 0, but got hop_length=0");
    wrong.hop_length = 1, wrong.win_length = 5;
    s.fails(wrong, "stft: expected 0 < win_length <= n_fft, but got win_length=5");
    wrong = call(complex(s->real({8}), s->real({8})), 4);
    wrong.onesided = true;
    s.fails(wrong, "stft: Cannot have onesided output if window or input is complex");
    wrong = call(s->real({8}), 9);
    wrong.center = false;
    s.fails(wrong, "stft: expected 0 < n_fft <= 8, but got n_fft=9");
    s.fails(call(s->real({2, 2, 8}), 4), "stft: expected a 1D or 2D tensor, got [2, 2, 8]");
  }
};
ARGAND_OP(Stft)

struct Istft : Composite<IstftArgs> {
  static constexpr auto schema =
      "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
      "center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> "
      "Tensor";
  static constexpr auto doc =
      "The signal whose stft is nearest to self: the transforms back, added up where windows overlap, divided by the "
      "sums of the squared windows, which must not be 0. length: of the result, cut or filled with zeros.";
  static constexpr DtypeSet dtypes = kComplexTypes;
  static Tensor compose(const Args& a) {
    constexpr const char* op = "istft";
    const int64_t hop = a.hop_length.value_or(a.n_fft / 4), win_length = a.win_length.value_or(a.n_fft);
    ARGAND_CHECK(ShapeError, a.self.dim() == 2 || a.self.dim() == 3, op,
                 ": expected a tensor with 2 or 3 dimensions, got ", a.self.sizes());
    ARGAND_CHECK(ShapeError, a.self.numel() > 0, op, ": input tensor cannot be empty.");
    const int64_t points = a.self.size(-2);
    const bool onesided = a.onesided.value_or(points != a.n_fft);
    ARGAND_CHECK(ShapeError, points == (onesided ? a.n_fft / 2 + 1 : a.n_fft), op,
                 ": expected the frequency dimension (2nd to the last) of the input tensor to match n_fft",
                 onesided ? " / 2 + 1 when onesided=True" : " when onesided=False", ", but got ", points);
    ARGAND_CHECK(ValueError, hop > 0 && hop <= win_length, op, ": expected 0 < hop_length <= win_length, but got ", hop,
                 " and ", win_length);
    ARGAND_CHECK(ValueError, win_length > 0 && win_length <= a.n_fft, op,
                 ": expected 0 < win_length <= n_fft, but got win_length=", win_length);
    check_window(op, a.window, win_length);
    if (!a.window.defined())
      ARGAND_WARN_ONCE(
          "A window was not provided. A rectangular window will be applied. Please provide the same window used "
          "by stft to make the inversion lossless. To suppress this warning, explicitly set window=torch.ones(n_fft).");
    ARGAND_CHECK(ValueError, !a.return_complex || !onesided, op,
                 ": Cannot have onesided output if window or input is complex");
    ARGAND_CHECK(DtypeError, a.return_complex || !a.window.defined() || !a.window.is_complex(), op,
                 ": Complex windows are incompatible with return_complex=False");
    const TensorOptions real = a.self.options().dtype(to_real_type(a.self.dtype())).requires_grad(false);
    Tensor window = centred(a.window.defined() ? a.window : ones({win_length}, real), a.n_fft);
    window = window.to(promote_types(window.dtype(), real.dtype()));  // squares of half precision are worth little
    Tensor frames = (a.self.dim() == 2 ? a.self.unsqueeze(0) : a.self).transpose(1, 2);
    const int64_t normalization = a.normalized ? kByRootN : kByN;
    if (a.return_complex)
      frames = _fft_c2c(frames, 2, normalization, false);
    else
      frames = _fft_c2r(onesided ? frames : frames.narrow(2, 0, a.n_fft / 2 + 1), 2, normalization, a.n_fft);
    const Tensor squares = (window * window).expand({1, frames.sizes()[1], a.n_fft});
    const Tensor sum = overlap_add(frames * window, hop);
    const int64_t there = sum.sizes()[1], begin = a.center ? a.n_fft / 2 : 0;
    const int64_t end = a.length ? begin + *a.length : a.center ? there - a.n_fft / 2 : there;
    const Tensor weight = overlap_add(squares, hop).slice(1, begin, std::min(end, there));
    if (exec::has_values(weight) && weight.numel() > 0) {
      const double least = weight.detach().abs().min().item().toDouble();
      ARGAND_CHECK(ValueError, least > 1e-11, op, ": window overlap add min: ", least, " is not above 1e-11");
    }
    Tensor out = sum.slice(1, begin, std::min(end, there)) / weight;
    if (end > there) {
      warn(
          "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
          "Please check your center and hop_length settings.");
      out = constant_pad_nd(out, {0, end - there});
    }
    return a.self.dim() == 2 ? out.squeeze(0) : out;
  }
  static void samples(S& s) {
    const auto call = [&](IntArrayRef sizes, int64_t n) {
      return Args{.self = complex(s->real(sizes), s->real(sizes)), .n_fft = n};
    };
    s.add(call({3, 4}, 4));
    Args windowed = call({2, 3, 4}, 5);
    windowed.hop_length = 2, windowed.window = s->positive({5}), windowed.normalized = true;
    s.add(windowed);
    Args whole = call({4, 3}, 4);
    whole.onesided = false, whole.center = false, whole.return_complex = true;
    s.add(whole);
    Args longer = call({4, 3}, 6);
    longer.hop_length = 1, longer.length = 12;
    s.add(longer);
    Args narrow = call({4, 3}, 6);
    narrow.win_length = 4;
    s.add(narrow);
    s.fails({.self = s->real({3, 4}), .n_fft = 4}, "istft: not implemented for dtype float64");
    s.fails(call({4, 4}, 4 + 4),
            "istft: expected the frequency dimension (2nd to the last) of the input tensor to match n_fft / 2 + 1 when "
            "onesided=True, but got 4");
    Args wrong = call({3, 4}, 4);
    wrong.window = s->real({4}) * 0;
    s.fails(wrong, "istft: window overlap add min: 0 is not above 1e-11");
    wrong.window = Tensor(), wrong.hop_length = 5;
    s.fails(wrong, "istft: expected 0 < hop_length <= win_length, but got 5 and 4");
  }
};
ARGAND_OP(Istft)

}  // namespace argand::ops
