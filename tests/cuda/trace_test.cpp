// Traces: what they hold, and that on a GPU they show copies of the next batch beside the work with this one.
#include "argand/exec/trace.h"

#include <algorithm>
#include <thread>

#include "argand/data/data_loader.h"
#include "argand/data/prefetcher.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

using tracing::RecordedSpan;

std::vector<RecordedSpan> named(const std::vector<RecordedSpan>& all, const std::string& row, const std::string& name) {
  std::vector<RecordedSpan> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](const RecordedSpan& s) { return s.row == row && s.name == name; });
  return out;
}

TEST(Trace, HostSpansNestAndHaveThreads) {
  { const tracing::Span nobody_records("before", 0); }
  tracing::Recording recording((Device(kCPU)));
  {
    const tracing::Span outer("outer", 7);
    { const tracing::Span inner("inner", 8); }
    std::thread([] { const tracing::Span other("other", 9); }).join();
  }
  const tracing::Span open("open", 10);
  const auto spans = recording.spans();
  ASSERT_EQ(spans.size(), 3U);
  const RecordedSpan &outer = spans[0], &inner = spans[1], &other = spans[2];
  EXPECT_EQ(outer.row + outer.name + inner.row + inner.name + other.row + other.name, "hostouterhostinnerhost 2other");
  EXPECT_EQ(outer.number + inner.number + other.number, 24);
  EXPECT_LE(0, outer.begin);
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_LE(inner.begin, inner.end);
  EXPECT_LE(inner.end, other.begin);
  EXPECT_LE(other.end, outer.end);
  const std::string json = recording.json();
  EXPECT_NE(json.find(R"("tid": 1, "name": "thread_name", "args": {"name": "host"}})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("args": {"number": 7}})"), std::string::npos) << json;
  EXPECT_EQ(message_of<ValueError>([] { tracing::Recording second((Device(kCPU))); }),
            "tracing::Recording: there is one already");
}

TEST(Trace, ALaterRecordingStartsAnew) {
  { tracing::Recording first((Device(kCPU))); }
  tracing::Recording second((Device(kCPU)));
  EXPECT_TRUE(second.spans().empty());
}

class CudaTrace : public CudaTest {};

// A pass over a loader, `products` matrix products a batch.
std::vector<RecordedSpan> traced_pass(int64_t batches, int64_t size, int products) {
  const int64_t side = 4096;
  const auto dataset = std::make_shared<data::TensorDataset>(ones({batches, size}));
  data::DataLoader loader(dataset, data::DataLoaderOptions(1).workers(2).pin_memory(true));
  const Tensor matrix = full({side, side}, 1.0 / side, TensorOptions(kFloat).device(kCUDA));
  tracing::Recording recording((Device(kCUDA)));
  data::Prefetcher ahead(loader, Device(kCUDA));
  int64_t number = 0;
  for (data::Example<> batch; ahead.next(batch); ++number) {
    const tracing::Span span("compute", number, "compute stream", cuda::current_stream());
    Tensor x = matrix + batch.data.sum();
    for (int i = 0; i < products; ++i) x = x.mm(matrix);
  }
  return recording.spans();
}

TEST_F(CudaTrace, HasARowForEachStream) {
  const auto spans = traced_pass(4, 1000, 1);
  for (const char* row : {"host", "compute stream"}) EXPECT_EQ(named(spans, row, "compute").size(), 4U) << row;
  for (const char* row : {"host", "copy stream"}) EXPECT_EQ(named(spans, row, "copy batch").size(), 4U) << row;
  EXPECT_EQ(named(spans, "host", "wait for batch").size(), 5U) << "the last one finds the end";
}

TEST_F(CudaTrace, CopiesOverlapWithCompute) {
  if (!kernels_run()) GTEST_SKIP() << "the dry run computes nothing";
  constexpr int64_t kBatches = 10, kElements = 16 << 20;  // 64 MiB: a millisecond on the way
  traced_pass(2, kElements, 4);                           // memory, kernels
  const auto spans = traced_pass(kBatches, kElements, 4);
  const auto copies = named(spans, "copy stream", "copy batch"), compute = named(spans, "compute stream", "compute");
  ASSERT_EQ(copies.size(), static_cast<size_t>(kBatches));
  ASSERT_EQ(compute.size(), static_cast<size_t>(kBatches));
  int beside = 0;
  for (size_t n = 0; n + 1 < copies.size(); ++n) {
    EXPECT_EQ(copies[n + 1].number, compute[n].number + 1);
    EXPECT_GE(compute[n].begin, copies[n].end - 5) << "work on batch " << n << " waits for its copy";
  }
  // How far the copies run ahead is not said, as the host does not wait for the work.
  for (const RecordedSpan& copy : copies)
    beside += std::any_of(compute.begin(), compute.end(),
                          [&](const RecordedSpan& work) { return copy.begin < work.end && work.begin < copy.end; });
  EXPECT_GE(beside, kBatches / 2) << "copies lie beside work with batches before theirs";
}

}  // namespace
}  // namespace argand
