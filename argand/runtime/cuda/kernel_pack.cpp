#include "argand/runtime/cuda/kernel_pack.h"

#include <dlfcn.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "argand/base/env.h"
#include "argand/base/error.h"
#include "argand/base/sha256.h"

namespace argand::cuda {
namespace {

constexpr std::string_view kMagic = "argandK1";
constexpr size_t kDigest = 32, kHeader = kMagic.size() + kDigest + sizeof(uint32_t);
constexpr size_t kModule = 32, kEntry = 24;
constexpr uint32_t kMostUnpacked = 1u << 28;  // a damaged size must not ask for the whole memory

using Half = std::array<uint8_t, 16>;
Half half_digest(std::string_view bytes) {
  Half out;
  std::copy_n(Sha256().update(bytes).digest().begin(), out.size(), out.begin());
  return out;
}

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }
Half key_bytes(const std::string& key) {
  Half out;
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(digit(key[2 * i]) * 16 + digit(key[2 * i + 1]));
  return out;
}

template <class T>
void put(std::string& to, const T& x) {
  to.append(reinterpret_cast<const char*>(&x), sizeof(x));
}
// Bounds were checked.
template <class T>
T take(const char*& from) {
  T x;
  std::memcpy(&x, from, sizeof(x));
  from += sizeof(x);
  return x;
}

std::string packed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, 0);
  const int result = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_DEFAULT_COMPRESSION);
  ARGAND_ASSERT(result == Z_OK, "zlib: ", result);
  out.resize(size);
  return out;
}

// `size` bytes at an offset of a file, or fewer.
std::string read_part(std::ifstream& file, uint64_t offset, size_t size) {
  std::string out(size, 0);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(out.data(), static_cast<std::streamsize>(size));
  out.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return out;
}

}  // namespace

std::string pack_bytes(const std::vector<PackModule>& modules) {
  struct Entry {
    Half key;
    uint32_t module, name;
  };
  std::vector<Entry> entries;
  std::vector<std::string> bodies;
  for (const PackModule& m : modules) {
    ARGAND_CHECK(ValueError, m.keys.size() == m.code.names.size(),
                 "a module of a kernel pack: expected one key per name");
    std::string body;
    for (size_t i = 0; i < m.keys.size(); ++i) {
      entries.push_back({key_bytes(m.keys[i]), static_cast<uint32_t>(bodies.size()), static_cast<uint32_t>(i)});
      body += m.code.names[i] + "\n";
    }
    bodies.push_back(body + "\n" + m.code.code);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
  std::string index, blobs;
  put(index, static_cast<uint32_t>(bodies.size()));
  put(index, static_cast<uint32_t>(entries.size()));
  const size_t index_size = index.size() + bodies.size() * kModule + entries.size() * kEntry;
  for (const std::string& body : bodies) {
    const std::string bytes = packed(body);
    put(index, static_cast<uint64_t>(kHeader + index_size + blobs.size()));
    put(index, static_cast<uint32_t>(bytes.size()));
    put(index, static_cast<uint32_t>(body.size()));
    put(index, half_digest(bytes));
    blobs += bytes;
  }
  for (const Entry& e : entries) {
    put(index, e.key);
    put(index, e.module);
    put(index, e.name);
  }
  std::string out(kMagic);
  put(out, Sha256().update(index).digest());
  put(out, static_cast<uint32_t>(index.size()));
  return out + index + blobs;
}

KernelPack::KernelPack(std::string path) : path_(std::move(path)) {
  std::error_code error;
  const uintmax_t file_size = std::filesystem::file_size(path_, error);
  std::ifstream file(path_, std::ios::binary);
  if (error || !file) return;
  const std::string header = read_part(file, 0, kHeader);
  if (header.size() != kHeader || header.compare(0, kMagic.size(), kMagic) != 0) return;
  const char* at = header.data() + kMagic.size();
  const auto digest = take<std::array<uint8_t, kDigest>>(at);
  const auto index_size = take<uint32_t>(at);
  if (index_size < 2 * sizeof(uint32_t) || index_size > file_size) return;
  const std::string index = read_part(file, kHeader, index_size);
  if (index.size() != index_size || Sha256().update(index).digest() != digest) return;
  at = index.data();
  const auto modules = take<uint32_t>(at), entries = take<uint32_t>(at);
  if (index_size != 2 * sizeof(uint32_t) + uint64_t{modules} * kModule + uint64_t{entries} * kEntry) return;
  for (uint32_t i = 0; i < modules; ++i) {
    Module& m = modules_.emplace_back();
    m.offset = take<uint64_t>(at);
    m.nbytes = take<uint32_t>(at);
    m.unpacked = take<uint32_t>(at);
    m.digest = take<Half>(at);
  }
  for (uint32_t i = 0; i < entries; ++i) {
    Entry& e = entries_.emplace_back();
    e.key = take<Half>(at);
    e.place.module = take<uint32_t>(at);
    e.place.name = take<uint32_t>(at);
  }
  nbytes_ = file_size;
}

std::optional<KernelPack::Place> KernelPack::find(const std::string& key) const {
  if (entries_.empty()) return {};
  const Half bytes = key_bytes(key);
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), bytes,
                                      [](const Entry& e, const Half& k) { return e.key < k; });
  if (found == entries_.end() || found->key != bytes) return {};
  return found->place;
}

