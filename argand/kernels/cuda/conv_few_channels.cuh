// 3 x 3 convolutions of few channels in float, whose matrix products are too narrow for tiles.  Bands of images are
// copied to shared memory: the next band is copied while the current one is multiplied.
#pragma once
#include "argand/kernels/cuda/async_copy.cuh"
#include "argand/kernels/cuda/few_channels.cuh"
#include "argand/kernels/cuda/store_result.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// `kPlanes` planes of [rows, width] from (y0, x0) of planes of [h, w]: to[plane * to_plane + row * to_pitch + column].
// Elements outside the planes are 0; `there` is false if all are outside.
template <int kPlanes, int kThreads>
__device__ __forceinline__ void copy_planes(float* to, int to_plane, int to_pitch, const float* from, int h, int w,
                                            int y0, int x0, int rows, int width, bool there) {
  for (int p = static_cast<int>(threadIdx.x); p < rows * width; p += kThreads) {
    const int row = p / width, column = p - row * width, y = y0 + row, x = x0 + column;
    const bool inside = there && y >= 0 && y < h && x >= 0 && x < w;
    const float* in = inside ? from + y * w + x : from;
    float* out = to + row * to_pitch + column;
#pragma unroll
    for (int c = 0; c < kPlanes; ++c) copy_async(out + c * to_plane, in + c * h * w, inside);
  }
}

// y = x * w (+ bias, may be null).  With kTurned, w is [c, o, 3, 3] and its taps are reversed: the gradient with
// respect to the input of a convolution by it.  Each share of the threads has inputs of its own; their sums are added
// up in order.
template <int kC, int kO, int kH, int kW, int kPadY, int kPadX, int kImages, int kBand, int kChannels, int kPitch,
          int kOutputs, int kShares, bool kTurned>
