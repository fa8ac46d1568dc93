// Compiled kernels on disk, kept between processes: $ARGAND_CACHE_DIR/kernels, or ~/.cache/argand/kernels.  Degrades,
// never fails: what cannot be read is compiled again, what cannot be written is compiled in each process.
#pragma once
#include <string>

namespace argand::cuda {

// One kernel: its name in the code, and the code (machine code or PTX).
struct CompiledKernel {
  std::string lowered_name, code;
};

// By content_key().
bool is_cached(const std::string& key);  // though it may turn out to be damaged
bool read_cached(const std::string& key, CompiledKernel& out);
void write_cached(const std::string& key, const CompiledKernel& kernel);

}  // namespace argand::cuda
