#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/few_channels.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda::own {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/conv_few_channels.cuh";
constexpr int kMostThreads = 256, kBlockBytes = 224 << 10;  // the latter shared by the blocks of a multiprocessor
constexpr int kMostWeights = 9 << 10;                       // all of them are in shared memory
constexpr int kWeightGradBlocks = 264;                      // parts of sums, whatever the device

bool is_flat_3x3(const cpu::ConvShape& s) {
  for (size_t d = 0; d < 3; ++d)
    if (s.kernel[d] != (d == 0 ? 1 : 3) || s.stride[d] != 1 || s.dilation[d] != 1) return false;
  return s.in[0] == 1 && s.out[0] == 1 && s.padding[0] == 0 && s.groups == 1;
}

// c == 0: not for these kernels.
FewChannels few_channels(const cpu::ConvShape& s, ScalarType dtype) {
  // With these, all that is below fits an int.
  constexpr int64_t kMostImages = 1 << 20, kMostSide = 1 << 10, kMostChannels = 64;
  if (dtype != kFloat || !is_flat_3x3(s) || s.n == 0 || s.in_size() == 0 || s.out_size() == 0) return {};
  if (s.n > kMostImages || std::min(s.c, s.o) == 0 || std::max(s.c, s.o) > kMostChannels) return {};
  if (s.c * s.o * 9 > kMostWeights) return {};
  for (size_t d = 1; d < 3; ++d)
    if (s.in[d] > kMostSide || s.padding[d] > kMostSide) return {};
  const auto narrow = [](int64_t i) { return static_cast<int>(i); };
  return {narrow(s.c), narrow(s.o), narrow(s.in[1]), narrow(s.in[2]), narrow(s.padding[1]), narrow(s.padding[2])};
}

// The least pitch from `width` for which the items of a warp, segments of rows, begin in different banks, as far as
// they can.
int best_pitch(int width, int segments, int segment) {
  constexpr int kBanks = 32;
  int best = width, least = kBanks + 1;
  for (int pitch = width; pitch < width + kBanks && least > 1; ++pitch) {
    int in_bank[kBanks] = {}, most = 0;
    for (int item = 0, row = 0, column = 0; item < kBanks && most < least; ++item) {
      most = std::max(most, ++in_bank[(row * pitch + column * segment) % kBanks]);
      if (++column == segments) {
        column = 0;
        ++row;
      }
    }
    if (most < least) {
      least = most;
      best = pitch;
    }
  }
  return best;
}

int64_t tiles_of(const FewForward& f, int64_t n) { return (n + f.images - 1) / f.images * f.bands(); }
bool fits(const FewForward& f) {
  return f.threads() <= kMostThreads && f.bytes() <= kBlockBytes / FewForward::blocks(f.outputs);
}

// For batches too small to give every multiprocessor a tile of the plan for large ones: many small tiles, so that such
// a batch of usual size is spread as evenly as can be.  One plan for all of them, as each is a kernel of its own.
FewForward plan_small_batches(const FewChannels& s) {
  constexpr int64_t kUsualBatch = 64;
  // In instructions of a thread: for a weight that is loaded, and of a block to start.
  constexpr int64_t kWeightCost = 8, kBlockCost = 1000;
  const int64_t processors = multi_processor_count();
  FewForward best{s, 1, 0, s.c, 0, 0};
  int64_t least = 0;
  for (const int outputs : {8, 4}) {
    if (outputs > 4 && s.o <= 4) continue;
    for (int bands = 1; bands <= s.out_h(); ++bands) {
      const FewForward f{s,      1, few_ceil(s.out_h(), bands), s.c, best_pitch(s.width(), s.segments(), s.segment()),
                         outputs};
      if (!fits(f)) continue;
      const int64_t row = 3 * s.segment() * outputs + s.segment() + 2 + 3 * outputs / 4;
      const int64_t warps = f.threads() / 32 * ((tiles_of(f, kUsualBatch) + processors - 1) / processors);
      // Two warps a scheduler hide what one waits for.
      const int64_t cost =
          std::max<int64_t>(warps, 6) * (s.c * 3 * row) / 4 + kWeightCost * f.weights() / f.threads() + kBlockCost;
      if (best.band != 0 && cost >= least) continue;
      least = cost;
      best = f;
    }
  }
  return best;
}

// band == 0: not for this kernel.
FewForward plan_large_batches(const FewChannels& s) {
  FewForward f{s, 1, 0, s.c, best_pitch(s.width(), s.segments(), s.segment()), s.o > 4 ? 8 : 4};
  const int row = s.segments() * f.groups();  // threads of a row
  if (row > kMostThreads) return f;
  f.band = few_ceil(s.out_h(), few_ceil(s.out_h(), kMostThreads / row));
  if (f.band == s.out_h()) f.images = kMostThreads / (f.band * row);
  for (; f.images > 0; --f.images)
    for (f.channels = s.c; f.channels > 0; --f.channels)
      if (s.c % f.channels == 0 && fits(f)) return f;
  f.band = 0;
  return f;
}

