// The zip archive around a checkpoint, judged by APPNOTE.TXT and the strict rules of docs/design/0009-checkpoints.md:
// members fill the file, both headers of each agree, nothing is compressed.
#pragma once
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/torch_judge_values.h"

namespace argand::fuzz {

struct TorchArchive {
  struct Record {
    std::string_view bytes;
    bool checksum_is_right = false;
  };
  bool good = false, script = false, big = false;
  std::string_view pickle;
  std::map<std::string, Record> records;  // without the folder

  explicit TorchArchive(std::string_view file) : s_(file) { good = read() && content(); }

 private:
  struct Entry {
    std::string name;
    uint64_t header = 0, packed = 0, size = 0;
    unsigned flags = 0, method = 0;
    uint32_t crc = 0;
  };

  uint64_t u(uint64_t at, unsigned bytes) const {
    uint64_t out = 0;
    for (unsigned i = bytes; i-- > 0;) out = out << 8 | static_cast<uint8_t>(s_[at + i]);
    return out;
  }

  // The numbers that stand in the zip64 field because they are 0xFFFFFFFF in the header.
  static bool widen(std::string_view extra, std::initializer_list<uint64_t*> numbers) {
    std::string_view wide;
    bool found = false;
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(extra[i])); };
    while (!extra.empty()) {
      if (extra.size() < 4) return false;
      const size_t id = byte(0) | byte(1) << 8, size = byte(2) | byte(3) << 8;
      if (extra.size() < 4 + size || (id == 1 && found)) return false;
      if (id == 1) wide = extra.substr(4, size), found = true;
      extra.remove_prefix(4 + size);
    }
    for (uint64_t* n : numbers) {
      if (*n != 0xFFFFFFFF) continue;
      if (wide.size() < 8) return false;
      *n = 0;
      for (size_t i = 8; i-- > 0;) *n = *n << 8 | static_cast<uint8_t>(wide[i]);
      wide.remove_prefix(8);
    }
    return true;
  }

  static bool name_is_read(const std::string& name, bool stored) {
    static constexpr const char* kPlain[] = {
        "data.pkl",        "version",           ".data/version", "byteorder", ".data/serialization_id",
        ".format_version", ".storage_alignment"};
    for (const char* plain : kPlain)
      if (name == plain) return stored;
    if (name.rfind("data/", 0) == 0)
      return stored && name.size() > 5 && name.find('/', 5) == name.npos && name != "data/." && name != "data/..";
    // The files of TorchScript beside the values: any name that stays in the folder.
    if (name != "constants.pkl" && name.rfind("code/", 0) != 0 && name.rfind("constants/", 0) != 0 &&
        name.rfind("extra/", 0) != 0 && name.rfind("traced_inputs/", 0) != 0 && name != "traced_inputs.pkl" &&
        name != "bytecode.pkl" && name != "mobile_debug_handles.pkl")
      return false;
    return name.back() != '/' && name.find("//") == name.npos && (name + "/").find("/../") == std::string::npos;
  }

  bool read() {
    const uint64_t n = s_.size();
    if (n < 22 || (s_.substr(0, 4) != "PK\3\4" && s_.substr(0, 4) != "PK\5\6")) return false;
    const uint64_t end = n - 22;
    if (s_.substr(end, 4) != "PK\5\6" || u(end + 4, 2) != 0 || u(end + 6, 2) != 0 || u(end + 8, 2) != u(end + 10, 2) ||
        u(end + 20, 2) != 0)
      return false;
    uint64_t count = u(end + 10, 2), bytes = u(end + 12, 4), first = u(end + 16, 4), behind = end;
    if (end >= 20 && s_.substr(end - 20, 4) == "PK\6\7") {
      if (end < 76 || u(end - 16, 4) != 0 || u(end - 4, 4) != 1) return false;
      behind = end - 76;
      if (u(end - 12, 8) != behind || s_.substr(behind, 4) != "PK\6\6" || u(behind + 4, 8) != 44 ||
          u(behind + 16, 8) != 0 || u(behind + 24, 8) != u(behind + 32, 8))
        return false;
      const uint64_t wide[] = {u(behind + 32, 8), u(behind + 40, 8), u(behind + 48, 8)};
      if (count != std::min<uint64_t>(wide[0], 0xFFFF) || bytes != std::min<uint64_t>(wide[1], 0xFFFFFFFF) ||
          first != std::min<uint64_t>(wide[2], 0xFFFFFFFF))
        return false;
      count = wide[0], bytes = wide[1], first = wide[2];
    } else if (count == 0xFFFF || bytes == 0xFFFFFFFF || first == 0xFFFFFFFF) {
      return false;
    }
    if (bytes > behind || first != behind - bytes || count == 0 || count > bytes / 46) return false;

    std::vector<Entry> entries;
    std::string folder;
    uint64_t at = first;
    for (uint64_t i = 0; i < count; ++i) {
      if (behind - at < 46 || s_.substr(at, 4) != "PK\1\2") return false;
      const uint64_t name = u(at + 28, 2), extra = u(at + 30, 2);
      if (u(at + 32, 2) != 0 || u(at + 34, 2) != 0 || behind - at - 46 < name + extra) return false;
      Entry e{.name = std::string(s_.substr(at + 46, name)),
              .header = u(at + 42, 4),
              .packed = u(at + 20, 4),
              .size = u(at + 24, 4),
              .flags = static_cast<unsigned>(u(at + 8, 2)),
              .method = static_cast<unsigned>(u(at + 10, 2)),
              .crc = static_cast<uint32_t>(u(at + 16, 4))};
      if (!widen(s_.substr(at + 46 + name, extra), {&e.size, &e.packed, &e.header})) return false;
      const uint64_t type = u(at + 38, 4) >> 28;  // of a file of Unix
      if ((type != 0 && type != 8) || (e.method != 0 && e.method != 8)) return false;
      if ((e.flags & ~(0x808U | (e.method == 8 ? 6U : 0U))) != 0 || (e.method == 0 && e.size != e.packed)) return false;
      if (e.size >> 63 != 0 || e.packed > first || e.header >= first) return false;
      const size_t slash = e.name.find('/');
      if (slash == 0 || slash == e.name.npos || e.name.find_first_of(std::string("\0\\", 2)) != e.name.npos ||
          !torch::is_utf8(e.name))
        return false;
      if (i == 0) folder = e.name.substr(0, slash);
      if (e.name.substr(0, slash) != folder || folder == "." || folder == "..") return false;
      if (!name_is_read(e.name.substr(slash + 1), e.method == 0)) return false;
      entries.push_back(e);
      at += 46 + name + extra;
    }
    if (at != behind) return false;

    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.header < b.header; });
    at = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry& e = entries[i];
      const uint64_t next = i + 1 < entries.size() ? entries[i + 1].header : first;
      if (e.header != at || next - at < 30 || s_.substr(at, 4) != "PK\3\4") return false;
      const uint64_t name = u(at + 26, 2), extra = u(at + 28, 2);
      if (next - at - 30 < name + extra || s_.substr(at + 30, name) != e.name) return false;
      uint64_t size = u(at + 22, 4), packed = u(at + 18, 4);
      const uint64_t crc = u(at + 14, 4);
      if (u(at + 6, 2) != e.flags || u(at + 8, 2) != e.method ||
          !widen(s_.substr(at + 30 + name, extra), {&size, &packed}))
        return false;
      const bool described = (e.flags & 8) != 0;
      const bool said = packed == e.packed && crc == e.crc && (size == e.size || e.method == 8);
      if (!said && !(described && size == 0 && packed == 0 && crc == 0)) return false;
      const uint64_t data = at + 30 + name + extra;
      if (next - data < e.packed) return false;
      const uint64_t tail = data + e.packed, left = next - tail;
      if (described) {
        if (left != 16 && left != 24) return false;
        const unsigned width = left == 16 ? 4 : 8;
        if (s_.substr(tail, 4) != "PK\7\10" || u(tail + 4, 4) != e.crc || u(tail + 8, width) != e.packed ||
            (e.method == 0 && u(tail + 8 + width, width) != e.size))
          return false;
      } else if (left != 0) {
        return false;
      }
      const std::string_view content = s_.substr(data, e.packed);
      const auto got = ::crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
      if (!records.emplace(e.name.substr(folder.size() + 1), Record{content, got == e.crc}).second) return false;
      at = next;
    }
    return true;
  }

  // The text of a record whose checksum is right.
  bool text(const char* name, std::string_view& out) const {
    const auto it = records.find(name);
    if (it == records.end() || !it->second.checksum_is_right) return false;
    out = it->second.bytes;
    return true;
  }

  bool content() {
    script = records.count("constants.pkl") > 0;
    for (const auto& [name, record] : records)
      if (!script && (name.rfind("code/", 0) == 0 || name.rfind("constants/", 0) == 0 || name.rfind("extra/", 0) == 0 ||
                      name.rfind("traced_inputs/", 0) == 0 || name == "traced_inputs.pkl" || name == "bytecode.pkl" ||
                      name == "mobile_debug_handles.pkl"))
        return false;
    std::string_view version, order;
    if (records.count("version") + records.count(".data/version") != 1) return false;
    if (!text(records.count("version") > 0 ? "version" : ".data/version", version) || !text("data.pkl", pickle))
      return false;
    if (!version.empty() && version.back() == '\n') version.remove_suffix(1);
    if (version.empty() || version.size() > 6 || version.find_first_not_of("0123456789") != version.npos) return false;
    const int number = std::stoi(std::string(version));
    if (number < 1 || number > 10) return false;
    if (records.count("byteorder") == 0) return true;
    if (!text("byteorder", order)) return false;
    big = order == "big";
    return big || order == "little";
  }

  const std::string_view s_;
};

}  // namespace argand::fuzz
