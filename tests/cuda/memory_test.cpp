// The results and the effects of the memory functions of argand::cuda.
#include <algorithm>
#include <cstring>

#include "argand/base/error.h"
#include "argand/exec/cuda_memory.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

class CudaMemory : public CudaTest {
 protected:
  void TearDown() override {
    if (find_backend(kCUDA)) cuda::set_per_process_memory_fraction(1);
  }
  static Tensor bytes(int64_t n) {
    Tensor t = empty({n}, TensorOptions(kByte).device(kCUDA));
    t.data_ptr();
    return t;
  }
};

TEST(CudaMemoryWithoutAGpu, TheReasonIsSaid) {
  std::string why;
  if (find_backend(kCUDA, &why)) GTEST_SKIP() << "there is a GPU";
  const std::string expected = "no cuda device: " + why;
  EXPECT_EQ(message_of<DeviceError>([] { cuda::memory_allocated(); }), expected);
  EXPECT_EQ(message_of<DeviceError>([] { cuda::memory_summary(); }), expected);
  EXPECT_EQ(message_of<DeviceError>([] { cuda::memory_snapshot(); }), expected);
  EXPECT_EQ(message_of<DeviceError>([] { cuda::host_memory_stats(); }), expected);
}

TEST_F(CudaMemory, CountsWhatTensorsHold) {
  cuda::empty_cache();
  const int64_t before = cuda::memory_allocated(), reserved = cuda::memory_reserved();
  cuda::reset_peak_memory_stats();
  const int64_t large = reserved + 3 * kMiB;  // more than other tests may have left in what is reserved
  Tensor a = bytes(large + 1), b = bytes(100);
  EXPECT_EQ(cuda::memory_allocated() - before, large + 512 + 512);
  EXPECT_GE(cuda::memory_reserved(), cuda::memory_allocated());
  EXPECT_GT(cuda::memory_reserved(), reserved);
  EXPECT_EQ(cuda::memory_cached(), cuda::memory_reserved());
  b = Tensor();
  a = Tensor();
  EXPECT_EQ(cuda::memory_allocated(), before);
  EXPECT_EQ(cuda::max_memory_allocated() - before, large + 1024);
  EXPECT_GT(cuda::memory_reserved(), reserved) << "kept for what comes";
  EXPECT_EQ(cuda::max_memory_reserved(), cuda::memory_reserved());
  cuda::empty_cache();
  EXPECT_EQ(cuda::memory_reserved(), reserved);
  cuda::reset_peak_memory_stats();
  EXPECT_EQ(cuda::max_memory_allocated(), before);
}

TEST_F(CudaMemory, StatsHaveTheNamesOfPyTorch) {
  const Tensor small = bytes(700), large = bytes(2 * kMiB);
  const MemoryStatsMap stats = cuda::memory_stats();
  EXPECT_GE(stats.at("requested_bytes.small_pool.current"), 700);
  EXPECT_GE(stats.at("allocated_bytes.large_pool.current"), 2 * kMiB);
  EXPECT_EQ(stats.at("allocated_bytes.all.current"),
            stats.at("allocated_bytes.small_pool.current") + stats.at("allocated_bytes.large_pool.current"));
  EXPECT_EQ(stats.at("allocation.all.current"),
            stats.at("allocation.all.allocated") - stats.at("allocation.all.freed"));
  for (const char* name : {"segment.all.peak", "reserved_bytes.all.freed", "active.small_pool.current",
                           "active_bytes.all.current", "num_alloc_retries", "num_ooms"})
    EXPECT_EQ(stats.count(name), 1u) << name;
  const std::string summary = cuda::memory_summary();
  EXPECT_NE(summary.find("allocated memory"), std::string::npos);
  EXPECT_NE(summary.find(" ms  (no op) [2097152] bytes"), std::string::npos) << summary;
}

TEST_F(CudaMemory, PinnedMemoryIsCounted) {
  const int64_t before = cuda::host_memory_stats().at("allocated_bytes.current");
  const Tensor x = ones({5000}).pin_memory();
  EXPECT_EQ(cuda::host_memory_stats().at("allocated_bytes.current") - before, 32768) << "20000 bytes as a power of two";
}

