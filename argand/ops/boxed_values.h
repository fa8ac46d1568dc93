// Converts values to the arguments of an op.  The generated part of ops/boxed.h is written in this.
#pragma once
#include "argand/exec/op_info.h"
#include "argand/ops/boxed.h"

namespace argand::boxed {

// A call under way.  Generated code makes the op's argument struct, calls fill() for each of its fields, then run().
class Call {
 public:
  // `may_take`: tensors may be moved out of the values.
  Call(const Function& function, std::span<const ArgumentValue> values, bool may_take,
       std::vector<ArgumentValue>& results)
      // Tensors that the call writes into are read once more after the arguments.
      : function_(function),
        values_(values),
        takes_(may_take && !function.writes_first && !function.has_outs),
        results_(results) {}

  // Field number `at` of the argument struct: what the call gives for it, or else nothing is done.
  template <class T>
  void fill(int at, T& field) const {
    const Parameter* parameter = nullptr;
    if (const ArgumentValue* value = given(at, &parameter)) read(*parameter, *value, field);
  }
  // For an op whose dtype `out` chooses where the call names none.
  void choose_dtype(std::optional<ScalarType>& dtype) const;
  void run(const OpInfo& op, void* args) const;

 private:
  const ArgumentValue* given(int field, const Parameter** parameter) const;
  std::vector<Tensor> outs() const;
  [[noreturn]] void refuse(const Parameter& parameter, const ArgumentValue& value) const;

  void read(const Parameter& p, const ArgumentValue& v, Tensor& field) const;
  void read(const Parameter& p, const ArgumentValue& v, std::vector<Tensor>& field) const;
  void read(const Parameter& p, const ArgumentValue& v, int64_t& field) const;
  void read(const Parameter& p, const ArgumentValue& v, double& field) const;
  void read(const Parameter& p, const ArgumentValue& v, bool& field) const;
  void read(const Parameter& p, const ArgumentValue& v, std::string& field) const;
  void read(const Parameter& p, const ArgumentValue& v, Scalar& field) const;
  void read(const Parameter& p, const ArgumentValue& v, ScalarType& field) const;
  void read(const Parameter& p, const ArgumentValue& v, Device& field) const;
  void read(const Parameter& p, const ArgumentValue& v, MemoryFormat& field) const;
  void read(const Parameter& p, const ArgumentValue& v, Generator& field) const;
  void read(const Parameter& p, const ArgumentValue& v, TensorOptions& field) const;
  void read(const Parameter& p, const ArgumentValue& v, Dims& field) const;
  void read(const Parameter& p, const ArgumentValue& v, std::vector<double>& field) const;
  void read(const Parameter& p, const ArgumentValue& v, std::vector<Scalar>& field) const;
  void read_flags(const Parameter& p, const ArgumentValue& v, std::span<bool> field) const;
  template <size_t N>
  void read(const Parameter& p, const ArgumentValue& v, std::array<bool, N>& field) const {
    read_flags(p, v, field);
  }
  template <class T>
  void read(const Parameter& p, const ArgumentValue& v, std::optional<T>& field) const {
    T value{};
    read(p, v, value);
    field = std::move(value);
  }

  const Function& function_;
  std::span<const ArgumentValue> values_;
  const bool takes_;
  std::vector<ArgumentValue>& results_;
};

}  // namespace argand::boxed
