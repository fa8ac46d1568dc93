// The op whose kernel the calling thread is issuing.  Later device errors and memory tables name it.
#pragma once
#include <optional>
#include <span>

#include "argand/core/tensor.h"

namespace argand {

const char* current_op();  // "" outside of an op

// Sizes and element type of an array; the sizes are borrowed.
struct ArrayShape {
  IntArrayRef sizes;
  ScalarType dtype;
};

class CurrentOp {
 public:
  // `results`: what the op writes.  They must outlive the scope, as must `shape`.
  explicit CurrentOp(const char* name, std::span<const Tensor> results = {});
  // For an instruction that allocates the array it writes.
  CurrentOp(const char* name, const ArrayShape& shape);
  ~CurrentOp();
  CurrentOp(const CurrentOp&) = delete;
  CurrentOp& operator=(const CurrentOp&) = delete;

 private:
  friend const char* current_op();
  friend std::optional<ArrayShape> written_shape(const StorageImpl& storage);

  const char* name_;
  std::span<const Tensor> results_;
  const ArrayShape* shape_ = nullptr;
  const CurrentOp* outer_;
};

// The shape of the result of an op in flight that fills `storage`, if there is one.
std::optional<ArrayShape> written_shape(const StorageImpl& storage);

}  // namespace argand
