// Public headers include this first, so that a compiler of an older standard reports this message first.
#pragma once

#if __cplusplus < 202002L
#error \
    "Argand's headers are C++20: compile with -std=c++20 (the CMake targets argand::argand and argand::torch bring it)"
#endif
