// libFuzzer's entry for the readers of data: the first byte chooses IDX (plain and gz), CSV, CIFAR, PNG and JPEG, and
// tar. All that may happen is a typed error, or data of the size that it says.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "argand/io/cifar.h"
#include "argand/io/file.h"
#include "argand/io/idx.h"
#include "argand/io/tar.h"
#include "argand/io/text.h"
#include "argand/vision/image.h"

namespace {

// The readers that take paths get a file without a disk behind it.
const std::string& written(const uint8_t* data, size_t size) {
  static const int fd = ::memfd_create("input", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return path;
}

void need(bool condition) {
  if (!condition) std::abort();
}

// Headers with their checksums, which no mutation finds.
std::string with_checksums(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  for (size_t at = 0; at + 512 <= text.size(); at += 512) {
    if (text.compare(at + 257, 5, "ustar") != 0) continue;
    text.replace(at + 148, 8, 8, ' ');
    unsigned sum = 0;
    for (size_t i = 0; i < 512; ++i) sum += static_cast<uint8_t>(text[at + i]);
    char digits[16];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    text.replace(at + 148, 7, digits, 7);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace argand;
  if (size == 0) return 0;
  const int which = *data++ % 5;
  --size;
  try {
    if (which == 0) {
      const io::IdxArray a = io::read_idx(written(data, size));
      int64_t numel = 1;
      for (const int64_t s : a.sizes) numel *= s;
      need(numel == a.numel());
    } else if (which == 1) {
      const io::MemorySource source("input", {reinterpret_cast<const char*>(data), size});
      io::CsvReader reader(source, {.header = size % 2 == 0});
      std::vector<std::string> row;
      size_t columns = reader.names().size();
      while (reader.next(row)) {
        need(columns == 0 || row.size() == columns);
        columns = row.size();
      }
    } else if (which == 2) {
      const auto set = io::read_cifar(written(data, size), size % 2 == 0 ? io::CifarKind::k100 : io::CifarKind::k10);
      need(set.images.size() == set.labels.size() * 3072);
    } else if (which == 4) {
      const std::string text = with_checksums(data, size);
      const io::MemorySource source("input", text);
      io::TarReader reader(source);
      int64_t end = 0;
      while (const auto member = reader.next()) {
        need(!member->name.empty() && member->name[0] != '/' && member->offset > end && member->size >= 0 &&
             member->size <= source.size() - member->offset);
        need(("/" + member->name + "/").find("/../") == std::string::npos);
        end = member->offset + member->size;
      }
    } else {
      const vision::Image image =
          vision::decode_image({data, size}, "input", {.max_side = 1024, .max_pixels = 1 << 16});
      need(image.pixels.size() == size_t(image.width) * size_t(image.height) * size_t(image.channels));
    }
  } catch (const IoError&) {
  }
  return 0;
}
