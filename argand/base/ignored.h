// Arguments that an op accepts and cannot honour.  Thread-safe.
#pragma once
#include <functional>
#include <string_view>

namespace argand {

// Says that `argument` of `op` changes nothing, and why: a warning, once for each argument of an op, or each time where
// warns_always() (argand/base/log.h).  With ARGAND_STRICT=1 in the environment it is a ValueError instead, each time.
void warn_ignored(std::string_view op, std::string_view argument, std::string_view reason);

using IgnoredFunction = std::function<void(std::string_view op, std::string_view argument, std::string_view reason)>;

// Installs what is called in the place of the above, which then also says it how often; an empty one stands for the
// above. What it throws reaches the caller of the op.  Returns the one before.
IgnoredFunction set_ignored_handler(IgnoredFunction handler);

}  // namespace argand
