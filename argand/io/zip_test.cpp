// The wide numbers of zip archives (zip64), and that what cannot be a checkpoint is refused before it is read.
#include "argand/io/zip.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>

#include "argand/io/bad_input_test.h"
#include "argand/io/folder_test.h"
#include "argand/io/format_error.h"
#include "argand/io/load.h"

namespace argand::io {
namespace {

using namespace testing;

ZipDirectory::Allow all(std::string_view) { return ZipDirectory::Allow::kStored; }

std::string error_of(std::string_view bytes) {
  try {
    const MemorySource source("f", bytes);
    const ZipDirectory zip(source, 100, all);
    for (const ZipMember& m : zip.members()) zip.read(m, int64_t{1} << 20);
  } catch (const FormatError& e) {
    return e.msg();
  }
  return "";
}

// An archive of one member whose numbers stand in its extra fields: what each of the two says, in their order.
std::string wide(std::initializer_list<uint64_t> local, std::initializer_list<uint64_t> central, size_t cut = 0,
                 const std::string& before = "") {
  const std::string bytes = "abcd", name = "a/x", none = number(0xFFFFFFFF, 4);
  const auto extra = [&](std::initializer_list<uint64_t> values) {
    std::string out;
    for (const uint64_t v : values) out += number(v, 8);
    out.resize(out.size() - cut);
    return before + number(1, 2) + number(out.size(), 2) + out;
  };
  const std::string kind = number(45, 2) + number(0, 4) + number(0, 4) + number(crc32_of("abcd", 4), 4) + none + none;
  const std::string head =
      "PK\3\4" + kind + number(3, 2) + number(extra(local).size(), 2) + name + extra(local) + bytes;
  const std::string directory = "PK\1\2" + number(45, 2) + kind + number(3, 2) + number(extra(central).size(), 2) +
                                number(0, 10) + none + name + extra(central);
  return head + directory + "PK\5\6" + number(0, 4) + number(1, 2) + number(1, 2) + number(directory.size(), 4) +
         number(head.size(), 4) + number(0, 2);
}

TEST(Zip, WideNumbersOfMembers) {
  EXPECT_EQ(error_of(wide({4, 4}, {4, 4, 0})), "");
  EXPECT_EQ(error_of(wide({4, 4}, {4, 4, 0}, 0, "FB" + number(2, 2) + "ZZ")), "") << "behind another field";
  const auto expect = [](const std::string& bytes, const char* says) {
    EXPECT_NE(error_of(bytes).find(says), std::string::npos) << says << ", got " << error_of(bytes);
  };
  expect(wide({4, 4}, {4, 4}), "its extra field is damaged");
  expect(wide({4, 4}, {4, 4, 0}, 1), "its extra field is damaged");
  expect(wide({4, 4}, {4, 4, 0}, 0, number(1, 2) + number(0, 2)), "its extra field is damaged");
  expect(wide({4, 4}, {4, 4, 0}, 0, "FB" + number(60, 2)), "its extra field is damaged");
  expect(wide({4, 5}, {4, 4, 0}), "its two headers differ");
  expect(wide({5, 4}, {4, 4, 0}), "its two headers differ");
  expect(wide({4}, {4, 4, 0}), "its two headers differ");
  expect(wide({4, 4}, {5, 4, 0}), "it is stored, but has 5 bytes in 4");
  for (const uint64_t far : {uint64_t{1} << 40, uint64_t{1} << 63, ~uint64_t{0}}) {
    expect(wide({far, far}, {far, far, 0}), "it lies outside of the file");
    expect(wide({4, 4}, {4, 4, far}), "it lies outside of the file");
  }
  expect(wide({4, 4}, {4, 4, 1}), "leave holes");
}

// The output of a writer, in which one long piece consists of zeros that are not stored.
class Pieces final : public ByteSource {
 public:
  Pieces() : ByteSource("pieces") {}
  void add(const void* data, size_t count) {
    if (count < kLong) {
      text_.emplace_back(size_, std::string(static_cast<const char*>(data), count));
    }
    size_ += static_cast<int64_t>(count);
  }
  void read(int64_t offset, void* out, size_t count) const override {
    std::memset(out, 0, count);
    for (const auto& [at, text] : text_) {
      const int64_t first = std::max(at, offset),
                    last = std::min(at + static_cast<int64_t>(text.size()), offset + static_cast<int64_t>(count));
      if (first < last)
        std::memcpy(static_cast<char*>(out) + (first - offset), text.data() + (first - at),
                    static_cast<size_t>(last - first));
    }
  }

