#include "tests/conformance/op_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "argand/core/cpu_generator.h"
#include "argand/core/float32_precision.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/runtime/backend.h"

namespace argand::conformance {
namespace {

// "squeeze_dim" of squeeze.dim, "torchvision_nms" of torchvision::nms.
std::string name_of(const OpInfo& op) {
  std::string name = op.name.c_str();
  if (const size_t colons = name.find("::"); colons != std::string::npos) name.replace(colons, 2, "_");
  return *op.signature.overload ? str(name, "_", op.signature.overload) : name;
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase>& cases = *new std::vector<OpCase>([] {
    std::vector<OpCase> out;
    std::map<std::string, int> seen;
    for (const OpInfo* op : all_ops()) {
      std::string name = name_of(*op);
      if (const int n = seen[name]++) name += str("_", n + 1);
      out.push_back({op, name});
    }
    return out;
  }());
  return cases;
}

SampleSink sink_of(const OpInfo& op) {
  SampleSink sink(op.name.c_str());
  op.samples(sink);
  return sink;
}

std::vector<Sample> samples_of(const OpInfo& op) { return std::move(sink_of(op).samples()); }

// ---- the device under test

namespace {
// Exit status 77: ctest counts it as skipped.  Bounds of errors are those of float32.
Device device_of_environment() {
  set_float32_precision("exact");
  const char* text = std::getenv("ARGAND_TEST_DEVICE");
  const Device device(text && *text ? text : "cpu");
  std::string why;
  if (!device.is_accelerator() || find_backend(device.type(), &why)) return with_index(device);
  std::printf("skipped: no %s device: %s\n", device_type_name(device.type()), why.c_str());
  std::fflush(stdout);
  std::_Exit(77);
}
// Asked for by the first test, when a backend that is linked with the tests has been registered.
Device& under_test() {
  static Device device = device_of_environment();
  return device;
}
}  // namespace
const Device& test_device() { return under_test(); }
OnDevice::OnDevice(const Device& device) : before_(under_test()) { under_test() = device; }
OnDevice::~OnDevice() { under_test() = before_; }

// ---- values

namespace {

// The bytes of one storage in another of the same size.
void copy_bytes(const Tensor& to, const Tensor& from) {
  const auto bytes = [](const Tensor& t) {
    return exec::alias(t, {static_cast<int64_t>(t.storage()->nbytes())}, {1}, 0, kByte);
  };
  exec::copy_elements(bytes(to), bytes(from));
}
// A tensor on `device` with the bytes and the layout of another.
Tensor mirror(const Tensor& t, const Device& device) {
  const Tensor base = exec::new_tensor({Dims{static_cast<int64_t>(t.storage()->nbytes())}, kByte}, device);
  copy_bytes(base, t);
  return exec::alias(base, t.impl().sizes, t.impl().strides, t.storage_offset(), t.dtype());
}

// Calls f(address of element) in row-major order.
template <class F>
void each_element(const Tensor& t, F f) {
  const Dims sizes = t.impl().sizes, strides = t.impl().strides;
  char* base = static_cast<char*>(t.impl().data());
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t rest = i, offset = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    f(base + offset * t.itemsize());
  }
}

template <class T>
std::complex<double> widen(T v) {
  if constexpr (is_complex_v<T>)
    return {static_cast<double>(v.real()), static_cast<double>(v.imag())};
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<double>(static_cast<float>(v));
  else
    return static_cast<double>(v);
}

template <class T>
T narrow(std::complex<double> v) {
  if constexpr (is_complex_v<T>)
    return T(static_cast<typename T::value_type>(v.real()), static_cast<typename T::value_type>(v.imag()));
  else if constexpr (std::is_same_v<T, bool>)
    return v != 0.0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<int64_t>(v.real()));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(v.real());
  else
    return T(static_cast<float>(v.real()));
}

}  // namespace

