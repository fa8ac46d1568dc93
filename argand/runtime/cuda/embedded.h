// The headers that kernels include, as texts inside the library: no toolkit is needed where it runs.  The definition is
// written at build time (tools/generate/embed.py).
#pragma once
#include <span>

namespace argand::cuda {

struct EmbeddedHeader {
  const char* name;  // as it is included: "argand/kernels/math.h"
  const char* text;
};
std::span<const EmbeddedHeader> embedded_headers();

}  // namespace argand::cuda
