// Devices, moving tensors, streams and events on a real GPU; skipped with the reason where there is none.
#include <thread>

#include "argand/core/cpu_generator.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class Cuda : public ComputingCudaTest {};

bool same(const Tensor& a, const Tensor& b) { return a.cpu().equal(b.cpu()); }

TEST_F(Cuda, PropertiesAreThere) {
  EXPECT_TRUE(cuda::is_available());
  EXPECT_GE(cuda::device_count(), 1);
  const cuda::DeviceProperties p = cuda::get_device_properties();
  EXPECT_FALSE(p.name.empty());
  EXPECT_GT(p.total_memory, size_t{1} << 30);
  EXPECT_GT(p.multi_processor_count, 0);
  EXPECT_EQ(cuda::get_device_capability().first, p.major);
}

TEST_F(Cuda, AMissingDeviceIsNamed) {
  const auto beyond = static_cast<DeviceIndex>(cuda::device_count());
  try {
    zeros({2}, TensorOptions(Device(kCUDA, beyond)));
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find(str("there is no device cuda:", static_cast<int>(beyond))), std::string::npos)
        << e.what();
  }
}

TEST_F(Cuda, TensorsMoveThereAndBack) {
  manual_seed(1);
  const Tensor x = randn({37, 53});
  const Tensor y = x.cuda();
  EXPECT_TRUE(y.is_cuda());
  EXPECT_EQ(y.device(), Device(kCUDA, cuda::current_device()));
  EXPECT_TRUE(same(x, y));
  EXPECT_TRUE(y.to(Device("cuda")).is_same(y)) << "it is there already";
  EXPECT_TRUE(same(x.t(), x.t().cuda())) << "strided";
  EXPECT_TRUE(same(x.to(kHalf), x.to(Device(kCUDA), kHalf))) << "converted on the way";
  EXPECT_EQ(y[3][4].item().toFloat(), x[3][4].item().toFloat());
}