Array read(const Tensor& t) {
  if (t.is_accelerator()) return read(mirror(t, kCPU));
  Array out{t.impl().sizes, {}};
  out.values.reserve(static_cast<size_t>(t.numel()));
  dispatch<kAllTypes>(t.dtype(), "read", [&](auto tag) {
    using T = typename decltype(tag)::type;
    each_element(t, [&](char* p) { out.values.push_back(widen(*reinterpret_cast<T*>(p))); });
  });
  return out;
}

void write(const Tensor& t, const Values& values) {
  if (t.is_accelerator()) {
    const Tensor host = mirror(t, kCPU);
    write(host, values);
    return copy_bytes(t, host);
  }
  size_t i = 0;
  dispatch<kAllTypes>(t.dtype(), "write", [&](auto tag) {
    using T = typename decltype(tag)::type;
    each_element(t, [&](char* p) { *reinterpret_cast<T*>(p) = narrow<T>(values[i++]); });
  });
}

namespace {

// Distinct multiples of 1/8, as SampleSink::apart makes them.
bool is_apart(const Values& values) {
  std::set<double> seen;
  for (const auto v : values)
    if (v.real() * 8 != std::round(v.real() * 8) || !seen.insert(v.real()).second) return false;
  return values.size() > 1;
}

}  // namespace

// To integers: distinct values stay distinct; others are rounded away from zero, so that no divisor becomes zero, and
// in unsigned types become positive.  To bool: the sign.  To complex: imaginary parts from the other end of the tensor.
Array converted(const Tensor& t, ScalarType to) {
  Array a = read(t);
  if (t.dtype() == to || t.numel() == 0) return a;
  const bool apart = is_apart(a.values);
  const double lowest =
      std::min_element(a.values.begin(), a.values.end(), [](auto x, auto y) { return x.real() < y.real(); })->real();
  const Values before = a.values;
  for (size_t i = 0; i < a.values.size(); ++i) {
    auto& v = a.values[i];
    const double x = v.real();
    if (is_complex(to)) {
      v = {x, before[before.size() - 1 - i].real() / 2};
    } else if (to == kBool) {
      v = is_integral(t.dtype()) ? (std::fmod(x, 2) != 0) : x > 0;
    } else if (is_integral(to) && !is_integral(t.dtype())) {
      if (apart)
        v = to == kByte ? (x - lowest) * 8 : x * 8;
      else
        v = to == kByte ? std::ceil(std::abs(x)) : std::copysign(std::ceil(std::abs(x)), x);
    } else if (to == kByte) {
      v = std::abs(x);
    }
  }
  return a;
}

// ---- layouts

const char* name_of(Arrangement a) {
  switch (a) {
    case Arrangement::kContiguous:
      return "contiguous";
    case Arrangement::kTransposed:
      return "transposed";
    case Arrangement::kSliced:
      return "sliced";
    case Arrangement::kExpanded:
      return "expanded";
    default:
      return "channels_last";
  }
}

// The dimension that an expanded tensor repeats: the last one longer than one.
static std::optional<size_t> repeated_dim(const Dims& sizes) {
  for (size_t d = sizes.size(); d-- > 0;)
    if (sizes[d] > 1) return d;
  return std::nullopt;
}

bool applies(Arrangement a, const Dims& sizes) {
  const auto longer = std::count_if(sizes.begin(), sizes.end(), [](int64_t s) { return s > 1; });
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return a == Arrangement::kContiguous || a == Arrangement::kTransposed;
  switch (a) {
    case Arrangement::kContiguous:
      return true;
    case Arrangement::kTransposed:
      return longer > 1;
    case Arrangement::kSliced:
      return true;
    case Arrangement::kExpanded:
      return longer > 0;
    default:
      return sizes.size() == 4 || sizes.size() == 5;
  }
}

Array restricted(const Array& array, Arrangement a) {
  if (a != Arrangement::kExpanded) return array;
  const size_t d = *repeated_dim(array.sizes);
  int64_t inner = 1;
  for (size_t i = d + 1; i < array.sizes.size(); ++i) inner *= array.sizes[i];
  Array out = array;
  for (size_t i = 0; i < out.values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    out.values[i] =
        array.values[static_cast<size_t>(at / (inner * array.sizes[d]) * inner * array.sizes[d] + at % inner)];
  }
  return out;
}

