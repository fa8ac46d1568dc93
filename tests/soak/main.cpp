// soak [STEPS]: trains a small network for so many steps (10^6 unless said) and holds that a step leaves nothing
// behind: the memory of the GPU is the same after every step, and that of the host does not grow.  Exit status 1 if it
// does.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda.h"
#include "argand/exec/cuda_memory.h"
#include "argand/exec/window.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"

namespace {

using namespace argand;

constexpr int64_t kPieces = 20;
constexpr int64_t kHostGrowth = int64_t{2} << 20;  // the heap's own unrest, in bytes

int64_t resident_bytes() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

struct Network {
  nn::Linear first{64, 32}, last{32, 10};
  std::unique_ptr<optim::Adam> optimizer;
  Tensor x, y, loss;
  Network() {
    manual_seed(0);
    std::vector<Tensor> parameters;
    for (nn::Linear layer : {first, last}) {
      layer->to(Device(kCUDA));
      for (const Tensor& p : layer->parameters()) parameters.push_back(p);
    }
    optimizer = std::make_unique<optim::Adam>(parameters);
    x = randn({64, 64}, TensorOptions(kCUDA));
    y = randint(10, {64}).cuda();
  }
  void step() {
    optimizer->zero_grad();
    loss = cross_entropy_loss(last(first(x).relu()), y);
    loss.backward();
    optimizer->step();
    exec::flush();  // what waits has no memory yet
  }
};

int soak(int64_t steps) {
  Network network;
  for (int i = 0; i < 1000; ++i) network.step();
  cuda::synchronize();
  const int64_t allocated = cuda::memory_allocated(), reserved = cuda::memory_reserved();
  int64_t host = 0, wrong = 0;
  std::printf("%12s %10s %14s %14s %14s %8s\n", "steps", "us/step", "device bytes", "reserved", "host bytes", "loss");
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    const auto start = std::chrono::steady_clock::now();
    const int64_t n = steps * (piece + 1) / kPieces - steps * piece / kPieces;
    for (int64_t i = 0; i < n; ++i) {
      network.step();
      wrong += cuda::memory_allocated() != allocated;
    }
    const double loss = network.loss.item().toDouble();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    const int64_t now = resident_bytes();
    if (piece == 0) host = now;
    wrong += !std::isfinite(loss) || cuda::memory_reserved() != reserved;
    wrong += now > host + kHostGrowth;
    std::printf("%12lld %10.2f %14lld %14lld %14lld %8.4f\n", static_cast<long long>(steps * (piece + 1) / kPieces),
                time.count() / static_cast<double>(std::max<int64_t>(n, 1)),
                static_cast<long long>(cuda::memory_allocated()), static_cast<long long>(cuda::memory_reserved()),
                static_cast<long long>(now), loss);
    std::fflush(stdout);
  }
  if (wrong) std::printf("soak: memory changed at %lld step boundaries\n", static_cast<long long>(wrong));
  return wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::atoll(argv[1]) : 1000000;
  if (argc > 2 || steps <= 0) {
    std::fprintf(stderr, "usage: soak [STEPS]\n");
    return 2;
  }
  std::string why;
  if (!find_backend(kCUDA, &why)) {
    std::printf("soak: skipped: %s\n", why.c_str());
    return 77;
  }
  return soak(steps);
}
