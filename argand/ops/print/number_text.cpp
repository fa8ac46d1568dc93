#include "argand/ops/print/number_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace argand::ops {

std::string number_text(double value, std::chars_format format, int precision) {
  std::string out(static_cast<size_t>(std::numeric_limits<double>::max_exponent10 + precision) + 8, '\0');
  out.resize(static_cast<size_t>(std::to_chars(out.data(), out.data() + out.size(), value, format, precision).ptr -
                                 out.data()));
  return out;
}

namespace {

void align(Column& column) {
  const auto width = static_cast<size_t>(column.width);
  for (std::string& text : column.texts)
    if (text.size() < width) text.insert(0, width - text.size(), ' ');
}

void widen(Column& column, const std::string& text) {
  column.width = std::max(column.width, static_cast<int64_t>(text.size()));
}

// The values that decide the format: the finite ones other than 0.
struct Range {
  explicit Range(const std::vector<double>& values) {
    for (const double v : values) {
      if (!std::isfinite(v) || v == 0) continue;
      const double size = std::fabs(v);
      least = empty ? size : std::min(least, size);
      most = empty ? size : std::max(most, size);
      whole = whole && v == std::ceil(v);
      empty = false;
    }
  }
  bool needs_exponents() const { return most / least > 1000. || most > 1e8 || least < 1e-4; }

  double least = 1, most = 1;
  bool whole = true, empty = true;
};

}  // namespace

Column integer_column(const std::vector<int64_t>& values) {
  Column column;
  for (const int64_t v : values) widen(column, column.texts.emplace_back(std::to_string(v)));
  align(column);
  return column;
}

Column bool_column(const std::vector<bool>& values) {
  Column column;
  for (const bool v : values) widen(column, column.texts.emplace_back(v ? "True" : "False"));
  align(column);
  return column;
}

Column float_column(const std::vector<double>& values, const PrintOptions& options) {
  const Range range(values);
  const bool exponents = !range.empty && options.sci_mode.value_or(range.needs_exponents());
  const auto format = exponents ? std::chars_format::scientific : std::chars_format::fixed;
  const int precision = !exponents && range.whole ? 0 : options.precision;
  Column column;
  for (const double v : values) {
    std::string text = std::isnan(v) ? "nan" : number_text(v, format, precision);  // without the sign of a NaN
    if (!exponents && range.whole && std::isfinite(v)) text += '.';
    if (std::isfinite(v) && v != 0) widen(column, text);
    column.texts.push_back(std::move(text));
  }
  align(column);
  return column;
}

Column complex_column(const Column& real, const Column& imag) {
  Column column;
  column.width = real.width + imag.width + 1;  // the j
  for (size_t i = 0; i < real.texts.size(); ++i) {
    const std::string& im = imag.texts[i];
    const std::string trimmed = im.substr(im.find_first_not_of(' '));
    column.texts.push_back(real.texts[i] + (trimmed[0] == '-' ? "" : "+") + trimmed + "j");
  }
  return column;
}

}  // namespace argand::ops