namespace {

struct Place {
  Dims strides;
  int64_t offset = 0, capacity = 0;  // of the storage, in elements
};

Place place_for(const Dims& sizes, Arrangement a) {
  Place p{contiguous_strides(sizes), 0, 0};
  switch (a) {
    case Arrangement::kContiguous:
      break;
    case Arrangement::kTransposed: {
      int64_t step = 1;
      for (size_t d = 0; d < sizes.size(); ++d) {
        p.strides[d] = step;
        step *= std::max<int64_t>(sizes[d], 1);
      }
      break;
    }
    case Arrangement::kSliced: {
      Dims outer = sizes;
      for (int64_t& s : outer) s *= 2;
      p.strides = contiguous_strides(outer);
      p.offset = 1;
      for (int64_t& s : p.strides) {
        p.offset += s;
        s *= 2;
      }
      p.capacity = p.offset + numel_of(outer);
      break;
    }
    case Arrangement::kExpanded: {
      const size_t d = *repeated_dim(sizes);
      Dims once = sizes;
      once[d] = 1;
      p.strides = contiguous_strides(once);
      p.strides[d] = 0;
      break;
    }
    case Arrangement::kChannelsLast:
      p.strides = strides_of(sizes, sizes.size() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d);
      break;
  }
  p.capacity = std::max(p.capacity, numel_of(sizes));
  return p;
}

}  // namespace

Tensor arranged(const Array& array, ScalarType dtype, Arrangement a) {
  const Place p = place_for(array.sizes, a);
  const Tensor base = exec::new_tensor({Dims{p.capacity}, dtype}, test_device());
  // NaN in every floating type, and a byte that is a valid bool in none.
  if (!base.is_cpu())
    exec::copy_elements(exec::alias(base, {static_cast<int64_t>(base.nbytes())}, {1}, 0, kByte),
                        exec::wrapped_number(0xFF));
  else if (p.capacity > 0)
    std::memset(base.impl().data(), 0xFF, base.nbytes());
  const Tensor t = exec::alias(base, array.sizes, p.strides, p.offset);
  if (exec::window_mode() == exec::WindowMode::kAlways && a != Arrangement::kExpanded) {
    const Tensor source = exec::new_tensor({array.sizes, dtype}, test_device());
    write(source, array.values);
    exec::copy_elements(t, source);
  } else {
    write(t, array.values);
  }
  return t;
}

std::vector<char> bytes_of(const Tensor& t) {
  if (t.is_accelerator()) return bytes_of(mirror(t, kCPU));
  const char* p = static_cast<const char*>(t.storage()->data());
  return p ? std::vector<char>(p, p + t.storage()->nbytes()) : std::vector<char>();
}

// ---- calls

TensorSlots slots_of(AnyArgs& args, const OpInfo& op) {
  TensorSlots slots;
  op.args.tensors(args.get(), slots);
  return slots;
}

ScalarType lead_dtype(AnyArgs& args, const OpInfo& op) {
  TensorSlots slots = slots_of(args, op);
  ScalarType lead = ScalarType::Undefined;
  for (const TensorSlot& s : slots) {
    if (!s.tensor->defined() || s.tensor->impl().wrapped_number) continue;
    if (lead == ScalarType::Undefined || s.tensor->dtype() == kDouble) lead = s.tensor->dtype();
  }
  return lead;
}

bool varies(const Tensor& t, ScalarType lead) { return t.defined() && !t.impl().wrapped_number && t.dtype() == lead; }

bool claims(const OpInfo& op, AnyArgs& args, ScalarType lead, ScalarType dtype) {
  TensorSlots slots = slots_of(args, op);
  if (slots.size() == 0 || !slots[0].tensor->defined()) return true;
  return contains(op.dtypes, varies(*slots[0].tensor, lead) ? dtype : slots[0].tensor->dtype());
}

