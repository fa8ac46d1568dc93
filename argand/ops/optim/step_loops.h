// Loops over one flat run of parameters, compiled for the vector units there are.  Float types compute in float or
// double; Half and BFloat16 in float.
#pragma once
#include "argand/kernels/cpu/multiversion.h"

namespace argand::ops {

template <class Body>
struct Elements {
  ARGAND_INLINE static void run(Body body, int64_t begin, int64_t end) {
    ARGAND_VECTORIZE
    for (int64_t i = begin; i < end; ++i) body(i);
  }
};

// Runs `body(i)` for i in [begin, end), vectorised for this machine; the body must be inlinable and independent per i.
// The body is copied: through a reference the compiler would have to read its pointers anew after every store.
template <class Body>
void vectorized(const Body& body, int64_t begin, int64_t end) {
  cpu::on_vector_unit<Elements<Body>>(body, begin, end);
}

}  // namespace argand::ops
