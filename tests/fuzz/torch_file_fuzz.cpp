// libFuzzer's entry for the reader of PyTorch's files; tests/fuzz/run.py builds and runs it.
//
// Half of the inputs are files as they are.  The others are pickles, which are put into a good archive: otherwise the
// checksums of the archive would keep the fuzzer from ever reaching the machine behind them.  What is accepted must be
// written, read again and written to the same bytes.
#include <cstdlib>

#include "argand/io/format_error.h"
#include "argand/io/torch_file.h"
#include "argand/io/zip.h"

namespace {

using namespace argand;
using namespace argand::io;

LoadOptions options() {
  LoadOptions out;
  out.map_location = [](const std::string&) { return Device(kCPU); };
  out.pickle.opcodes = size_t{1} << 16;
  out.pickle.tree_bytes = size_t{8} << 20;
  return out;
}

std::string archive_of(std::string_view pickle) {
  std::string out;
  ZipWriter zip("a", [&](const void* data, size_t count) { out.append(static_cast<const char*>(data), count); });
  zip.add("data.pkl", pickle);
  for (const char* name : {"data/0", "data/1", "data/2"}) zip.add(name, std::string(16, '\1'));
  if (!pickle.empty() && pickle.back() == '!') zip.add("constants.pkl", "");  // objects of TorchScript are allowed
  zip.add("version", "3\n");
  zip.finish();
  return out;
}

std::string written(const Value& value) {
  std::string out;
  write_torch(value, "a", [&](const void* data, size_t count) { out.append(static_cast<const char*>(data), count); });
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string file = data[0] % 2 == 0 ? std::string(input) : archive_of(input);
  Value value;
  try {
    value = load_torch(MemorySource("input", file), options());
  } catch (const FormatError&) {
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "not a FormatError: %s\n", e.what());
    std::abort();
  }
  std::string once;
  try {
    once = written(value);
  } catch (const ValueError&) {
    return 0;  // objects of TorchScript cannot be written
  }
  if (once.size() > size_t{1} << 24) return 0;
  if (written(load_torch(MemorySource("again", once), options())) != once) {
    std::fprintf(stderr, "what was read and written is not what is read again\n");
    std::abort();
  }
  return 0;
}