bool is_constant(const OpInfo& op, AnyArgs& args, size_t slot) {
  if (op.unimplemented_gradients >> slot & 1) return true;
  const auto own = args.clone();
  TensorSlots slots = slots_of(*own, op);
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].tensor->defined() && !slots[i].tensor->impl().wrapped_number)
      *slots[i].tensor = exec::dense_clone(*slots[i].tensor);
  slots[slot].tensor->set_requires_grad(true);
  try {
    call(op, *own);
  } catch (const GradError& e) {
    return std::string_view(e.what()).find("not differentiable with respect to argument") != std::string_view::npos;
  } catch (const Error&) {  // the checks that follow report it
  }
  return false;
}

std::vector<Array> values_in(const OpInfo& op, AnyArgs& args, ScalarType lead, ScalarType dtype) {
  std::vector<Array> out;
  TensorSlots slots = slots_of(args, op);
  for (const TensorSlot& s : slots) {
    if (!s.tensor->defined())
      out.push_back({});
    else
      out.push_back(converted(*s.tensor, varies(*s.tensor, lead) ? dtype : s.tensor->dtype()));
  }
  return out;
}

void place(const OpInfo& op, AnyArgs& args, const std::vector<Array>& values, ScalarType lead, ScalarType dtype,
           const Layouts& layouts) {
  TensorSlots slots = slots_of(args, op);
  for (size_t i = 0; i < slots.size(); ++i) {
    Tensor& t = *slots[i].tensor;
    if (!t.defined() || t.impl().wrapped_number) continue;
    t = arranged(values[i], varies(t, lead) ? dtype : t.dtype(), layouts[i]);
  }
}

static void seed(const OpInfo& op) {
  if (op.random) manual_seed(20240607);
}
std::vector<Tensor> call(const OpInfo& op, AnyArgs& args) {
  seed(op);
  // An op that makes a tensor without tensor arguments makes it on the device under test.
  TensorOptions* options = op.args.options(args.get());
  const std::span<const SignatureArgument> arguments = op.signature.arguments;
  if (!options || options->has_device() || (!arguments.empty() && arguments[0].holds_tensors()))
    return exec::call(op, args.get());
  const auto there = args.clone();
  options = op.args.options(there->get());
  *options = options->device(test_device());
  return exec::call(op, there->get());
}
void call_inplace(const OpInfo& op, AnyArgs& args, const Tensor& self) {
  seed(op);
  exec::invoke_inplace(op, args.get(), self);
}
void call_out(const OpInfo& op, AnyArgs& args, std::span<Tensor> outs) {
  seed(op);
  exec::invoke_out(op, args.get(), outs);
}

// ---- reporting

namespace {

class Skips final : public testing::Environment {
 public:
  void TearDown() override {
    for (const auto& [reason, ops] : counts_) {
      int total = 0;
      std::string names;
      for (const auto& [name, n] : ops) {
        total += n;
        names += (names.empty() ? "" : ", ") + name;
      }
      std::printf("[  NOTE    ] %d calls left out: %s (%s)\n", total, reason.c_str(), names.c_str());
    }
  }
  void add(const std::string& reason, const std::string& name) { ++counts_[reason][name]; }

 private:
  std::map<std::string, std::map<std::string, int>> counts_;
};
Skips& skips() {
  static Skips& s = *static_cast<Skips*>(testing::AddGlobalTestEnvironment(new Skips));
  return s;
}
const bool skips_are_printed = (skips(), true);

class OpTest final : public testing::Test {
 public:
  OpTest(const OpCase& c, void (*body)(const OpCase&)) : case_(c), body_(body) {}
  void TestBody() override { body_(case_); }

 private:
  const OpCase& case_;
  void (*body_)(const OpCase&);
};

}  // namespace

void skipped(const OpCase& c, const std::string& reason) { skips().add(reason, c.name); }

bool register_tests(const char* suite, void (*body)(const OpCase&), bool (*wanted)(const OpInfo&)) {
  for (const OpCase& c : op_cases()) {
    if (!wanted(*c.op)) continue;
    testing::RegisterTest(suite, c.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&c, body]() -> testing::Test* { return new OpTest(c, body); });
  }
  return true;
}

}  // namespace argand::conformance
