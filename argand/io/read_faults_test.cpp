// Every reader, with each of its system calls failing in turn: an error that says so, or the same data.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "argand/base/log.h"
#include "argand/io/checkpoint_folder.h"
#include "argand/io/cifar.h"
#include "argand/io/faulty_vfs_test.h"
#include "argand/io/folder_test.h"
#include "argand/io/idx.h"
#include "argand/io/load.h"
#include "argand/io/safetensors.h"
#include "argand/io/tar.h"
#include "argand/io/tar_test.h"
#include "argand/io/text.h"
#include "argand/ops/functions.h"

namespace argand::io {
namespace {

using testing::FaultyVfs;

// While it lives, all files are read through `vfs`.
struct Through {
  explicit Through(Vfs& vfs) { set_default_vfs(vfs); }
  ~Through() { set_default_vfs(posix_vfs()); }
  Through(const Through&) = delete;
  Through& operator=(const Through&) = delete;
};

std::string text_of(const Value& v) {
  std::string out;
  write_torch(v, "f", [&](const void* p, size_t n) { out.append(static_cast<const char*>(p), n); });
  return out;
}

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

struct Reader {
  const char* name;
  std::function<std::string()> read;  // what it gives, as bytes
};

class ReadFaults : public ::testing::Test {
 protected:
  ReadFaults() : before_(set_warning_handler([](std::string_view) {})) {}
  ~ReadFaults() override { set_warning_handler(std::move(before_)); }

  std::vector<Reader> readers() const {
    const std::string stored = "tests/data/checkpoints/";
    LoadOptions cpu, mapped;
    cpu.map_location = [](const std::string&) { return Device(kCPU); };
    mapped = cpu;
    mapped.mmap = true;
    mapped.verify = true;
    StateDict state;
    state.insert("a", arange(100, kFloat));
    state.insert("b", ones({7}, kBool));
    save_safetensors(folder_ / "1.safetensors", state);
    const std::string index =
        folder_.put("index.json", R"({"metadata":{},"weight_map":{"a":"1.safetensors","b":"1.safetensors"}})");
    const std::string idx = std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12) + "abcdef";
    CheckpointFolder(folder_ / "run").save(1, Value(arange(500)));
    CheckpointFolder(folder_ / "run").save(2, Value(arange(600)));
    const std::string cifar = folder_.put("cifar", std::string(3 * 3073, '\1')),
                      csv = folder_.put("csv", "a,b\n1,2\n3,4\n"), text = folder_.put("text", "gr\xc3\xbc\xc3\x9f"),
                      plain = folder_.put("idx", idx), packed = folder_.put("idx.gz", testing::gzip(idx)),
                      tar = folder_.put(
                          "tar", testing::tar_of(testing::TarEntry{"a.txt", "text"}, testing::TarEntry{"b", "more"}));
    return {
        {"zip", [=] { return text_of(load(stored + "values.pt", cpu)); }},
        {"zip, mapped", [=] { return text_of(load(stored + "values.pt", mapped)); }},
        {"legacy", [=] { return text_of(load(stored + "legacy.pt", cpu)); }},
        {"TorchScript", [=] { return text_of(Value(tensors_of(load(stored + "script.pt", cpu)).items()[0].value())); }},
        {"safetensors", [=, this] { return text_of(load(folder_ / "1.safetensors", cpu)); }},
        {"safetensors, mapped", [=, this] { return text_of(load(folder_ / "1.safetensors", mapped)); }},
        {"shards", [=] { return text_of(load(index, cpu)); }},
        {"folder",
         [=, this] {
           const auto loaded = CheckpointFolder(folder_ / "run").load_latest();
           // A disk that cannot read the newest file is no reason to lose the one before, and it is said.
           EXPECT_EQ(loaded.step, loaded.skipped.empty() ? 2 : 1);
           return loaded.skipped.empty() ? text_of(loaded.value) : throw FileError("fell back", "", EIO);
         }},
        {"IDX", [=] { return text_of(read_idx(plain).bytes); }},
        {"IDX, gz", [=] { return text_of(read_idx(packed).bytes); }},
        {"CIFAR", [=] { return text_of(read_cifar(cifar, CifarKind::k10).images); }},
        {"CSV", [=] { return text_of(Value(read_csv(csv))); }},
        {"text", [=] { return read_text(text); }},
        {"tar", [=] {
           const InputFile file(tar);
           TarReader reader(file);
           std::string out;
           while (const auto member = reader.next()) {
             std::string bytes(static_cast<size_t>(member->size), '\0');
             file.read(member->offset, bytes.data(), bytes.size());
             out += member->name + bytes;
           }
           return out;
         }}};
  }

  const testing::TestFolder folder_;
  WarningFunction before_;
};

TEST_F(ReadFaults, EveryCallOfEveryReader) {
  for (const Reader& reader : readers()) {
    const std::string expected = reader.read();
    ASSERT_FALSE(expected.empty()) << reader.name;
    FaultyVfs counting;
    {
      const Through through(counting);
      EXPECT_EQ(reader.read(), expected) << reader.name;
    }
    EXPECT_EQ(counting.open_files, 0) << reader.name;
    ASSERT_GE(counting.calls, 4) << reader.name << " does not read through the interface: " << counting.log;
    for (const int code : {EIO, ENOMEM, EACCES, EINTR, FaultyVfs::kEnd}) {
      for (int call = 0; call < counting.calls; ++call) {
        FaultyVfs vfs;
        vfs.fail_at = call;
        vfs.code = code;
        const std::string where = str(reader.name, ", call ", call, ", code ", code);
        bool failed = false;
        try {
          const Through through(vfs);
          EXPECT_EQ(reader.read(), expected) << where;
        } catch (const FileError& e) {
          failed = true;
          EXPECT_TRUE(e.code() == code || code == FaultyVfs::kEnd) << where << ": " << e.msg();
        }
        EXPECT_EQ(vfs.open_files, 0) << where << " leaves a file open";
        // Only a read can come to the end; a close that fails has closed.
        if (code == FaultyVfs::kEnd && vfs.failed != "read") continue;
        EXPECT_EQ(failed, code != EINTR && vfs.failed != "close") << where << " " << vfs.failed;
      }
    }
  }
}

TEST_F(ReadFaults, ShortReads) {
  for (const Reader& reader : readers()) {
    const std::string expected = reader.read();
    for (const size_t most : {1, 7, 4096}) {
      FaultyVfs vfs;
      vfs.max_read = most;
      const Through through(vfs);
      EXPECT_EQ(reader.read(), expected) << reader.name << " " << most;
      EXPECT_EQ(vfs.open_files, 0);
    }
  }
}

}  // namespace
}  // namespace argand::io
