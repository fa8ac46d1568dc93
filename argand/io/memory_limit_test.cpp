// The promise of SECURITY.md: at most twice the size of the file and 64 MiB, and time linear in it.  Each file is
// loaded in a child process that is given just so much more address space than it has.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "argand/io/bad_input_test.h"
#include "argand/io/folder_test.h"
#include "argand/io/idx.h"
#include "argand/io/load.h"

namespace argand::io {
namespace {

using namespace testing;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanLimit = false;  // their shadow memory is terabytes
#else
constexpr bool kCanLimit = true;
#endif

size_t address_space() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

// Allocates all free blocks of a mebibyte or more that earlier tests left in the heap.  A program could take its memory
// from them, and the limit on the address space would not see it.
void use_up_holes() {
  for (const size_t before = address_space(); address_space() == before;)
    if (::malloc(size_t{1} << 20) == nullptr) break;  // never freed: the process ends soon
}

enum Ending { kLoaded = 0, kRefused = 1, kOutOfMemory = 2, kOther = 3 };

// How `load` ends where it may take `bytes` of memory, and the processor time that it takes: others may use the
// machine.
Ending ending_of(const std::function<void()>& load, size_t bytes, double* seconds = nullptr) {
  const pid_t child = ::fork();
  if (child == 0) {
    use_up_holes();
    const rlimit limit{address_space() + bytes, address_space() + bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(kOther);
    try {
      load();
    } catch (const FileError& e) {
      ::_exit(kRefused);
    } catch (const std::bad_alloc&) {
      ::_exit(kOutOfMemory);
    } catch (const OutOfMemoryError&) {
      ::_exit(kOutOfMemory);
    } catch (...) {
      ::_exit(kOther);
    }
    ::_exit(kLoaded);
  }
  int status = 0;
  rusage used{};
  EXPECT_EQ(::wait4(child, &status, 0, &used), child);
  if (seconds) *seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  return WIFEXITED(status) ? static_cast<Ending>(WEXITSTATUS(status)) : kOther;
}

class MemoryLimit : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kCanLimit) GTEST_SKIP() << "a sanitizer needs more";
  }
  void expect(
      Ending ending, const std::string& bytes, const std::string& what,
      const std::function<void(const std::string&)>& read = [](const std::string& path) { load(path); }) {
    const std::string path = folder_.put("f", bytes);
    double seconds = 0;
    EXPECT_EQ(ending_of([&] { read(path); }, 2 * bytes.size() + (size_t{64} << 20), &seconds), ending) << what;
    EXPECT_LT(seconds, 10) << what;
  }
  const TestFolder folder_;
};

std::string repeated(const std::string& part, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += part;
  return out;
}

std::string safetensors(const std::string& header, const std::string& data = "") {
  return number(header.size(), 8) + header + data;
}

TEST_F(MemoryLimit, TheLimitBites) {
  EXPECT_EQ(ending_of([] { const std::string all(size_t{100} << 20, 'x'); }, size_t{64} << 20), kOutOfMemory);
  EXPECT_EQ(ending_of([] { const std::string some(size_t{50} << 20, 'x'); }, size_t{64} << 20), kLoaded);
}

TEST_F(MemoryLimit, LargeTensorsLoad) {
  const std::string data(size_t{100} << 20, '\1');
  const auto numel = static_cast<int64_t>(data.size() / 4);
  expect(kLoaded, file_with(pickle(tensor_over(storage("0", numel), 0, {numel}, {1})), data), "zip");
  expect(kLoaded, safetensors(R"({"a":{"dtype":"F32","shape":[26214400],"data_offsets":[0,104857600]}})", data),
         "safetensors");
}

