// Compiled kernels on disk, kept between processes: $ARGAND_CACHE_DIR/kernels, or ~/.cache/argand/kernels.  It never
// fails: a kernel that cannot be read is compiled again, and one that cannot be written is compiled in each process.
#pragma once
#include <string>

namespace argand::cuda {

// One kernel: its name in the code, and the code (machine code or PTX).
struct CompiledKernel {
  std::string lowered_name, code;
};

// By content_key().
bool is_cached(const std::string& key);  // the file may still be damaged
bool read_cached(const std::string& key, CompiledKernel& out);
void write_cached(const std::string& key, const CompiledKernel& kernel);

}  // namespace argand::cuda
