// Tensors as Python's repr shows them.
#include <complex>

#include "argand/core/dispatch.h"
#include "argand/core/grad_mode.h"
#include "argand/core/watched_bytes.h"
#include "argand/exec/graph.h"
#include "argand/exec/node_names.h"
#include "argand/ops/print/number_text.h"

namespace argand {
namespace {

using ops::Column;

// The elements that are shown, in order, and the shape they form.
struct Shown {
  Shown(const Tensor& t, const PrintOptions& options) : tensor(t) {
    const bool summarize = t.numel() > options.threshold;
    for (const int64_t n : t.sizes()) {
      cut.push_back(summarize && n > 2 * options.edgeitems);
      sizes.push_back(cut.back() ? 2 * options.edgeitems : n);
    }
  }

  template <class F>
  void each_offset(const F& visit, size_t dim = 0, int64_t offset = 0) const {
    if (dim == sizes.size()) return visit(offset);
    for (int64_t i = 0; i < sizes[dim]; ++i) {
      const bool behind_gap = cut[dim] && i >= sizes[dim] / 2;
      const int64_t at = behind_gap ? tensor.sizes()[dim] - sizes[dim] + i : i;
      each_offset(visit, dim + 1, offset + at * tensor.strides()[dim]);
    }
  }

  template <class T, class To>
  std::vector<To> values(To (*convert)(T)) const {
    const T* data = static_cast<const T*>(tensor.impl().data());
    std::vector<To> out;
    each_offset([&](int64_t offset) { out.push_back(convert(data[offset])); });
    check_watched(*tensor.storage());
    return out;
  }

  const Tensor& tensor;
  Dims sizes;
  std::vector<bool> cut;
};

Column column_of(const Shown& shown, const PrintOptions& options) {
  return dispatch<kAllTypes>(shown.tensor.dtype(), "to_string", [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) {
      return ops::complex_column(
          ops::float_column(shown.values<T, double>([](T v) { return static_cast<double>(v.real()); }), options),
          ops::float_column(shown.values<T, double>([](T v) { return static_cast<double>(v.imag()); }), options));
    } else if constexpr (std::is_same_v<T, bool>) {
      return ops::bool_column(shown.values<T, bool>([](T v) { return v; }));
    } else if constexpr (std::is_integral_v<T>) {
      return ops::integer_column(shown.values<T, int64_t>([](T v) { return static_cast<int64_t>(v); }));
    } else {
      return ops::float_column(
          shown.values<T, double>([](T v) { return static_cast<double>(static_cast<op_math_t<T>>(v)); }), options);
    }
  });
}

// The nested brackets around the texts.
class Brackets {
 public:
  Brackets(const Shown& shown, const Column& column, const PrintOptions& options)
      : shown_(shown), column_(column), options_(options) {}

  // `indent`: the column in which the text begins.
  std::string write(int64_t indent, size_t dim = 0) {
    if (shown_.sizes.empty()) return column_.texts[0];
    return "[" + (dim + 1 == shown_.sizes.size() ? row(indent) : rows(indent, dim)) + "]";
  }

 private:
  static std::string new_line(size_t lines, int64_t indent) {
    return "," + std::string(lines, '\n') + std::string(static_cast<size_t>(indent) + 1, ' ');
  }

  std::string rows(int64_t indent, size_t dim) {
    const std::string separator = new_line(shown_.sizes.size() - dim - 1, indent);
    std::string out;
    for (int64_t i = 0; i < shown_.sizes[dim]; ++i) {
      if (i > 0) out += separator;
      if (shown_.cut[dim] && i == shown_.sizes[dim] / 2) out += "..." + separator;
      out += write(indent + 1, dim + 1);
    }
    return out;
  }

  std::string row(int64_t indent) {
    const int64_t per_line = std::max(int64_t{1}, (options_.linewidth - indent) / (column_.width + 2));
    std::string out;
    int64_t in_line = 0;
    const auto put = [&](const std::string& text) {
      if (!out.empty()) out += in_line == per_line ? new_line(1, indent) : ", ";
      in_line = in_line == per_line ? 1 : in_line + 1;
      out += text;
    };
    const int64_t n = shown_.sizes.back();
    for (int64_t i = 0; i < n; ++i) {
      if (shown_.cut.back() && i == n / 2) put(" ...");
      put(column_.texts[next_++]);
    }
    return out;
  }

  const Shown& shown_;
  const Column& column_;
  const PrintOptions& options_;
  size_t next_ = 0;
};

std::string elements_text(const Tensor& t, int64_t indent, const PrintOptions& options) {
  if (t.is_meta()) return "...";
  if (t.numel() == 0) return "[]";
  const NoGradGuard no_grad;
  const Tensor host = t.is_cpu() ? t : t.cpu();
  const Shown shown(host, options);
  const Column column = column_of(shown, options);
  return Brackets(shown, column, options).write(indent);
}

std::string size_text(IntArrayRef sizes) {
  std::string out = "size=(";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  return out + (sizes.size() == 1 ? ",)" : ")");
}

// Whether the elements alone tell the dtype.
bool is_default(ScalarType t) {
  const ScalarType floating = get_default_dtype();
  return t == floating || t == to_complex_type(floating) || t == kLong || t == kBool;
}

// The text after the elements: device='meta', size=(0, 3), dtype=torch.int32, grad_fn=<MulBackward0>.
std::vector<std::string> suffixes_of(const Tensor& t) {
  std::vector<std::string> out;
  if (!t.is_cpu()) out.push_back("device='" + t.device().str() + "'");
  const bool empty = t.is_meta() || t.numel() == 0;
  if (t.is_meta() || (empty && t.dim() != 1)) out.push_back(size_text(t.sizes()));
  if (empty ? t.dtype() != get_default_dtype() : !is_default(t.dtype()))
    out.push_back(std::string("dtype=torch.") + dtype_name(t.dtype()));
  try {
    if (const auto node = t.grad_fn())
      out.push_back("grad_fn=<" + autograd::class_name(*node) + ">");
    else if (t.requires_grad())
      out.emplace_back("requires_grad=True");
  } catch (const GradError&) {  // a view that was not recorded, and whose memory was written since
    out.emplace_back("grad_fn=<Invalid>");
  }
  return out;
}

}  // namespace

std::string to_string(const Tensor& t, const PrintOptions& options) {
  ARGAND_CHECK(ValueError, options.precision >= 0 && options.precision <= 1000,
               "to_string: expected precision in [0, 1000], got ", options.precision);
  ARGAND_CHECK(ValueError, options.edgeitems > 0, "to_string: expected edgeitems > 0, got ", options.edgeitems);
  if (!t.defined()) return "None";
  const std::string prefix = "tensor(";
  const auto indent = static_cast<int64_t>(prefix.size());
  std::string out = prefix + elements_text(t, indent, options);
  const size_t last_break = out.rfind('\n');
  // PyTorch's own count, which is 2 more than the characters of a single line and 1 more than those of a last line.
  int64_t in_line =
      static_cast<int64_t>(last_break == std::string::npos ? out.size() + 2 : out.size() - last_break + 1);
  for (const std::string& suffix : suffixes_of(t)) {
    const auto length = static_cast<int64_t>(suffix.size());
    if (in_line + length + 2 > options.linewidth) {
      out += ",\n" + std::string(prefix.size(), ' ') + suffix;
      in_line = indent + length;
    } else {
      out += ", " + suffix;
      in_line += length + 2;
    }
  }
  return out + ")";
}

std::string to_string(const Tensor& t) { return to_string(t, PrintOptions()); }

}  // namespace argand
