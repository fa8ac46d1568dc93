// The ops and their samples as the tests see them: a call is a sample whose tensors were given another dtype and
// layout.
#pragma once
#include <complex>
#include <functional>
#include <map>

#include "argand/exec/invoke.h"
#include "argand/exec/window.h"
#include "argand/ops/samples.h"

namespace argand::conformance {

struct OpCase {
  const OpInfo* op;
  std::string name;  // schema name and overload: "squeeze_dim"; names the test
};
const std::vector<OpCase>& op_cases();
// Fresh samples of an op, the same on every call.
std::vector<Sample> samples_of(const OpInfo& op);
// The properties of the samples that the definition declares.
SampleSink sink_of(const OpInfo& op);

// ---- the device under test: $ARGAND_TEST_DEVICE, "cpu" without it

const Device& test_device();  // where arranged() puts tensors
// Sets another test device for a scope.
class OnDevice {
 public:
  explicit OnDevice(const Device& device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  Device before_;
};

// ---- values, apart from how they are stored

using Values = std::vector<std::complex<double>>;  // in row-major order
struct Array {
  Dims sizes;
  Values values;
};
// Reads and writes by plain loops over strides: independent of the library's own copies.
Array read(const Tensor& t);
void write(const Tensor& t, const Values& values);

// The values of a float64 (or integer) sample tensor for dtype `to`: exact in `to`, and in a domain that suits it (see
// converted() in op_case.cpp).
Array converted(const Tensor& t, ScalarType to);

// ---- layouts

enum class Arrangement : int8_t { kContiguous, kTransposed, kSliced, kExpanded, kChannelsLast };
inline constexpr Arrangement kArrangements[] = {Arrangement::kContiguous, Arrangement::kTransposed,
                                                Arrangement::kSliced, Arrangement::kExpanded,
                                                Arrangement::kChannelsLast};
const char* name_of(Arrangement a);

// Whether the arrangement differs from contiguous for a tensor of these sizes.
bool applies(Arrangement a, const Dims& sizes);
// An expanded tensor has equal values along the dimension of stride 0: the values that `array` then has.
Array restricted(const Array& array, Arrangement a);
// A tensor with these values; bytes around it hold a pattern.  In windowed mode its values are still pending.
Tensor arranged(const Array& array, ScalarType dtype, Arrangement a);
// All bytes of the storage.
std::vector<char> bytes_of(const Tensor& t);

// ---- calls

// The dtype that the harness varies: float64 if a sample tensor has it, else the first tensor's; Undefined if none.
ScalarType lead_dtype(AnyArgs& args, const OpInfo& op);
TensorSlots slots_of(AnyArgs& args, const OpInfo& op);
// Whether a tensor of the sample takes part in variations of the lead dtype.
bool varies(const Tensor& t, ScalarType lead);
// Whether the definition says that it takes this dtype in place of the lead.
bool claims(const OpInfo& op, AnyArgs& args, ScalarType lead, ScalarType dtype);

// Whether the op refuses a gradient for tensor `slot`, by OpInfo::constant_arguments of it or of an op it is made of,
// or has none yet.
bool is_constant(const OpInfo& op, AnyArgs& args, size_t slot);

// The values of all tensor arguments in `dtype`; and the tensors themselves, replaced by others of these values.
std::vector<Array> values_in(const OpInfo& op, AnyArgs& args, ScalarType lead, ScalarType dtype);
using Layouts = std::vector<Arrangement>;  // of all tensor arguments
void place(const OpInfo& op, AnyArgs& args, const std::vector<Array>& values, ScalarType lead, ScalarType dtype,
           const Layouts& layouts);

// Seeds the default generator first, so that random ops repeat themselves.
std::vector<Tensor> call(const OpInfo& op, AnyArgs& args);
void call_inplace(const OpInfo& op, AnyArgs& args, const Tensor& self);
void call_out(const OpInfo& op, AnyArgs& args, std::span<Tensor> outs);

class WindowScope {
 public:
  explicit WindowScope(exec::WindowMode mode) : before_(exec::window_mode()) { exec::set_window_mode(mode); }
  ~WindowScope() { exec::set_window_mode(before_); }

 private:
  exec::WindowMode before_;
};

// ---- reporting

// Counts what was left out and why; printed when all tests have run.
void skipped(const OpCase& c, const std::string& reason);

// Registers `body` as test `suite`.<op name> for every op that `wanted` accepts.
bool register_tests(
    const char* suite, void (*body)(const OpCase&), bool (*wanted)(const OpInfo&) = [](const OpInfo&) { return true; });

}  // namespace argand::conformance
