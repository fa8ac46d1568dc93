// Loops over the elements of tensors that are broadcast together, for kernels of a program's own on the CPU:
//
//   auto it = at::TensorIteratorConfig().add_output(out).add_input(a).add_input(b).build();
//   at::native::cpu_kernel(it, [](float x, float y) { return x * y; });   // ATen/native/cpu/Loops.h
//
// The operands are the outputs, then the inputs.  Dimension 0 of shape() and strides() is the innermost one; strides
// are in bytes.  An output that is undefined is made, one of another shape is resized, with a warning if it has
// elements. Nothing is recorded for gradients.  Thread safety: one iterator belongs to one thread.
#pragma once
#include <algorithm>
#include <numeric>

#include "ATen/ATen.h"
#include "argand/base/function_ref.h"

namespace at {

class TensorIterator;

class TensorIteratorConfig {
 public:
  TensorIteratorConfig& add_output(const Tensor& t) { return outputs_.push_back(t), *this; }
  TensorIteratorConfig& add_owned_output(const Tensor& t) { return add_output(t); }
  TensorIteratorConfig& add_borrowed_output(const Tensor& t) { return add_output(t); }
  TensorIteratorConfig& add_input(const Tensor& t) { return inputs_.push_back(t), *this; }
  TensorIteratorConfig& add_const_input(const Tensor& t) { return add_input(t); }
  TensorIteratorConfig& add_owned_input(const Tensor& t) { return add_input(t); }
  TensorIteratorConfig& add_owned_const_input(const Tensor& t) { return add_input(t); }
  TensorIteratorConfig& add_borrowed_input(const Tensor& t) { return add_input(t); }
  TensorIteratorConfig& add_borrowed_const_input(const Tensor& t) { return add_input(t); }
  // On by default: all operands must have one dtype, else DtypeError.
  TensorIteratorConfig& check_all_same_dtype(bool on) { return same_dtype_ = on, *this; }
  // harmless: it is always so, as all are on the CPU
  TensorIteratorConfig& check_all_same_device(bool) { return *this; }
  // Inputs are converted to the dtype that they promote to, which undefined outputs get.
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool on) {
    if (on) same_dtype_ = false;
    return promote_ = on, *this;
  }
  TensorIteratorConfig& promote_integer_inputs_to_float(bool on) {
    if (on) promote_inputs_to_common_dtype(true);
    return to_float_ = on, *this;
  }
  // Outputs of other dtypes are computed in the common dtype and converted at the end of the iterator.
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool on) { return cast_outputs_ = on, *this; }
  TensorIteratorConfig& enforce_safe_casting_to_output(bool on) { return safe_ = on, *this; }
  TensorIteratorConfig& resize_outputs(bool on) { return resize_ = on, *this; }
  // An output may not overlap itself, nor share a part of its memory with an input.
  TensorIteratorConfig& set_check_mem_overlap(bool on) { return check_overlap_ = on, *this; }
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape) { return static_shape_ = Dims(shape), *this; }
  TensorIteratorConfig& declare_static_dtype(ScalarType dtype) { return static_dtype_ = dtype, *this; }
  TensorIterator build();

 private:
  friend class TensorIterator;
  std::vector<Tensor> outputs_, inputs_;
  bool same_dtype_ = true, promote_ = false, to_float_ = false, cast_outputs_ = false, safe_ = false, resize_ = true,
       check_overlap_ = true;
  std::optional<Dims> static_shape_;
  std::optional<ScalarType> static_dtype_;
};

class TensorIterator {
 public:
  using loop_t = argand::function_ref<void(char** data, const int64_t* strides, int64_t size)>;
  using loop2d_t = argand::function_ref<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;

  // result = f(a), result = f(a, b); `out` may be undefined.
  static TensorIterator unary_op(Tensor& out, const Tensor& a) {
    TensorIteratorConfig config;
    return config.add_output(out)
        .add_input(a)
        .cast_common_dtype_to_outputs(true)
        .promote_inputs_to_common_dtype(true)
        .build();
  }
  static TensorIterator binary_op(Tensor& out, const Tensor& a, const Tensor& b) {
    TensorIteratorConfig config;
    return config.add_output(out)
        .add_input(a)
        .add_input(b)
        .promote_inputs_to_common_dtype(true)
        .cast_common_dtype_to_outputs(true)
        .build();
  }
  static TensorIterator nullary_op(Tensor& out) {
    TensorIteratorConfig config;
    return config.add_output(out).check_all_same_dtype(false).resize_outputs(false).build();
  }