 private:
  static constexpr size_t kLong = size_t{1} << 30;
  std::vector<std::pair<int64_t, std::string>> text_;
};

TEST(Zip, MembersBeyondFourGiB) {
  const size_t size = (size_t{1} << 32) + 5;
  void* const zeros = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  Pieces file;
  ZipWriter writer("a", [&](const void* data, size_t count) { file.add(data, count); });
  writer.add("data/0", zeros, size);
  writer.add("data/1", "behind it");
  writer.finish();
  ::munmap(zeros, size);
  const ZipDirectory zip(file, 100, all);
  ASSERT_EQ(zip.members().size(), 2U);
  EXPECT_EQ(zip.members()[0].size, static_cast<int64_t>(size));
  EXPECT_GT(zip.members()[1].header, int64_t{1} << 32);
  EXPECT_EQ(zip.members()[1].begin % 64, 0);
  EXPECT_EQ(zip.read(zip.members()[1], 100), "behind it");
}

TEST(Zip, MoreMembersThanSixteenBitsCount) {
  std::string bytes;
  ZipWriter writer("a", [&](const void* data, size_t count) { bytes.append(static_cast<const char*>(data), count); });
  for (int i = 0; i < 66'000; ++i) writer.add(str("data/", i), "");
  writer.finish();
  const MemorySource source("f", bytes);
  EXPECT_EQ(ZipDirectory(source, 66'000, all).members().size(), 66'000U);
  EXPECT_THROW(ZipDirectory(source, 65'999, all), FormatError);
}

// ---- files that are none

template <class F>
std::string thrown(F f) {
  try {
    f();
  } catch (const FileError& e) {
    return e.msg();
  }
  return "";
}

TEST(SpecialFiles, AreRefusedAtOnce) {
  const TestFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto error = [](const std::string& path) { return thrown([&] { load(path); }); };
  EXPECT_NE(error(folder / "pipe").find("it is a pipe"), std::string::npos);
  EXPECT_NE(error(folder.path()).find("it is a folder"), std::string::npos);
  EXPECT_NE(error("/dev/zero").find("it is a device"), std::string::npos);
  EXPECT_NE(error("/proc/self/mem"), "");
  EXPECT_NE(error("/proc/self/environ"), "");
  ASSERT_EQ(::symlink("/dev/zero", (folder / "link").c_str()), 0);
  EXPECT_NE(error(folder / "link").find("it is a device"), std::string::npos);
}

TEST(SpecialFiles, ThatAreCutWhileTheyAreRead) {
  const TestFolder folder;
  save_torch(folder / "f", Value(std::string(5000, 'x')));
  const InputFile file(folder / "f");
  ASSERT_EQ(::truncate((folder / "f").c_str(), 100), 0);
  EXPECT_NE(thrown([&] { load(file); }).find("ends at byte"), std::string::npos);
  for (const bool mmap : {false, true}) {
    LoadOptions options;
    options.mmap = mmap;
    const std::string path = folder.put("g", file_with(kGood));
    const InputFile other(path);
    ASSERT_EQ(::truncate(path.c_str(), 50), 0);
    EXPECT_NE(thrown([&] { load(other, options); }), "") << mmap;
  }
}

TEST(Crc32, IsZlibs) {
  std::string bytes;
  uint32_t state = 1;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (size_t size = 0; size < 400; ++size)
    for (const size_t at : {0, 1, 7, 13})
      for (const uint32_t before : {0U, 1U, 0xFFFFFFFFU, 0x12345678U}) {
        const auto expected = ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data() + at), size);
        ASSERT_EQ(crc32_of(bytes.data() + at, size, before), expected) << size << " at " << at;
      }
  EXPECT_EQ(crc32_of(bytes.data(), 5000), ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), 5000));
  EXPECT_EQ(crc32_of("123456789", 9), 0xCBF43926);  // the check value of its catalogues
}

}  // namespace
}  // namespace argand::io
