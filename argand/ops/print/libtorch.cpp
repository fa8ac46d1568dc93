// Tensors as LibTorch (2.9 and later) streams them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>

#include "argand/core/dtype_element.h"
#include "argand/exec/copy.h"
#include "argand/ops/print/number_text.h"

namespace argand {
namespace {

using ops::number_text;

// The format of all numbers of a matrix.
struct Format {
  double scale = 1;  // printed once, numbers are divided by it
  int64_t width = 0;
  std::chars_format chars = std::chars_format::general;
  int precision = 6;

  std::string text(double v) const {
    const std::string out = number_text(v / scale, chars, precision);
    const int64_t missing = width - static_cast<int64_t>(out.size());
    return std::string(static_cast<size_t>(std::max(missing, int64_t{0})), ' ') + out;
  }
};

// Digits before the decimal point; 0 counts as one, 0.05 as -1.
double digits_of(double size) { return size == 0 ? 1 : std::floor(std::log10(size)) + 1; }

Format format_of(ArrayRef<double> values) {
  bool whole = true, any = false;
  double least = 0, most = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    const double size = std::fabs(v);
    least = any ? std::min(least, size) : size;
    most = any ? std::max(most, size) : size;
    whole = whole && v == std::ceil(v);
    any = true;
  }
  const double low = any ? digits_of(least) : 1, high = any ? digits_of(most) : 1;
  constexpr auto kScientific = std::chars_format::scientific;
  constexpr auto kFixed = std::chars_format::fixed;
  if (whole) return high > 9 ? Format{1, 11, kScientific, 4} : Format{1, static_cast<int64_t>(high) + 1};
  if (high - low > 4) return {1, std::fabs(high) > 99 || std::fabs(low) > 99 ? 12 : 11, kScientific, 4};
  if (high > 5 || high < 0) return {std::pow(10, high - 1), 7, kFixed, 4};
  return {1, static_cast<int64_t>(high == 0 ? 1 : high) + 6, kFixed, 4};
}

// As few digits as read back the same; without an exponent in [1e-4, 1e16).
std::string shortest(double v) {
  if (!std::isfinite(v)) return number_text(v, std::chars_format::general, 6);
  char buffer[32];
  const double size = std::fabs(v);
  const auto chars = v == 0 || (size >= 1e-4 && size < 1e16) ? std::chars_format::fixed : std::chars_format::scientific;
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), v, chars).ptr};
}

class Writer {
 public:
  explicit Writer(int64_t linesize) : linesize_(linesize) {}

  void tensor(ArrayRef<double> values, IntArrayRef sizes) {
    if (sizes.empty()) {
      out += shortest(values[0]) + "\n";
    } else if (!values.empty()) {
      if (sizes.size() == 1)
        vector(values);
      else if (sizes.size() == 2)
        matrix(values, sizes[0], sizes[1], 0);
      else
        matrices(values, sizes);
    }
  }

  std::string out;

 private:
  void vector(ArrayRef<double> values) {
    const Format format = format_of(values);
    if (format.scale != 1) out += shortest(format.scale) + " *\n";
    for (const double v : values) out += format.text(v) + "\n";
  }

  void matrix(ArrayRef<double> values, int64_t rows, int64_t columns, size_t indent) {
    const Format format = format_of(values);
    const std::string margin(indent, ' ');
    const int64_t fit = std::max(int64_t{1}, (linesize_ - static_cast<int64_t>(indent)) / (format.width + 1));
    for (int64_t first = 0; first < columns; first += fit) {
      const int64_t end = std::min(first + fit, columns);
      if (fit < columns) out += str(first > 0 ? "\n" : "", "Columns ", first + 1, " to ", end, margin);
      if (format.scale != 1) out += shortest(format.scale) + " *\n" + margin;
      for (int64_t row = 0; row < rows; ++row) {
        if (row > 0) out += margin + (format.scale != 1 ? " " : "");
        for (int64_t column = first; column < end; ++column)
          out += format.text(values[static_cast<size_t>(row * columns + column)]) + (column + 1 < end ? " " : "\n");
      }
    }
  }

