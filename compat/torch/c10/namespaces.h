// The namespaces of LibTorch are Argand's: whatever Argand has under PyTorch's name is there under torch::, at:: and
// c10::, and what is added to Argand later, too.  Names that only LibTorch has stand in c10 or at, as there.
#pragma once

namespace argand {}
namespace c10 {
using namespace argand;
}
namespace at {
using namespace c10;
}
namespace torch {
using namespace at;
}
