// Loads beside each other share nothing, and take time linear in the file.
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <thread>

#include "argand/io/bad_input_test.h"
#include "argand/io/format_error.h"
#include "argand/io/idx.h"
#include "argand/io/safetensors.h"
#include "argand/io/torch_file.h"

namespace argand::io {
namespace {

using namespace testing;

std::string safetensors_of(const std::string& header) { return number(header.size(), 8) + header; }
std::string entry(const std::string& name, size_t at) {
  return "\"" + name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(at) + "," +
         std::to_string(at + 1) + "]}";
}
std::string safetensors_with(size_t tensors) {
  std::string header = "{";
  for (size_t i = 0; i < tensors; ++i) header += (i ? "," : "") + entry("t" + std::to_string(i), i);
  return safetensors_of(header + "}") + std::string(tensors, '\1');
}
std::string pickle_with(size_t values) {
  std::string body = "]";
  for (size_t i = 0; i < values; i += 1000) {
    body += "(";
    for (size_t k = 0; k < 1000; ++k) body += integer(static_cast<int64_t>(i + k));
    body += "e";
  }
  return file_with(pickle(body));
}
std::string members_with(size_t members) {
  std::vector<Member> all = checkpoint(kGood);
  for (size_t i = 1; i < members; ++i) all.push_back({"a/data/" + std::to_string(i), ""});
  return Archive{all}.bytes();
}

TEST(Loads, BesideEachOtherShareNothing) {
  const std::string good = file_with(kGood), cyclic = file_with(pickle(std::string("]q\0h\0a", 6))),
                    tensors = safetensors_with(50), lying = safetensors_of(R"({"a":{"dtype":"F32"}})"),
                    deep = file_with(pickle(std::string(300, ']') + std::string(299, 'a')));
  const auto fails = [](const std::string& bytes) {
    try {
      load_torch(MemorySource("f", bytes));
    } catch (const FormatError& e) {
      return e.msg();
    }
    return std::string();
  };
  const std::string cycle = fails(cyclic), depth = fails(deep);
  ASSERT_NE(cycle, "");
  ASSERT_NE(depth, "");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(load_torch(MemorySource("f", good)).tensor().item<float>(), 1);
        EXPECT_EQ(fails(cyclic), cycle);
        EXPECT_EQ(fails(deep), depth);
        EXPECT_EQ(load_safetensors(MemorySource("s", tensors)).tensors.keys().size(), 50U);
        EXPECT_THROW(load_safetensors(MemorySource("s", lying)), FileError);
      }
    });
  for (std::thread& t : threads) t.join();
}

double seconds_of(const std::function<void()>& f) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double begin = now();
    f();
    least = std::min(least, now() - begin);
  }
  return least;
}

// Ten times as much may take thirty times as long, for caches and noise; what is quadratic takes a hundred times.  What
// takes less than a millisecond counts as that: there the first touch of the larger memory is most of the time.
TEST(Loads, TakeTimeLinearInTheFile) {
  LoadOptions options;
  options.max_tensors = 100'000;
  const auto expect_linear = [&](const char* what, const std::function<std::string(size_t)>& file, size_t n,
                                 const std::function<void(const ByteSource&)>& load) {
    const std::string few = file(n), many = file(10 * n);
    const double once = seconds_of([&] { load(MemorySource("f", few)); }),
                 tenfold = seconds_of([&] { load(MemorySource("f", many)); });
    EXPECT_LT(tenfold, 30 * std::max(once, 1e-3)) << what << ": " << once << " s and " << tenfold << " s";
  };
  const auto torch = [&](const ByteSource& f) { load_torch(f, options); };
  expect_linear("values of a pickle", pickle_with, 10'000, torch);
  expect_linear("members of an archive", members_with, 2'000, torch);
  expect_linear("tensors of a header", safetensors_with, 2'000, [](const ByteSource& f) { load_safetensors(f); });
  expect_linear(
      "elements of IDX",
      [](size_t n) {
        return std::string("\0\0\x08\1", 4) +
               std::string{static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
                           static_cast<char>(n)} +
               std::string(n, '\2');
      },
      1'000'000, [](const ByteSource& f) { read_idx(f); });
}

}  // namespace
}  // namespace argand::io
