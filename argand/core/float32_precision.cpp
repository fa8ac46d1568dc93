#include "argand/core/float32_precision.h"

#include "argand/base/error.h"

namespace argand {

void set_float32_matmul_precision(std::string_view precision) {
  ARGAND_CHECK(ValueError, precision == "highest" || precision == "high" || precision == "medium",
               "set_float32_matmul_precision: expected \"highest\", \"high\" or \"medium\", got \"", precision, "\"");
  set_allow_tf32_matmul(precision != "highest");
}

std::string get_float32_matmul_precision() { return allow_tf32_matmul() ? "high" : "highest"; }

}  // namespace argand