TEST_F(Cuda, OperandsOnTwoDevicesAreRefused) {
  const Tensor x = ones({3}), y = ones({3}).cuda();
  try {
    x + y;
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("found at least two devices, cpu and cuda:0!"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(same(y * full({}, 2.5), full({3}, 2.5))) << "0-dim CPU tensors may join";
}

TEST_F(Cuda, NumbersOfTheCpuJoinOps) {
  const Tensor x = arange(6, kFloat).cuda(), number = full({}, 2.0);
  EXPECT_TRUE(same(x.index_fill(0, arange(1, 4, 2, kLong).cuda(), number),
                   x.cpu().index_fill(0, arange(1, 4, 2, kLong), number)));
  EXPECT_TRUE(same(x.index_select(0, full({}, 4, kLong)), x.cpu().index_select(0, full({}, 4, kLong))));
  Tensor scalar = zeros({});
  try {
    scalar.add_(x.sum());
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("found at least two devices, cpu for the tensor that is written and cuda:0"),
              std::string::npos)
        << e.what();
  }
  Tensor out = empty({6});
  EXPECT_THROW(add_out(out, x, x), DeviceError);
  const Tensor leaf = full({}, 3.0).requires_grad_();
  (x * leaf).sum().backward();
  EXPECT_TRUE(leaf.grad().is_cpu());
  EXPECT_EQ(leaf.grad().item().toFloat(), 15);
}

TEST_F(Cuda, PinnedMemoryWaitsForItsCopy) {
  const Tensor target = zeros({1 << 24}, TensorOptions(kCUDA));
  for (int i = 1; i <= 20; ++i) {
    target.copy_(full({1 << 24}, i).to(kFloat).pin_memory(), true);  // the source is freed at once
    const Tensor other = full({1 << 24}, -1.0f).pin_memory();        // and must not be given away yet
    ASSERT_TRUE(target.eq(i).all().item().toBool()) << i;
  }
}

TEST_F(Cuda, PinnedCopiesDoNotWait) {
  const Tensor x = arange(1 << 20, kFloat).pin_memory();
  EXPECT_TRUE(x.is_pinned());
  EXPECT_FALSE(x.clone().is_pinned());
  const Tensor y = x.to(Device(kCUDA), kFloat, true);
  EXPECT_TRUE(same(y, x));
}

TEST_F(Cuda, StreamsOrderByEvents) {
  const cuda::Stream side = cuda::stream_from_pool();
  EXPECT_FALSE(side == cuda::default_stream());
  Tensor x = zeros({1 << 22}, TensorOptions(kFloat).device(kCUDA));
  for (int round = 0; round < 20; ++round) {
    const cuda::Event ready = cuda::current_stream().record_event();
    Tensor y;
    {
      const cuda::StreamGuard on(side);
      EXPECT_TRUE(cuda::current_stream() == side);
      side.wait_event(ready);
      y = x + 1;
    }
    EXPECT_TRUE(cuda::current_stream() == cuda::default_stream());
    cuda::current_stream().wait_stream(side);
    x = y * 1;
  }
  EXPECT_EQ(x.min().item().toFloat(), 20);
  EXPECT_EQ(x.max().item().toFloat(), 20);
}

// A block that a side stream still reads is not given to new work when its tensor dies, without record_stream().
TEST_F(Cuda, MemoryOfASideStreamIsNotReusedEarly) {
  const cuda::Stream side = cuda::stream_from_pool();
  for (int round = 0; round < 20; ++round) {
    Tensor sum;
    {
      Tensor x = full({1 << 22}, round, TensorOptions(kFloat).device(kCUDA));
      side.wait_stream(cuda::current_stream());
      const cuda::StreamGuard on(side);
      sum = x;
      for (int i = 0; i < 10; ++i) sum = (sum + x).clone();
    }
    // On the default stream, at once into whatever memory is free.
    const Tensor noise = full({1 << 22}, -1, TensorOptions(kFloat).device(kCUDA));
    cuda::synchronize();
    EXPECT_EQ(sum.min().item().toFloat(), 11 * round);
  }
}

TEST_F(Cuda, EventsMeasureTime) {
  cuda::Event start(true), end(true);
  start.record();
  Tensor x = ones({1 << 24}, TensorOptions(kFloat).device(kCUDA));
  for (int i = 0; i < 10; ++i) x = (x * 1.5).clone();
  end.record();
  end.synchronize();
  EXPECT_TRUE(end.query());
  EXPECT_GT(start.elapsed_time(end), 0);
}

TEST_F(Cuda, ThreadsHaveStreamsOfTheirOwn) {
  std::vector<std::thread> threads;
  std::vector<float> got(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const cuda::StreamGuard on(cuda::stream_from_pool());
      Tensor x = full({100000}, t, TensorOptions(kFloat).device(kCUDA));
      for (int i = 0; i < 50; ++i) x = x + 1;
      got[static_cast<size_t>(t)] = x.max().item().toFloat();
    });
  for (std::thread& t : threads) t.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(got[static_cast<size_t>(t)], t + 50);
}

TEST_F(Cuda, PointwiseChainsAreOneKernel) {
  const Tensor x = randn({1000, 1000}).cuda(), b = randn({1000}).cuda();
  exec::flush();
  const exec::WindowStats before = exec::window_stats();
  const Tensor y = ((x + b) * 2).sigmoid() - x;
  const Tensor host = y.cpu();
  const exec::WindowStats after = exec::window_stats();
  EXPECT_EQ(after.groups - before.groups, 1u);
  EXPECT_EQ(after.elided - before.elided, 3u);
  const exec::WindowMode mode = exec::window_mode();
  exec::set_window_mode(exec::WindowMode::kEager);
  const Tensor eager = ((x + b) * 2).sigmoid() - x;
  exec::set_window_mode(mode);
  EXPECT_TRUE(same(host, eager)) << "fused and unfused bits";
  EXPECT_TRUE(host.allclose(((x.cpu() + b.cpu()) * 2).sigmoid() - x.cpu(), 1e-5, 1e-6));
}

}  // namespace
}  // namespace argand
