// Builtins on tensors as objects (sizes, elements, devices, conversions), and ops under names or with arguments that
// the library's ops do not have.
#include <algorithm>
#include <array>

#include "argand/autograd/list.h"
#include "argand/exec/pointwise.h"
#include "argand/jit/builtins.h"
#include "argand/jit/dtype_numbers.h"
#include "argand/nn/functional/linear.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::jit {

namespace {

bool of_tensor(const BuiltinCall& c, size_t least, size_t most) {
  return c.size() >= least && c.size() <= most && c[0].isTensor();
}
const Tensor& tensor_of(const BuiltinCall& c) { return c[0].toTensor(); }
std::vector<int64_t> list_of(IntArrayRef v) { return {v.begin(), v.end()}; }

template <class F>
bool property(const BuiltinCall& c, IValue& out, F f) {
  if (!of_tensor(c, 1, 1)) return false;
  out = IValue(f(tensor_of(c)));
  return true;
}
// A property as a row of the table.
#define ARGAND_PROPERTY(name, expression)                                \
  bool name(const BuiltinCall& c, IValue& out) {                         \
    return property(c, out, [](const Tensor& t) { return expression; }); \
  }
ARGAND_PROPERTY(dim, t.dim())
ARGAND_PROPERTY(numel, t.numel())
ARGAND_PROPERTY(shape, list_of(t.sizes()))
ARGAND_PROPERTY(item, number_of(t.item()))
ARGAND_PROPERTY(dtype, number_of(t.dtype()))
ARGAND_PROPERTY(layout, ((void)t, int64_t{0}))
ARGAND_PROPERTY(is_cuda, t.is_cuda())
ARGAND_PROPERTY(is_cpu, t.is_cpu())
ARGAND_PROPERTY(is_meta, t.is_meta())
ARGAND_PROPERTY(is_other, ((void)t, false))
ARGAND_PROPERTY(itemsize, t.itemsize())
ARGAND_PROPERTY(nbytes, static_cast<int64_t>(t.nbytes()))
ARGAND_PROPERTY(requires_grad, t.requires_grad())
ARGAND_PROPERTY(is_leaf, t.is_leaf())
ARGAND_PROPERTY(is_floating, is_floating_point(t.dtype()))
ARGAND_PROPERTY(is_complex_tensor, is_complex(t.dtype()))
ARGAND_PROPERTY(is_signed_tensor, t.dtype() != kByte && t.dtype() != kBool)
ARGAND_PROPERTY(data, t.detach())
ARGAND_PROPERTY(grad, t.grad().defined() ? IValue(t.grad()) : IValue())
ARGAND_PROPERTY(storage_offset, t.storage_offset())
ARGAND_PROPERTY(get_device, int64_t{t.get_device()})
ARGAND_PROPERTY(to_cpu, t.cpu())
#undef ARGAND_PROPERTY

bool size(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 2)) return false;
  out = c.size() == 1 ? IValue(list_of(tensor_of(c).sizes())) : IValue(tensor_of(c).size(c[1].toInt()));
  return true;
}
bool stride(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 2)) return false;
  out = c.size() == 1 ? IValue(list_of(tensor_of(c).strides())) : IValue(tensor_of(c).stride(c[1].toInt()));
  return true;
}
bool is_contiguous(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 2)) return false;
  const IValue* format = c.given(1, "memory_format");
  out = tensor_of(c).is_contiguous(format ? memory_format_of_number(format->toInt()) : MemoryFormat::Contiguous);
  return true;
}
bool device(const BuiltinCall& c, IValue& out) {
  if (c.size() == 1 && c[0].isTensor())
    out = tensor_of(c).device();
  else if (c.size() >= 1 && c[0].isString()) {
    const bool indexed = c.size() > 1 && c[1].isInt();
    out = Device(indexed ? str(c[0].toStringRef(), ":", c[1].toInt()) : c[0].toStringRef());
  } else if (c.size() == 1 && c[0].isDevice())
    out = c[0];
  else
    return false;
  return true;
}
bool device_type(const BuiltinCall& c, IValue& out) {
  if (c.size() != 1 || !c[0].isDevice()) return false;
  out = std::string(device_type_name(c[0].toDevice().type()));
  return true;
}
bool device_index(const BuiltinCall& c, IValue& out) {
  if (c.size() != 1 || !c[0].isDevice()) return false;
  out = c[0].toDevice().has_index() ? IValue(int64_t{c[0].toDevice().index()}) : IValue();
  return true;
}
bool require_grad(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 2)) return false;
  tensor_of(c).requires_grad_(c.size() < 2 || c[1].toBool());
  out = c[0];
  return true;
}
bool to_cuda(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 1)) return false;
  out = tensor_of(c).cuda();
  return true;
}

