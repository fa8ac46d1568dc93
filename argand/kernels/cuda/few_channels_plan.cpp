#include "argand/kernels/cuda/few_channels_plan.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "argand/runtime/cuda/launch.h"

namespace argand::cuda::own {
namespace {

constexpr int kMostThreads = 256, kBlockBytes = 224 << 10;  // the latter shared by the blocks of a multiprocessor
constexpr int kMostSharedThreads = 512;                     // of a block whose threads share sums
// A plan determines the order of additions, so it is made for a fixed number of multiprocessors on every device.
constexpr int kProcessors = 132, kWeightGradBlocks = 2 * kProcessors;
constexpr int64_t kUsualBatch = 64;  // of small ones

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

bool fits(const FewForward& f) {
  return f.threads() <= (f.shares == 1 ? kMostThreads : kMostSharedThreads) && f.bytes() <= kBlockBytes / f.blocks();
}

// The cycles in which a multiprocessor issues `instructions` for each of `warps`; two warps per scheduler hide the
// latency of one.
int64_t issue_cycles(int64_t warps, int64_t instructions) { return std::max<int64_t>(warps, 6) * instructions / 4; }

// For batches too small to give every multiprocessor a tile of the plan for large ones: many small tiles, so that such
// a batch of usual size is spread as evenly as can be, and sums that several warps share.  One plan for all of them, as
// each is a kernel of its own.
FewForward plan_small_batches(const FewChannels& s) {
  // Cycles of a multiprocessor for a warp's copies to shared memory, and for a sum of each of its threads that is one
  // of a share.
  constexpr int64_t kCopyCost = 4, kShareCost = 5;
  FewForward best{s, 1, 0, s.c, 0, 0, 1};
  int64_t least = 0;
  const int pitch = best_pitch(s.width(), s.segments(), s.segment());
  for (const int outputs : {8, 4})
    for (int bands = 1; bands <= s.out_h(); ++bands)
      for (const int shares : {1, 2, 3, 4, 8}) {
        const FewForward f{s, 1, few_ceil(s.out_h(), bands), s.c, pitch, outputs, shares};
        if ((outputs > 4 && s.o <= 4) || s.c % shares != 0 || !fits(f)) continue;
        const int64_t row = 3 * s.segment() * outputs + s.segment() + 2 + 3 * outputs / 4;
        const int64_t tiles = (f.tiles(kUsualBatch) + kProcessors - 1) / kProcessors;
        const int64_t warps = f.threads() / 32 * tiles;
        const int64_t cost = issue_cycles(warps, s.c / shares * 3 * row) +
                             kCopyCost * tiles * (f.weights() + s.c * f.plane()) / 32 +
                             (shares == 1 ? 0 : kShareCost * warps * s.segment() * outputs);
        if (best.band != 0 && cost >= least) continue;
        least = cost;
        best = f;
      }
  return best;
}

// band == 0: not for this kernel.
FewForward plan_large_batches(const FewChannels& s) {
  FewForward f{s, 1, 0, s.c, best_pitch(s.width(), s.segments(), s.segment()), s.o > 4 ? 8 : 4, 1};
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

// band == 0: not for this kernel.
FewWeightGrad plan_large_weight_grad(const FewChannels& s) {
  // The instructions of a thread for a row, and for what it does once per item.  With fewer than kEnoughThreads threads
  // in a block the multiprocessor waits.
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

// As plan_small_batches().
FewWeightGrad plan_small_weight_grad(const FewChannels& s) {
  // As above; kStoreCost: for a warp's accesses to shared memory; kPartRate: sums that all multiprocessors store and
  // add up in a cycle of one.
  constexpr int64_t kRowCost = 280, kItemCost = 120, kCopyCost = 4, kStoreCost = 2, kPartRate = 1000;
  FewWeightGrad best{s, 0, 0};
  if (best.units() > FewWeightGrad::kMostThreads) return best;
  int64_t least = 0;
  for (int bands = 1; bands <= s.out_h(); ++bands)
    for (int band = few_ceil(s.out_h(), bands), rows = band; rows > 0; --rows) {
      const FewWeightGrad f{s, band, rows};
      const int64_t all_tiles = kUsualBatch * f.bands(), tiles = (all_tiles + kProcessors - 1) / kProcessors;
      if (f.bytes() > kBlockBytes / 2 || all_tiles > kWeightGradBlocks) continue;
      const int64_t copied = s.c * (band + 2) * s.width() + s.o * band * s.out_w();
      const int64_t sums = f.units() * int64_t{FewWeightGrad::kSums};
      const int64_t cost =
          issue_cycles(tiles * f.threads() / 32, few_ceil(f.items(), f.shares()) * (rows * kRowCost + kItemCost)) +
          tiles * (kCopyCost * copied + kStoreCost * (f.stage() + 2 * f.shares() * sums)) / 32 +
          all_tiles * sums / kPartRate;
      if (best.band != 0 && cost >= least) continue;
      least = cost;
      best = f;
    }
  return best;
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
struct WeightGradPlans {
  FewWeightGrad large, small;
};

}  // namespace

const FewForward& forward_plan(const FewChannels& s, int64_t n) {
  static auto& known = *new PlanTable<ForwardPlans>;
  const ForwardPlans& p = known.get(s, [](const FewChannels& shape) {
    return ForwardPlans{plan_large_batches(shape), plan_small_batches(shape)};
  });
  const bool is_large = p.large.band != 0 && p.large.tiles(n) >= kProcessors;
  return is_large || p.small.band == 0 || p.small.bytes() > shared_memory_per_block() ? p.large : p.small;
}

const FewWeightGrad& weight_grad_plan(const FewChannels& s, int64_t n) {
  static auto& known = *new PlanTable<WeightGradPlans>;
  const WeightGradPlans& p = known.get(s, [](const FewChannels& shape) {
    return WeightGradPlans{plan_large_weight_grad(shape), plan_small_weight_grad(shape)};
  });
  const bool is_large = p.large.band != 0 && n * p.large.bands() >= kProcessors;
  return is_large || p.small.band == 0 ? p.large : p.small;
}

int64_t weight_grad_parts(const FewWeightGrad& f, int64_t n) {
  return std::min<int64_t>(kWeightGradBlocks, n * f.bands());
}

}  // namespace argand::cuda::own