std::optional<MachineCode> KernelPack::read(uint32_t module) const {
  if (module >= modules_.size()) return {};
  const Module& m = modules_[module];
  if (m.nbytes > nbytes_ || m.unpacked > kMostUnpacked) return {};
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes = read_part(file, m.offset, m.nbytes);
  if (bytes.size() != m.nbytes || half_digest(bytes) != m.digest) return {};
  std::string body(m.unpacked, 0);
  uLongf size = m.unpacked;
  if (uncompress(reinterpret_cast<Bytef*>(body.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                 bytes.size()) != Z_OK ||
      size != m.unpacked)
    return {};
  MachineCode out;
  size_t at = 0;
  for (size_t end; (end = body.find('\n', at)) != at; at = end + 1) {
    if (end == std::string::npos) return {};
    out.names.push_back(body.substr(at, end - at));
  }
  out.code = body.substr(at + 1);
  return out;
}

const KernelPack& kernel_pack() {
  static const KernelPack& pack = *[] {
    if (const std::optional<std::string> path = env("ARGAND_KERNEL_PACK")) return new KernelPack(*path);
    Dl_info info{};
    if (!dladdr(reinterpret_cast<void*>(&kernel_pack), &info)) return new KernelPack("");
    return new KernelPack(std::filesystem::path(info.dli_fname).replace_filename("libargand_cuda.pack").string());
  }();
  return pack;
}

std::string pack_text() {
  const KernelPack& pack = kernel_pack();
  if (pack.size() == 0) return "kernel pack: none\n";
  const auto tenths = static_cast<int64_t>(pack.nbytes() / 100000);
  return str("kernel pack: ", pack.size(), " kernels for sm_80, sm_90 and PTX, ", tenths / 10, ".", tenths % 10,
             " MB\n");
}

std::string packed_arch(int major) {
  if (major < 8) return "";
  return major == 8 ? "sm_80" : major == 9 ? "sm_90" : kPackedPtx;
}

// In NVRTC's text a kernel goes from the line with ".entry NAME(" to the next line "}".
std::string ptx_of_one(std::string_view ptx, std::string_view lowered_name) {
  constexpr std::string_view kEntryWord = ".entry ", kEnd = "\n}\n";
  std::string out;
  for (size_t word; (word = ptx.find(kEntryWord)) != ptx.npos;) {
    const size_t begin = ptx.rfind('\n', word) + 1, end = ptx.find(kEnd, word);
    const size_t next = end == ptx.npos ? ptx.size() : end + kEnd.size();
    const std::string_view name = ptx.substr(word + kEntryWord.size(), lowered_name.size() + 1);
    const bool wanted = name.starts_with(lowered_name) && name.ends_with('(');
    out += ptx.substr(0, wanted ? next : begin);
    ptx.remove_prefix(next);
  }
  return out.append(ptx);
}

}  // namespace argand::cuda
