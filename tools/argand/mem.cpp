#include "tools/argand/mem.h"

#include <cstdio>

#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda.h"
#include "argand/exec/cuda_memory.h"
#include "argand/io/file.h"
#include "argand/ops/functions.h"
#include "tools/argand/device.h"
#include "tools/argand/models.h"
#include "tools/argand/optimizers.h"

namespace argand::cli {
namespace {

bool is_page(const std::string& path) { return path.ends_with(".html"); }

void write_snapshot(const std::string& path, DeviceIndex index) {
  io::write_file(path, is_page(path) ? cuda::memory_snapshot_html(index) : cuda::memory_snapshot(index));
  std::printf("snapshot: %s\n", path.c_str());
}

}  // namespace

int print_memory(const MemOptions& o) {
  const Device device = with_index(choose_device(o.device));
  ARGAND_CHECK(DeviceError, device.is_cuda(), "mem: expected a CUDA device, got ", device,
               ": only the memory of GPUs is counted");
  ARGAND_CHECK(ValueError, o.snapshot.empty() || is_page(o.snapshot) || o.snapshot.ends_with(".json"),
               "--snapshot: expected a file that ends in .json or .html, got ", o.snapshot);
  const cuda::DeviceGuard on(device);
  cuda::record_memory_history(!o.snapshot.empty());
  manual_seed(o.seed);
  const ImageTask task;
  const auto model = make_classifier(o.arch, task);
  model->to(device);
  const auto optimizer = make_optimizer(o.optimizer, 1e-3, model->parameters());
  const Tensor images = rand({o.batch_size, task.channels, task.height, task.width}).to(device);
  const Tensor target = randint(task.classes, {o.batch_size}).to(device);
  for (int64_t step = 0; step < o.steps; ++step) {
    optimizer->zero_grad();
    cross_entropy_loss(model->forward(images), target).backward();
    optimizer->step();
  }
  cuda::synchronize();
  std::printf("%s on %s, batch %lld, %s, after %lld steps\n\n%s", o.arch.c_str(), device.str().c_str(),
              static_cast<long long>(o.batch_size), o.optimizer.c_str(), static_cast<long long>(o.steps),
              cuda::memory_summary().c_str());
  const auto [free, total] = cuda::mem_get_info();
  constexpr double kGiB = 1 << 30;
  std::printf("the device has %.2f GiB, of which %.2f GiB are free\n", static_cast<double>(total) / kGiB,
              static_cast<double>(free) / kGiB);
  if (!o.snapshot.empty()) write_snapshot(o.snapshot, device.index());
  return 0;
}

}  // namespace argand::cli