TEST_F(CudaMemory, ASnapshotNamesTheOpShapeAndTimeOfEveryBlock) {
  cuda::record_memory_history();
  Tensor x = ones({64, 64}, TensorOptions(kFloat).device(kCUDA));
  const Tensor y = x.softmax(1), sums = y.to(kDouble).sum(0), z = (sums + 1).exp(), copy = z.cpu().to(kCUDA, kHalf);
  const Tensor raw = bytes(4096);
  cuda::synchronize();
  const std::string json = cuda::memory_snapshot();
  for (const char* block :
       {"\"op\": \"copy\", \"shape\": \"[64, 64] float32\", \"time_us\": 1",
        "\"op\": \"_softmax\", \"shape\": \"[64, 64] float32\", \"time_us\": 1",
        "\"op\": \"sum\", \"shape\": \"[64] float64\", \"time_us\": 1",
        "\"op\": \"exp\", \"shape\": \"[64] float64\", \"time_us\": 1", "\"shape\": \"[64] float16\", \"time_us\": 1",
        "\"op\": \"(no op)\", \"shape\": \"[4096] bytes\", \"time_us\": 1"})
    EXPECT_NE(json.find(block), std::string::npos) << block << " is not in\n" << json;
  EXPECT_NE(json.find("\"time_us\": 1"), std::string::npos) << json;
  EXPECT_NE(json.find("\"device_traces\": [["), std::string::npos) << json;
  EXPECT_NE(json.find("{\"action\": \"alloc\""), std::string::npos) << json;
  const std::string page = cuda::memory_snapshot_html();
  EXPECT_NE(page.find(json.substr(0, json.find("\"blocks\""))), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos) << "whole in itself";
  EXPECT_EQ(page.find("http"), std::string::npos) << "whole in itself";
  cuda::record_memory_history(false);
  EXPECT_EQ(cuda::memory_snapshot().find("device_traces"), std::string::npos);
}

TEST_F(CudaMemory, FreeAndTotal) {
  const auto [free, total] = cuda::mem_get_info();
  EXPECT_GT(total, size_t{1} << 30);
  EXPECT_GT(free, 0u);
  EXPECT_LE(free, total);
}

TEST_F(CudaMemory, AFractionLimits) {
  EXPECT_EQ(message_of<ValueError>([] { cuda::set_per_process_memory_fraction(1.5); }),
            "set_memory_fraction: expected a fraction from 0 to 1, got 1.5");
  cuda::empty_cache();
  const auto total = static_cast<double>(cuda::mem_get_info().second);
  cuda::set_per_process_memory_fraction((static_cast<double>(cuda::memory_reserved()) + 64 * kMiB) / total);
  const int64_t before = cuda::memory_allocated();
  const std::string said = message_of<OutOfMemoryError>([] { bytes(100 * kMiB); });
  EXPECT_NE(said.find("set_memory_fraction limits it to"), std::string::npos) << said;
  EXPECT_EQ(cuda::memory_allocated(), before);
  bytes(30 * kMiB);
}

// Memory comes at the first look; what cannot come is an error at the call.
TEST_F(CudaMemory, ALimitIsAnErrorAtTheCall) {
  cuda::empty_cache();
  const auto total = static_cast<double>(cuda::mem_get_info().second);
  const auto fraction = (static_cast<double>(cuda::memory_reserved()) + 64 * kMiB) / total;
  EXPECT_EQ(cuda::get_per_process_memory_fraction(), 1);
  cuda::set_per_process_memory_fraction(fraction);
  EXPECT_EQ(cuda::get_per_process_memory_fraction(), fraction);
  const TensorOptions options = TensorOptions(kByte).device(kCUDA);
  const int64_t kept = cuda::memory_reserved() - cuda::memory_allocated();  // of pages that earlier tests still use
  EXPECT_NE(message_of<OutOfMemoryError>([&] {
              empty({kept + 100 * kMiB}, options);
            }).find("set_memory_fraction limits it to"),
            std::string::npos);
  const Tensor x = bytes(40 * kMiB);
  message_of<OutOfMemoryError>([&] { empty({kept + 60 * kMiB}, options); });
  const Tensor y = empty({10 * kMiB}, options);
}

// The window holds the last reference to `x`, whose memory the next allocation needs.
TEST_F(CudaMemory, PressureIssuesWhatWaits) {
  cuda::empty_cache();
  Tensor x = bytes(40 * kMiB), y;
  const auto total = static_cast<double>(cuda::mem_get_info().second);
  cuda::set_per_process_memory_fraction((static_cast<double>(cuda::memory_reserved()) + 8 * kMiB) / total);
  x.slice(0, 0, 100).add_(1);  // waits, and nobody else looks at it
  x = Tensor();
  EXPECT_NO_THROW(y = bytes(36 * kMiB));
  EXPECT_TRUE(y.defined());
}

// A window that is issued when memory is exhausted is not lost.
TEST_F(CudaMemory, TheWindowOutlivesAFailure) {
  Tensor x = zeros({1000}, TensorOptions(kFloat).device(kCUDA));
  cuda::synchronize();
  x.add_(3);
  const Tensor y = x * 2;
  MemoryMonitor& monitor = backend_of(kCUDA).memory(0);
  monitor.fail_allocation(1);
  message_of<OutOfMemoryError>([] { cuda::synchronize(); });
  const Tensor sum = x + y;
  if (!kernels_run()) return cuda::synchronize();
  EXPECT_EQ(x[0].item().toFloat(), 3);
  EXPECT_EQ(y[999].item().toFloat(), 6);
  EXPECT_EQ(sum.sum().item().toFloat(), 9000);
}

}  // namespace
}  // namespace argand
