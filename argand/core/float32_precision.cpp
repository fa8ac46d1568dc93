#include "argand/core/float32_precision.h"

#include <atomic>

#include "argand/base/error.h"

namespace argand {
namespace {
constinit std::atomic<bool> tf32_in_matmul{false}, tf32_in_convolution{true};
// "medium" also allows bfloat16 products.  TF32 is at least as precise, so "medium" uses it, and only the name is kept.
constinit std::atomic<bool> medium{false};
}  // namespace

bool allow_tf32_matmul() { return tf32_in_matmul.load(std::memory_order_relaxed); }
void set_allow_tf32_matmul(bool on) {
  tf32_in_matmul.store(on, std::memory_order_relaxed);
  medium.store(false, std::memory_order_relaxed);
}
bool allow_tf32_cudnn() { return tf32_in_convolution.load(std::memory_order_relaxed); }
void set_allow_tf32_cudnn(bool on) { tf32_in_convolution.store(on, std::memory_order_relaxed); }

void set_float32_precision(std::string_view precision) {
  ARGAND_CHECK(ValueError, precision == "exact" || precision == "default" || precision == "fast",
               "set_float32_precision: expected \"exact\", \"default\" or \"fast\", got \"", precision, "\"");
  set_allow_tf32_matmul(precision == "fast");
  set_allow_tf32_cudnn(precision != "exact");
}

std::string get_float32_precision() {
  if (allow_tf32_matmul()) return allow_tf32_cudnn() ? "fast" : "other";
  return allow_tf32_cudnn() ? "default" : "exact";
}

void set_float32_matmul_precision(std::string_view precision) {
  ARGAND_CHECK(ValueError, precision == "highest" || precision == "high" || precision == "medium",
               "set_float32_matmul_precision: expected \"highest\", \"high\" or \"medium\", got \"", precision, "\"");
  set_allow_tf32_matmul(precision != "highest");
  medium.store(precision == "medium", std::memory_order_relaxed);
}

std::string get_float32_matmul_precision() {
  if (!allow_tf32_matmul()) return "highest";
  return medium.load(std::memory_order_relaxed) ? "medium" : "high";
}

}  // namespace argand
