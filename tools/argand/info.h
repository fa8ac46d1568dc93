// `argand info` and `argand ops`.
#pragma once

namespace argand::cli {

// Version, devices, features and libraries and, if no GPU is used, why.
int print_info();
// Every op with its kind, dtypes, whether it can be fused, and where it runs when its tensors are on a GPU; with
// only_fallbacks, those that run on the CPU then.
int print_ops(bool only_fallbacks);

}  // namespace argand::cli
