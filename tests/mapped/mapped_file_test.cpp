// Files that are cut while they are mapped: Note [Bytes that go].
#include "argand/runtime/cpu/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "argand/argand.h"
#include "argand/core/watched_bytes.h"
#include "argand/runtime/cpu/bus_errors.h"

namespace argand {
namespace {

constexpr int64_t kCount = 1 << 18;  // enough for several threads
constexpr size_t kBytes = kCount * sizeof(float);

class Cut : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/argand_mapped_XXXXXX";
    file_ = mkstemp(name);
    path_ = name;
    ASSERT_EQ(ftruncate(file_, kBytes), 0);
  }
  void TearDown() override {
    close(file_);
    std::remove(path_.c_str());
  }
  Tensor over(StoragePtr storage) {
    return Tensor(make_intrusive<TensorImpl>(std::move(storage), Dims{kCount}, Dims{1}, 0, kFloat));
  }
  Tensor mapped(bool shared) { return over(map_file(dup(file_), path_, kBytes, shared)); }
  int file_ = -1;
  std::string path_;
};

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const IoError& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(Cut, EveryLookIsAnErrorThatNamesTheFile) {
  for (const bool shared : {false, true}) {
    ASSERT_EQ(ftruncate(file_, kBytes), 0);
    const Tensor x = mapped(shared), y = ones({kCount});
    EXPECT_EQ(x.sum().item<float>(), 0);
    ASSERT_EQ(ftruncate(file_, kBytes - 4), 0);  // the end of the last page is zeros, without a signal
    const std::string said =
        "from_file: " + path_ + " was cut while it was mapped: expected 1048576 bytes, got 1048572";
    EXPECT_EQ(error_of([&] { x.sum(); }), said);
    EXPECT_EQ(error_of([&] { x[0].item(); }), said);
    EXPECT_EQ(error_of([&] { x.data_ptr(); }), said);
    EXPECT_EQ(error_of([&] { x.fill_(1); }), said);
    EXPECT_EQ(error_of([&] { y.add_(x); }), said);
    EXPECT_EQ(y.sum().item<float>(), kCount);  // nothing was read, so nothing was written
    ASSERT_EQ(ftruncate(file_, kBytes), 0);    // what was cut is gone all the same
    EXPECT_NE(error_of([&] { x.sum(); }).find("was cut for a while"), std::string::npos);
  }
}

// A file that is cut at the moment in which an op has just looked.
class CutAfterTheLook final : public WatchedBytes {
 public:
  explicit CutAfterTheLook(int file) : file_(file) {
    survive_bus_errors();
    data_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    range_ = &watch_range(data_, kBytes, "a file");
  }
  ~CutAfterTheLook() override {
    unwatch_range(*range_);
    munmap(data_, kBytes);
  }
  CutAfterTheLook(const CutAfterTheLook&) = delete;
  CutAfterTheLook& operator=(const CutAfterTheLook&) = delete;
  void* look() const override {
    if (range_->torn) ARGAND_THROW(IoError, "torn");
    EXPECT_EQ(ftruncate(file_, 8192), 0);
    return data_;
  }
  WatchedRange& range() const { return *range_; }

 private:
  int file_;
  void* data_;
  WatchedRange* range_;
};

TEST_F(Cut, WhileAnOpReads) {
  const auto torn_by = [&](const std::function<void(const Tensor&)>& f) {
    EXPECT_EQ(ftruncate(file_, kBytes), 0);
    const auto bytes = std::make_shared<CutAfterTheLook>(file_);
    const Tensor x = over(StoragePtr(watched_storage(kBytes, kCPU, bytes->range(), bytes)));
    testing::internal::CaptureStderr();
    const std::string said = error_of([&] { f(x); });
    EXPECT_NE(testing::internal::GetCapturedStderr().find("argand: a file was cut"), std::string::npos);
    return said;
  };
  Tensor y = ones({kCount}), z = ones({kCount});
  EXPECT_EQ(torn_by([&](const Tensor& x) { x.sum(); }), "torn");
  EXPECT_EQ(torn_by([&](const Tensor& x) { x + y; }), "torn");
  EXPECT_EQ(torn_by([&](const Tensor& x) { x.reshape({512, 512}).matmul(y.reshape({512, 512})); }), "torn");
  EXPECT_EQ(torn_by([&](const Tensor& x) { x.fill_(1); }), "torn");
  EXPECT_EQ(torn_by([&](const Tensor& x) { x[kCount - 1].item(); }), "torn");
  EXPECT_EQ(torn_by([&](const Tensor& x) { equal(x, z); }), "torn");
  // What was half written is lost until it is written anew.
  EXPECT_EQ(torn_by([&](const Tensor& x) { y.add_(x); }), "torn");
  EXPECT_EQ(error_of([&] { y.sum(); }), "torn");
  y.fill_(2);
  EXPECT_EQ(y.sum().item<float>(), 2 * kCount);
}

TEST_F(Cut, ReadersOutsideGoOnAndTheNextUseIsAnError) {
  const Tensor x = mapped(true);
  const auto* data = static_cast<const volatile float*>(x.data_ptr());
  ASSERT_EQ(ftruncate(file_, 0), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(data[kCount - 1], 0);
  EXPECT_EQ(data[0], 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(path_ + " was cut"), std::string::npos);
  EXPECT_NE(error_of([&] { x.sum(); }), "no error");
}

TEST_F(Cut, OtherBusErrorsStillEndTheProcess) {
  const Tensor x = mapped(true);
  const auto fault = [&] {
    auto* other = static_cast<volatile char*>(mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file_, 0));
    [[maybe_unused]] const int cut = ftruncate(file_, 0);
    (void)other[0];
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
}

TEST_F(Cut, PlacesAreGivenBackAndManyAreHad) {
  for (int round = 0; round < 2; ++round) {
    std::vector<Tensor> all;
    for (int i = 0; i < 200; ++i) all.push_back(mapped(i % 2 == 0));
    EXPECT_TRUE(any_watched());
    for (const Tensor& x : all)
      EXPECT_EQ(watched_range_of(static_cast<char*>(x.data_ptr()) + kBytes - 1)->nbytes, kBytes);
  }
  EXPECT_FALSE(any_watched());
  EXPECT_EQ(watched_range_of(&file_), nullptr);
}

}  // namespace
}  // namespace argand