// to(self, other | [device,] [dtype], non_blocking, copy, memory_format), also by names.
bool to(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 9)) return false;
  TensorOptions options;
  std::optional<MemoryFormat> format;
  bool flags[2] = {false, false};  // non_blocking, copy
  size_t flag = 0;
  const auto set_device = [&](const IValue& v) {
    options = options.device(v.isString() ? Device(v.toStringRef()) : v.toDevice());
  };
  for (size_t i = 1; i < c.positional(); ++i) {
    const IValue& v = c[i];
    if (v.isNone()) continue;
    if (v.isTensor())
      options = options.device(v.toTensor().device()).dtype(v.toTensor().dtype());
    else if (v.isDevice() || v.isString())
      set_device(v);
    else if (v.isBool() && flag < 2)
      flags[flag++] = v.toBool();
    else if (v.isInt() && flag == 0)
      options = options.dtype(dtype_of_number(v.toInt()));
    else if (v.isInt())
      format = memory_format_of_number(v.toInt());
    else
      return false;
  }
  for (size_t k = 0; k < c.keywords.size(); ++k) {
    const std::string& keyword = c.keywords[k];
    const IValue& v = c[c.positional() + k];
    if (v.isNone()) continue;
    if (keyword == "dtype")
      options = options.dtype(dtype_of_number(v.toInt()));
    else if (keyword == "device")
      set_device(v);
    else if (keyword == "non_blocking")
      flags[0] = v.toBool();
    else if (keyword == "copy")
      flags[1] = v.toBool();
    else if (keyword == "memory_format")
      format = memory_format_of_number(v.toInt());
    else if (keyword == "layout")
      c.need(v.toInt() == 0, "tensors are strided; expected the layout 0, got ", v.toInt());
    else if (keyword == "pin_memory")
      c.need(!v.toBool(), "pin_memory=True is not supported");
    else
      return false;
  }
  out = tensor_of(c).to(options, flags[0], flags[1], format);
  return true;
}

// ---- lists and tensors

IValue nested_list(const Tensor& t) {
  if (t.dim() == 0) return number_of(t.item());
  std::vector<IValue> elements;
  for (int64_t i = 0; i < t.size(0); ++i) elements.push_back(nested_list(t.select(0, i)));
  return typed_list(elements);
}
bool to_list(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 1)) return false;
  out = nested_list(tensor_of(c).cpu());
  return true;
}

constexpr size_t kMaxDims = 64;

// The sizes of nested lists, and their numbers in order.
void flatten(const IValue& v, size_t depth, Dims& sizes, std::vector<Scalar>& numbers) {
  ARGAND_CHECK(ValueError, depth <= kMaxDims, "tensor: lists nested deeper than ", kMaxDims);
  if (v.isScalar()) {
    ARGAND_CHECK(ShapeError, depth == sizes.size(), "tensor: expected lists of equal lengths");
    numbers.push_back(v.toScalar());
    return;
  }
  ARGAND_CHECK(ValueError, v.isList() || v.isTensor(), "tensor: expected numbers and lists, got a value of type ",
               v.tagKind());
  if (v.isTensor()) return flatten(number_of(v.toTensor().item()), depth, sizes, numbers);
  const auto n = static_cast<int64_t>(length_of(v));
  if (numbers.empty() && depth == sizes.size()) sizes.push_back(n);
  ARGAND_CHECK(ShapeError, depth < sizes.size() && sizes[depth] == n, "tensor: expected lists of equal lengths");
  for (int64_t i = 0; i < n; ++i) flatten(element_of(v, i), depth + 1, sizes, numbers);
}

