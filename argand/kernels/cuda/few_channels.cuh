// The arguments of the kernel of conv_few_channels.cuh: read by it and filled in by the host.
#pragma once

namespace argand {

inline constexpr int kFewThreads = 256, kFewTaps = 9, kFewOutputs = 4, kFewSegment = 7;
inline constexpr int kFewSums = kFewTaps * kFewOutputs, kFewSumsPitch = kFewSums + 1;

// [n, c, h, w] and [n, o, out_h, out_w], contiguous; no stride, dilation or groups.
struct FewChannels {
  int n, c, o, h, w, out_h, out_w, pad_y, pad_x;
  int band = 0, bands = 0;       // rows of an image that are in shared memory together; so many bands make an image
  int segments = 0;              // of kFewSegment outputs make a row; the last is filled up with zeros
  int x_pitch = 0, x_plane = 0;  // input in shared memory: elements of a row, of a channel (odd: lanes differ in it)
  int g_pitch = 0, g_plane = 0;  // gradient, likewise
  int units = 0, groups = 0;     // threads: an input channel and four outputs each, times groups that share segments
};

}  // namespace argand