TEST_F(MemoryLimit, Pickles) {
  const auto expect_pickle = [&](Ending ending, const std::string& body, const char* what) {
    expect(ending, file_with(pickle(body)), what);
  };
  expect_pickle(kRefused, "(" + repeated("]", 2'000'000) + "t", "lists");
  expect_pickle(kRefused, "(" + repeated("}", 2'000'000) + "t", "dicts");
  expect_pickle(kRefused, "](" + repeated("N", 1'000'000) + "e" + repeated("0", 5), "a list of nothing");
  expect_pickle(kRefused, "](" + repeated(text(""), 900'000) + "e", "texts");
  expect_pickle(kRefused, "](" + repeated("(", 1'000'000), "marks");
  expect_pickle(kRefused, "](" + repeated(std::string("K\0K\1\x86", 5), 900'000) + "e", "tuples");
  expect_pickle(kRefused, "](" + repeated(global("collections", "OrderedDict") + ")R", 500'000) + "e", "ordered dicts");
  std::string keys = "}(";
  for (int i = 0; i < 500'000; ++i) keys += "J" + number(static_cast<uint64_t>(i), 4) + "N";
  expect_pickle(kRefused, keys + "u", "keys");
  expect_pickle(kRefused, "](" + repeated("\x8a\xff" + std::string(254, '\1') + "\1", 40'000) + "e", "long integers");
  std::string memo = "N";
  for (int i = 0; i < 1'000'000; ++i) memo += "r" + number(static_cast<uint64_t>(i), 4);
  expect_pickle(kLoaded, memo, "memo entries");
}

TEST_F(MemoryLimit, TensorsWithoutElements) {
  // One storage, named once and then recalled, under a million tensors; and a storage for each.
  const std::string first = storage("0", 1) + std::string("q\0", 2);
  const std::string again =
      global("torch._utils", "_rebuild_tensor_v2") + std::string("q\1(h\0K\0K\1\x85q\2h\2\x89}q\3tR", 20);
  EXPECT_EQ(ending_of([&] { load_torch(MemorySource("f", file_with(pickle("](" + first + again + "e")))); },
                      size_t{64} << 20),
            kLoaded);
  expect(
      kRefused,
      file_with(pickle("](" + first + again + repeated(std::string("h\1(h\0K\0h\2h\2\x89h\3tR", 16), 1'000'000) + "e")),
      "views");
  std::vector<Member> members = checkpoint("");
  std::string body = "](";
  for (int i = 1; i < 200'000; ++i) {
    members.push_back({str("a/data/", i), ""});
    body += storage(str(i), 0);
  }
  // 200 000 members need the directory's wide numbers, which this builder has not; the reader sees them in memory.
  members[0].bytes = pickle(body + "e");
  std::string bytes;
  ZipWriter writer("a", [&](const void* data, size_t count) { bytes.append(static_cast<const char*>(data), count); });
  for (const Member& m : members) writer.add(m.name.substr(2), m.bytes);
  writer.finish();
  const std::string path = folder_.put("f", bytes);
  EXPECT_LE(ending_of([&] { load(path); }, 2 * bytes.size() + (size_t{64} << 20)), kRefused) << "storages";
}

TEST_F(MemoryLimit, Members) {
  std::string bytes;
  ZipWriter writer("a", [&](const void* data, size_t count) { bytes.append(static_cast<const char*>(data), count); });
  writer.add("data.pkl", pickle("N"));
  writer.add("version", "3\n");
  for (int i = 0; i < 1'000'000; ++i) writer.add(str("data/", i), "");
  writer.finish();
  const std::string path = folder_.put("f", bytes);
  EXPECT_LE(ending_of([&] { load(path); }, 2 * bytes.size() + (size_t{64} << 20)), kRefused);
}

TEST_F(MemoryLimit, HeadersOfSafetensors) {
  std::string many = "{", overlapping = "{", metadata = R"({"__metadata__":{)";
  for (int i = 0; i < 500'000; ++i) {
    if (i < 500'000) {
      many += str(i ? ",\"" : "\"", i, R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})");
      metadata += str(i ? ",\"" : "\"", i, R"(":"")");
    }
    if (i < 100'000) overlapping += str(i ? ",\"" : "\"", i, R"(":{"dtype":"U8","shape":[8],"data_offsets":[0,8]})");
  }
  expect(kRefused, safetensors(many + "}"), "tensors without elements");
  std::string some = "{";
  for (int i = 0; i < 30'000; ++i)
    some += str(i ? ",\"" : "\"", i, R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})");
  expect(kLoaded, safetensors(some + "}"), "as many tensors as are read");
  expect(kRefused, safetensors(overlapping + "}", std::string(8, 'x')), "tensors that overlap");
  expect(kRefused, safetensors(metadata + "}}"), "metadata");
  expect(kRefused, safetensors("{\"" + std::string(20'000'000, 'a') + "\":"), "a long name");
  expect(kRefused, safetensors(R"({"__metadata__":)" + repeated("{\"a\":", 1'000'000)), "nesting");
}

TEST_F(MemoryLimit, Compressed) {
  const auto idx = [](const std::string& path) { read_idx(path); };
  const std::string header = std::string("\0\0\x08\1", 4) + std::string("\x40\0\0\0", 4);
  expect(kRefused, gzip(header + std::string(size_t{1} << 20, 'x')), "a promise of 1 GiB", idx);
  expect(kRefused, gzip(std::string("\0\0\x08\1\0\0\0\1", 8) + std::string(size_t{300} << 20, '\0')), "a bomb", idx);
  // The image has the size that its header says, and is damaged in its last bytes.
  const std::string large =
      std::string("\0\0\x08\1", 4) + std::string("\x12\xc0\0\0", 4) + std::string(300 << 20, '\0');
  std::string damaged = gzip(large);
  damaged[damaged.size() - 7] ^= 1;
  expect(kRefused, damaged, "a wrong checksum", idx);
  expect(kRefused, gzip(large) + "x", "more behind it", idx);
}

}  // namespace
}  // namespace argand::io
