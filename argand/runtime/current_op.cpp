#include "argand/runtime/current_op.h"

namespace argand {
namespace {

thread_local const CurrentOp* in_flight = nullptr;

bool fills(const ArrayShape& shape, const StorageImpl& storage) {
  return static_cast<size_t>(numel_of(shape.sizes) * element_size(shape.dtype)) == storage.nbytes();
}

}  // namespace

const char* current_op() { return in_flight ? in_flight->name_ : ""; }

CurrentOp::CurrentOp(const char* name, std::span<const Tensor> results)
    : name_(name), results_(results), outer_(in_flight) {
  in_flight = this;
}
CurrentOp::CurrentOp(const char* name, const ArrayShape& shape) : name_(name), shape_(&shape), outer_(in_flight) {
  in_flight = this;
}
CurrentOp::~CurrentOp() { in_flight = outer_; }

std::optional<ArrayShape> written_shape(const StorageImpl& storage) {
  if (in_flight && in_flight->shape_ && fills(*in_flight->shape_, storage)) return *in_flight->shape_;
  for (const CurrentOp* op = in_flight; op; op = op->outer_) {
    for (const Tensor& t : op->results_) {
      if (!t.defined() || t.impl().storage.get() != &storage) continue;
      const ArrayShape shape{t.sizes(), t.scalar_type()};
      if (fills(shape, storage)) return shape;
    }
  }
  return std::nullopt;
}

}  // namespace argand
