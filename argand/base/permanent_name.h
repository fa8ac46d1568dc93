// Names that are kept by their address: of the op that wrote a storage last, for the messages of errors that come
// later.
#pragma once
#include <string_view>

namespace argand {

// The same text at an address that stays valid until the process ends.  Texts that are equal have one address, so the
// memory is bounded by the number of different names.  Thread-safe.  For names that are made at run time; those of ops
// are literals.
const char* permanent_name(std::string_view name);

}  // namespace argand
