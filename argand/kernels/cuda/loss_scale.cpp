#include "argand/kernels/api/loss_scale.h"

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/loss_scale.cuh";
constexpr int kThreads = 256;

static_assert(sizeof(UnscaleTable) <= 4096, "what every kernel may have as arguments");

void unscale_gradients(ScalarType type, const ScaledGradient* gradients, int64_t count, const float* inv_scale) {
  const Kernel& run = kernel_instance(kHeader, "unscale_gradients", type);
  UnscaleTable table{};
  table.inv_scale = inv_scale;
  unsigned blocks = 0;
  const auto issue = [&] {
    launch(run, {blocks, kThreads}, table);
    table.count = 0;
    table.scalar = 0;
    blocks = 0;
  };
  for (const ScaledGradient* g = gradients; g != gradients + count; ++g) {
    if (g->numel == 0) continue;
    const unsigned more = blocks_for(g->numel, kUnscaleTile);
    if (table.count == kGradientsPerLaunch || blocks + uint64_t{more} >= uint64_t{1} << 31) issue();
    const int i = table.count++;
    table.data[i] = g->data;
    table.found[i] = g->found;
    table.numel[i] = g->numel;
    table.first_block[i] = blocks;
    table.scalar |= reinterpret_cast<uintptr_t>(g->data) % 16 != 0;
    blocks += more;
  }
  if (table.count > 0) issue();
}

void update_scale(float* scale, int* growth_tracker, const float* found_inf, const ScaleRule& rule) {
  launch(kernel_instance(kHeader, "update_scale", kFloat), {1, 1}, scale, growth_tracker, found_inf, rule.growth_factor,
         rule.backoff_factor, rule.growth_interval);
}

const bool registered =
    (blocks::unscale_gradients.set(kCUDA, unscale_gradients), blocks::update_scale.set(kCUDA, update_scale), true);

}  // namespace
}  // namespace argand::cuda
