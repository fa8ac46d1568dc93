// What is checked of every op; each is a gtest suite with one test per op.  A failure is a gtest failure whose trace
// names op, sample, dtype, layouts and mode.
#pragma once
#include "tests/conformance/op_case.h"

namespace argand::conformance {

void check_values(const OpCase& c);
void check_inplace(const OpCase& c);
void check_out(const OpCase& c);
void check_gradient(const OpCase& c);
void check_gradient_layouts(const OpCase& c);
void check_forward_mode(const OpCase& c);
void check_error_samples(const OpCase& c);
void check_unsupported_dtypes(const OpCase& c);
void check_wrong_tensors(const OpCase& c);
void check_without_elements(const OpCase& c);
void check_meta(const OpCase& c);
void check_threads(const OpCase& c);
void check_kernels(const OpCase& c);
void check_autocast(const OpCase& c);
void check_boxed(const OpCase& c);

}  // namespace argand::conformance
