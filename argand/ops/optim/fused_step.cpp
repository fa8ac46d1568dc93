// One optimizer step over all parameters of all groups: each element is read and written once, and all change or none.
#include <algorithm>
#include <span>

#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/optim/args.h"
#include "argand/ops/optim/flat.h"
#include "argand/runtime/backend.h"

namespace argand::ops {
namespace {

// Tensors [begin, end) of the lists, which one rule changes.
struct Range {
  StepKind kind;
  size_t begin, end, first_state;
  const double* numbers;

  size_t states() const { return static_cast<size_t>(step_counts(kind).states); }
  std::span<const Tensor> states_of(size_t p, const std::vector<Tensor>& all) const {
    return std::span(all).subspan(first_state + (p - begin) * states(), states());
  }
};

// Expects arguments that are checked.
std::vector<Range> ranges_of(const FusedStepArgs& a) {
  std::vector<Range> out;
  size_t begin = 0, state = 0;
  const double* numbers = a.numbers.data();
  for (size_t r = 0; r < a.rules.size(); ++r) {
    const auto kind = static_cast<StepKind>(a.rules[r]);
    const Range& range = out.emplace_back(Range{kind, begin, begin + static_cast<size_t>(a.counts[r]), state, numbers});
    begin = range.end;
    state += static_cast<size_t>(a.counts[r]) * range.states();
    numbers += step_counts(kind).numbers;
  }
  return out;
}

// The work of one device.  Its constructor allocates everything that is needed.
class DeviceStep {
 public:
  DeviceStep(const FusedStepArgs& a, const std::vector<Range>& ranges, const Device& device) : device_(device) {
    tensors_.reserve(a.self.size());  // runs hold addresses of its elements
    runs_.reserve(ranges.size());
    for (const Range& range : ranges)
      for (const ScalarType type : {kFloat, kDouble, kHalf, kBFloat16}) {
        const size_t first = tensors_.size();
        for (size_t p = range.begin; p < range.end; ++p)
          if (to_real_type(a.self[p].dtype()) == type && a.self[p].device() == device)
            tensors_.push_back(table_entry(a, range, p));
        if (tensors_.size() > first)
          runs_.push_back({range.kind, range.numbers, type, tensors_.data() + first,
                           static_cast<int64_t>(tensors_.size() - first)});
      }
  }
  void run() const {
    const DeviceScope on_device(device_);
    blocks::run_fused_step.on(device_)(runs_.data(), static_cast<int64_t>(runs_.size()));
    for (const Flat& f : written_) f.write_back();
  }

 private:
  StepTensor table_entry(const FusedStepArgs& a, const Range& range, size_t p) {
    const Tensor& param = a.self[p];
    const int64_t numbers = param.numel() * (is_complex(param.dtype()) ? 2 : 1);
    StepTensor out{place(param, param, written_), place(a.grads[p], param, read_), {}, numbers};
    void** state = out.states;
    for (const Tensor& t : range.states_of(p, a.states)) *state++ = place(t, param, written_);
    return out;
  }
  static void* place(const Tensor& t, const Tensor& like, std::vector<Flat>& copies) {
    Flat flat(t, like);
    void* const address = flat.address();
    if (flat.is_copy()) copies.push_back(std::move(flat));
    return address;
  }

  Device device_;
  std::vector<Flat> written_, read_;  // those that are copies
  std::vector<StepTensor> tensors_;
  std::vector<StepRun> runs_;
};

void check_like(const char* name, const Tensor& t, const Tensor& self) {
  ARGAND_CHECK(ShapeError, t.sizes() == self.sizes(), "_fused_step_: expected ", name, " of shape ", self.sizes(),
               ", got ", t.sizes());
  ARGAND_CHECK(DtypeError, t.dtype() == self.dtype(), "_fused_step_: expected ", name, " of dtype ", self.dtype(),
               ", got ", t.dtype());
  ARGAND_CHECK(DeviceError, t.device() == self.device(), "_fused_step_: expected ", name, " on ", self.device(),
               ", got ", t.device());
}

void check_count(const char* name, size_t expected, size_t got) {
  ARGAND_CHECK(ValueError, got == expected, "_fused_step_: expected ", expected, " ", name, ", got ", got);
}

}  // namespace

struct FusedStep : Kernel<FusedStepArgs> {
  static constexpr auto schema =
      "_fused_step_(Tensor[] self, Tensor[] grads, Tensor[] states, *, int[] rules, int[] counts, float[] numbers) -> "
      "()";
  static constexpr auto doc =
      "A step of an optimizer on every tensor of self, in place: on the first counts[0] by rules[0] and its numbers, "
      "on "
      "the next counts[1] by rules[1], and so on (kernels/step_rules.h). states are what is remembered of the first "
      "tensor, then of the second. The tensors may be on several devices. Of a complex number the real and the "
      "imaginary part are numbers of their own. On the CPU all change or, after an exception, none.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static constexpr bool crosses_devices = true;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static TensorMetas infer(const Args& a) {
    check_count("counts", a.rules.size(), a.counts.size());
    size_t tensors = 0, states = 0, numbers = 0;
    for (size_t r = 0; r < a.rules.size(); ++r) {
      ARGAND_CHECK(ValueError, a.rules[r] >= 0 && a.rules[r] < kStepKinds, "_fused_step_: there is no rule ",
                   a.rules[r]);
      ARGAND_CHECK(ValueError, a.counts[r] >= 0, "_fused_step_: expected counts of at least 0, got ", a.counts[r]);
      const StepCounts of_rule = step_counts(static_cast<StepKind>(a.rules[r]));
      tensors += static_cast<size_t>(a.counts[r]);
      states += static_cast<size_t>(a.counts[r] * of_rule.states);
      numbers += static_cast<size_t>(of_rule.numbers);
    }
    check_count("tensors in self", tensors, a.self.size());
    check_count("tensors in grads", tensors, a.grads.size());
    check_count("tensors in states", states, a.states.size());
    check_count("numbers", numbers, a.numbers.size());
    for (const Range& range : ranges_of(a))
      for (size_t p = range.begin; p < range.end; ++p) {
        if (const ScalarType type = a.self[p].dtype(); !is_floating_point(type) && !is_complex(type))
          throw_unsupported_dtype("_fused_step_", type);
        check_like("a gradient", a.grads[p], a.self[p]);
        for (const Tensor& t : range.states_of(p, a.states)) check_like("a state", t, a.self[p]);
      }
    return {};
  }
  static void run(const Args& a, std::span<Tensor>) {
    const std::vector<Range> ranges = ranges_of(a);
    std::vector<Device> devices;
    for (const Tensor& t : a.self)
      if (std::find(devices.begin(), devices.end(), t.device()) == devices.end()) devices.push_back(t.device());
    // The CPU, whose part cannot fail, comes last.
    std::partition(devices.begin(), devices.end(), [](const Device& d) { return !d.is_cpu(); });
    std::vector<DeviceStep> steps;
    steps.reserve(devices.size());
    for (const Device& device : devices) steps.emplace_back(a, ranges, device);
    for (const DeviceStep& step : steps) step.run();
    for (const std::vector<Tensor>* written : {&a.self, &a.states})
      for (const Tensor& t : *written) t.storage()->bump_version(Args::kName);
  }
};
ARGAND_OP(FusedStep)

}  // namespace argand::ops
