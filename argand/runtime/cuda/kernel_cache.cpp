#include "argand/runtime/cuda/kernel_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "argand/base/sha256.h"
#include "argand/base/str.h"

namespace argand::cuda {
namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  if (const char* folder = std::getenv("ARGAND_CACHE_DIR"); folder && *folder) return fs::path(folder) / "kernels";
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) return fs::path(folder) / "argand/kernels";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache/argand/kernels";
  return {};
}

fs::path file_of(const std::string& key) {
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / (key + ".cubin");
}

}  // namespace

bool is_cached(const std::string& key) {
  std::error_code error;
  return fs::exists(file_of(key), error);
}

// A file holds the lowered name of the kernel, a line break, the machine code, and the SHA-256 of all that.
bool read_cached(const std::string& key, CompiledKernel& out) {
  std::ifstream file(file_of(key), std::ios::binary);
  if (!file) return false;
  std::stringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  constexpr size_t kDigest = 64;
  if (all.size() < kDigest || sha256_hex(all.substr(0, all.size() - kDigest)) != all.substr(all.size() - kDigest))
    return false;
  all.resize(all.size() - kDigest);
  const size_t line = all.find('\n');
  if (line == std::string::npos) return false;
  out = {all.substr(0, line), all.substr(line + 1)};
  return true;
}

void write_cached(const std::string& key, const CompiledKernel& kernel) {
  const fs::path path = file_of(key);
  if (path.empty()) return;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path temporary = path.string() + str(".", getpid(), ".tmp");
  const std::string all = kernel.lowered_name + "\n" + kernel.code;
  {
    std::ofstream file(temporary, std::ios::binary);
    file << all << sha256_hex(all);
    if (!file.flush()) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(temporary, path, error);
  if (error) fs::remove(temporary, error);
}

}  // namespace argand::cuda
