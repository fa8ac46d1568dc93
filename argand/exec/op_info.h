// The type-erased form of an op definition: all that exec knows about an op.
//
// An op's arguments are a struct generated from its schema (`MulArgs {Tensor self; Tensor other;}`); exec handles it
// through a pointer and the functions of ArgsInfo.  Tensors among the arguments are numbered in order; a list counts
// one number per element.
#pragma once
#include <span>

#include "argand/base/permanent_name.h"
#include "argand/core/dispatch.h"
#include "argand/exec/argument_value.h"
#include "argand/exec/signature.h"
#include "argand/kernels/program.h"

namespace argand {

using Grads = std::vector<Tensor>;

// Shape, dtype and layout of an op's result; `infer` makes it before any kernel runs.
struct TensorMeta {
  Dims sizes;
  ScalarType dtype;
  Dims strides = {};                  // empty: contiguous
  std::optional<Device> device = {};  // nothing: that of the tensor arguments
};
using TensorMetas = std::vector<TensorMeta>;

// A view's place in the storage of its base, in elements of its dtype.
struct ViewLayout {
  Dims sizes, strides;
  int64_t offset;
  std::optional<ScalarType> dtype = {};  // nothing: that of the base
};

// A tensor argument, and the position of its argument in the schema.
struct TensorSlot {
  Tensor* tensor;
  int argument;
};
class TensorSlots {
 public:
  void push_back(TensorSlot s) {
    if (size_ < kInline)
      inline_[size_] = s;
    else
      spill(s);
    ++size_;
  }
  size_t size() const { return size_; }
  TensorSlot& operator[](size_t i) { return more_.empty() ? inline_[i] : more_[i]; }
  TensorSlot* begin() { return more_.empty() ? inline_ : more_.data(); }
  TensorSlot* end() { return begin() + size_; }

 private:
  static constexpr size_t kInline = 6;
  void spill(TensorSlot s) {
    if (more_.empty()) more_.assign(inline_, inline_ + kInline);
    more_.push_back(s);
  }
  TensorSlot inline_[kInline];
  std::vector<TensorSlot> more_;
  size_t size_ = 0;
};

// How the dtypes of a pointwise op's operands give the dtype it computes in and the dtype of its result.
enum class Promote : int8_t {
  kDefault,       // both: the promotion of all operands
  kFloat,         // as kDefault, but integers become the default float dtype
  kCompare,       // computes in the promotion of the operands, gives bool
  kLogical,       // computes in bool, gives bool
  kReal,          // as kDefault, but a complex operand gives its real dtype (abs)
  kSkipFirst,     // the first operand (a condition) does not count
  kFirst,         // the dtype of the first operand
  kRealFloat,     // as kFloat, but a complex operand gives its real dtype (angle)
  kComplex,       // real operands give the complex dtype of their promotion (complex, polar)
  kCompareFloat,  // computes as kCompare, integers in float64 (isclose)
};

struct PointwiseInfo : PointwiseBody {
  Promote promote;
};

enum class OpKind : int8_t { kPointwise, kKernel, kView, kComposite };

// What an op does with its floating-point tensors under autocast (exec/autocast.h).
enum class Autocast : int8_t {
  kNone,            // nothing; the ops that a composite calls follow their own policies
  kLowerPrecision,  // casts them to the autocast dtype
  kFloat32,         // casts them to float32
  kPromote,         // casts them to the widest dtype among them
  kAsGiven,         // nothing, also in the ops that it calls
};

struct ArgsInfo {
  void (*tensors)(void* args, TensorSlots& out);          // in schema order
  void (*scalars)(const void* args, Scalar* out);         // pointwise ops: the scalar attributes, in order
  void (*values)(const void* args, ArgumentValues& out);  // all of them
  TensorOptions* (*options)(void* args);                  // of the new tensor; null if the op has none
};

namespace autograd {
class OpNode;
struct NodeNaming;
}  // namespace autograd
class SampleSink;  // ops/samples.h

// Which tensors an op takes as out=.
struct OutRules {
  bool is_exact;      // must have the result's dtype; otherwise one that it can be cast to
  bool may_be_bytes;  // ... or uint8 if the result is bool
  bool may_be_any;    // any dtype: the values are 0 and 1, which every dtype has
  bool is_counted;    // the warning of a resize speaks of the computed length
  const char* names;  // the results' names in errors: "solution, residuals"; null: "an out tensor"
};

struct OpInfo {
  PermanentName name;  // "mul"
  const char* schema;  // the text, with defaults, as in the definition
  Signature signature;
  const char* doc;
  OpKind kind;
  Autocast autocast, autocast_cpu;  // on accelerators, on the CPU
  bool differentiable;              // false: results never require a gradient
  bool inplace_only;                // the op is called `name_` and writes its first argument
  bool has_inplace, has_out;        // the form `name_`, the form `name_out`
  bool random;                      // draws from a generator
  bool starts_from_self;            // the kernel updates a copy of argument 0 (or argument 0 itself, in place)
  bool writes_strided;              // such a kernel takes any strides; otherwise it is given a contiguous tensor
  bool crosses_devices;             // tensors on different devices; the result is on that of the first
  bool writes_one_value;            // to all elements of argument 0, which may overlap themselves
  const char* transform;  // a Fourier transform: how it refuses complex tensors, "" if it takes them; else null
  OutRules out;
  int num_outputs;
  uint32_t required_tensors;       // bit i: argument i is a tensor that no call may leave undefined
  const uint32_t* gradient_reads;  // of each argument: bit i: its gradient reads argument i
  uint32_t saved_results;          // bit i: a gradient reads result i
  bool saves_metas;                // a gradient reads sizes or dtypes of arguments
  // Bit i: tensor argument i must not require a gradient; result i never does.
  uint32_t constant_arguments, constant_results;
  // Bit i: the gradient of tensor argument i is not implemented; a backward pass that needs it fails.
  uint32_t unimplemented_gradients;
  // Bit i: tensor argument i stands for a number and is read before anything is written, so it may be an element of
  // what the op writes.
  uint32_t number_arguments;
  DtypeSet dtypes;  // what the first tensor argument may be
  ArgsInfo args;
  void (*check)(const void* args);  // throws what the user should see; null: nothing to check
  void (*infer)(const void* args, TensorMetas& out);
  ViewLayout (*view)(const void* args);
  void (*kernel)(const void* args, std::span<Tensor> outs);  // takes tensors of the CPU
  bool runs_anywhere;  // ... and of any device that has the blocks which it uses, see kernels/blocks.h
  void (*compose)(const void* args, void* result);
  void (*compose_tensors)(const void* args, std::vector<Tensor>& results);  // the same; a number becomes a 0-dim tensor
  intrusive_ptr<autograd::OpNode> (*make_node)(void* args);  // moves the arguments into the graph; null: no gradient
  const PointwiseInfo* pointwise;
  // The body for these arguments (gelu's `approximate`); null: it is always `pointwise`.  Such an op may leave out
  // optional operands.
  const PointwiseInfo& (*form)(const void* args);
  void (*samples)(SampleSink& sink);
  const autograd::NodeNaming* naming = nullptr;  // exec/node_names.h; null: nodes are called as the op
};

// All ops, in the order in which the generator finds their definitions.
std::span<OpInfo* const> all_ops();

}  // namespace argand
