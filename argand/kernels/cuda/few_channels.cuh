// How the kernels of conv_few_channels.cuh divide their work.  The host makes a plan, and the kernels, which are
// compiled for one shape, derive everything else from its few numbers.
#pragma once

namespace argand {

constexpr int few_ceil(int a, int b) { return (a + b - 1) / b; }

// The length of a segment of a row of outputs; a thread computes one segment at a time.
inline constexpr int kLeastFewSegment = 4, kMostFewSegment = 8;
constexpr int few_segment(int out_w) {
  int best = kMostFewSegment;
  for (int s = kMostFewSegment; s >= kLeastFewSegment; --s)
    if (few_ceil(out_w, s) * s < few_ceil(out_w, best) * best) best = s;
  return best;
}

// [n, c, h, w] and [n, o, out_h, out_w], contiguous; 3 x 3 taps, no stride, dilation or groups.
struct FewChannels {
  int c, o, h, w, pad_y, pad_x;

  constexpr int out_h() const { return h + 2 * pad_y - 2; }
  constexpr int out_w() const { return w + 2 * pad_x - 2; }
  constexpr int segment() const { return few_segment(out_w()); }
  constexpr int segments() const { return few_ceil(out_w(), segment()); }
  constexpr int width() const { return segments() * segment() + 2; }  // of the input that they read
};

// y = x * w: a thread has `outputs` channels of a segment.  A block has `band` rows of outputs of `images` images,
// and reads `channels` channels of their input at a time, of which every share of the threads sums some.
struct FewForward {
  FewChannels s;
  int images, band, channels;
  int pitch;    // of rows of the input in shared memory
  int outputs;  // 4 or 8
  int shares;   // if more than one, `channels` is all and a multiple of it

  constexpr int blocks() const {  // of a multiprocessor, each thread with the registers that it needs
    if (shares == 1) return outputs == 8 ? 2 : 4;
    return threads() > 256 ? 1 : 512 / threads();
  }
  constexpr int groups() const { return few_ceil(s.o, outputs); }
  constexpr int bands() const { return few_ceil(s.out_h(), band); }
  constexpr long long tiles(long long n) const { return (n + images - 1) / images * bands(); }
  constexpr int items() const { return images * band * s.segments(); }
  constexpr int share_threads() const { return few_ceil(items() * groups(), 32) * 32; }
  constexpr int threads() const { return share_threads() * shares; }
  constexpr int plane() const { return (band + 2) * pitch; }
  constexpr int image() const {  // the banks of its rows go on where those of the image before end
    const int size = channels * plane();
    return size + ((band * pitch - size) % 32 + 32) % 32;
  }
  constexpr int stage() const { return few_ceil(images * image(), 4) * 4; }
  constexpr int out_pitch() const { return s.segment() | 1; }  // of threads
  constexpr int share_sums() const { return outputs * share_threads() * out_pitch(); }
  // The pitch of taps in shared memory: neighbours in `w`, which differ in the tap, go to different banks where
  // possible.
  constexpr int weight_pitch() const { return groups() * outputs + 4; }
  constexpr int weights() const { return s.c * 9 * weight_pitch(); }
  constexpr int bytes() const {
    return 4 * (weights() + 2 * stage() + (shares == 1 ? threads() * out_pitch() : shares * share_sums()));
  }
};

// The gradient with respect to w: a thread has all taps of an input and kOutputs output channels, and some of the
// items, `rows` rows of a segment.  A block has `band` rows of an image at a time.  With respect to the bias: a thread
// has some of the quarters (four gradients) of an output channel.
struct FewWeightGrad {
  static constexpr int kOutputs = 4, kSums = 9 * kOutputs, kSumsPitch = kSums + 1, kMostThreads = 384;
  FewChannels s;
  int band, rows;

  constexpr int bands() const { return few_ceil(s.out_h(), band); }
  constexpr int groups() const { return few_ceil(s.o, kOutputs); }
  constexpr int units() const { return s.c * groups(); }
  constexpr int items() const { return s.segments() * few_ceil(band, rows); }
  constexpr int shares() const {  // of the items
    return items() * units() <= kMostThreads ? items() : kMostThreads / units();
  }
  constexpr int planes() const { return groups() * kOutputs; }
  constexpr int threads() const {
    const int used = units() * shares();
    return few_ceil(used > planes() ? used : planes(), 32) * 32;
  }
  constexpr int bias_shares() const { return threads() / planes(); }
  // In shared memory.  Lanes differ in the input's channel; gradients are read four at a time.
  constexpr int padded_band() const { return few_ceil(band, rows) * rows; }
  constexpr int x_pitch() const { return s.width(); }
  constexpr int x_plane() const { return (padded_band() + 2) * x_pitch() | 1; }
  constexpr int g_segment() const { return few_ceil(s.segment(), 4) * 4; }
  constexpr int g_pitch() const { return s.segments() * g_segment(); }
  constexpr int g_plane() const { return few_ceil(padded_band() * g_pitch(), 8) * 8 + 4; }
  constexpr int x_stage() const { return few_ceil(s.c * x_plane(), 4) * 4; }
  constexpr int stage() const { return x_stage() + planes() * g_plane(); }
  constexpr int bytes() const {
    const int sums = threads() * (kSumsPitch + 1);
    return 4 * (2 * stage() > sums ? 2 * stage() : sums);
  }
};

}  // namespace argand
