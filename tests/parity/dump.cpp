// argand_samples_dump [OP...]: writes every sample of every op (or of those named) in every dtype, one JSON object a
// line:
//   {"op": "squeeze_dim", "called": "squeeze", "sample": 0, "dtype": "float32", "differentiate": [0],
//    "args": [["self", {"tensor": ...}, "positional", "Tensor"], ["dim", {"ints": [1]}, "positional", "int[1]?"], ...],
//    "results": [tensor or null, ...] or "error": "message",
//    "cotangents": [...], "gradients": [...]}
// A tensor is {"dtype", "shape", "strides", "data"}: base64 of its elements in row-major order, little endian.
// parity.py reads this and calls the same with PyTorch.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "argand/autograd/engine.h"
#include "argand/exec/copy.h"
#include "tests/conformance/op_case.h"

namespace argand::conformance {
namespace {

// ---- JSON

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out + '"';
}

std::string number(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

std::string base64(const char* bytes, size_t n) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < n; i += 3) {
    uint32_t v = 0;
    for (size_t k = 0; k < 3; ++k) v = v << 8 | (i + k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += i + k > n ? '=' : kDigits[v >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string list(IntArrayRef values) { return str(values); }

std::string tensor_json(const Tensor& t) {
  if (!t.defined()) return "null";
  const NoGradGuard no_grad;
  const Tensor dense = exec::dense_clone(t);
  const char* bytes = static_cast<const char*>(dense.impl().data());
  return str("{\"dtype\": \"", t.dtype(), "\", \"shape\": ", list(t.sizes()), ", \"strides\": ", list(t.strides()),
             ", \"data\": \"", base64(bytes, dense.nbytes()), "\"}");
}

template <class List, class F>
std::string array(const List& list, F f) {
  std::string out = "[";
  for (const auto& item : list) out += (out.size() > 1 ? ", " : "") + f(item);
  return out + "]";
}

std::string scalar_json(const Scalar& s) {
  if (s.isComplex()) {
    const auto c = s.to<std::complex<double>>();
    return str("{\"complex\": [", number(c.real()), ", ", number(c.imag()), "]}");
  }
  if (s.isBoolean()) return str("{\"bool\": ", s.toBool(), "}");
  return s.isIntegral(false) ? str("{\"int\": ", s.toLong(), "}") : str("{\"float\": ", number(s.toDouble()), "}");
}

const char* format_name(MemoryFormat f) {
  switch (f) {
    case MemoryFormat::Contiguous:
      return "contiguous_format";
    case MemoryFormat::Preserve:
      return "preserve_format";
    case MemoryFormat::ChannelsLast:
      return "channels_last";
    default:
      return "channels_last_3d";
  }
}

struct ToJson {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool v) const { return str("{\"bool\": ", v, "}"); }
  std::string operator()(int64_t v) const { return str("{\"int\": ", v, "}"); }
  std::string operator()(double v) const { return str("{\"float\": ", number(v), "}"); }
  std::string operator()(const std::string& v) const { return str("{\"str\": ", quoted(v), "}"); }
  std::string operator()(const Scalar& v) const { return scalar_json(v); }
  std::string operator()(ScalarType v) const { return str("{\"dtype\": \"", v, "\"}"); }
  std::string operator()(const Device& v) const { return str("{\"device\": \"", v.str(), "\"}"); }
  std::string operator()(MemoryFormat v) const { return str("{\"memory_format\": \"", format_name(v), "\"}"); }
  std::string operator()(const Dims& v) const { return str("{\"ints\": ", list(v), "}"); }
  std::string operator()(const std::vector<double>& v) const { return "{\"floats\": " + array(v, number) + "}"; }
  std::string operator()(const std::vector<Scalar>& v) const { return "{\"scalars\": " + array(v, scalar_json) + "}"; }
  std::string operator()(const std::vector<bool>& v) const {
    return "{\"bools\": " + array(v, [](bool b) { return str(b); }) + "}";
  }
  std::string operator()(const Generator&) const { return "null"; }
  std::string operator()(const Tensor& t) const {
    if (!t.defined()) return "null";
    if (t.impl().wrapped_number) return scalar_json(t.item());
    return "{\"tensor\": " + tensor_json(t) + "}";
  }
  std::string operator()(const std::vector<Tensor>& v) const { return "{\"tensors\": " + array(v, tensor_json) + "}"; }
  std::string operator()(const TensorOptions& o) const {
    std::string out;
    if (o.dtype_opt()) out += str("\"dtype\": \"", *o.dtype_opt(), "\"");
    if (o.device_opt()) out += str(out.empty() ? "" : ", ", "\"device\": \"", o.device_opt()->str(), "\"");
    if (o.memory_format_opt())
      out += str(out.empty() ? "" : ", ", "\"memory_format\": \"", format_name(*o.memory_format_opt()), "\"");
    return "{\"options\": {" + out + "}}";
  }
};

std::string arguments_json(const OpInfo& op, AnyArgs& args) {
  ArgumentValues values;
  op.args.values(args.get(), values);
  size_t next = 0;
  return array(values, [&](const auto& v) {
    const SignatureArgument& argument = op.signature.arguments[next++];
    return str("[", quoted(v.first), ", ", std::visit(ToJson(), v.second), ", ",
               argument.keyword_only ? "\"keyword\"" : "\"positional\"", ", ", quoted(argument.type), "]");
  });
}

// ---- calls

// A cotangent that parity.py need not know how to make: it is written too.
Tensor cotangent_of(const Tensor& result) {
  Array a{result.impl().sizes, Values(static_cast<size_t>(result.numel()))};
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double x = std::round(std::cos(static_cast<double>(i) * 2.4 + 0.5) * 64) / 64;
    a.values[i] = result.is_complex() ? std::complex<double>(x, 0.5 - x) : x;
  }
  return arranged(a, result.dtype(), Arrangement::kContiguous);
}

struct Gradients {
  std::vector<size_t> inputs;  // positions among the tensors
  std::string cotangents = "null", gradients = "null";
};

Gradients gradients_of(const OpInfo& op, AnyArgs& sample, ScalarType dtype) {
  Gradients out;
  const auto args = sample.clone();
  TensorSlots slots = slots_of(*args, op);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < slots.size(); ++i) {
    Tensor& t = *slots[i].tensor;
    if (!varies(t, dtype) || is_constant(op, *args, i)) continue;
    t = arranged(read(t), dtype, Arrangement::kContiguous).set_requires_grad(true);
    inputs.push_back(t);
    if (i == 0 && op.inplace_only) t = t.clone();  // a leaf must not be written
    out.inputs.push_back(i);
  }
  if (inputs.empty()) return out;
  std::vector<Tensor> roots, cotangents, all;
  for (const Tensor& t : call(op, *args)) {
    const bool root = t.defined() && t.requires_grad();
    all.push_back(root ? cotangent_of(t) : Tensor());
    if (!root) continue;
    roots.push_back(t);
    cotangents.push_back(all.back());
  }
  if (roots.empty()) return out;
  const std::vector<Tensor> grads = autograd::grad(roots, inputs, cotangents, false, false, true);
  out.cotangents = array(all, tensor_json);
  out.gradients = array(grads, tensor_json);
  return out;
}

void dump(const OpCase& c, AnyArgs& sample, size_t index, const Sample& s, ScalarType lead, ScalarType dtype) {
  const OpInfo& op = *c.op;
  const auto args = sample.clone();
  if (lead != ScalarType::Undefined) {
    const std::vector<Array> values = values_in(op, *args, lead, dtype);
    place(op, *args, values, lead, dtype, Layouts(values.size(), Arrangement::kContiguous));
  }
  std::string line =
      str("{\"op\": ", quoted(c.name), ", \"called\": ", quoted(op.name.c_str()), ", \"random\": ", op.random,
          ", \"sample\": ", index, ", \"dtype\": \"", lead == ScalarType::Undefined ? "" : dtype_name(dtype),
          "\", \"must_fail\": ", !s.error.empty(), ", \"args\": ", arguments_json(op, *args));
  std::string outcome;
  try {
    const auto own = args->clone();
    TensorSlots slots = slots_of(*own, op);
    if (op.inplace_only) *slots[0].tensor = exec::dense_clone(*slots[0].tensor);
    outcome = ", \"results\": " + array(call(op, *own), tensor_json);
    if (sink_of(op).are_values_unset()) outcome += ", \"unset\": true";
    if (s.error.empty() && (dtype == kDouble || dtype == kComplexDouble)) {
      const Gradients g = gradients_of(op, *args, dtype);
      const auto position = [](size_t i) { return str(i); };
      outcome += str(", \"differentiate\": ", array(g.inputs, position), ", \"cotangents\": ", g.cotangents,
                     ", \"gradients\": ", g.gradients);
    }
  } catch (const Error& e) {
    outcome = str(", \"error\": ", quoted(e.what()));
  }
  std::printf("%s%s}\n", line.c_str(), outcome.c_str());
}

void dump_op(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& args = *samples[i].args;
    const ScalarType lead = lead_dtype(args, *c.op);
    if (lead != kDouble || !samples[i].error.empty()) {
      dump(c, args, i, samples[i], lead, lead);
      continue;
    }
    for (int t = 0; t < kNumScalarTypes; ++t) dump(c, args, i, samples[i], lead, static_cast<ScalarType>(t));
  }
}

}  // namespace
}  // namespace argand::conformance

int main(int argc, char** argv) {
  using namespace argand::conformance;
  for (const OpCase& c : op_cases()) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted |= c.name == argv[i] || c.op->name.c_str() == std::string_view(argv[i]);
    if (wanted) dump_op(c);
  }
  return 0;
}
