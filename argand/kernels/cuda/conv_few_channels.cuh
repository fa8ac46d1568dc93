// The weight gradient of a 3 x 3 convolution of few channels, whose product of matrices is too narrow for tiles: an
// image band lies in shared memory, and a thread sums all taps of one input and four output channels while it slides
// along rows.
#pragma once
#include "argand/kernels/cuda/few_channels.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

// parts[block] = [o, c, 3, 3], summed over images and bands `block`, block + number of blocks, ...
__global__ void __launch_bounds__(kFewThreads)
    few_channels_weight_grad(const float* gy, const float* x, float* parts, FewChannels s) {
  extern __shared__ float memory[];
  float* const xs = memory;
  float* const gs = memory + s.c * s.x_plane;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = kFewThreads / 32;
  const int unit = threadIdx.x % s.units, group = threadIdx.x / s.units;
  const int channel = unit % s.c, first_output = unit / s.c * kFewOutputs;
  const int outputs = (s.o + kFewOutputs - 1) / kFewOutputs * kFewOutputs;
  float sums[kFewOutputs][3][3] = {};

  for (int tile = blockIdx.x; tile < s.n * s.bands; tile += gridDim.x) {
    const int image = tile / s.bands, y0 = (tile - image * s.bands) * s.band;
    __syncthreads();
    for (int r = warp; r < s.c * (s.band + 2); r += warps) {
      const int c = r / (s.band + 2), row = r - c * (s.band + 2), y = y0 + row - s.pad_y;
      const float* from = x + ((int64_t{image} * s.c + c) * s.h + y) * s.w;
      for (int i = lane; i < s.x_pitch; i += 32) {
        const int at = i - s.pad_x;
        xs[c * s.x_plane + row * s.x_pitch + i] = y >= 0 && y < s.h && at >= 0 && at < s.w ? from[at] : 0.0f;
      }
    }
    for (int r = warp; r < outputs * s.band; r += warps) {
      const int o = r / s.band, row = r - o * s.band, y = y0 + row;
      const float* from = gy + ((int64_t{image} * s.o + o) * s.out_h + y) * s.out_w;
      for (int i = lane; i < s.g_pitch; i += 32)
        gs[o * s.g_plane + row * s.g_pitch + i] = o < s.o && y < s.out_h && i < s.out_w ? from[i] : 0.0f;
    }
    __syncthreads();
    if (group >= s.groups) continue;
    for (int item = group; item < s.band * s.segments; item += s.groups) {
      const int row = item / s.segments, begin = (item - row * s.segments) * kFewSegment;
      const float* in = xs + channel * s.x_plane + row * s.x_pitch + begin;
      const float* g = gs + first_output * s.g_plane + row * s.g_pitch + begin;
      float window[3][3];
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        window[k][1] = in[k * s.x_pitch];
        window[k][2] = in[k * s.x_pitch + 1];
      }
#pragma unroll
      for (int i = 0; i < kFewSegment; ++i) {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          window[k][0] = window[k][1];
          window[k][1] = window[k][2];
          window[k][2] = in[k * s.x_pitch + i + 2];
        }
#pragma unroll
        for (int j = 0; j < kFewOutputs; ++j) {
          const float d = g[j * s.g_plane + i];
#pragma unroll
          for (int k = 0; k < 3; ++k)
#pragma unroll
            for (int l = 0; l < 3; ++l) sums[j][k][l] = __fmaf_rn(d, window[k][l], sums[j][k][l]);
        }
      }
    }
  }

  // The groups' sums, in order.
  __syncthreads();
  if (group < s.groups)
    for (int j = 0; j < kFewOutputs; ++j)
      for (int k = 0; k < kFewTaps; ++k) memory[threadIdx.x * kFewSumsPitch + j * kFewTaps + k] = sums[j][k / 3][k % 3];
  __syncthreads();
  for (int i = threadIdx.x; i < s.units * kFewSums; i += kFewThreads) {
    const int u = i / kFewSums, k = i - u * kFewSums;
    const int o = u / s.c * kFewOutputs + k / kFewTaps;
    if (o >= s.o) continue;
    float sum = 0;
    for (int g = 0; g < s.groups; ++g) sum += memory[(g * s.units + u) * kFewSumsPitch + k];
    parts[(int64_t{blockIdx.x} * s.o + o) * s.c * kFewTaps + u % s.c * kFewTaps + k % kFewTaps] = sum;
  }
}

}  // namespace argand