  int ndim() const { return static_cast<int>(shape_.size()); }
  IntArrayRef shape() const { return shape_; }
  IntArrayRef strides(int64_t operand) const { return strides_[static_cast<size_t>(operand)]; }
  int64_t numel() const { return numel_of(shape_); }
  int ntensors() const { return static_cast<int>(tensors_.size()); }
  int noutputs() const { return num_outputs_; }
  int ninputs() const { return ntensors() - noutputs(); }
  // The operand as the loops see it: in the common dtype, if operands are converted.
  const Tensor& tensor(int64_t operand) const { return tensors_[static_cast<size_t>(operand)]; }
  const Tensor& output(int64_t i = 0) const { return results_[static_cast<size_t>(i)]; }
  const Tensor& input(int64_t i = 0) const { return tensor(num_outputs_ + i); }
  ScalarType dtype(int64_t operand = 0) const { return tensor(operand).dtype(); }
  ScalarType input_dtype(int64_t i = 0) const { return input(i).dtype(); }
  ScalarType common_dtype() const { return common_dtype_; }
  Device device(int64_t operand = 0) const { return tensor(operand).device(); }
  DeviceType device_type(int64_t operand = 0) const { return device(operand).type(); }
  int64_t element_size(int64_t operand) const { return tensor(operand).element_size(); }
  bool is_scalar(int64_t operand) const { return tensor(operand).numel() == 1; }
  bool is_cpu_scalar(int64_t operand) const { return is_scalar(operand); }
  void* data_ptr(int64_t operand) const { return tensor(operand).data_ptr(); }
  // Whether one step moves each operand to its next element.
  bool is_contiguous() const {
    if (numel() == 1) return true;
    if (ndim() != 1) return false;
    for (int i = 0; i < ntensors(); ++i)
      if (strides(i)[0] != element_size(i)) return false;
    return true;
  }

  // Runs the loop over rows of the innermost dimension, one after the other on this thread, whatever the grain.
  // harmless: the grain says how work is cut, and here it is not
  void for_each(loop_t loop, int64_t /*grain_size*/ = internal::GRAIN_SIZE) { serial_for_each(loop); }
  // harmless: as above, the work is not cut
  void for_each(loop2d_t loop, int64_t /*grain_size*/ = internal::GRAIN_SIZE) {
    serial_for_each([&](char** data, const int64_t* steps, int64_t size) {
      std::vector<int64_t> both(steps, steps + ntensors());
      both.resize(2 * both.size());
      loop(data, both.data(), size, 1);
    });
  }
  void serial_for_each(loop_t loop);
  // Converts results in the common dtype to the outputs; the end of the iterator does it, too.
  void cast_outputs() {
    for (size_t i = 0; i < results_.size(); ++i)
      if (!results_[i].is_same(tensors_[i])) results_[i].copy_(tensors_[i]);
  }

 private:
  friend class TensorIteratorConfig;
  explicit TensorIterator(const TensorIteratorConfig& config);
  void choose_dtypes(const TensorIteratorConfig& config);
  Dims broadcast(const TensorIteratorConfig& config) const;
  void prepare_outputs(const TensorIteratorConfig& config, const Dims& shape);
  void lay_out(const Dims& shape);

  std::vector<Tensor> tensors_, results_;  // results_: the outputs as they were given
  int num_outputs_;
  ScalarType common_dtype_ = ScalarType::Undefined;
  Dims shape_;
  std::vector<Dims> strides_;
};
using TensorIteratorBase = TensorIterator;

inline TensorIterator TensorIteratorConfig::build() { return TensorIterator(*this); }

inline TensorIterator::TensorIterator(const TensorIteratorConfig& config)
    : tensors_(config.outputs_), num_outputs_(static_cast<int>(config.outputs_.size())) {
  const NoGradGuard no_grad;
  tensors_.insert(tensors_.end(), config.inputs_.begin(), config.inputs_.end());
  for (int i = 0; i < ntensors(); ++i) {
    TORCH_CHECK(tensor(i).defined() || i < num_outputs_, "TensorIterator: input ", i - num_outputs_, " is undefined")
    TORCH_CHECK(!tensor(i).defined() || tensor(i).is_cpu(), "TensorIterator: expected operands on the CPU, got one on ",
                tensor(i).device())
  }
  choose_dtypes(config);
  const Dims shape = broadcast(config);
  prepare_outputs(config, shape);
  lay_out(shape);
}

inline void TensorIterator::choose_dtypes(const TensorIteratorConfig& config) {
  std::vector<Tensor> inputs(tensors_.begin() + num_outputs_, tensors_.end());
  const std::vector<Tensor>& deciding = inputs.empty() ? tensors_ : inputs;
  std::vector<const Tensor*> operands;
  for (const Tensor& t : deciding)
    if (t.defined()) operands.push_back(&t);
  if (!operands.empty()) common_dtype_ = config.promote_ ? argand::exec::result_type(operands) : operands[0]->dtype();
  if (config.static_dtype_) common_dtype_ = *config.static_dtype_;
  if (config.to_float_ && is_integral(common_dtype_, true)) common_dtype_ = get_default_dtype();
  if (config.same_dtype_)
    for (const Tensor& t : tensors_)
      ARGAND_CHECK(DtypeError, !t.defined() || t.dtype() == common_dtype_, "Found dtype ", dtype_cpp_name(t.dtype()),
                   " but expected ", dtype_cpp_name(common_dtype_));
  if (!config.promote_) return;
  for (size_t i = static_cast<size_t>(num_outputs_); i < tensors_.size(); ++i)
    tensors_[i] = tensors_[i].to(common_dtype_);
}