__global__ void __launch_bounds__(
    FewForward{{kC, kO, kH, kW, kPadY, kPadX}, kImages, kBand, kChannels, kPitch, kOutputs, kShares}.threads(),
    FewForward{{kC, kO, kH, kW, kPadY, kPadX}, kImages, kBand, kChannels, kPitch, kOutputs, kShares}.blocks())
    few_channels_forward(const float* x, const float* w, const float* bias, float* y, int n, Epilogue<float> epilogue) {
  await_earlier_work();
  constexpr FewForward f{{kC, kO, kH, kW, kPadY, kPadX}, kImages, kBand, kChannels, kPitch, kOutputs, kShares};
  constexpr int kThreads = f.threads(), kShareThreads = f.share_threads(), kSegment = f.s.segment(),
                kSegments = f.s.segments(), kPaddedO = f.groups() * kOutputs, kWeightPitch = f.weight_pitch(),
                kOutH = f.s.out_h(), kOutW = f.s.out_w();
  extern __shared__ __align__(16) float memory[];
  float* const ws = memory;  // [c, taps, o]
  float* const xs = ws + f.weights();
  float* const results = xs + 2 * f.stage();  // on their way out
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  const int share = kShares == 1 ? 0 : t / kShareThreads, in_share = t - share * kShareThreads;

  for (int i = t; i < kC * 9 * kPaddedO; i += kThreads) {
    const int o = kTurned ? i / 9 % kPaddedO : i / (kC * 9), c = kTurned ? i / (kPaddedO * 9) : i / 9 % kC, tap = i % 9;
    const int from = kTurned ? (c * kO + o) * 9 + tap : i;
    copy_async(ws + (c * 9 + (kTurned ? 8 - tap : tap)) * kWeightPitch + o, o < kO ? w + from : w, o < kO);
  }
  const int tiles = (n + kImages - 1) / kImages * f.bands();
  const auto load = [&](int tile, int chunk, float* to) {
    const int first = tile / f.bands() * kImages, y0 = tile % f.bands() * kBand - kPadY;
#pragma unroll 1
    for (int i = 0; i < kImages; ++i)
      copy_planes<kChannels, kThreads>(
          to + i * f.image(), f.plane(), kPitch,
          x + (int64_t{first + i < n ? first + i : first} * kC + chunk * kChannels) * (kH * kW), kH, kW, y0, -kPadX,
          kBand + 2, f.s.width(), first + i < n);
  };

  const int place = in_share % f.items(), group = in_share / f.items() < f.groups() ? in_share / f.items() : 0;
  const int start =
      place / (kBand * kSegments) * f.image() + place / kSegments % kBand * kPitch + place % kSegments * kSegment;
  int buffer = 0;
  if (static_cast<int>(blockIdx.x) < tiles) load(static_cast<int>(blockIdx.x), 0, xs);
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    float sums[kSegment][kOutputs];
#pragma unroll
    for (int q = 0; q < kOutputs; ++q) {
      const int o = group * kOutputs + q;
      const float first = bias && o < kO && share == 0 ? bias[o] : 0.0f;
#pragma unroll
      for (int i = 0; i < kSegment; ++i) sums[i][q] = first;
    }
    for (int chunk = 0; chunk < kC / kChannels; ++chunk) {
      wait_for_all_copies();
      __syncthreads();  // all that was copied is there, and nobody reads the other buffer
      const bool more = chunk + 1 < kC / kChannels;
      const int next = more ? tile : tile + static_cast<int>(gridDim.x);
      if (next < tiles) load(next, more ? chunk + 1 : 0, xs + (buffer ^ 1) * f.stage());
      constexpr int kShare = kChannels / kShares;
      const float* in = xs + buffer * f.stage() + start + share * kShare * f.plane();
      const float* weights = ws + (chunk * kChannels + share * kShare) * 9 * kWeightPitch + group * kOutputs;
#pragma unroll 1
      for (int c = 0; c < kShare; ++c, in += f.plane(), weights += 9 * kWeightPitch) {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          float window[kSegment + 2];
#pragma unroll
          for (int i = 0; i < kSegment + 2; ++i) window[i] = in[k * kPitch + i];
#pragma unroll
          for (int l = 0; l < 3; ++l) {
            float4 taps[kOutputs / 4];
#pragma unroll
            for (int q = 0; q < kOutputs / 4; ++q)
              taps[q] = reinterpret_cast<const float4*>(weights + (3 * k + l) * kWeightPitch)[q];
#pragma unroll
            for (int i = 0; i < kSegment; ++i)
#pragma unroll
              for (int q = 0; q < kOutputs / 4; ++q) {
                float* const four = sums[i] + 4 * q;
                four[0] = __fmaf_rn(window[i + l], taps[q].x, four[0]);
                four[1] = __fmaf_rn(window[i + l], taps[q].y, four[1]);
                four[2] = __fmaf_rn(window[i + l], taps[q].z, four[2]);
                four[3] = __fmaf_rn(window[i + l], taps[q].w, four[3]);
              }
          }
        }
      }
      buffer ^= 1;
    }

    // Segments of threads lie one after the other: neighbours in memory are written together.
    const int first = tile / f.bands() * kImages, y0 = tile % f.bands() * kBand;
    const int64_t out = int64_t{first} * kO * kOutH * kOutW + y0 * kOutW;
    const auto store = [&](int at, float value) { store_result(epilogue, y, out + at, value); };
    // Where element e of the segments of a share's threads from `owners` on goes, for the first of the thread's
    // channels.  If `to` is -1, it goes nowhere.
    const auto place_of = [&](int owners, int e, int& output, int& to) {
      const int owner = owners + e / kSegment, item = owner % f.items();
      const int image = item / (kBand * kSegments), row = item / kSegments % kBand,
                column = item % kSegments * kSegment + e % kSegment;
      output = owner / f.items() * kOutputs;
      const bool inside = output < kO && first + image < n && y0 + row < kOutH && column < kOutW;
      to = inside ? ((image * kO + output) * kOutH + row) * kOutW + column : -1;
    };
    if constexpr (kShares == 1) {
      float* const turned = results + (t - lane) * f.out_pitch();
      int to[kSegment], outputs[kSegment];
#pragma unroll
      for (int i = 0; i < kSegment; ++i) place_of(t - lane, i * 32 + lane, outputs[i], to[i]);
#pragma unroll
      for (int q = 0; q < kOutputs; ++q) {
        __syncwarp();
#pragma unroll
        for (int i = 0; i < kSegment; ++i) turned[lane * f.out_pitch() + i] = sums[i][q];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < kSegment; ++i)
          if (to[i] >= 0 && (kO % kOutputs == 0 || outputs[i] + q < kO))
            store(to[i] + q * (kOutH * kOutW),
                  turned[(i * 32 + lane) / kSegment * f.out_pitch() + (i * 32 + lane) % kSegment]);
      }
    } else {
#pragma unroll
      for (int q = 0; q < kOutputs; ++q)
#pragma unroll
        for (int i = 0; i < kSegment; ++i)
          results[share * f.share_sums() + (q * kShareThreads + in_share) * f.out_pitch() + i] = sums[i][q];
      __syncthreads();
      constexpr int kElements = kShareThreads * kSegment;  // of one of the thread's channels
#pragma unroll 4
      for (int e = t; e < kOutputs * kElements; e += kThreads) {
        const int q = e / kElements, at = e % kElements;
        int output, to;
        place_of(0, at, output, to);
        if (to < 0 || output + q >= kO) continue;
        const float* part = results + (q * kShareThreads + at / kSegment) * f.out_pitch() + at % kSegment;
        float sum = part[0];
#pragma unroll
        for (int of = 1; of < kShares; ++of) sum += part[of * f.share_sums()];
        store(to + q * (kOutH * kOutW), sum);
      }
    }
  }
}