ScalarType dtype_of(const std::vector<Scalar>& numbers) {
  ScalarType out = kBool;
  if (numbers.empty()) return get_default_dtype();
  for (const Scalar& s : numbers) {
    if (s.isComplex()) return kComplexFloat;
    if (s.isFloatingPoint())
      out = get_default_dtype();
    else if (s.isIntegral(false) && out == kBool)
      out = kLong;
  }
  return out;
}

bool make(const BuiltinCall& c, IValue& out) {
  const IValue *dtype = c.given(1, "dtype"), *place = c.given(2, "device"), *grad = c.given(3, "requires_grad");
  TensorOptions options;
  if (dtype) options = options.dtype(dtype_of_number(dtype->toInt()));
  if (place) options = options.device(place->isString() ? Device(place->toStringRef()) : place->toDevice());
  Tensor made;
  if (c[0].isTensor()) {
    made = c[0].toTensor().to(options);
    if (c.name == "tensor") made = made.is_same(c[0].toTensor()) ? made.detach().clone() : made.detach();
  } else {
    Dims sizes;
    std::vector<Scalar> numbers;
    flatten(c[0], 0, sizes, numbers);
    const ScalarType own = dtype_of(numbers);
    const auto with = [&]<class T>(T) {
      std::vector<T> values;
      for (const Scalar& s : numbers) values.push_back(s.to<T>());
      return argand::tensor(TensorLiteral(ArrayRef<T>(values)), TensorOptions(dtype ? options.dtype() : own))
          .reshape(sizes);
    };
    made = own == kComplexFloat ? with(std::complex<double>())
           : own == kLong       ? with(int64_t())
           : own == kBool       ? with(int64_t()).to(dtype ? options.dtype() : kBool)
                                : with(double());
    if (place) made = made.to(options.device());
  }
  if (grad && grad->toBool()) made.requires_grad_();
  out = made;
  return true;
}
bool make_0d(const BuiltinCall& c, IValue& out) {
  if (c[0].isTensor())
    out = c[0];
  else
    out = argand::scalar_tensor(c[0].toScalar(), TensorOptions(c[0].toScalar().type()));
  return true;
}

// ---- ops of other names

// The form of stft whose input is padded already: (input, n_fft, hop_length, win_length, window, normalized, onesided,
// return_complex, align_to_window).
bool padded_stft(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 6, 9) || !c.keywords.empty() || (c.size() > 6 && c[6].isString())) return false;
  const auto integer = [&](size_t i) { return c[i].isNone() ? std::nullopt : std::optional(c[i].toInt()); };
  const auto flag = [&](size_t i) {
    return i >= c.size() || c[i].isNone() ? std::nullopt : std::optional(c[i].toBool());
  };
  const auto window = c[4].isNone() ? std::nullopt : std::optional(c[4].toTensor());
  out = stft(c[0].toTensor(), c[1].toInt(), integer(2), integer(3), window, false, "reflect", c[5].toBool(), flag(6),
             flag(7), flag(8));
  return true;
}

bool bilinear(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 3, 4)) return false;
  const IValue* bias = c.given(3, "bias");
  out = nn::functional::bilinear(c[0].toTensor(), c[1].toTensor(), c[2].toTensor(), bias ? bias->toTensor() : Tensor());
  return true;
}
bool conjugate(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 1)) return false;
  out = conj(c[0].toTensor());
  return true;
}
// The dtype of a result of tensors and numbers.
bool result_dtype(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2) return false;
  std::array<Tensor, 2> operands;
  for (size_t i = 0; i < 2; ++i)
    operands[i] = c[i].isTensor() ? c[i].toTensor() : exec::wrapped_number(c[i].toScalar());
  const std::array<const Tensor*, 2> places{&operands[0], &operands[1]};
  out = number_of(exec::result_type(places));
  return true;
}

