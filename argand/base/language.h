// Included first by what programs include, so that the first thing that an older standard meets is this sentence.
#pragma once

#if __cplusplus < 202002L
#error \
    "Argand's headers are C++20: compile with -std=c++20 (the CMake targets argand::argand and argand::torch bring it)"
#endif
