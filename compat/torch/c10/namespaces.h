// The namespaces of LibTorch are Argand's: whatever Argand has under PyTorch's name is there under torch::, at:: and
// c10::, and what is added to Argand later, too.  Names that only LibTorch has stand in c10 or at, as there.
//
// `torch` is Argand's namespace by another spelling, so that a program may reopen `namespace torch { namespace nn {`
// and find Argand's names there (docs/design/0008-fronts.md).
#pragma once

#define torch argand

namespace argand {}
namespace c10 {
using namespace argand;
}
namespace at {
using namespace c10;
}
namespace argand {
using namespace at;
}
