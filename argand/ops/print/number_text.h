// How Python writes the elements of one tensor: all in one format, chosen from all of them.
#pragma once
#include <charconv>
#include <string>
#include <vector>

#include "argand/ops/print/print.h"

namespace argand::ops {

// The texts of elements, and the width that the format reserves for each (a text may be longer: nan among 1., 2.).
struct Column {
  std::vector<std::string> texts;  // filled up with spaces on the left to `width`
  int64_t width = 1;
};

// A finite or infinite value with `precision` digits; a NaN is "nan" or "-nan".  Not by <ostream> or printf, whose
// decimal point depends on the locale.
std::string number_text(double value, std::chars_format format, int precision);

Column integer_column(const std::vector<int64_t>& values);
Column bool_column(const std::vector<bool>& values);
Column float_column(const std::vector<double>& values, const PrintOptions& options);
Column complex_column(const Column& real, const Column& imag);

}  // namespace argand::ops
