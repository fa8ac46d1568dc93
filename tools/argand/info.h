// `argand info` and `argand ops`.
#pragma once

namespace argand::cli {

// Version, devices, features and libraries and, if no GPU is used, why.
int print_info();
// Every op with its kind, dtypes and whether it can be fused and differentiated.
int print_ops();

}  // namespace argand::cli