// The convolution over `dims` dimensions; the padding is a list, or "same" or "valid".
template <class Padding>
Tensor conv_of(int64_t dims, const Tensor& x, const Tensor& w, const std::optional<Tensor>& bias,
               const std::vector<int64_t>& stride, const Padding& padding, const std::vector<int64_t>& dilation,
               int64_t groups) {
  return dims == 1   ? conv1d(x, w, bias, stride, padding, dilation, groups)
         : dims == 2 ? conv2d(x, w, bias, stride, padding, dilation, groups)
                     : conv3d(x, w, bias, stride, padding, dilation, groups);
}

// _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, ...): the rest
// chooses algorithms.
bool convolution(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 9, 13)) return false;
  const Tensor &x = tensor_of(c), &w = c[1].toTensor();
  const std::optional<Tensor> bias = c[2].isNone() ? std::nullopt : std::optional<Tensor>(c[2].toTensor());
  const std::vector<int64_t>&stride = c[3].toIntVector(), &padding = c[4].toIntVector(), &dilation = c[5].toIntVector();
  const int64_t groups = c[8].toInt(), dims = w.dim() - 2;
  c.need(dims >= 1 && dims <= 3, "expected a weight of 3 to 5 dimensions, got ", w.dim());
  if (c[6].toBool()) {
    const std::vector<int64_t>& more = c[7].toIntVector();
    out = dims == 1   ? conv_transpose1d(x, w, bias, stride, padding, more, groups, dilation)
          : dims == 2 ? conv_transpose2d(x, w, bias, stride, padding, more, groups, dilation)
                      : conv_transpose3d(x, w, bias, stride, padding, more, groups, dilation);
  } else {
    out = conv_of(dims, x, w, bias, stride, padding, dilation, groups);
  }
  return true;
}

// The same with padding "same" or "valid".
bool convolution_mode(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 7, 7)) return false;
  const Tensor &x = tensor_of(c), &w = c[1].toTensor();
  const std::optional<Tensor> bias = c[2].isNone() ? std::nullopt : std::optional<Tensor>(c[2].toTensor());
  const std::vector<int64_t>&stride = c[3].toIntVector(), &dilation = c[5].toIntVector();
  const std::string& padding = c[4].toStringRef();
  const int64_t groups = c[6].toInt(), dims = w.dim() - 2;
  c.need(dims >= 1 && dims <= 3, "expected a weight of 3 to 5 dimensions, got ", w.dim());
  out = conv_of(dims, x, w, bias, stride, padding, dilation, groups);
  return true;
}

// div of archives before version 4: of integers, it rounds towards zero.
bool old_div(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 2, 2)) return false;
  const auto is_whole = [](const IValue& v) {
    return v.isTensor() ? !is_floating_point(v.toTensor().dtype()) && !is_complex(v.toTensor().dtype())
                        : v.isInt() || v.isBool();
  };
  std::optional<std::string_view> mode;
  if (is_whole(c[0]) && is_whole(c[1])) mode = "trunc";
  out = c[1].isTensor() ? argand::div(tensor_of(c), c[1].toTensor(), mode)
                        : argand::div(tensor_of(c), c[1].toScalar(), mode);
  if (c.name.back() == '_') out = tensor_of(c).copy_(out.toTensor());
  return true;
}

template <class OfTensors, class OfNumber>
bool two(const BuiltinCall& c, IValue& out, OfTensors of_tensors, OfNumber of_number) {
  if (!of_tensor(c, 2, 2)) return false;
  out = c[1].isTensor() ? of_tensors(tensor_of(c), c[1].toTensor()) : of_number(tensor_of(c), c[1].toScalar());
  return true;
}
#define ARGAND_TWO(name, op)                                                       \
  bool name(const BuiltinCall& c, IValue& out) {                                   \
    return two(                                                                    \
        c, out, [](const Tensor& a, const Tensor& b) { return argand::op(a, b); }, \
        [](const Tensor& a, const Scalar& b) { return argand::op(a, b); });        \
  }