// parts[block] = [o, c, 3, 3], and with kBias [o], of the bias, summed over the bands `block`, block + number of
// blocks, ... of all images
template <int kC, int kO, int kH, int kW, int kPadY, int kPadX, int kBand, int kRows, bool kBias>
__global__ void __launch_bounds__(FewWeightGrad{{kC, kO, kH, kW, kPadY, kPadX}, kBand, kRows}.threads(), 2)
    few_channels_weight_grad(const float* gy, const float* x, float* parts, int n) {
  await_earlier_work();
  constexpr FewWeightGrad f{{kC, kO, kH, kW, kPadY, kPadX}, kBand, kRows};
  constexpr int kThreads = f.threads(), kSegment = f.s.segment(), kSegments = f.s.segments(), kOutputs = f.kOutputs,
                kOutH = f.s.out_h(), kOutW = f.s.out_w(), kPitch = f.x_pitch(), kVectors = f.g_segment() / 4,
                kPart = kO * kC * 9 + (kBias ? kO : 0);
  extern __shared__ __align__(16) float memory[];
  const int t = static_cast<int>(threadIdx.x), unit = t % f.units(), share = t / f.units();
  const int channel = unit % kC, group = unit / kC;
  const int tiles = n * f.bands();

  // Columns, rows and channels of padding stay 0.
  const int stages = tiles > static_cast<int>(gridDim.x) ? 2 : 1;
  for (int i = t; i < stages * f.stage(); i += kThreads) memory[i] = 0.0f;
  __syncthreads();
  const auto load = [&](int tile, float* to) {
    const int image = tile / f.bands(), y0 = tile % f.bands() * kBand;
    copy_planes<kC, kThreads>(to, f.x_plane(), kPitch, x + int64_t{image} * kC * (kH * kW), kH, kW, y0 - kPadY, -kPadX,
                              kBand + 2, f.s.width(), true);
    const float* from = gy + int64_t{image} * kO * (kOutH * kOutW);
    for (int p = t; p < kBand * kOutW; p += kThreads) {
      const int row = p / kOutW, column = p - row * kOutW;
      const bool inside = y0 + row < kOutH;
      const float* in = inside ? from + (y0 + row) * kOutW + column : from;
      float* out = to + f.x_stage() + row * f.g_pitch() + column / kSegment * f.g_segment() + column % kSegment;
#pragma unroll
      for (int o = 0; o < kO; ++o) copy_async(out + o * f.g_plane(), in + o * (kOutH * kOutW), inside);
    }
  };

  float sums[kOutputs][3][3] = {}, bias = 0;
  int buffer = 0;
  load(static_cast<int>(blockIdx.x), memory);
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x), buffer ^= 1) {
    wait_for_all_copies();
    __syncthreads();  // all that was copied is there, and nobody reads the other buffer
    const int next = tile + static_cast<int>(gridDim.x);
    if (next < tiles) load(next, memory + (buffer ^ 1) * f.stage());
    if constexpr (kBias) {
      const auto* g =
          reinterpret_cast<const float4*>(memory + buffer * f.stage() + f.x_stage() + t % f.planes() * f.g_plane());
      if (t < f.planes() * f.bias_shares())
        for (int i = t / f.planes(); i < f.padded_band() * f.g_pitch() / 4; i += f.bias_shares())
          bias += (g[i].x + g[i].y) + (g[i].z + g[i].w);
    }
    if (share >= f.shares()) continue;
    for (int item = share; item < f.items(); item += f.shares()) {
      const int segment = item % kSegments, row0 = item / kSegments * kRows;
      const float* in = memory + buffer * f.stage() + channel * f.x_plane() + row0 * kPitch + segment * kSegment;
      const float* g = memory + buffer * f.stage() + f.x_stage() + group * kOutputs * f.g_plane() + row0 * f.g_pitch() +
                       segment * f.g_segment();
      float window[3][kSegment + 2];  // row r of the input is in window[r % 3]
      const auto load_row = [&](int r, float* to) {
#pragma unroll
        for (int i = 0; i < kSegment + 2; ++i) to[i] = in[r * kPitch + i];
      };
      const auto sum_row = [&](int r, const float* above, const float* here, float* below) {
        load_row(r + 2, below);
        const float* rows[3] = {above, here, below};
#pragma unroll
        for (int j = 0; j < kOutputs; ++j) {
          float d[4 * kVectors];
#pragma unroll
          for (int v = 0; v < kVectors; ++v) {
            const float4 four = reinterpret_cast<const float4*>(g + j * f.g_plane() + r * f.g_pitch())[v];
            d[4 * v] = four.x, d[4 * v + 1] = four.y, d[4 * v + 2] = four.z, d[4 * v + 3] = four.w;
          }
#pragma unroll
          for (int i = 0; i < kSegment; ++i)
#pragma unroll
            for (int k = 0; k < 3; ++k)
#pragma unroll
              for (int l = 0; l < 3; ++l) sums[j][k][l] = __fmaf_rn(d[i], rows[k][i + l], sums[j][k][l]);
        }
      };
      load_row(0, window[0]);
      load_row(1, window[1]);
#pragma unroll 1
      for (int r = 0; r < kRows; r += 3) {
        sum_row(r, window[0], window[1], window[2]);
        if (r + 1 < kRows) sum_row(r + 1, window[1], window[2], window[0]);
        if (r + 2 < kRows) sum_row(r + 2, window[2], window[0], window[1]);
      }
    }
  }

  // The sums of a unit's threads, in order.
  __syncthreads();
  if (share < f.shares())
    for (int j = 0; j < kOutputs; ++j)
      for (int k = 0; k < 9; ++k) memory[t * f.kSumsPitch + j * 9 + k] = sums[j][k / 3][k % 3];
  float* const biases = memory + kThreads * f.kSumsPitch;
  if constexpr (kBias) biases[t] = bias;
  __syncthreads();
  float* const part = parts + int64_t{blockIdx.x} * kPart;
  for (int i = t; i < f.units() * f.kSums; i += kThreads) {
    const int u = i / f.kSums, k = i % f.kSums, o = u / kC * kOutputs + k / 9;
    if (o >= kO) continue;
    float sum = 0;
    for (int of = 0; of < f.shares(); ++of) sum += memory[(of * f.units() + u) * f.kSumsPitch + k];
    part[(o * kC + u % kC) * 9 + k % 9] = sum;
  }
  if constexpr (kBias)
    for (int o = t; o < kO; o += kThreads) {
      float sum = 0;
      for (int of = 0; of < f.bias_shares(); ++of) sum += biases[of * f.planes() + o];
      part[kO * kC * 9 + o] = sum;
    }
}

}  // namespace argand
