// A bad index on the GPU is an IndexError at the next synchronisation, again and again: the context lives and no memory
// is lost.
#include "argand/base/error.h"
#include "argand/exec/cuda_memory.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class BadIndex : public ComputingCudaTest {};

TEST_F(BadIndex, AThousandInARow) {
  const TensorOptions on_gpu(kCUDA);
  const Tensor table = randn({100, 8}, on_gpu), matrix = randn({16, 100}, on_gpu);
  const std::vector<std::function<Tensor(const Tensor&)>> uses = {
      [&](const Tensor& i) { return table.index_select(0, i); },
      [&](const Tensor& i) { return embedding(table, i); },
      [&](const Tensor& i) { return matrix.gather(1, i.unsqueeze(0)); },
      [&](const Tensor& i) { return table.index({i}); },
      [&](const Tensor& i) {
        return zeros({100, 8}, on_gpu).index_add(0, i, ones({i.numel(), 8}, on_gpu));
      },
      [&](const Tensor& i) { return zeros({100}, on_gpu).scatter_add(0, i, ones({i.numel()}, on_gpu)); },
      [&](const Tensor& i) {
        return nll_loss(randn({i.numel(), 100}, on_gpu), i);
      },
      [&](const Tensor& i) {
        return cross_entropy_loss(randn({i.numel(), 100}, on_gpu), i);
      },
  };
  int64_t before = 0, reserved = 0;
  for (int round = 0; round < 1000; ++round) {
    const int64_t bad = round % 2 ? 100 + round : -101 - round;
    const auto& use = uses[static_cast<size_t>(round) % uses.size()];
    {
      Tensor index = arange(32, TensorOptions(kLong).device(kCUDA));
      index[round % 32].fill_(bad);
      const std::string said = message_of<IndexError>([&] {
        use(index);
        cuda::synchronize();
      });
      ASSERT_NE(said.find(str("index ", bad, " is out of bounds")), std::string::npos) << round << ": " << said;
    }
    cuda::synchronize();  // it was said once
    if (round == 50) {
      before = cuda::memory_allocated();
      reserved = cuda::memory_reserved();
    }
    if (round > 50) {
      ASSERT_EQ(cuda::memory_allocated(), before) << "round " << round;
    }
  }
  EXPECT_EQ(cuda::memory_reserved(), reserved);
  EXPECT_EQ(ones({10}, on_gpu).sum().item().toFloat(), 10) << "the context lives";
}

// Several bad indices in flight raise one error, and none is left for a later call.
TEST_F(BadIndex, ManyInFlightAreSaidOnce) {
  const Tensor table = randn({10, 4}, TensorOptions(kCUDA)), bad = full({1000}, 77, TensorOptions(kLong).device(kCUDA));
  for (int i = 0; i < 100; ++i) table.index_select(0, bad);
  EXPECT_THROW(cuda::synchronize(), IndexError);
  cuda::synchronize();
}

TEST_F(BadIndex, ItemAndCopiesSayItToo) {
  const Tensor table = randn({10, 4}, TensorOptions(kCUDA)), bad = full({1}, 10, TensorOptions(kLong).device(kCUDA));
  EXPECT_THROW(table.index_select(0, bad).sum().item(), IndexError);
  EXPECT_THROW(table.index_select(0, bad).cpu(), IndexError);
  table.index_select(0, bad);
  EXPECT_THROW(cuda::current_stream().synchronize(), IndexError);
  cuda::synchronize();
}

}  // namespace
}  // namespace argand