ARGAND_TWO(bit_and, bitwise_and)
ARGAND_TWO(bit_or, bitwise_or)
ARGAND_TWO(bit_xor, bitwise_xor)
ARGAND_TWO(shift_left, bitwise_left_shift)
ARGAND_TWO(shift_right, bitwise_right_shift)
ARGAND_TWO(floordiv, floor_divide)
#undef ARGAND_TWO

// bool(), int(), ... of a tensor as an op of its own: _cast_Float(x, non_blocking).
template <ScalarType to>
bool cast(const BuiltinCall& c, IValue& out) {
  if (!of_tensor(c, 1, 2)) return false;
  out = tensor_of(c).to(to);
  return true;
}

constexpr NamedBuiltin kTable[] = {{"dim", dim},
                                   {"ndim", dim},
                                   {"ndimension", dim},
                                   {"numel", numel},
                                   {"shape", shape},
                                   {"size", size},
                                   {"stride", stride},
                                   {"item", item},
                                   {"ScalarImplicit", item},
                                   {"IntImplicit", item},
                                   {"FloatImplicit", item},
                                   {"dtype", dtype},
                                   {"layout", layout},
                                   {"device", device},
                                   {"type", device_type},
                                   {"index", device_index},
                                   {"is_cuda", is_cuda},
                                   {"is_cpu", is_cpu},
                                   {"is_meta", is_meta},
                                   {"is_sparse", is_other},
                                   {"is_quantized", is_other},
                                   {"is_mkldnn", is_other},
                                   {"is_mps", is_other},
                                   {"is_nested", is_other},
                                   {"is_vulkan", is_other},
                                   {"is_xpu", is_other},
                                   {"is_ipu", is_other},
                                   {"is_maia", is_other},
                                   {"is_xla", is_other},
                                   {"itemsize", itemsize},
                                   {"element_size", itemsize},
                                   {"nbytes", nbytes},
                                   {"requires_grad", requires_grad},
                                   {"requires_grad_", require_grad},
                                   {"is_leaf", is_leaf},
                                   {"is_floating_point", is_floating},
                                   {"is_complex", is_complex_tensor},
                                   {"is_signed", is_signed_tensor},
                                   {"is_contiguous", is_contiguous},
                                   {"data", data},
                                   {"grad", grad},
                                   {"storage_offset", storage_offset},
                                   {"get_device", get_device},
                                   {"cpu", to_cpu},
                                   {"cuda", to_cuda},
                                   {"to", to},
                                   {"tolist", to_list},
                                   {"tensor", make},
                                   {"as_tensor", make},
                                   {"NumToTensor", make_0d},
                                   {"bilinear", bilinear},
                                   {"_conj", conjugate},
                                   {"result_type", result_dtype},
                                   {"stft", padded_stft},
                                   {"_convolution", convolution},
                                   {"convolution", convolution},
                                   {"_convolution_mode", convolution_mode},
                                   {"__old__div", old_div},
                                   {"__old__div_", old_div},
                                   {"__and__", bit_and},
                                   {"__or__", bit_or},
                                   {"__xor__", bit_xor},
                                   {"__lshift__", shift_left},
                                   {"__rshift__", shift_right},
                                   {"floordiv", floordiv},
                                   {"_cast_Byte", cast<kByte>},
                                   {"_cast_Char", cast<kChar>},
                                   {"_cast_Short", cast<kShort>},
                                   {"_cast_Int", cast<kInt>},
                                   {"_cast_Long", cast<kLong>},
                                   {"_cast_Half", cast<kHalf>},
                                   {"_cast_Float", cast<kFloat>},
                                   {"_cast_Double", cast<kDouble>},
                                   {"_cast_Bool", cast<kBool>}};

}  // namespace

std::span<const NamedBuiltin> tensor_builtins() { return kTable; }

}  // namespace argand::jit
