// Note [Kernel pack]
// libargand_cuda.pack, a file beside libargand_cuda.so, holds kernels that were compiled when the library was built: a
// first run loads them and need not compile.  An entry is found by its content_key(), so one that was made from other
// texts, headers or options, or by another NVRTC, is never found.  A missing or damaged file counts as an empty one.
//   Machine code is for sm_80 and sm_90, which newer minor versions run as well; PTX for all later architectures.
//   Kernels that were compiled together are one module, compressed as one (zlib).
//
//   "argandK1"                       8 bytes
//   SHA-256 of the index             32
//   bytes of the index               uint32
//   index:   number of modules       uint32
//            number of entries       uint32
//            modules                 each uint64 offset in the file, uint32 bytes there, uint32 bytes uncompressed,
//                                    16 bytes of the SHA-256 of the bytes there
//            entries, by key         each 16 bytes of the key, uint32 module, uint32 which of its names
//   modules: names, each with '\n', and an empty one; then the code
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argand/runtime/cuda/nvrtc.h"

namespace argand::cuda {

// A module of a pack.
struct PackModule {
  std::vector<std::string> keys;  // content_key() of each kernel
  MachineCode code;               // of these kernels, in the same order
};
std::string pack_bytes(const std::vector<PackModule>& modules);

class KernelPack {
 public:
  // Reads the index.  The file is opened again for each module.
  explicit KernelPack(std::string path);

  size_t size() const { return entries_.size(); }  // kernels, of all architectures
  size_t nbytes() const { return nbytes_; }        // of the file; 0 without a valid index

  struct Place {
    uint32_t module, name;  // which of the module's kernels
  };
  std::optional<Place> find(const std::string& key) const;
  // Returns nothing if the file is damaged there, or was removed.
  std::optional<MachineCode> read(uint32_t module) const;

 private:
  struct Module {
    uint64_t offset;
    uint32_t nbytes, unpacked;
    std::array<uint8_t, 16> digest;
  };
  struct Entry {
    std::array<uint8_t, 16> key;
    Place place;
  };

  std::string path_;
  size_t nbytes_ = 0;
  std::vector<Module> modules_;
  std::vector<Entry> entries_;
};

// The pack of the running library; ARGAND_KERNEL_PACK=FILE selects another one, ARGAND_KERNEL_PACK= none.
const KernelPack& kernel_pack();

// "kernel pack: 2208 kernels for sm_80, sm_90 and PTX, 3.5 MB", or none; one line, to be printed.
std::string pack_text();

inline constexpr const char* kPackedPtx = "compute_90";  // with all that Note [Kernels start early] needs

// The architecture whose code in the pack runs on a device of this major version: "sm_80", "sm_90", for later ones
// kPackedPtx; "" for older ones.
std::string packed_arch(int major);

// A PTX text without its other kernels: a driver would compile all of them.
std::string ptx_of_one(std::string_view ptx, std::string_view lowered_name);

}  // namespace argand::cuda
