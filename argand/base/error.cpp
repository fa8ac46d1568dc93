#include "argand/base/error.h"

namespace argand::detail {

void assert_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(str("internal error (please report it): ", condition, " is false at ", file, ":", line,
                          message.empty() ? "" : ": ", message));
}

}  // namespace argand::detail
