// Sample calls of an op: one object for conformance tests, gradient checks, parity with PyTorch and benchmarks.
//
// A sample is an argument struct with float64 (or, where the op wants them, integer or bool) tensors.  The harness
// derives the other dtypes and layouts from it.  Values are drawn from a generator seeded by the op's name, so that a
// sample is the same on every run.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "argand/exec/op_info.h"

namespace argand {

// The arguments of one call, with their type erased.
class AnyArgs {
 public:
  virtual ~AnyArgs() = default;
  virtual void* get() = 0;
  virtual std::unique_ptr<AnyArgs> clone() const = 0;
};

struct Sample {
  std::unique_ptr<AnyArgs> args;
  std::string error;     // a part of the expected message; empty: the call is valid
  bool gradient = true;  // false: the gradient is not checked here (kinks, ties)
};

// The accuracy of an op's results, if it is lower than that of most ops (tests/conformance/compare.h has the rule).
struct Accuracy {
  double ulps;         // units in the last place of an element
  std::string reason;  // why this op needs them: a sentence about its definition or its device's functions
  std::optional<DeviceType> device = {};  // nothing: on all of them
  bool rounds_parts = false;              // the terms of a sum are rounded to the dtype of the result
};

// Makes inputs and collects samples.
class SampleSink {
 public:
  explicit SampleSink(std::string_view op);

  // float64 tensors: uniform in [low, high); `apart` values are pairwise distinct (for sort, max, ...).
  Tensor real(IntArrayRef sizes, double low = -2, double high = 2);
  Tensor positive(IntArrayRef sizes) { return real(sizes, 0.1, 2); }
  // Values at least 0.1 away from `kink`, where a function is not smooth.
  Tensor away_from(double kink, IntArrayRef sizes, double low = -2, double high = 2);
  Tensor apart(IntArrayRef sizes);
  // int64 in [low, high), and bool.
  Tensor integer(IntArrayRef sizes, int64_t low, int64_t high);
  Tensor boolean(IntArrayRef sizes);

  void add(Sample sample) { samples_.push_back(std::move(sample)); }
  std::vector<Sample>& samples() { return samples_; }

  // Properties of all samples of the op:
  void accuracy(Accuracy a) { traits_.accuracies.push_back(std::move(a)); }
  const std::vector<Accuracy>& accuracies() const { return traits_.accuracies; }
  // The tensors must not have equal values along a dimension, as expanded tensors have, for this reason.
  void values_differ(std::string reason) { traits_.why_values_differ = std::move(reason); }
  const std::string& why_values_differ() const { return traits_.why_values_differ; }
  // The op takes only tensors with the samples' dtypes, and refuses others itself, for this reason.
  void one_dtype(std::string reason) { traits_.why_one_dtype = std::move(reason); }
  const std::string& why_one_dtype() const { return traits_.why_one_dtype; }
  // The elements of the results are unspecified.
  void values_unset() { traits_.values_unset = true; }
  bool are_values_unset() const { return traits_.values_unset; }
  // The result depends on the strides of the arguments, not on their elements alone, for this reason.
  void strides_count(std::string reason) { traits_.why_strides_count = std::move(reason); }
  const std::string& why_strides_count() const { return traits_.why_strides_count; }
  // Uses this op's samples, with all of their properties, for another op.
  void traits_of(const SampleSink& other) { traits_ = other.traits_; }

 private:
  struct Traits {
    std::vector<Accuracy> accuracies;
    std::string why_values_differ, why_one_dtype, why_strides_count;
    bool values_unset = false;
  };
  uint64_t next();
  double uniform(double low, double high);
  uint64_t state_;  // SplitMix64: samples do not depend on the library's own generators
  std::vector<Sample> samples_;
  Traits traits_;
};

// The interface for op definitions: s.add({args...}), s.fails({args...}, "message").
template <class Args>
class Samples {
 public:
  explicit Samples(SampleSink& sink) : sink_(sink) {}
  SampleSink* operator->() { return &sink_; }
  void add(Args args) { put(std::move(args), "", true); }
  void add_without_gradient(Args args) { put(std::move(args), "", false); }
  void fails(Args args, std::string message) { put(std::move(args), std::move(message), false); }

 private:
  struct Holder final : AnyArgs {
    explicit Holder(Args a) : args(std::move(a)) {}
    void* get() override { return &args; }
    std::unique_ptr<AnyArgs> clone() const override { return std::make_unique<Holder>(args); }
    Args args;
  };
  void put(Args args, std::string error, bool gradient) {
    sink_.add({std::make_unique<Holder>(std::move(args)), std::move(error), gradient});
  }
  SampleSink& sink_;
};

}  // namespace argand