// Plans are made once for a shape: they take longer than a launch.
template <class Plan>
class PlanTable {
 public:
  template <class Make>
  const Plan& get(const FewChannels& s, Make make) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = plans_.try_emplace({s.c, s.o, s.h, s.w, s.pad_y, s.pad_x});
    if (is_new) place->second = make(s);
    return place->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<int, int, int, int, int, int>, Plan> plans_;
};

struct ForwardPlans {
  FewForward large, small;
};
const FewForward& forward_plan(const FewChannels& s, int64_t n) {
  static auto& known = *new PlanTable<ForwardPlans>;
  const ForwardPlans& p = known.get(s, [](const FewChannels& shape) {
    return ForwardPlans{plan_large_batches(shape), plan_small_batches(shape)};
  });
  const bool is_large = p.large.band != 0 && tiles_of(p.large, n) >= multi_processor_count();
  return is_large || p.small.band == 0 ? p.large : p.small;
}

bool forward(const FewChannels& s, int64_t n, bool turned, const void* x, const void* w, const void* bias, void* y) {
  if (s.c == 0) return false;
  const FewForward& f = forward_plan(s, n);
  if (f.band == 0 || f.bytes() > shared_memory_per_block()) return false;
  const Kernel run = kernel(kHeader, instance("few_channels_forward", s.c, s.o, s.h, s.w, s.pad_y, s.pad_x, f.images,
                                              f.band, f.channels, f.pitch, f.outputs, turned));
  const auto bytes = static_cast<size_t>(f.bytes());
  run.allow_shared_memory(bytes);
  const int64_t tiles = tiles_of(f, n);
  launch(run,
         {.blocks = blocks_for(std::min<int64_t>(tiles, FewForward::blocks(f.outputs) * multi_processor_count()), 1),
          .threads = static_cast<unsigned>(f.threads()),
          .shared_memory = bytes},
         x, w, bias, y, static_cast<int>(n));
  return true;
}

// band == 0: not for this kernel.
FewWeightGrad make_weight_grad_plan(const FewChannels& s) {
  // Of the threads of a block, in instructions, for a row and for what is done once an item; of fewer threads than
  // these the multiprocessor waits.
  constexpr int64_t kRowCost = 280, kItemCost = 120, kEnoughThreads = 192;
  FewWeightGrad best{s, 0, 0};
  if (best.units() > FewWeightGrad::kMostThreads) return best;
  for (int bands = 1; bands <= s.out_h() && best.band == 0; ++bands) {
    int64_t least = 0;
    const int band = few_ceil(s.out_h(), bands);
    for (int rows = band; rows > 0; --rows) {
      const FewWeightGrad f{s, band, rows};
      if (f.bytes() > kBlockBytes / 2) continue;
      const int64_t cost = std::max<int64_t>(f.threads(), kEnoughThreads) * few_ceil(f.items(), f.shares()) *
                           (rows * kRowCost + kItemCost);
      if (best.band != 0 && cost >= least) continue;
      least = cost;
      best = f;
    }
  }
  return best;
}
const FewWeightGrad& weight_grad_plan(const FewChannels& s) {
  static auto& known = *new PlanTable<FewWeightGrad>;
  return known.get(s, make_weight_grad_plan);
}

}  // namespace

bool few_channels_forward(const cpu::ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias,
                          void* y) {
  return forward(few_channels(s, dtype), s.n, false, x, w, bias, y);
}

bool few_channels_input_grad(const cpu::ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx) {
  FewChannels f = few_channels(s, dtype);
  if (f.c == 0 || f.pad_y > 2 || f.pad_x > 2) return false;
  f = {f.o, f.c, f.out_h(), f.out_w(), 2 - f.pad_y, 2 - f.pad_x};
  return forward(f, s.n, true, gy, w, nullptr, gx);
}

bool few_channels_weight_grad(const cpu::ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw,
                              void* gb) {
  const FewChannels shape = few_channels(s, dtype);
  if (shape.c == 0) return false;
  const FewWeightGrad& f = weight_grad_plan(shape);
  if (f.band == 0 || f.bytes() > shared_memory_per_block()) return false;
  const Kernel run = kernel(kHeader, instance("few_channels_weight_grad", shape.c, shape.o, shape.h, shape.w,
                                              shape.pad_y, shape.pad_x, f.band, f.rows, gb != nullptr));
  const auto bytes = static_cast<size_t>(f.bytes());
  run.allow_shared_memory(bytes);
  const int64_t parts = std::min<int64_t>(kWeightGradBlocks, s.n * f.bands());
  const SummedParts sum{gw, s.o * s.c * 9, gb, gb ? s.o : 0};
  const Scratch sums(parts * (sum.size + sum.more_size) * int64_t{sizeof(float)});
  launch(run, {.blocks = blocks_for(parts, 1), .threads = static_cast<unsigned>(f.threads()), .shared_memory = bytes},
         gy, x, sums.data(), static_cast<int>(s.n));
  add_parts(dtype, sums.data(), parts, sum);
  return true;
}

}  // namespace argand::cuda::own
