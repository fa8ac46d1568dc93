// c10::complex is std::complex.
#pragma once
#include <complex>

#include "c10/namespaces.h"

namespace c10 {
template <class T>
using complex = std::complex<T>;
}  // namespace c10
