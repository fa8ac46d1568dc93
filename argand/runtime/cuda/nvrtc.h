// Compiles the texts of kernels to machine code.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace argand::cuda {

// A request for a kernel: `name` with its namespace ("argand::softmax<float, 4>"), in a text that may include the
// headers of the library that are meant for devices.
struct KernelRequest {
  std::string source, name;
};

struct MachineCode {
  std::string code;                // machine code; PTX for "compute_90"
  std::vector<std::string> names;  // of the kernels in it, as asked for
};

// Compiles kernels of one text for an architecture ("sm_90"), without a device; Error with the log.  With `ptx` it is
// given the PTX that the machine code was made of.  Thread-safe.
MachineCode compile_text(const std::string& source, std::span<const std::string> names, const std::string& arch,
                         std::string* ptx = nullptr);

// A hash of all that the code depends on: text, name, architecture, options, the headers that the text includes,
// NVRTC's version.  64 hexadecimal digits.
std::string content_key(const KernelRequest& kernel, const std::string& arch);

}  // namespace argand::cuda
