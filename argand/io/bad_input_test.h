// For tests: zip archives and pickles put together piece by piece, so that each piece can lie.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "argand/io/zip.h"

namespace argand::io::testing {

inline std::string number(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(static_cast<uint8_t>(i < 8 ? value >> (8 * i) : 0));
  return out;
}

// A member with everything that can be told wrongly.
struct Member {
  std::string name, bytes = "";
  uint16_t method = 0, flags = 0;
  std::optional<uint32_t> local_size = {}, central_size = {}, central_packed = {}, header = {}, crc = {};
  uint32_t mode = 0;
  std::string local_name = "";
};

struct Archive {
  std::vector<Member> members;
  std::string before = "", after = "", comment = "";
  std::optional<uint16_t> count = {};
  std::optional<uint64_t> wide_count = {};  // with a zip64 end record

  std::string bytes() const {
    std::string out = before, directory;
    for (const Member& m : members) {
      const auto size = static_cast<uint32_t>(m.bytes.size());
      const uint32_t crc = m.crc.value_or(crc32_of(m.bytes.data(), m.bytes.size()));
      const auto at = static_cast<uint32_t>(out.size());
      const std::string& local = m.local_name.empty() ? m.name : m.local_name;
      const std::string kind = number(20, 2) + number(m.flags, 2) + number(m.method, 2) + number(0, 4) + number(crc, 4);
      out += "PK\3\4" + kind + number(m.local_size.value_or(size), 4) + number(m.local_size.value_or(size), 4) +
             number(local.size(), 2) + number(0, 2) + local + m.bytes;
      directory += "PK\1\2" + number(20, 2) + kind +
                   number(m.central_packed.value_or(m.central_size.value_or(size)), 4) +
                   number(m.central_size.value_or(size), 4) + number(m.name.size(), 2) + number(0, 8) +
                   number(uint64_t{m.mode} << 16, 4) + number(m.header.value_or(at), 4) + m.name;
    }
    const uint64_t n = count.value_or(static_cast<uint16_t>(members.size()));
    const size_t end = out.size() + directory.size();
    std::string wide;
    if (wide_count)
      wide = "PK\6\6" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) + number(*wide_count, 8) +
             number(*wide_count, 8) + number(directory.size(), 8) + number(out.size(), 8) + "PK\6\7" + number(0, 4) +
             number(end, 8) + number(1, 4);
    return out + directory + wide + "PK\5\6" + number(0, 4) + number(n, 2) + number(n, 2) +
           number(directory.size(), 4) + number(out.size(), 4) + number(comment.size(), 2) + comment + after;
  }
};

// Pickles in pieces.
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string text(const std::string& t) { return "X" + number(t.size(), 4) + t; }
inline std::string integer(int64_t v) { return "\x8a\x08" + number(static_cast<uint64_t>(v), 8); }
inline std::string pickle(const std::string& body) { return "\x80\x02" + body + "."; }
inline std::string storage(const std::string& key, int64_t numel, const char* type = "FloatStorage") {
  return "(" + text("storage") + global("torch", type) + text(key) + text("cpu") + integer(numel) + "tQ";
}
inline std::string tuple_of(std::initializer_list<int64_t> values) {
  std::string out = "(";
  for (const int64_t v : values) out += integer(v);
  return out + "t";
}
inline std::string tensor_over(const std::string& storage, int64_t offset, std::initializer_list<int64_t> sizes,
                               std::initializer_list<int64_t> strides) {
  return global("torch._utils", "_rebuild_tensor_v2") + "(" + storage + integer(offset) + tuple_of(sizes) +
         tuple_of(strides) + "\x89" + global("collections", "OrderedDict") + ")RtR";
}
inline const std::string kFour = std::string("\0\0\x80\x3f", 4);

inline std::vector<Member> checkpoint(const std::string& data_pkl, const std::string& data = kFour) {
  return {{"a/data.pkl", data_pkl}, {"a/byteorder", "little"}, {"a/data/0", data}, {"a/version", "3\n"}};
}
inline std::string file_with(const std::string& data_pkl, const std::string& data = kFour) {
  return Archive{checkpoint(data_pkl, data)}.bytes();
}
inline const std::string kGood = pickle(tensor_over(storage("0", 1), 0, {1}, {1}));

}  // namespace argand::io::testing