inline Dims TensorIterator::broadcast(const TensorIteratorConfig& config) const {
  if (config.static_shape_) return *config.static_shape_;
  Dims shape;
  bool first = true;
  for (int i = ninputs() > 0 || config.resize_ ? num_outputs_ : 0; i < ntensors(); ++i) {
    shape = first ? Dims(tensor(i).sizes()) : Dims(infer_size(shape, tensor(i).sizes()));
    first = false;
  }
  if (first)
    for (int i = 0; i < num_outputs_; ++i)
      if (tensor(i).defined()) return Dims(tensor(i).sizes());
  return shape;
}

inline void TensorIterator::prepare_outputs(const TensorIteratorConfig& config, const Dims& shape) {
  for (size_t i = 0; i < static_cast<size_t>(num_outputs_); ++i) {
    Tensor& out = tensors_[i];
    if (!out.defined()) {
      TORCH_CHECK(common_dtype_ != ScalarType::Undefined,
                  "TensorIterator: an undefined output needs an input or a dtype")
      out = empty(shape, TensorOptions(common_dtype_));
    }
    if (!(out.sizes() == IntArrayRef(shape))) {
      TORCH_CHECK(config.resize_, "output with shape ", out.sizes(), " doesn't match the broadcast shape ",
                  IntArrayRef(shape))
      if (out.numel() > 0)
        TORCH_WARN("An output with one or more elements was resized since it had shape ", out.sizes(),
                   ", which does not match the required output shape ", IntArrayRef(shape), ".");
      out.resize_(shape);
    }
    if (config.check_overlap_) {
      TORCH_CHECK(!argand::may_overlap_itself(out.sizes(), out.strides()),
                  "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                  "location. Please clone() the tensor before performing the operation.")
    }
    results_.push_back(out);
    if (config.cast_outputs_ && out.dtype() != common_dtype_) {
      ARGAND_CHECK(DtypeError, can_cast(common_dtype_, out.dtype()), "result type ", dtype_cpp_name(common_dtype_),
                   " can't be cast to the desired output type ", dtype_cpp_name(out.dtype()));
      out = empty(shape, TensorOptions(common_dtype_));
    }
    ARGAND_CHECK(DtypeError, !config.safe_ || can_cast(common_dtype_, results_[i].dtype()), "result type ",
                 dtype_cpp_name(common_dtype_), " can't be cast to the desired output type ",
                 dtype_cpp_name(results_[i].dtype()));
  }
}

// Innermost dimension first; neighbours that one stride walks through become one dimension.
inline void TensorIterator::lay_out(const Dims& shape) {
  std::vector<Dims> steps(tensors_.size());
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    std::vector<int64_t> step;
    for (const Tensor& t : tensors_) {
      const int64_t own = t.dim() - static_cast<int64_t>(shape.size()) + static_cast<int64_t>(d);
      step.push_back(own < 0 || t.sizes()[static_cast<size_t>(own)] == 1
                         ? 0
                         : t.strides()[static_cast<size_t>(own)] * t.element_size());
    }
    bool joins = !shape_.empty();
    for (size_t i = 0; joins && i < steps.size(); ++i) joins = step[i] == steps[i].back() * shape_.back();
    if (joins) {
      shape_.back() *= shape[d];
      continue;
    }
    shape_.push_back(shape[d]);
    for (size_t i = 0; i < steps.size(); ++i) steps[i].push_back(step[i]);
  }
  if (shape_.empty() && !shape.empty()) {  // one element
    shape_.push_back(1);
    for (size_t i = 0; i < steps.size(); ++i) steps[i].push_back(tensors_[i].element_size());
  }
  strides_ = std::move(steps);
}

inline void TensorIterator::serial_for_each(loop_t loop) {
  if (numel() == 0) return;
  std::vector<char*> base;
  std::vector<int64_t> inner;
  for (int i = 0; i < ntensors(); ++i) {
    base.push_back(static_cast<char*>(data_ptr(i)));
    inner.push_back(shape_.empty() ? element_size(i) : strides(i)[0]);
  }
  std::vector<int64_t> at(shape_.size(), 0);
  const int64_t row = shape_.empty() ? 1 : shape_[0];
  for (int64_t rows = numel() / row; rows > 0; --rows) {
    std::vector<char*> data = base;
    for (size_t i = 0; i < data.size(); ++i)
      for (size_t d = 1; d < at.size(); ++d) data[i] += at[d] * strides_[i][d];
    loop(data.data(), inner.data(), row);
    for (size_t d = 1; d < at.size() && ++at[d] == shape_[d]; ++d) at[d] = 0;
  }
}

}  // namespace at
