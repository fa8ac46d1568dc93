// Guards, seeds and warnings.
#pragma once
#include <memory>

#include "torch/types.h"

namespace torch {
namespace utils {}  // namespace utils
using std::make_unique;

// There is one pool of threads, which starts by itself.
inline void init_num_threads() {}
inline void set_num_interop_threads(int) {}
inline int get_num_interop_threads() { return 1; }
}  // namespace torch
