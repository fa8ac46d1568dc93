#include "argand/core/float32_precision.h"

#include <atomic>

#include "argand/base/error.h"

namespace argand {
namespace {
constinit std::atomic<bool> tf32_in_matmul{false}, tf32_in_convolution{false};
}

bool allow_tf32_matmul() { return tf32_in_matmul.load(std::memory_order_relaxed); }
void set_allow_tf32_matmul(bool on) { tf32_in_matmul.store(on, std::memory_order_relaxed); }
bool allow_tf32_cudnn() { return tf32_in_convolution.load(std::memory_order_relaxed); }
void set_allow_tf32_cudnn(bool on) { tf32_in_convolution.store(on, std::memory_order_relaxed); }

void set_float32_matmul_precision(std::string_view precision) {
  ARGAND_CHECK(ValueError, precision == "highest" || precision == "high" || precision == "medium",
               "set_float32_matmul_precision: expected \"highest\", \"high\" or \"medium\", got \"", precision, "\"");
  set_allow_tf32_matmul(precision != "highest");
}

std::string get_float32_matmul_precision() { return allow_tf32_matmul() ? "high" : "highest"; }

}  // namespace argand