  // The leading dimensions count with the first one fastest.
  void matrices(ArrayRef<double> values, IntArrayRef sizes) {
    const size_t leading = sizes.size() - 2;
    const int64_t rows = sizes[leading], columns = sizes[leading + 1];
    const auto count = static_cast<int64_t>(values.size()) / (rows * columns);
    Dims at(leading, 0);
    for (int64_t i = 0; i < count; ++i) {
      int64_t place = 0;
      out += i > 0 ? "\n(" : "(";
      for (size_t d = 0; d < leading; ++d) {
        place = place * sizes[d] + at[d];
        out += str(at[d] + 1, ",");
      }
      out += ".,.) = \n";
      matrix(values.slice(static_cast<size_t>(place * rows * columns), static_cast<size_t>(rows * columns)), rows,
             columns, 1);
      for (size_t d = 0; d < leading && ++at[d] == sizes[d]; ++d) at[d] = 0;
    }
  }

  int64_t linesize_;
};

std::string footer(const Tensor& t) {
  std::string out = str("[ ", t.toString(), "{");
  for (int64_t d = 0; d < t.dim(); ++d) out += str(d > 0 ? "," : "", t.size(d));
  return out + "} ]";
}

}  // namespace

std::string type_name(DeviceType device, ScalarType dtype) {
  std::string name = device_type_name(device);  // "CUDAFloatType"
  if (device == kMeta || device == kPrivateUse1)
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  else
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return str(name, dtype_cpp_name(dtype), "Type");
}
std::string Tensor::toString() const { return !defined() ? "UndefinedType" : type_name(device().type(), dtype()); }

std::ostream& print(std::ostream& out, const Tensor& t, int64_t linesize) {
  if (!t.defined()) return out << "[ Tensor (undefined) ]";
  ARGAND_CHECK(NotImplementedError, !t.is_meta(), "print: a meta tensor has no data to print");
  const Tensor host = exec::dense_clone(t.is_cpu() ? t : t.cpu(), kDouble);
  Writer writer(linesize);
  writer.tensor({static_cast<const double*>(host.impl().data()), static_cast<size_t>(host.numel())}, host.sizes());
  writer.out += footer(t);
  return out.write(writer.out.data(), static_cast<std::streamsize>(writer.out.size()));
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return print(out, t, 80); }
std::ostream& operator<<(std::ostream& out, IntArrayRef values) { return out << str(values); }
std::ostream& operator<<(std::ostream& out, ScalarType t) { return out << dtype_cpp_name(t); }

std::ostream& detail::stream_value(std::ostream& out, const Device& device) { return out << device.str(); }

std::ostream& detail::stream_value(std::ostream& out, DeviceType type) { return out << device_type_name(type); }

std::ostream& detail::stream_value(std::ostream& out, const Scalar& number) {
  if (number.isFloatingPoint()) return out << number.toDouble();
  if (number.isComplex()) return out << number.to<std::complex<double>>();
  return number.isBoolean() ? out << (number.toBool() ? "true" : "false") : out << number.toLong();
}

std::ostream& detail::stream_value(std::ostream& out, Layout) { return out << "Strided"; }

std::ostream& detail::stream_value(std::ostream& out, MemoryFormat format) {
  constexpr const char* names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << names[static_cast<int>(format)];
}

std::ostream& detail::stream_value(std::ostream& out, const TensorOptions& options) {
  const auto is_default = [](const auto& value) { return value ? "" : " (default)"; };
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  out << "TensorOptions(dtype=" << dtype_element_name(options.dtype()) << is_default(options.dtype_opt())
      << ", device=" << options.device() << is_default(options.device_opt()) << ", layout=" << options.layout()
      << is_default(options.layout_opt()) << ", requires_grad=" << flag(options.requires_grad())
      << is_default(options.requires_grad_opt()) << ", pinned_memory=" << flag(options.pinned_memory())
      << is_default(options.pinned_memory_opt()) << ", memory_format=";
  const std::optional<MemoryFormat> format = options.memory_format_opt();
  return (format ? out << *format : out << "(nullopt)") << ')';
}

void Tensor::print() const {
  if (defined())
    std::cerr << '[' << toString() << ' ' << sizes() << "]\n";
  else
    std::cerr << "[UndefinedTensor]\n";
}

}  // namespace argand
