// Arguments that an op accepts but that have no effect.  Thread-safe.
#pragma once
#include <functional>
#include <string_view>

namespace argand {

// Warns that `argument` of `op` has no effect, and why: once for each argument of an op, or each time if warns_always()
// (argand/base/log.h).  With ARGAND_STRICT=1 in the environment it throws a ValueError instead, each time.
void warn_ignored(std::string_view op, std::string_view argument, std::string_view reason);

using IgnoredFunction = std::function<void(std::string_view op, std::string_view argument, std::string_view reason)>;

// Installs a handler that replaces the above and also decides how often to warn; an empty one restores the above. What
// it throws reaches the caller of the op.  Returns the previous handler.
IgnoredFunction set_ignored_handler(IgnoredFunction handler);

}  // namespace argand
